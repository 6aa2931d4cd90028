/* SPDX-License-Identifier: BSD-3-Clause */
/* The record's section of a job with ghosts: the calls on windows, by who
 * carried them out, and the load of each ghost. */
#include "config.h"

#include "sections.h"

#include "runtime/casper/arena/engine.h"
#include "runtime/casper/window/counts.h"
#include "runtime/world/world.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *const call_names[ASPX_CALLS_COUNTED] = {
    [ASPX_CALL_PUT] = "put",
    [ASPX_CALL_GET] = "get",
    [ASPX_CALL_ACCUMULATE] = "accumulate",
    [ASPX_CALL_GET_ACCUMULATE] = "get_accumulate",
    [ASPX_CALL_FETCH_AND_OP] = "fetch_and_op",
    [ASPX_CALL_COMPARE_AND_SWAP] = "compare_and_swap",
    [ASPX_CALL_LOCK] = "lock",
    [ASPX_CALL_LOCK_ALL] = "lock_all",
    [ASPX_CALL_FLUSH] = "flush",
    [ASPX_CALL_FENCE] = "fence",
    [ASPX_CALL_PSCW] = "pscw",
    [ASPX_CALL_WINDOW] = "window",
};

struct sums {
    uint64_t count[ASPX_CALLS_COUNTED][ASPX_HANDLINGS];
    struct {
        uint64_t ops, bytes;
    } load[]; /* by world rank */
};

static uint64_t sum_handling(const struct sums *sums,
                             enum aspx_handling handling)
{
    uint64_t sum = 0;

    for (int c = 0; c < ASPX_CALLS_COUNTED; c++)
        sum += sums->count[c][handling];
    return sum;
}

/* "accumulate 100, flush 100" for one way; false: nothing. */
static bool print_calls(FILE *out, const struct sums *sums,
                        enum aspx_handling handling)
{
    const char *comma = "";

    for (int c = 0; c < ASPX_CALLS_COUNTED; c++) {
        if (!sums->count[c][handling])
            continue;
        fprintf(out, "%s%s %" PRIu64, comma, call_names[c],
                sums->count[c][handling]);
        comma = ", ";
    }
    return comma[0];
}

/* What is still private with a shared heap. */
static const char *handling_words(const struct asp_layout *layout,
                                  enum aspx_handling handling)
{
    if (handling == ASPX_HANDLING_PRIVATE &&
        layout->knobs.heap == ASP_HEAP_SHARED)
        return "window on private memory (MPI_Win_create; static, on the "
               "stack, from before MPI_Init, or below heap.threshold_kb)";
    return aspx_handling_words(handling);
}

static void print(FILE *out, const struct aspx_record *record, const void *data)
{
    const struct asp_layout *layout = record->layout;
    const struct sums *sums = data;

    fprintf(out,
            "aspen: ghost mode, %d user ranks and %d ghosts on %u nodes, "
            "%s%s%s; redirected %" PRIu64 " (",
            record->nusers, record->nghosts, record->nnodes,
            layout->bound ? "bound" : "not bound",
            layout->reason[0] ? ": " : "", layout->reason,
            sum_handling(sums, ASPX_HANDLING_GHOST));
    if (!print_calls(out, sums, ASPX_HANDLING_GHOST))
        fputs("nothing", out);
    fputc(')', out);
    for (int w = ASPX_HANDLING_GHOST + 1; w < ASPX_HANDLINGS; w++) {
        if (!sum_handling(sums, (enum aspx_handling) w))
            continue;
        fprintf(out, "; %s %" PRIu64 ", %s (",
                w < ASPX_HANDLING_PRIVATE ? "direct" : "native",
                sum_handling(sums, (enum aspx_handling) w),
                handling_words(layout, (enum aspx_handling) w));
        print_calls(out, sums, (enum aspx_handling) w);
        fputc(')', out);
    }
    fputc('\n', out);
}

static void put_handlings(FILE *out, const struct sums *sums, int call)
{
    const char *comma = "";

    for (int w = 0; w < ASPX_HANDLINGS; w++) {
        if (!sums->count[call][w])
            continue;
        fprintf(out, "%s\"%s\": %" PRIu64, comma,
                aspx_handling_key((enum aspx_handling) w),
                sums->count[call][w]);
        comma = ", ";
    }
}

static void put_ghosts(FILE *out, const struct sums *sums)
{
    const char *comma = "";

    for (int r = 0; r < aspx_world.size_all; r++) {
        if (aspx_world.peers[r].role != ASP_ROLE_GHOST)
            continue;
        fprintf(out,
                "%s\n    {\"rank\": %d, \"node\": %u, \"ops\": %" PRIu64
                ", \"bytes\": %" PRIu64 "}",
                comma, r, aspx_world.peers[r].node, sums->load[r].ops,
                sums->load[r].bytes);
        comma = ",";
    }
}

static void put_json(FILE *out, const struct aspx_record *record,
                     const void *data)
{
    const struct sums *sums = data;

    (void) record;
    fputs(",\n  \"ghost_load\": [", out);
    put_ghosts(out, sums);
    fprintf(out, "\n  ],\n  \"redirected\": %" PRIu64 ",\n  \"calls\": {",
            sum_handling(sums, ASPX_HANDLING_GHOST));
    for (int c = 0; c < ASPX_CALLS_COUNTED; c++) {
        fprintf(out, "%s\n    \"%s\": {", c ? "," : "", call_names[c]);
        put_handlings(out, sums, c);
        fputc('}', out);
    }
    fputs("\n  }", out);
}

/* What this process has counted, and sent to each ghost. */
static void read_counts(struct sums *own)
{
    for (int c = 0; c < ASPX_CALLS_COUNTED; c++)
        for (int w = 0; w < ASPX_HANDLINGS; w++)
            own->count[c][w] = atomic_load(&aspx_counts[c][w]);
    for (int r = 0; aspx_engine.loads && r < aspx_world.size_all; r++) {
        own->load[r].ops = atomic_load(&aspx_engine.loads[r].ops);
        own->load[r].bytes = atomic_load(&aspx_engine.loads[r].bytes);
    }
}

static void *gather(struct aspx_record *record)
{
    struct sums *own;
    size_t size = sizeof(*own) +
                  (size_t) aspx_world.size_all * sizeof(own->load[0]);

    own = aspx_record_alloc(record, size);
    if (own)
        read_counts(own);
    return aspx_record_sum(record, (const uint64_t *) own,
                           size / sizeof(uint64_t));
}

const struct aspx_section aspx_calls_section = {
    .text_place = 10,
    .gather = gather,
    .print = print,
    .json = put_json,
};
