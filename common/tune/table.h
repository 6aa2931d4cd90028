/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of tuned choices: what was found the best configuration for a key, on
 * which machine. It is a text file (aspen-coll-table(5)), read once by one
 * process, carried as canonical bytes to all, and looked up in each call
 * without a lock or an allocation.
 *
 * What a table is made of is bounded, so that a hostile file costs no more than
 * ASP_TUNE_FILE_MAX bytes and about three times as much in memory. A
 * configuration is text here; whoever loads the table checks it
 * (asp_tune_config_check_f). */
#ifndef ASPEN_COMMON_TUNE_TABLE_H
#define ASPEN_COMMON_TUNE_TABLE_H

#include "key.h"
#include "sha256.h"

#include "common/base/build_id.h"
#include "common/base/err.h"
#include "common/coll/model/simulate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    ASP_TUNE_FILE_MAX = 4 << 20, /* bytes of a file */
    ASP_TUNE_LINE_MAX = 512,     /* of a line, with its newline */
    ASP_TUNE_ROWS_MAX = 16384,
    ASP_TUNE_CONFIGS_MAX = 1024, /* different ones in a table */
    ASP_TUNE_SHAPES_MAX = 256,   /* likewise */
    ASP_TUNE_JOBS_MAX = 64,      /* shapes of jobs that made it */
    ASP_TUNE_CONFIG_MAX = ASP_COLL_CONFIG_TEXT, /* bytes of its text */
    ASP_TUNE_FACT_MAX = 64,                     /* of a fact of the machine */
    ASP_TUNE_DAY_MAX = 11,                      /* "2026-11-27" */
    /* A size that was not measured takes the row of one that is at most this
     * many powers of two away. */
    ASP_TUNE_NEAR = 2,
};

/* Times are whole nanoseconds, so that a table is the same after it was read
 * and written; the file shows microseconds with three digits. */
#define ASP_TUNE_NS_MAX UINT64_C(1000000000000) /* 1,000 s */

/* The machine and the programs that times were measured with: another is
 * refused. Ranks per CPU follow from ppn and cpus. */
struct asp_tune_machine {
    char mpi[ASP_TUNE_FACT_MAX];    /* "4.0.2" */
    char build[ASP_BUILD_MAX];      /* of its library; common/base/build_id.h */
    char ucx[ASP_TUNE_FACT_MAX];    /* "1.13.1" */
    char fabric[ASP_TUNE_FACT_MAX]; /* "tcp", "any": UCX_TLS; or another device
                                       of MPICH, with its settings */
    uint32_t cpus;                  /* of a node, that a job may use */
};

/* What was measured of the machine's links and of a core, for models
 * (common/coll/model/simulate.h): in ps, at most ASP_COLL_LINK_PS_MAX. */
struct asp_tune_links {
    bool has_inside, has_between, has_core;
    struct asp_coll_link inside, between;
    struct asp_tune_core {
        int64_t copy, reduce; /* per byte */
    } core;
};

/* Nodes and ranks per node of a job. */
struct asp_tune_job {
    uint32_t nodes, ppn;
};

enum asp_tune_source {
    ASP_TUNE_SWEEP,  /* aspen tune, outside of a program */
    ASP_TUNE_SEARCH, /* found in the calls of a program */
    ASP_TUNE_MODEL,  /* never measured: best_ns and default_ns are predicted */
    ASP_TUNE_HAND,   /* somebody wrote it */
    ASP_TUNE_SOURCES,
};

struct asp_tune_row {
    struct asp_tune_key key;
    uint32_t config;              /* index into configs */
    uint64_t best_ns, default_ns; /* a call, from its last arrival on */
    uint32_t tried;               /* candidates that were measured */
    enum asp_tune_source source;
    char day[ASP_TUNE_DAY_MAX]; /* when it was measured */
};

struct asp_tune_table {
    struct asp_tune_machine machine;
    struct asp_tune_links links;
    struct asp_tune_job jobs[ASP_TUNE_JOBS_MAX];
    uint32_t njobs;
    struct asp_tune_row *rows; /* in the order of their keys, no key twice */
    uint32_t nrows;
    char (*configs)[ASP_TUNE_CONFIG_MAX];
    uint32_t nconfigs;
    /* Sizes that were not measured are not found; set before
     * asp_tune_table_index(). */
    bool exact;
    /* By which asp_tune_find() looks up; asp_tune_table_index() makes it. */
    struct asp_tune_shape *shapes;
    uint32_t nshapes;
    struct asp_tune_slot *slots;
    uint32_t nslots; /* a power of two */
};

/* Is this a configuration of that operation that this Aspen knows? Called for
 * each row of a file. Returns 0, or -1 with the reason in err. */
typedef int (*asp_tune_config_check_f)(enum asp_coll_op op, const char *config,
                                       struct asp_err *err);

