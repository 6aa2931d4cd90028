/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of a phase of a random program, which all ranks draw alike, and
 * the reference that says which receive may get which. */
#ifndef ASPEN_TESTS_P2P_PROGRAM_H
#define ASPEN_TESTS_P2P_PROGRAM_H

#include "tests/random/prng.h"

#include <mpi.h>
#include <stdbool.h>

/* Of a player: the world (or a dup), a dup, two halves whose ranks run the
 * other way, and a dup that is freed while requests are under way. */
enum { COMMS = 4, HALVES = 2, DOOMED = 3 };

enum {
    MESSAGES_MOST = 96, /* of a phase */
    TAGS = 4,           /* that several messages have */
    UNIQUE_TAG = 100,   /* and from here on those of one message */
    NO_TAG = 99,        /* of no message */
    SMALL_BYTES = 8,    /* too few for the number of a message */
    BUFFERED_MOST = 8192,
};

enum send_kind {
    SEND,
    SSEND,
    RSEND, /* these wait for their receivers */
    BSEND,
    ISEND,
    ISSEND,
    IBSEND,
    IRSEND,
    PERSISTENT,
    PERSISTENT_S,
    PERSISTENT_B,
    PERSISTENT_R,
    SEND_KINDS
};

struct message {
    int comm, from, to;   /* ranks of the world */
    int source, dest;     /* of the communicator */
    int tag, units, unit; /* place.h */
    enum send_kind kind;
    /* Those of a sender with one number are started by one MPI_Startall, so in
     * no order; else in the order of these. */
    int group;
};

struct phase {
    uint64_t key; /* what its bytes depend on */
    int n;
    bool posted; /* all receives are posted before anything is sent */
    struct message messages[MESSAGES_MOST];
};

/* The rank in communicator `comm` of a rank of the world of `size`. */
int comm_rank(int comm, int world_rank, int size);

void phase_draw(struct phase *phase, struct prng *all, int size, bool posted);
int bytes_of(const struct message *m);
/* Its bytes, for free(). From SMALL_BYTES on they begin with its number. */
unsigned char *message_bytes(const struct phase *phase, int number);

/* A receive, or a probe that took a message. */
struct receive {
    int comm, source, tag; /* MPI_ANY_SOURCE, MPI_ANY_TAG */
    int units;             /* that it has room for */
    int got;               /* the message, or -1 */
    bool truncates, cancelled;
    /* When it was posted, its end was seen, it was to be cancelled: counts of
     * the rank. What was posted by one call has one number. */
    int posted, ended, revoked;
};

bool fits(const struct receive *r, const struct message *m);

/* Could MPI have matched so? Checks the receives of a rank that have got all
 * its messages. Returns NULL, or what is wrong. */
const char *matching_fault(const struct phase *phase, const struct receive *r,
                           int n);

#endif
