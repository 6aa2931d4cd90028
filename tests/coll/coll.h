/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that calls runtime/coll/node itself: the ranks of MPI_COMM_WORLD
 * are a node. What is not so is told with rank and line, and counted. */
#ifndef ASPEN_TESTS_COLL_COLL_H
#define ASPEN_TESTS_COLL_COLL_H

#include "config.h"

#include "runtime/coll/node/area.h"
#include "runtime/coll/node/node.h"
#include "tests/random/prng.h"

#include <mpi.h>
#include <stdio.h>

extern int coll_rank, coll_size;
extern long coll_wrong;
extern struct aspx_node_area *coll_area;

#define EXPECT(what, ...)                                                      \
    do {                                                                       \
        if (!(what) && ++coll_wrong <= 20) {                                   \
            fprintf(stderr, "rank %d, %s:%d: not so: %s; ", coll_rank,         \
                    __FILE__, __LINE__, #what);                                \
            fprintf(stderr, __VA_ARGS__);                                      \
            fprintf(stderr, "\n");                                             \
        }                                                                      \
    } while (0)

/* node.c */
struct aspx_node_area *coll_make_area(size_t slot_bytes, struct asp_err *err);
struct aspx_node_config coll_any_config(struct prng *all);
void coll_dawdle(struct prng *own); /* now and then, come late */

/* n: how often. */
void coll_barriers(struct prng *all, long n); /* stories.c */
void coll_isend(struct prng *all, long n);
void coll_killed(struct prng *all, long n);
void coll_fallback(struct prng *all, long n); /* limits.c */
void coll_mismatch(struct prng *all, long n);
void coll_no_memory(struct prng *all, long n);
void coll_random(struct prng *all, long n); /* random.c */

#endif
