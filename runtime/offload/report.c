/* SPDX-License-Identifier: BSD-3-Clause */
/* What the record says of the offload threads. */
#include "config.h"

#include "report.h"

#include "state.h"
#include "thread.h"

#include "runtime/mpi/helper_thread.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct sum {
    struct aspx_offload_counts counts;
    uint64_t threads; /* ranks that have one */
};

enum { NUMBERS = sizeof(struct sum) / sizeof(uint64_t) };

static bool is_the_mode(const struct aspx_record *record)
{
    return record->layout->mode == ASP_MODE_OFFLOAD;
}

static void stop_clock(void)
{
    if (aspx_helper_thread_runs())
        aspx_thread_count();
}

static void *gather(struct aspx_record *record)
{
    const struct sum own = {aspx_offload_counts, aspx_helper_thread_runs()};
    struct sum *sum;

    if (!asp_layout_offloads(record->layout)) /* the same everywhere */
        return NULL;
    sum = (void *) aspx_record_sum(record, (const void *) &own, NUMBERS);
    if (sum && !sum->threads && is_the_mode(record))
        return NULL; /* all run plain, and have said so */
    return sum;
}

static double seconds(uint64_t us)
{
    return (double) us / 1e6;
}

static void print(FILE *out, const struct aspx_record *record, const void *data)
{
    const struct sum *sum = data;
    const struct asp_layout *layout = record->layout;
    const struct aspx_offload_counts *counts = &sum->counts;

    if (is_the_mode(record)) {
        fputs("aspen: offload mode, ", out);
        aspx_record_print_threads(out, record, sum->threads);
        fprintf(out, ", %s%s%s; ", layout->bound ? "bound" : "not bound",
                layout->reason[0] ? ": " : "", layout->reason);
    } else {
        fprintf(out,
                "aspen: and an offload thread in %" PRIu64 " of %d ranks; ",
                sum->threads, record->nusers);
    }
    fprintf(out,
            "%" PRIu64 " calls carried out, %" PRIu64
            " of them posted; %.1f core-seconds, %.0f %% of them at work\n",
            counts->commands, counts->posted, seconds(counts->wall_us),
            counts->wall_us
                ? 100.0 * (double) counts->cpu_us / (double) counts->wall_us
                : 0.0);
}

static void put_json(FILE *out, const struct aspx_record *record,
                     const void *data)
{
    const struct sum *sum = data;
    const struct aspx_offload_counts *counts = &sum->counts;

    (void) record;
    fprintf(out,
            ",\n  \"offload\": {\n    \"threads\": %" PRIu64
            ",\n    \"commands\": %" PRIu64 ",\n    \"posted\": %" PRIu64
            ",\n    \"ended\": %" PRIu64 ",\n    \"naps\": %" PRIu64
            ",\n    \"callbacks\": %" PRIu64
            ",\n    \"cpu_seconds\": %.3f,\n    \"core_seconds\": %.3f\n  }",
            sum->threads, counts->commands, counts->posted, counts->ended,
            counts->naps, counts->callbacks, seconds(counts->cpu_us),
            seconds(counts->wall_us));
}

const struct aspx_section aspx_offload_section = {
    .text_place = 20,
    .close = stop_clock,
    .gather = gather,
    .print = print,
    .json = put_json,
};
