/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "report.h"

#include "helper.h"
#include "watch.h"

#include "runtime/record_form.h"

#include <inttypes.h>
#include <stdio.h>

struct sum {
    struct aspx_helper_counts helper;
    uint64_t watched;
};

enum { COUNTS = sizeof(struct sum) / sizeof(uint64_t) };

_Static_assert((int) COUNTS <= (int) ASPX_RECORD_COUNTS &&
                   sizeof(uint64_t) * COUNTS ==
                       sizeof(struct sum),
               "an array of counts");

static void print_line(const struct asp_layout *layout, const char *who,
                       int threads, const uint64_t *counts)
{
    const struct sum *sum = (const void *) counts;
    char where[ASP_VALUE_MAX + 64];

    if (layout->bound && sum->helper.confined == (uint64_t) threads)
        snprintf(where, sizeof(where), "on the service CPUs");
    else if (layout->bound)
        snprintf(where, sizeof(where),
                 "%" PRIu64 " of them on the service CPUs, which are out of "
                 "reach for the others", sum->helper.confined);
    else
        snprintf(where, sizeof(where), "not bound%s%s",
                 layout->reason[0] ? ": " : "", layout->reason);
    fprintf(stderr,
            "aspen: thread mode, %s, %s; %" PRIu64 " operations watched, %"
            PRIu64 " wakes, %" PRIu64 " polls; %.2f CPU-seconds\n",
            who, where, sum->watched, sum->helper.wakes,
            sum->helper.polls, (double) sum->helper.cpu_us / 1e6);
}

static void put_json(FILE *out, const uint64_t *counts)
{
    const struct sum *sum = (const void *) counts;

    fprintf(out,
            "    \"watched\": %" PRIu64 ",\n    \"wakes\": %" PRIu64
            ",\n    \"polls\": %" PRIu64 ",\n    \"busy_polls\": %" PRIu64
            ",\n    \"kept_out\": %" PRIu64 ",\n    \"confined\": %" PRIu64
            ",\n    \"cpu_seconds\": %.6f",
            sum->watched, sum->helper.wakes, sum->helper.polls,
            sum->helper.busy, sum->helper.kept_out, sum->helper.confined,
            (double) sum->helper.cpu_us / 1e6);
}

void aspx_progress_report(const struct asp_layout *layout, bool has_thread)
{
    static const struct aspx_record_mode mode = {"thread", print_line,
                                                 put_json};
    const struct sum own = {.helper = aspx_helper_counts,
                            .watched = aspx_watch_total};

    aspx_record_counts(layout, &mode, has_thread, (const void *) &own,
                       COUNTS);
}
