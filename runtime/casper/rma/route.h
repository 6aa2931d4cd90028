/* SPDX-License-Identifier: BSD-3-Clause */
/* Where one operation goes. */
#ifndef ASPEN_RUNTIME_CASPER_RMA_ROUTE_H
#define ASPEN_RUNTIME_CASPER_RMA_ROUTE_H

#include "runtime/casper/window/window.h"

enum aspx_path {
    ASPX_PATH_SEND,   /* to a ghost, or to the target: route->on */
    ASPX_PATH_COPY,   /* Put, Get: both buffers are bytes in our reach */
    ASPX_PATH_SPLIT,  /* accumulates: several ghosts own parts of it */
    ASPX_PATH_NATIVE, /* not ours, or MPI shall complain about it */
    ASPX_PATH_ERROR,  /* already raised: return code */
};

/* A buffer of the origin. */
struct aspx_buffer {
    const void *addr;
    MPI_Count count;
    MPI_Datatype type;
};

/* What an operation touches at its target. */
struct aspx_target_access {
    enum aspx_call call;
    int rank;
    MPI_Aint disp; /* as the program says; ASPX_PATH_NATIVE: for MPI */
    MPI_Count count;
    MPI_Datatype type;
    bool request; /* the program asked for one */
    bool traced;  /* for aspx_route_find() alone: it tells already */
};

#define ASPX_ROUTE_TARGET UINT32_MAX

struct aspx_route {
    struct aspx_win *win;
    struct aspx_target *target;
    MPI_Aint start; /* in the target's window, bytes */
    uint64_t bytes; /* of data, at the target */
    int code;       /* ASPX_PATH_ERROR */
    /* ASPX_PATH_SEND: */
    MPI_Win on;     /* MPI's window to use */
    int rank;       /* in it */
    MPI_Aint addr;  /* displacement in it, bytes */
    uint32_t ghost; /* index in win->ghosts; ASPX_ROUTE_TARGET: the target
                       itself, with its device or by its own hand */
    bool contig;    /* a contiguous window would take it, see below */
    bool late; /* it may get there after MPI's flush: casper/arena/arrival.h
                */
    /* ASPX_PATH_COPY: */
    char *here;
};

/* A Put or Get without a request goes on a contiguous window instead
 * (casper/arena/contig_win.h), if it may: returns whether it does. */
bool aspx_route_to_contig(struct aspx_route *route);

/* Decide, check the bounds, count.
 *   origin  the buffer that Put and Get move, else NULL
 * Threads: any. */
enum aspx_path aspx_route_find(MPI_Win handle,
                               struct aspx_target_access *access,
                               const struct aspx_buffer *origin,
                               struct aspx_route *route);

/* Send what is bound to the main ghost, or to ghost g, from here on:
 * fills on, rank, addr. start and bytes are those of the part. */
void aspx_route_to(struct aspx_route *route, uint32_t g);

/* It has a request, for which the program may wait without a flush: wake the
 * ghost if it naps. */
void aspx_route_ring(const struct aspx_route *route);

/* After the operation was issued with result rc: note it for the flushes, wait
 * for the ghost if too much is under way, and raise what went wrong. Returns
 * the code for the program. */
int aspx_route_sent(const struct aspx_route *route, int rc);

/* The ghost that owns a byte of a target, when accumulates go by segment. */
uint32_t aspx_route_owner(const struct aspx_win *win,
                          const struct aspx_target *target, MPI_Aint byte);

/* A request that is complete: of an operation that was done at once. */
int aspx_route_done(MPI_Request *request);

#endif
