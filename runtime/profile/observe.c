/* SPDX-License-Identifier: BSD-3-Clause */
/* Called by start.c. */
#include "config.h"

#include "observe.h"

#include "runtime/mpi/real.h"
#include "profile.h"
#include "report.h"
#include "runtime/record/frame.h"

#include "common/base/advice.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What each helper could do something about. */
static const struct {
    enum asp_advice_kind advice;
    const char *waits, *what;
} helps[] = {
    {ASP_ADVICE_GHOST, "operations on windows",
     "ghosts carry them out (--async-progress=ghost:1, a core on each node)"},
    {ASP_ADVICE_THREAD, "messages",
     "threads move them (--async-progress=offload, a core for each rank)"},
};

/* What it would take, and where to ask whether it is worth it. */
static void print_advice(FILE *to, const struct aspx_times *times)
{
    bool any = false;

    if (!times)
        return;
    for (size_t i = 0; i < sizeof(helps) / sizeof(helps[0]); i++) {
        double share = aspx_times_waited(times, helps[i].advice);

        if (share < ASP_ADVICE_LEAST)
            continue;
        any = true;
        fprintf(to,
                "aspen: %.0f %% of their time they waited for %s; while the "
                "other side computes %s: aspen compare tells if that helps\n",
                100 * share, helps[i].waits, helps[i].what);
    }
    if (!any)
        fprintf(to,
                "aspen: helpers would find little to do: less than %.0f %% "
                "of the time went to waiting for windows or messages\n",
                100 * ASP_ADVICE_LEAST);
}

static int write_json(const char *path, const struct asp_layout *layout,
                      int users, const struct aspx_times *times)
{
    FILE *out = fopen(path, "we");

    if (!out)
        return -1;
    aspx_record_head(out, layout, users, 0, layout->nnodes);
    aspx_times_json(out, times);
    fprintf(out, "\n}\n");
    return fclose(out);
}

static bool wants(const struct asp_layout *layout)
{
    return layout->mode == ASP_MODE_OFF && aspx_record_where(layout);
}

static void report(const struct asp_layout *layout)
{
    const char *where = aspx_record_where(layout);
    struct aspx_record_text text;
    struct aspx_times *times;
    int rank, users;
    FILE *out;

    if (!where)
        return;
    aspx_profile_stop();
    times = aspx_times_gather(MPI_COMM_WORLD, layout->node);
    aspx_real.MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    aspx_real.MPI_Comm_size(MPI_COMM_WORLD, &users);
    if (rank != 0)
        return; /* it has no times */
    out = aspx_record_text_open(&text);
    fprintf(out,
            "aspen: mode off, %d rank%s on %u node%s: plain MPI, whose "
            "time was taken\n",
            users, users == 1 ? "" : "s", layout->nnodes,
            layout->nnodes == 1 ? "" : "s");
    aspx_times_print(out, times);
    print_advice(out, times);
    aspx_record_text_close(&text);
    if (strcmp(where, "1") != 0 && write_json(where, layout, users, times) != 0)
        fprintf(stderr, "aspen: cannot write the record to %s: %s\n", where,
                strerror(errno));
    aspx_times_free(times);
}

const struct aspx_mode aspx_observe_mode = {
    .wants = wants,
    .elsewhere = "its time is not taken",
    .no_sessions = "no report: in mode off the time of programs that open a "
                   "session before MPI_Init is not taken",
    .report = report,
};
