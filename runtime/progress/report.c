/* SPDX-License-Identifier: BSD-3-Clause */
/* What progress threads did, in the record of the job. */
#include "config.h"

#include "report.h"

#include "thread.h"
#include "watch.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

struct sum {
    struct aspx_progress_counts helper;
    uint64_t watched;
};

enum { NUMBERS = sizeof(struct sum) / sizeof(uint64_t) };

/* NULL where no rank had a thread: in mode thread all run plain then, and have
 * said so. */
static void *gather(struct aspx_record *record)
{
    const struct sum none = {.watched = 0},
                     one = {aspx_progress_counts, aspx_watch_total},
                     *own = aspx_progress_counts.threads ? &one : &none;
    struct sum *sum = (void *) aspx_record_sum(record, (const void *) own,
                                               NUMBERS);

    return sum && sum->helper.threads ? sum : NULL;
}

static void print_where(FILE *out, const struct asp_layout *layout,
                        const struct aspx_progress_counts *helper)
{
    if (!layout->bound)
        fprintf(out, "not bound%s%s", layout->reason[0] ? ": " : "",
                layout->reason);
    else if (helper->confined == helper->threads)
        fputs("on the service CPUs", out);
    else
        fprintf(out,
                "%" PRIu64 " of them on the service CPUs, which are out of "
                "reach for the others",
                helper->confined);
}

static void print(FILE *out, const struct aspx_record *record, const void *data)
{
    const struct sum *sum = data;
    const struct aspx_progress_counts *helper = &sum->helper;

    if (record->layout->mode == ASP_MODE_THREAD) {
        fputs("aspen: thread mode, ", out);
        aspx_record_print_threads(out, record, helper->threads);
        fputs(", ", out);
        print_where(out, record->layout, helper);
    } else {
        fprintf(out,
                "aspen: and progress threads in %" PRIu64 " of %d ranks, "
                "%" PRIu64 " of them on the ghosts' CPUs",
                helper->threads, record->nusers, helper->confined);
    }
    fprintf(out,
            "; %" PRIu64 " operations watched, %" PRIu64 " wakes, %" PRIu64
            " polls; ",
            sum->watched, helper->wakes, helper->polls);
    if (helper->held_back)
        fprintf(out,
                "held back %" PRIu64 " times by reductions with the "
                "program's own functions; ",
                helper->held_back);
    fprintf(out, "%.2f CPU-seconds\n", (double) helper->cpu_us / 1e6);
}

static void put_json(FILE *out, const struct aspx_record *record,
                     const void *data)
{
    const struct sum *sum = data;
    const struct aspx_progress_counts *helper = &sum->helper;

    (void) record;
    fprintf(out,
            ",\n  \"thread\": {\n    \"threads\": %" PRIu64
            ",\n    \"watched\": %" PRIu64 ",\n    \"wakes\": %" PRIu64
            ",\n    \"polls\": %" PRIu64 ",\n    \"busy_polls\": %" PRIu64
            ",\n    \"kept_out\": %" PRIu64 ",\n    \"held_back\": %" PRIu64
            ",\n    \"confined\": %" PRIu64 ",\n    \"cpu_seconds\": %.6f\n  }",
            helper->threads, sum->watched, helper->wakes, helper->polls,
            helper->busy, helper->kept_out, helper->held_back, helper->confined,
            (double) helper->cpu_us / 1e6);
}

const struct aspx_section aspx_progress_section = {
    .text_place = 30,
    .gather = gather,
    .print = print,
    .json = put_json,
};
