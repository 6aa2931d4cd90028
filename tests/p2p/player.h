/* SPDX-License-Identifier: BSD-3-Clause */
/* Who plays a random program: a rank, or a thread of it that has communicators
 * of its own, with the requests that it has under way. */
#ifndef ASPEN_TESTS_P2P_PLAYER_H
#define ASPEN_TESTS_P2P_PLAYER_H

#include "place.h"
#include "program.h"

enum {
    RECEIVES_MOST = 2 * MESSAGES_MOST,
    REQUESTS_MOST = 4 * MESSAGES_MOST,
};

/* Of a message that is sent, or of a receive; index of either. */
struct flight {
    MPI_Request request;
    struct place place;
    bool is_send, active, persistent;
    bool matched;   /* a receive of what a matched probe took */
    bool forgotten; /* a send whose request was freed: it ends with the phase */
    int index;
};

struct player {
    uint64_t seed;
    int program, thread, rank, size;
    struct prng own; /* what this one draws alone */
    MPI_Comm comms[COMMS];

    struct phase phase;
    int now; /* counts what happens, for struct receive */
    struct receive receives[RECEIVES_MOST];
    struct flight flights[REQUESTS_MOST];
    int nreceives, nflights;
    bool came[MESSAGES_MOST]; /* to this rank, and completely */
};

/* Say what is wrong and in which program, and end the job. */
void fail(const struct player *p, const char *what, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

#define MUST(player, what)                                                     \
    do {                                                                       \
        if (!(what))                                                           \
            fail(player, "%s:%d: not so: %s", __FILE__, __LINE__, #what);      \
    } while (0)

/* ---- complete.c ------------------------------------------------------------- */

/* A flight has ended with this status and return code: compare all of it. */
void end_flight(struct player *p, struct flight *f, const MPI_Status *status,
                int code);

/* Which flights? Any, or active ones of a kind. */
enum which { BOTH, SENDS, RECEIVES };

int count_active(const struct player *p, enum which which);

/* Wait or test some of these, by a call and in an order that are drawn. Where
 * it may block, all must be sure to end. */
void complete_some(struct player *p, enum which which, bool may_block);
void complete_one(struct player *p, struct flight *f); /* blocks */

/* Cancel a receive and wait. Returns whether it was cancelled. */
bool cancel(struct player *p, struct flight *f);

/* After all have ended on all ranks: persistent requests and forgotten sends.
 */
void end_flights(struct player *p);

/* ---- post.c ----------------------------------------------------------------- */

/* Send the next messages of this rank from number `i` on: one, or those of a
 * group. Returns the number after them. */
int post_sends(struct player *p, int i);

/* Add a receive; not posted. Its room is enough for all that it can match. */
struct receive *receive_add(struct player *p, int comm, int source, int tag);
/* Post n of them, which follow each other, by a call that does not block. */
void post_receives(struct player *p, struct receive *r, int n);
/* The same of one, by a call that may find nothing: then nothing happens. */
bool try_receive(struct player *p, struct receive *r);
/* By one that blocks, or by several; a message must be sure to come. */
void receive_now(struct player *p, struct receive *r);

/* Sends, receives and probes of MPI_PROC_NULL. */
void call_nobody(struct player *p);

#endif
