/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of a job, of whatever mode: where it goes, its head, and the
 * sections that the mode lists (docs/design/record.md). */
#ifndef ASPEN_RUNTIME_RECORD_FRAME_H
#define ASPEN_RUNTIME_RECORD_FRAME_H

#include "common/layout/layout.h"

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct aspx_mode;

/* What a record is made for; the same in all ranks but for rank and node. */
struct aspx_record {
    const struct asp_layout *layout;
    MPI_Comm users; /* whose counts are gathered, in rank 0 */
    int rank, nusers, nghosts;
    uint32_t node, nnodes; /* of this rank; of all */
    struct aspx_record_block *blocks;
};

/* A part of the record. It is listed in the modes that have it, in the order of
 * the file (world/mode.h). NULL stands for nothing to do. */
struct aspx_section {
    int text_place; /* on stderr sections come in the order of these numbers */

    /* Stop what is measured, in each rank, before any section gathers. */
    void (*close)(void);

    /* What there is to tell, in rank 0: memory of aspx_record_alloc() and its
     * kin. NULL: nothing, and the section is left out; of a mode's first
     * section: there is no record. What other ranks return counts for nothing.
     * Collective over users, while MPI works. */
    void *(*gather)(struct aspx_record *record);

    /* In rank 0, with what gather returned: whole lines of text. */
    void (*print)(FILE *out, const struct aspx_record *record,
                  const void *data);

    /* The same: members of the file's object, a comma before each. */
    void (*json)(FILE *out, const struct aspx_record *record, const void *data);
};

/* "1" (stderr only; "trace" is that, too), a file, or NULL: from
 * --async-report, else from the job's policy. layout may be NULL. */
const char *aspx_record_where(const struct asp_layout *layout);

/* Gather the sections of a mode; print and write what the user asked for. A
 * rank that has to go on without its mode takes part, too. Inside MPI, before
 * MPI_Finalize; collective over the users when asked for, else nothing. */
void aspx_record_report(const struct asp_layout *layout,
                        const struct aspx_mode *mode);

/* ---- for sections --------------------------------------------------------- */

/* Zeroed memory that lasts as long as the record; NULL: there is none. */
void *aspx_record_alloc(struct aspx_record *record, size_t size);

/* The sum of n numbers each, in rank 0; NULL elsewhere and, everywhere, when
 * memory is short anywhere. Collective.
 *   own  NULL: this rank had no memory for its numbers */
uint64_t *aspx_record_sum(struct aspx_record *record, const uint64_t *own,
                          size_t n);

/* The largest of each, likewise. */
uint64_t *aspx_record_most(struct aspx_record *record, const uint64_t *own,
                           size_t n);

/* The rows of all ranks in rank 0, by rank; NULL elsewhere and, everywhere,
 * when memory is short there. Collective.
 *   n       rows of this rank, which others have other numbers of
 *   size    bytes of a row
 *   total   how many rows there are, 0 where NULL is returned */
void *aspx_record_rows(struct aspx_record *record, const void *own, size_t n,
                       size_t size, size_t *total);

/* "4 ranks on 2 nodes", and the same with how many have a thread:
 * "4 ranks on 2 nodes, a thread each". */
void aspx_record_print_ranks(FILE *out, const struct aspx_record *record);
void aspx_record_print_threads(FILE *out, const struct aspx_record *record,
                               uint64_t threads);

/* A JSON string. Names are bytes of the program's, cut at any place: what is
 * not UTF-8 becomes the replacement character. */
void aspx_record_put_string(FILE *out, const char *text);

/* A rule of the policy, as an object, and how many objects it held for.
 *   counted  the name of that number */
void aspx_record_put_rule(FILE *out, const struct asp_objrule *rule,
                          const char *counted, uint64_t count);

#endif
