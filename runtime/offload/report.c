/* SPDX-License-Identifier: BSD-3-Clause */
/* What the record says of the offload threads. */
#include "config.h"

#include "report.h"

#include "thread.h"

#include "runtime/mpi/real.h"
#include "runtime/mpi/helper_thread.h"
#include "runtime/profile/thread_record.h"

#include <inttypes.h>
#include <stdio.h>

enum { COUNTS = sizeof(struct aspx_offload_counts) / sizeof(uint64_t) };

_Static_assert((int) COUNTS <= (int) ASPX_RECORD_COUNTS &&
                   sizeof(uint64_t) * COUNTS ==
                       sizeof(struct aspx_offload_counts),
               "an array of counts");

static double seconds(uint64_t us)
{
    return (double) us / 1e6;
}

void aspx_offload_say(FILE *out, const struct aspx_offload_counts *sum)
{
    fprintf(out,
            "%" PRIu64 " calls carried out, %" PRIu64
            " of them posted; %.1f core-seconds, %.0f %% of them at work",
            sum->commands, sum->posted, seconds(sum->wall_us),
            sum->wall_us ? 100.0 * (double) sum->cpu_us / (double) sum->wall_us
                         : 0.0);
}

void aspx_offload_json(FILE *out, const struct aspx_offload_counts *sum)
{
    fprintf(out,
            "    \"commands\": %" PRIu64 ",\n    \"posted\": %" PRIu64
            ",\n    \"ended\": %" PRIu64 ",\n    \"naps\": %" PRIu64
            ",\n    \"callbacks\": %" PRIu64
            ",\n    \"cpu_seconds\": %.3f,\n    \"core_seconds\": %.3f",
            sum->commands, sum->posted, sum->ended, sum->naps, sum->callbacks,
            seconds(sum->cpu_us), seconds(sum->wall_us));
}

void aspx_offload_add_up(MPI_Comm users, struct aspx_offload_sum *sum)
{
    struct aspx_offload_sum own = {.threads = aspx_helper_thread_runs()};

    if (own.threads)
        aspx_thread_count();
    own.counts = aspx_offload_counts;
    aspx_real.MPI_Reduce(&own, sum, COUNTS + 1, MPI_UINT64_T, MPI_SUM, 0,
                         users);
}

static void print_line(const struct asp_layout *layout, const char *who,
                       int threads, const uint64_t *sum, FILE *out)
{
    (void) threads;
    fprintf(out, "aspen: offload mode, %s, %s%s%s; ", who,
            layout->bound ? "bound" : "not bound",
            layout->reason[0] ? ": " : "", layout->reason);
    aspx_offload_say(out, (const void *) sum);
    fputc('\n', out);
}

static void put_json(FILE *out, const uint64_t *sum)
{
    aspx_offload_json(out, (const void *) sum);
}

void aspx_offload_report(const struct asp_layout *layout)
{
    static const struct aspx_record_mode mode = {"offload", print_line,
                                                 put_json};
    bool runs = aspx_helper_thread_runs();

    if (runs)
        aspx_thread_count();
    aspx_record_counts(layout, &mode, runs, (const void *) &aspx_offload_counts,
                       COUNTS);
}
