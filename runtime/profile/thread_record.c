/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of the modes offload and thread. */
#include "config.h"

#include "thread_record.h"

#include "profile.h"
#include "report.h"

#include "runtime/mpi/real.h"
#include "runtime/record/frame.h"

#include <errno.h>
#include <string.h>

static int write_counts(const char *path, const struct asp_layout *layout,
                        const struct aspx_record_mode *mode, int users,
                        int threads, const uint64_t *sum,
                        const struct aspx_times *times)
{
    FILE *out = fopen(path, "we");

    if (!out)
        return -1;
    aspx_record_head(out, layout, users, 0, layout->nnodes);
    fprintf(out, ",\n  \"%s\": {\n    \"threads\": %d,\n", mode->json_key,
            threads);
    mode->json(out, sum);
    fprintf(out, "\n  }");
    aspx_times_json(out, times);
    fprintf(out, "\n}\n");
    return fclose(out);
}

static void name_ranks(const struct asp_layout *layout, int users, int threads,
                       char *buf, size_t size)
{
    int n = snprintf(buf, size, "%d rank%s on %u node%s, ", users,
                     users == 1 ? "" : "s", layout->nnodes,
                     layout->nnodes == 1 ? "" : "s");

    if (threads == users)
        snprintf(buf + n, size - (size_t) n, "a thread each");
    else
        snprintf(buf + n, size - (size_t) n, "a thread in %d of them", threads);
}

void aspx_record_counts(const struct asp_layout *layout,
                        const struct aspx_record_mode *mode, bool has_thread,
                        const uint64_t *own, int n)
{
    const char *where = aspx_record_where(layout);
    uint64_t mine[ASPX_RECORD_COUNTS + 1], sum[ASPX_RECORD_COUNTS + 1];
    struct aspx_record_text text;
    struct aspx_times *times;
    int rank, users, threads;
    char who[96];
    FILE *out;

    if (!where)
        return;
    aspx_profile_stop();
    times = aspx_times_gather(MPI_COMM_WORLD, layout->node);
    aspx_real.MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    aspx_real.MPI_Comm_size(MPI_COMM_WORLD, &users);
    memcpy(mine, own, (size_t) n * sizeof(mine[0]));
    mine[n] = has_thread;
    aspx_real.MPI_Reduce(mine, sum, n + 1, MPI_UINT64_T, MPI_SUM, 0,
                         MPI_COMM_WORLD);
    threads = (int) sum[n];
    if (rank != 0 || threads == 0) { /* all run plain, and have said so */
        aspx_times_free(times);
        return;
    }
    name_ranks(layout, users, threads, who, sizeof(who));
    out = aspx_record_text_open(&text);
    mode->line(layout, who, threads, sum, out);
    aspx_times_print(out, times);
    aspx_record_text_close(&text);
    if (strcmp(where, "1") != 0 &&
        write_counts(where, layout, mode, users, threads, sum, times) != 0)
        fprintf(stderr, "aspen: cannot write the record to %s: %s\n", where,
                strerror(errno));
    aspx_times_free(times);
}
