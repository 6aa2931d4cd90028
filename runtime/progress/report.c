/* SPDX-License-Identifier: BSD-3-Clause */
/* What progress threads did, in the record of the job. */
#include "config.h"

#include "report.h"

#include "watch.h"

#include "runtime/mpi/real.h"
#include "runtime/profile/thread_record.h"

#include <inttypes.h>
#include <stdio.h>

/* Without threads. */
enum { COUNTS = sizeof(struct aspx_progress_sum) / sizeof(uint64_t) - 1 };

_Static_assert((int) COUNTS <= (int) ASPX_RECORD_COUNTS &&
                   sizeof(uint64_t) * (COUNTS + 1) ==
                       sizeof(struct aspx_progress_sum),
               "an array of counts");

void aspx_progress_print(FILE *out, const struct aspx_progress_sum *sum)
{
    fprintf(out,
            "%" PRIu64 " operations watched, %" PRIu64 " wakes, %" PRIu64
            " polls; ",
            sum->watched, sum->helper.wakes, sum->helper.polls);
    if (sum->helper.held_back)
        fprintf(out,
                "held back %" PRIu64 " times by reductions with the "
                "program's own functions; ",
                sum->helper.held_back);
    fprintf(out, "%.2f CPU-seconds", (double) sum->helper.cpu_us / 1e6);
}

static void print_line(const struct asp_layout *layout, const char *who,
                       int threads, const uint64_t *counts, FILE *out)
{
    const struct aspx_progress_sum *sum = (const void *) counts;
    char where[ASP_VALUE_MAX + 64];

    if (layout->bound && sum->helper.confined == (uint64_t) threads)
        snprintf(where, sizeof(where), "on the service CPUs");
    else if (layout->bound)
        snprintf(where, sizeof(where),
                 "%" PRIu64 " of them on the service CPUs, which are out of "
                 "reach for the others",
                 sum->helper.confined);
    else
        snprintf(where, sizeof(where), "not bound%s%s",
                 layout->reason[0] ? ": " : "", layout->reason);
    fprintf(out, "aspen: thread mode, %s, %s; ", who, where);
    aspx_progress_print(out, sum);
    fputc('\n', out);
}

void aspx_progress_json(FILE *out, const struct aspx_progress_sum *sum)
{
    fprintf(out,
            "    \"watched\": %" PRIu64 ",\n    \"wakes\": %" PRIu64
            ",\n    \"polls\": %" PRIu64 ",\n    \"busy_polls\": %" PRIu64
            ",\n    \"kept_out\": %" PRIu64 ",\n    \"held_back\": %" PRIu64
            ",\n    \"confined\": %" PRIu64 ",\n    \"cpu_seconds\": %.6f",
            sum->watched, sum->helper.wakes, sum->helper.polls,
            sum->helper.busy, sum->helper.kept_out, sum->helper.held_back,
            sum->helper.confined, (double) sum->helper.cpu_us / 1e6);
}

static void put_json(FILE *out, const uint64_t *counts)
{
    aspx_progress_json(out, (const void *) counts);
}

void aspx_progress_add_up(MPI_Comm users, bool had_thread,
                          struct aspx_progress_sum *sum)
{
    const struct aspx_progress_sum none = {.threads = 0},
                                   one = {
                                       .helper = aspx_progress_counts,
                                       .watched = aspx_watch_total,
                                       .threads = 1,
                                   };

    aspx_real.MPI_Reduce(had_thread ? &one : &none, sum, COUNTS + 1,
                         MPI_UINT64_T, MPI_SUM, 0, users);
}

void aspx_progress_report(const struct asp_layout *layout, bool has_thread)
{
    static const struct aspx_record_mode mode = {"thread", print_line,
                                                 put_json};
    const struct aspx_progress_sum own = {.helper = aspx_progress_counts,
                                          .watched = aspx_watch_total};

    aspx_record_counts(layout, &mode, has_thread, (const void *) &own, COUNTS);
}
