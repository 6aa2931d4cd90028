/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of MPICH's algorithms: which control variables have which values.
 * Private to native*.c. */
#ifndef ASPEN_RUNTIME_COLL_MPICH_NATIVE_ROWS_H
#define ASPEN_RUNTIME_COLL_MPICH_NATIVE_ROWS_H

#include "native.h"

/* Releases whose values are known, as columns. */
enum aspx_native_release {
    ASPX_NATIVE_40, /* MPICH 4.0 */
    ASPX_NATIVE_41,
    ASPX_NATIVE_42,
    ASPX_NATIVE_RELEASES,
};

/* What must hold for MPICH to do as it is told. Otherwise it falls back to its
 * own choice without a word (MPIR_CVAR_COLLECTIVE_FALLBACK=silent), or does
 * something that we do not want to stand for. */
enum aspx_native_need {
    ASPX_NATIVE_POWER = 1 << 0, /* ranks are a power of two */
    /* At least as many elements as the largest power of two in ranks. */
    ASPX_NATIVE_FULL = 1 << 1,
    ASPX_NATIVE_IN_PLACE = 1 << 2,     /* MPI_IN_PLACE on all ranks */
    ASPX_NATIVE_NOT_IN_PLACE = 1 << 3, /* on none */
    ASPX_NATIVE_COMMUTATIVE = 1 << 4,
    ASPX_NATIVE_BUILTIN = 1 << 5, /* an MPI_Op of MPI's own */
    /* With a radix above two operands are reduced as they come: floating
     * results would differ between ranks, or between two runs. */
    ASPX_NATIVE_EXACT = 1 << 6,
    ASPX_NATIVE_TREE = 1 << 7,    /* flat with k = ranks - 1, else k = ranks */
    ASPX_NATIVE_CHUNKED = 1 << 8, /* no configuration of it without chunk */
    ASPX_NATIVE_DEVICE = 1 << 9,  /* the device may divide it into levels */
    ASPX_NATIVE_ROOT_0 = 1 << 10, /* wrong with another root */
};

enum { ASPX_NATIVE_LACKS = -1 }; /* this release does not have it */

struct aspx_native_row {
    enum asp_coll_op op;
    const char *name; /* MPICH's, with - for _, and nb- for tsp_ and sched_ */
    /* Values of MPIR_CVAR_<OP>_INTRA_ALGORITHM and, where that is "nb", of
     * MPIR_CVAR_I<OP>_INTRA_ALGORITHM; 0: a blocking one. */
    int8_t algorithm[ASPX_NATIVE_RELEASES];
    int8_t schedule[ASPX_NATIVE_RELEASES];
    unsigned needs; /* enum aspx_native_need */
    /* Control variables without their MPIR_CVAR_; NULL: it has none. */
    const char *radix[2]; /* get k */
    const char *chunk;    /* gets chunk */
    struct {
        const char *name;
        int value;
    } also[2];        /* whatever else it depends on */
    const char *kary; /* a string that cannot be written: must be "kary" */
    const char *like; /* a configuration of our own, with k for %u */
    /* The same where the device divides it: binomial trees inside of nodes, and
     * the algorithm between them. NULL: not known. */
    const char *divided;
};

extern const struct aspx_native_row aspx_native_rows[];
extern const size_t aspx_native_row_count;

enum { ASPX_NATIVE_ROWS_MAX = 64 }; /* bits of a word */

/* The column of a release as aspx_mpi_release() has it; -1: none. */
int aspx_native_column(int release);

/* Values of a control variable of a configuration. */
enum aspx_native_value { ASPX_NATIVE_FIXED, ASPX_NATIVE_K, ASPX_NATIVE_CHUNK };

enum { ASPX_NATIVE_SETTINGS = 10, ASPX_NATIVE_NAME = 64 };

struct aspx_native_setting {
    char name[ASPX_NATIVE_NAME]; /* whole */
    enum aspx_native_value from;
    int fixed;
};

/* Everything that a row sets in this column, into out of ASPX_NATIVE_SETTINGS.
 *   device  as in struct aspx_native_config
 * Returns how many. */
uint32_t aspx_native_settings(const struct aspx_native_row *row, int column,
                              bool device, struct aspx_native_setting *out);

/* Was this row found alive? native.c */
bool aspx_native_lives(const struct aspx_native_row *row);

#endif
