/* SPDX-License-Identifier: BSD-3-Clause */
/* MPICH's own algorithms, one by one. MPICH chooses one for each call; its
 * control variables (MPI_T) say which one it must take instead, and they are
 * read anew in every call. A configuration is a whole set of them: whether the
 * device may divide the call into levels, the algorithm, that of the
 * non-blocking twin where the algorithm is "nb", its radix, its pieces:
 *
 *   bcast:mpich=binomial
 *   bcast:mpich=nb-tree,k=4
 *   reduce:mpich=nb-tree,k=4,chunk=65536
 *   bcast:mpich=binomial,device=on     the same inside of nodes, and between
 *
 *   read, write --> MPICH's call --> write what was read
 *
 * They are one for the whole process, and MPICH has collectives of its own in
 * MPI_Comm_dup, MPI_Win_create and others, so they differ from what the program
 * has set inside of one call only. docs/design/coll-native.md has the rules. */
#ifndef ASPEN_RUNTIME_COLL_MPICH_NATIVE_H
#define ASPEN_RUNTIME_COLL_MPICH_NATIVE_H

#include "common/base/err.h"
#include "common/coll/build/index.h"
#include "common/tune/key.h"

#include "runtime/coll/call/call.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct aspx_native_row;

struct aspx_native_config {
    const struct aspx_native_row *row;
    uint32_t k;     /* radix; 0 where the row has none */
    uint32_t chunk; /* bytes of a piece; 0: whole, or the row has none */
    bool device;    /* the device divides the call into levels */
};

enum { ASPX_NATIVE_TEXT = 96 }; /* bytes of a text, with its NUL */

/* "bcast:mpich=nb-tree,k=4", into buf of ASPX_NATIVE_TEXT bytes. Returns it. */
const char *aspx_native_text(const struct aspx_native_config *config,
                             char *buf);

/* The reverse, of any release of MPICH. Keys in any order, each once; nothing
 * in the text is trusted. Returns 0, or -1 with errno EINVAL and the reason. */
int aspx_native_parse(enum asp_coll_op op, const char *text,
                      struct aspx_native_config *config_p, struct asp_err *err);

/* Is this the name of the configuration's algorithm, "nb-tree"? */
bool aspx_native_is_named(const struct aspx_native_config *config,
                          const char *name);

/* What a call must be for a configuration; all of it the same on all ranks. */
struct aspx_native_problem {
    enum asp_coll_op op;
    uint32_t ranks, nodes;
    const struct asp_tune_args *args;
};

/* Does MPICH here carry out the call in this very way, and not silently in
 * another one? Threads: any, after aspx_native_start(). */
bool aspx_native_fits(const struct aspx_native_config *config,
                      const struct aspx_native_problem *problem);

/* All configurations that fit and are worth a thought, in a fixed order. Begin
 * with all zeros, as struct asp_coll_configs. */
struct aspx_native_configs {
    struct aspx_native_config config;
    uint32_t row, choice; /* private */
};

bool aspx_native_configs_next(struct aspx_native_configs *configs,
                              const struct aspx_native_problem *problem);

/* The algorithm of our own that does nearly the same ("bcast:tree=kary,k=4"),
 * for the model. Into buf of ASPX_NATIVE_TEXT bytes; returns it. */
const char *aspx_native_like(const struct aspx_native_config *config,
                             char *buf);

/* The same of a configuration that the device divides. Returns false where
 * there is none. */
bool aspx_native_like_divided(const struct aspx_native_config *config,
                              char *buf);

/* Is it a non-blocking algorithm, which MPICH works out anew in each call? */
bool aspx_native_builds_schedule(const struct aspx_native_config *config);

/* Of operations in which MPICH's own choice follows from what all ranks know:
 * can the model tell whether that is this configuration? That of allreduce
 * depends on the number of elements; those of barrier, alltoall and scan are
 * not what is documented, and what a non-blocking algorithm sends is not always
 * what its like sends (tests/coll/native.c, "default", counts). */
bool aspx_native_is_told_apart(const struct aspx_native_config *config);

/* Find out which configurations there are, the same on all ranks: the control
 * variables exist, can be written, and read back. None where the program may
 * call MPI from several threads at once, as another call would see them; none
 * with a release that the table does not know, for MPICH aborts at values that
 * it does not know. Collective over MPI_COMM_WORLD, when MPI runs; behind us.
 *   release  aspx_mpi_release(): 402 for MPICH 4.2 */
void aspx_native_start(int release);

/* Let go of it. Before MPI ends. */
void aspx_native_stop(void);

/* Have MPICH carry out the call in this way. Data of a reduction are of a type
 * that MPI has built in, all other data MPI_BYTE on all ranks: with types of
 * the program several algorithms are wrong, and no rank knows those of the
 * others. Returns what it returned, and has called the error handler that it
 * called. A control variable that somebody else wrote meanwhile keeps that
 * value. Threads: one at a time. */
int aspx_native_call(const struct aspx_native_config *config,
                     const struct aspx_coll_call *call);

/* For a mode in which calls are carried out later than the program makes them,
 * in another thread: do this in its turn, and wait for it. NULL: the calling
 * thread does it. Set before aspx_native_start(). */
extern void (*aspx_native_in_turn)(void (*work)(void *argument),
                                   void *argument);

#endif
