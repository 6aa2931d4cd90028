/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "report.h"

#include "runtime/record_form.h"

#include <inttypes.h>
#include <stdio.h>

struct aspx_offload_counts aspx_offload_counts;

enum { COUNTS = sizeof(struct aspx_offload_counts) / sizeof(uint64_t) };

_Static_assert((int) COUNTS <= (int) ASPX_RECORD_COUNTS &&
                   sizeof(uint64_t) * COUNTS ==
                       sizeof(struct aspx_offload_counts),
               "an array of counts");

static double seconds(uint64_t us)
{
    return (double) us / 1e6;
}

static void print_line(const struct asp_layout *layout, int users,
                       const uint64_t *counts)
{
    const struct aspx_offload_counts *sum = (const void *) counts;

    fprintf(stderr,
            "aspen: offload mode, %d ranks on %" PRIu32 " nodes, a thread "
            "each, %s%s%s; %" PRIu64 " calls carried out, %" PRIu64
            " of them posted; %.1f core-seconds, %.0f %% of them at work\n",
            users, layout->nnodes, layout->bound ? "bound" : "not bound",
            layout->reason[0] ? ": " : "", layout->reason, sum->commands,
            sum->posted, seconds(sum->wall_us),
            sum->wall_us ? 100.0 * (double) sum->cpu_us / (double) sum->wall_us
                         : 0.0);
}

static void put_json(FILE *out, const uint64_t *counts)
{
    const struct aspx_offload_counts *sum = (const void *) counts;

    fprintf(out,
            "    \"commands\": %" PRIu64 ",\n    \"posted\": %" PRIu64
            ",\n    \"ended\": %" PRIu64 ",\n    \"naps\": %" PRIu64
            ",\n    \"cpu_seconds\": %.3f,\n    \"core_seconds\": %.3f",
            sum->commands, sum->posted, sum->ended, sum->naps,
            seconds(sum->cpu_us), seconds(sum->wall_us));
}

void aspx_offload_report(const struct asp_layout *layout)
{
    static const struct aspx_record_mode mode = {"offload", print_line,
                                                 put_json};

    aspx_record_counts(layout, &mode, (const void *) &aspx_offload_counts,
                       COUNTS);
}