/* Read a table, and index it.
 *   name     for messages: "FILE:LINE: ..."
 *   text     not terminated
 *   check    NULL: any word is a configuration
 *   table_p  owned by the caller, asp_tune_table_clear(); untouched on failure
 * Returns 0, or -1 with errno EINVAL (what is wrong, and the line), EFBIG (over
 * a limit, which is named) or ENOMEM.
 * Threads: reentrant. */
int asp_tune_table_parse(const char *name, const char *text, size_t len,
                         asp_tune_config_check_f check,
                         struct asp_tune_table *table_p, struct asp_err *err);

/* The same of a file, of which no more than ASP_TUNE_FILE_MAX bytes are read.
 * Returns also -1 with the errno of open() and read(). */
int asp_tune_table_read(const char *path, asp_tune_config_check_f check,
                        struct asp_tune_table *table_p, struct asp_err *err);

/* The canonical bytes, for the caller to free(); what parse makes of them is
 * the same table, and all tables that are equal have the same. Returns NULL
 * with errno ENOMEM. */
char *asp_tune_table_text(const struct asp_tune_table *table, size_t *len_p);

/* SHA-256 of the canonical bytes. Returns 0 or -1 with errno ENOMEM. */
int asp_tune_table_digest(const struct asp_tune_table *table,
                          unsigned char digest[ASP_SHA256_BYTES]);

/* Free what is in it. Takes an empty one. */
void asp_tune_table_clear(struct asp_tune_table *table);

/* May this job use the table? Returns 0, or -1 with errno ENOEXEC and all of
 * the message: "table ignored: built for MPICH 4.0.2, this is 4.2.1". */
int asp_tune_table_fits(const struct asp_tune_table *table,
                        const struct asp_tune_machine *here,
                        const struct asp_tune_job *job, struct asp_err *err);

/* Add a row, or replace that of the same key; jobs are added by
 * asp_tune_table_add_job(). The index is then out of date. row->config is not
 * looked at.
 * Returns 0, or -1 with errno ENOMEM, EFBIG (a limit) or EINVAL (configuration:
 * empty, too long, or with a blank or control character). */
int asp_tune_table_add(struct asp_tune_table *table,
                       const struct asp_tune_row *row, const char *config,
                       struct asp_err *err);
int asp_tune_table_add_job(struct asp_tune_table *table,
                           const struct asp_tune_job *job, struct asp_err *err);

/* Add the rows, jobs and links of a newer table of the same machine: where both
 * have a key the newer is kept, even if it is slower, for it is what holds now.
 * Returns 0, or -1 with errno ENOEXEC (another machine: the same message as
 * asp_tune_table_fits()) or as asp_tune_table_add(). */
int asp_tune_table_merge(struct asp_tune_table *table,
                         const struct asp_tune_table *newer,
                         struct asp_err *err);

/* Take what `newer` has; what it lacks stays. */
void asp_tune_links_merge(struct asp_tune_links *links,
                          const struct asp_tune_links *newer);

/* Make the index anew. Returns 0, or -1 with errno ENOMEM or EFBIG (more than
 * ASP_TUNE_SHAPES_MAX shapes). */
int asp_tune_table_index(struct asp_tune_table *table);

/* ---- look-up, in each call ---- */

/* A place of the index; for asp_tune_find() only. */
struct asp_tune_slot {
    uint32_t word; /* call word and shape, UINT32_MAX: empty */
    uint32_t row;  /* index into rows */
};

/* The number of a communicator's shape in a table; ask once. Returns
 * ASP_TUNE_NO_SHAPE when the table has no row for it. */
#define ASP_TUNE_NO_SHAPE UINT32_MAX
uint32_t asp_tune_table_shape(const struct asp_tune_table *table,
                              const struct asp_tune_shape *shape);

static inline uint32_t asp_tune_hash(uint32_t word)
{
    word *= UINT32_C(0x9e3779b1); /* 2^32 divided by the golden ratio */
    return word ^ word >> 15;
}

/* The row for a call: that of its key, or of the nearest size (ASP_TUNE_NEAR)
 * with all else equal; row->key says which. Never a row of another class of
 * MPI_Op, in_place, root, pattern or shape. NULL: the safe default.
 *   shape  from asp_tune_table_shape(), not ASP_TUNE_NO_SHAPE
 * Threads: any number, while nobody changes the table.  Cost: one or few
 * probes, no allocation. */
static inline const struct asp_tune_row *asp_tune_find(
    const struct asp_tune_table *table, uint32_t shape, uint32_t call)
{
    uint32_t word = shape << ASP_TUNE_CALL_BITS | call;
    uint32_t at = asp_tune_hash(word);

    for (;; at++) {
        const struct asp_tune_slot *slot =
            &table->slots[at & (table->nslots - 1)];

        if (slot->word == word)
            return &table->rows[slot->row];
        if (slot->word == UINT32_MAX)
            return NULL;
    }
}

#endif
