/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "report.h"

#include "runtime/mpi/real.h"
#include "runtime/record_form.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct aspx_offload_counts aspx_offload_counts;

enum { COUNTS = sizeof(struct aspx_offload_counts) / sizeof(uint64_t) };

_Static_assert(sizeof(uint64_t) * COUNTS == sizeof(struct aspx_offload_counts),
               "an array of counts");

static double seconds(uint64_t us)
{
    return (double) us / 1e6;
}

static void print_line(const struct asp_layout *layout, int users,
                       const struct aspx_offload_counts *sum)
{
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

static int write_json(const char *path, const struct asp_layout *layout,
                      int users, const struct aspx_offload_counts *sum)
{
    FILE *out = fopen(path, "we");

    if (!out)
        return -1;
    aspx_record_head(out, layout, users, 0, layout->nnodes);
    fprintf(out,
            "  \"offload\": {\n    \"commands\": %" PRIu64
            ",\n    \"posted\": %" PRIu64 ",\n    \"ended\": %" PRIu64
            ",\n    \"naps\": %" PRIu64 ",\n    \"cpu_seconds\": %.3f"
            ",\n    \"core_seconds\": %.3f\n  }\n}\n",
            sum->commands, sum->posted, sum->ended, sum->naps,
            seconds(sum->cpu_us), seconds(sum->wall_us));
    return fclose(out);
}

void aspx_offload_report(const struct asp_layout *layout)
{
    const char *where = aspx_record_where(layout);
    struct aspx_offload_counts sum;
    int rank, users;

    if (!where)
        return;
    aspx_real.MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    aspx_real.MPI_Comm_size(MPI_COMM_WORLD, &users);
    aspx_real.MPI_Reduce(&aspx_offload_counts, &sum, COUNTS, MPI_UINT64_T,
                         MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank != 0)
        return;
    print_line(layout, users, &sum);
    if (strcmp(where, "1") != 0 && write_json(where, layout, users, &sum) != 0)
        fprintf(stderr, "aspen: cannot write the record to %s: %s\n", where,
                strerror(errno));
}
