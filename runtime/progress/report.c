/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "report.h"

#include "helper.h"
#include "watch.h"

#include "runtime/mpi/real.h"
#include "runtime/record_form.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct sum {
    struct aspx_helper_counts helper;
    uint64_t watched;
};

enum { COUNTS = sizeof(struct sum) / sizeof(uint64_t) };

_Static_assert(sizeof(uint64_t) * COUNTS == sizeof(struct sum),
               "an array of counts");

static void print_line(const struct asp_layout *layout, int users,
                       const struct sum *sum)
{
    char where[ASP_VALUE_MAX + 64];

    if (layout->bound && sum->helper.confined == (uint64_t) users)
        snprintf(where, sizeof(where), "on the service CPUs");
    else if (layout->bound)
        snprintf(where, sizeof(where),
                 "%" PRIu64 " of them on the service CPUs, which are out of "
                 "reach for the others", sum->helper.confined);
    else
        snprintf(where, sizeof(where), "not bound%s%s",
                 layout->reason[0] ? ": " : "", layout->reason);
    fprintf(stderr,
            "aspen: thread mode, %d ranks on %" PRIu32 " nodes, a sleeping "
            "helper each, %s; %" PRIu64 " operations watched, %" PRIu64
            " wakes, %" PRIu64 " polls; %.2f CPU-seconds\n",
            users, layout->nnodes, where, sum->watched, sum->helper.wakes,
            sum->helper.polls, (double) sum->helper.cpu_us / 1e6);
}

static int write_json(const char *path, const struct asp_layout *layout,
                      int users, const struct sum *sum)
{
    FILE *out = fopen(path, "we");

    if (!out)
        return -1;
    aspx_record_head(out, layout, users, 0, layout->nnodes);
    fprintf(out,
            "  \"thread\": {\n    \"watched\": %" PRIu64
            ",\n    \"wakes\": %" PRIu64 ",\n    \"polls\": %" PRIu64
            ",\n    \"busy_polls\": %" PRIu64 ",\n    \"kept_out\": %" PRIu64
            ",\n    \"confined\": %" PRIu64
            ",\n    \"cpu_seconds\": %.6f\n  }\n}\n",
            sum->watched, sum->helper.wakes, sum->helper.polls,
            sum->helper.busy, sum->helper.kept_out, sum->helper.confined,
            (double) sum->helper.cpu_us / 1e6);
    return fclose(out);
}

void aspx_progress_report(const struct asp_layout *layout)
{
    const char *where = aspx_record_where(layout);
    const struct sum own = {.helper = aspx_helper_counts,
                            .watched = aspx_watch_total};
    struct sum sum;
    int rank, users;

    if (!where)
        return;
    aspx_real.MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    aspx_real.MPI_Comm_size(MPI_COMM_WORLD, &users);
    aspx_real.MPI_Reduce(&own, &sum, COUNTS, MPI_UINT64_T, MPI_SUM, 0,
                         MPI_COMM_WORLD);
    if (rank != 0)
        return;
    print_line(layout, users, &sum);
    if (strcmp(where, "1") != 0 && write_json(where, layout, users, &sum) != 0)
        fprintf(stderr, "aspen: cannot write the record to %s: %s\n", where,
                strerror(errno));
}
