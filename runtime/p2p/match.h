/* SPDX-License-Identifier: BSD-3-Clause */
/* Which receive gets which message: the posted receives and the unexpected
 * messages of all communicators and receivers that one ghost serves.
 *
 * The rule is that of MPI 4.0, section 3.5. Messages are in the order of the
 * calls of aspx_match_arrive(), receives in that of aspx_match_post(). A
 * message goes to the earliest posted receive that matches it, with or without
 * wildcards; a receive gets the earliest message that matches it. A probe is a
 * receive that leaves its message where it is.
 *
 * Any of these functions costs the same with one entry queued and with ten
 * thousand, whatever their tags and wildcards: see match.c.
 *
 * Messages and receives are parts of objects of the caller, who zeroes them
 * before their first use, sets the envelope, changes nothing while they are
 * queued, and keeps them until they are taken or removed. Of one that is no
 * more queued the envelope is as it was, and it can be queued again. One thread
 * at a time; no call of MPI. */
#ifndef ASPEN_RUNTIME_P2P_MATCH_H
#define ASPEN_RUNTIME_P2P_MATCH_H

#include <stdbool.h>
#include <stdint.h>

struct aspx_match_envelope {
    uint64_t comm;  /* number of the communicator */
    uint32_t to;    /* the receiver: its rank among all users */
    int32_t source; /* rank in the communicator; a receive's may be
                     * MPI_ANY_SOURCE */
    int32_t tag;    /* not negative; a receive's may be MPI_ANY_TAG */
};

/* Exact; of any source; of any tag; of both. */
enum { ASPX_MATCH_CLASSES = 4 };

/* Links are match.c's alone. */
struct aspx_match_link {
    struct aspx_match_link *next, *prev;
};

struct aspx_match_message {
    struct aspx_match_envelope envelope;
    struct aspx_match_link links[ASPX_MATCH_CLASSES];
};

struct aspx_match_receive {
    struct aspx_match_envelope envelope;
    bool looks;        /* a probe: the message stays */
    uint64_t sequence; /* when it was posted, among all */
    struct aspx_match_link link;
};

struct aspx_match {
    struct aspx_match_bin *bins;           /* with entries, by envelope */
    struct aspx_match_bin *spare;          /* without */
    struct aspx_match_bin_block *blocks;   /* what both are parts of */
    uint64_t sequence;                     /* of the latest receive */
    uint32_t posted, unexpected;           /* entries that are queued */
    uint32_t posted_most, unexpected_most; /* that ever were at once */
    uint32_t posted_of[ASPX_MATCH_CLASSES];
};

/* Returns 0, or -1 for want of memory. */
int aspx_match_start(struct aspx_match *match);

/* Frees what is match's own. The links of what is still queued lead nowhere. */
void aspx_match_stop(struct aspx_match *match);

/* A message has come. *taken: the earliest posted receive that matches it,
 * which is queued no more; NULL: none does, and the message is among the
 * unexpected. Where a probe is taken, the caller answers it and calls again
 * with the message, until it is queued or a receive has it. Returns 0, or -1
 * for want of memory: nothing has changed, *taken is NULL. */
int aspx_match_arrive(struct aspx_match *match,
                      struct aspx_match_message *message,
                      struct aspx_match_receive **taken);

/* A receive is posted. *found: the earliest unexpected message that matches it,
 * which is queued no more unless the receive is a probe; NULL: none does, and
 * the receive is among the posted. Returns as aspx_match_arrive(). */
int aspx_match_post(struct aspx_match *match,
                    struct aspx_match_receive *receive,
                    struct aspx_match_message **found);

/* The earliest unexpected message that a receive with this envelope would get;
 * it stays. NULL: there is none. */
struct aspx_match_message *aspx_match_find(
    const struct aspx_match *match, const struct aspx_match_envelope *pattern);

/* One that is queued is so no more. */
void aspx_match_remove_message(struct aspx_match *match,
                               struct aspx_match_message *message);
void aspx_match_remove_receive(struct aspx_match *match,
                               struct aspx_match_receive *receive);

static inline bool aspx_match_message_is_queued(
    const struct aspx_match_message *message)
{
    return message->links[0].next;
}

static inline bool aspx_match_receive_is_queued(
    const struct aspx_match_receive *receive)
{
    return receive->link.next;
}

#endif
