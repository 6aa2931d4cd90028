/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank and its ghost write to each other in their mailbox
 * (posted/mailbox.h): posts of the rank, in the order of the program, and the
 * ghost's news of them. Each is the label of an entry; data may follow. */
#ifndef ASPEN_RUNTIME_P2P_POSTS_H
#define ASPEN_RUNTIME_P2P_POSTS_H

#include "runtime/posted/mailbox.h"

#include <stdint.h>

enum {
    ASPX_P2P_RANK, /* participants of the mailbox */
    ASPX_P2P_GHOST,
    /* To so many bytes a message travels with its envelope: a page is copied
     * in less time than it takes to ask for it, and between nodes the two fit
     * into one message that MPI sends at once. */
    ASPX_P2P_SMALL = 4096,
};

/* Larger messages are moved so many bytes at a time: a ghost has others to
 * serve, and takes 0.1 ms for it. */
#define ASPX_P2P_PIECE (UINT64_C(1) << 20)

enum aspx_p2p_verb {
    ASPX_P2P_HELLO, /* may its memory be read? */
    ASPX_P2P_SEND,
    ASPX_P2P_RECEIVE,
    ASPX_P2P_PROBE,
    ASPX_P2P_RECEIVE_CLAIMED, /* what a probe has claimed: `comm` is its number
                               */
    ASPX_P2P_CANCEL,          /* the request's post */
};

enum aspx_p2p_flags {
    ASPX_P2P_SYNC = 1,   /* send: ends when it is matched */
    ASPX_P2P_APART = 2,  /* send: the data lie elsewhere, and follow later */
    ASPX_P2P_WAITS = 4,  /* probe: answered when there is one */
    ASPX_P2P_CLAIMS = 8, /* probe: the message is put aside for its caller */
};

/* A post. */
struct aspx_p2p_post {
    uint8_t verb, flags;
    uint16_t unused;
    uint32_t request; /* the ghost's news name it */
    uint64_t comm;    /* number of the communicator (comm.h) */
    uint32_t to;      /* send: the receiver's rank in MPI_COMM_WORLD */
    int32_t source; /* in the communicator; receive, probe: or MPI_ANY_SOURCE */
    int32_t tag;    /* or MPI_ANY_TAG */
    uint32_t unused_too;
    uint64_t bytes; /* of the message; receive: room for it */
};

/* Where the data of a send are, or of a receive are to go; behind the label. Of
 * a receive it is there only where the ghost maps the buffer. */
struct aspx_p2p_place {
    uint64_t address; /* in the rank */
    uint64_t offset;  /* in the arena; ASPX_P2P_NOWHERE: not there */
};
#define ASPX_P2P_NOWHERE UINT64_MAX

enum aspx_p2p_news_verb {
    ASPX_P2P_HEARD, /* bytes: 1: this rank's memory can be read */
    ASPX_P2P_SENT,
    ASPX_P2P_LANDED,   /* a piece of a message; more follow */
    ASPX_P2P_RECEIVED, /* all of it, but for what follows here */
    ASPX_P2P_FOUND,    /* by a probe; offset: number of what it has claimed */
    ASPX_P2P_NOT_FOUND,
    ASPX_P2P_CANCELLED,
};

enum aspx_p2p_news_flags {
    ASPX_P2P_FAILED = 1, /* the data could not be read */
    ASPX_P2P_DIRECT = 2, /* the ghost has written them into the buffer */
};

struct aspx_p2p_news {
    uint8_t verb, flags;
    uint16_t unused;
    uint32_t request;
    int32_t source, tag;
    uint64_t bytes;  /* of the whole message */
    uint64_t offset; /* in the message, of the data that follow */
    /* most receives and messages that ever waited at the ghost, for the record
     */
    uint32_t posted, unexpected;
};

_Static_assert(sizeof(struct aspx_p2p_post) ==
                   sizeof(struct aspx_mailbox_label),
               "a label");
_Static_assert(sizeof(struct aspx_p2p_news) ==
                   sizeof(struct aspx_mailbox_label),
               "a label");

#endif
