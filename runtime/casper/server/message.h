/* SPDX-License-Identifier: BSD-3-Clause */
/* What a ghost knows of messages: users, sends that are not over, messages that
 * have come, receives that were posted. */
#ifndef ASPEN_RUNTIME_CASPER_SERVER_MESSAGE_H
#define ASPEN_RUNTIME_CASPER_SERVER_MESSAGE_H

#include "runtime/casper/arena/engine.h"
#include "runtime/p2p/match.h"
#include "runtime/p2p/posts.h"

#include <sys/types.h>

/* News that found no room in the mailbox yet. */
struct aspx_ghost_news {
    struct aspx_ghost_news *next;
    struct aspx_p2p_news news;
    uint64_t bytes;
    char data[];
};

/* A user of this node. */
struct aspx_ghost_user {
    struct aspx_mailbox mailbox;
    uint32_t rank; /* in MPI_COMM_WORLD */
    pid_t pid;
    bool is_broken;
    struct aspx_ghost_news *first, **end;
    struct aspx_ghost_receive *receives; /* posted */
    struct aspx_ghost_send *sends;       /* not over */
    struct aspx_ghost_message *claimed;  /* by probes, not received yet */
    uint64_t claims;                     /* so far */
    struct aspx_ghost_user *next;
};

/* A send of a user of this node that is to be told when it is over: its data
 * are still in its memory, or it waits until it is matched. */
struct aspx_ghost_send {
    struct aspx_ghost_user *user;
    uint32_t request; /* of the user */
    uint32_t number;  /* ghosts of other nodes name it so */
    int32_t ghost;    /* where it is matched; -1: here */
    uint64_t bytes;
    struct aspx_p2p_place place;
    bool has_failed; /* the data could not be read */
    bool all_asked;  /* by the ghost that it is matched at */
    uint32_t pieces; /* that MPI is sending from its memory */
    struct aspx_ghost_message *message;  /* here */
    struct aspx_ghost_send *prev, *next; /* of its user */
};

/* A message to a user of this node. */
struct aspx_ghost_message {
    struct aspx_match_message match; /* the first member */
    uint64_t bytes;
    uint8_t flags;                /* of the post */
    int32_t ghost;                /* whence it came; -1: here */
    uint32_t number;              /* there */
    struct aspx_ghost_send *send; /* here; NULL: nobody waits for it */
    char *data;     /* of a small one that was not matched at once; owned */
    uint64_t claim; /* its number, where it is claimed */
    struct aspx_ghost_message *next; /* of those that are claimed */
    struct aspx_ghost_message *held_prev, *held_next; /* of those from elsewhere
                                       that can be cancelled; see held */
    bool is_held;
};

/* A receive or a probe of a user of this node. */
struct aspx_ghost_receive {
    struct aspx_match_receive match; /* the first member */
    struct aspx_ghost_user *user;
    uint32_t request;
    uint8_t verb, flags;
    uint64_t room;
    uint64_t offset; /* of the buffer in the arena, or ASPX_P2P_NOWHERE */
    struct aspx_ghost_receive *prev, *next; /* of its user */
};

/* What the parts have in common. */
struct aspx_ghost_messages {
    const struct aspx_engine *engine;
    const struct aspx_doorbell *doorbell;
    struct aspx_match match;
    struct aspx_ghost_user *users;
    struct aspx_ghost_user **by_rank; /* those of this node, by user rank */
    struct aspx_ghost_send **sends;   /* by number; NULL: free */
    uint32_t nsends, next_send;
    MPI_Comm comm;    /* the ghosts', for this alone */
    bool has_no_room; /* something waits for room in a mailbox */
};
extern struct aspx_ghost_messages aspx_ghost_messages;

/* Tell a user; bytes of data go along. Never fails but for memory: -1. */
int aspx_ghost_tell(struct aspx_ghost_user *user,
                    const struct aspx_p2p_news *news, const void *data,
                    uint64_t bytes);

/* What had no room then. Returns whether some had now. */
bool aspx_ghost_tell_kept(struct aspx_ghost_user *user);

/* The label of what a receive is told, with the envelope of its message. */
struct aspx_p2p_news aspx_ghost_news_of(
    const struct aspx_ghost_receive *receive,
    const struct aspx_ghost_message *message, enum aspx_p2p_news_verb verb);

/* A send of a user of this node; NULL: no memory. */
struct aspx_ghost_send *aspx_ghost_send_new(struct aspx_ghost_user *user,
                                            const struct aspx_p2p_post *post,
                                            const struct aspx_p2p_place *place);

/* The sender's end is over: told to its user, and freed. */
int aspx_ghost_send_over(struct aspx_ghost_send *send);

/* By number; NULL: there is none. */
struct aspx_ghost_send *aspx_ghost_send_at(uint32_t number);

/* Take away a send that was cancelled, and say so to its user. */
int aspx_ghost_send_cancelled(struct aspx_ghost_send *send);

/* Put a message aside for its receiver, and take it back by its number; NULL:
 * there is none. */
uint64_t aspx_ghost_claim(struct aspx_ghost_user *user,
                          struct aspx_ghost_message *message);
struct aspx_ghost_message *aspx_ghost_claimed(struct aspx_ghost_user *user,
                                              uint64_t claim);

void aspx_ghost_message_free(struct aspx_ghost_message *message);
/* It is matched: it can be cancelled no more. */
void aspx_ghost_receive_unlist(struct aspx_ghost_receive *receive);
void aspx_ghost_receive_free(struct aspx_ghost_receive *receive);

/* Does [offset, offset + bytes) lie where users have their memory? */
static inline bool aspx_ghost_may_touch(uint64_t offset, uint64_t bytes)
{
    const struct aspx_arena *arena = &aspx_ghost_messages.engine->arena;

    return offset >= arena->head_bytes && offset <= arena->bytes &&
           bytes <= arena->bytes - offset;
}

/* Copy bytes of a send, from an offset of it on. Returns false: they cannot be
 * read. */
bool aspx_ghost_read(const struct aspx_ghost_send *send, uint64_t offset,
                     void *to, uint64_t bytes);

#endif
