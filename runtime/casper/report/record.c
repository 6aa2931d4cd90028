/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of a job with ghosts: gathered, printed and written when
 * MPI_Finalize takes the world down. */
#include "config.h"

#include "record.h"

#include "ghosts.h"
#include "scaling.h"
#include "windows.h"

#include "runtime/casper/arena/engine.h"
#include "runtime/casper/window/counts.h"
#include "runtime/mpi/real.h"
#include "runtime/offload/report.h"
#include "runtime/profile/profile.h"
#include "runtime/profile/report.h"
#include "runtime/progress/on_demand.h"
#include "runtime/progress/report.h"
#include "runtime/record/frame.h"
#include "runtime/adapt/report.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COUNTERS = ASPX_CALLS_COUNTED * ASPX_WAYS };

static const char *const call_names[ASPX_CALLS_COUNTED] = {
    [ASPX_CALL_PUT] = "put",
    [ASPX_CALL_GET] = "get",
    [ASPX_CALL_ACCUMULATE] = "accumulate",
    [ASPX_CALL_GET_ACCUMULATE] = "get_accumulate",
    [ASPX_CALL_FETCH_AND_OP] = "fetch_and_op",
    [ASPX_CALL_COMPARE_AND_SWAP] = "compare_and_swap",
    [ASPX_CALL_LOCK] = "lock",
    [ASPX_CALL_LOCK_ALL] = "lock_all",
    [ASPX_CALL_FLUSH] = "flush",
    [ASPX_CALL_FENCE] = "fence",
    [ASPX_CALL_PSCW] = "pscw",
    [ASPX_CALL_WINDOW] = "window",
};

struct sums {
    uint64_t count[ASPX_CALLS_COUNTED][ASPX_WAYS];
    uint64_t *ghosts;                  /* operations and bytes, by world rank */
    struct aspx_offload_sum offload;   /* with offload threads too */
    struct aspx_progress_sum progress; /* with progress threads, for a while */
};

/* What the record is made of, in user rank 0. */
struct parts {
    struct sums sums;
    struct aspx_windows *windows;
    struct aspx_adaptation *adaptation;
    struct aspx_times *times;
    struct aspx_ghost_times *ghosts;
    struct aspx_scaling_report *scaling;
};

static uint64_t sum_way(const struct sums *sums, enum aspx_way way)
{
    uint64_t sum = 0;

    for (int c = 0; c < ASPX_CALLS_COUNTED; c++)
        sum += sums->count[c][way];
    return sum;
}

/* "accumulate 100, flush 100" for one way. */
static void name_calls(const struct sums *sums, enum aspx_way way, char *buf,
                       size_t size)
{
    size_t used = 0;

    buf[0] = '\0';
    for (int c = 0; c < ASPX_CALLS_COUNTED; c++) {
        int n;

        if (!sums->count[c][way])
            continue;
        n = snprintf(buf + used, size - used, "%s%s %llu", used ? ", " : "",
                     call_names[c], (unsigned long long) sums->count[c][way]);
        if (n < 0 || (size_t) n >= size - used)
            return;
        used += (size_t) n;
    }
}

/* What is still private with a shared heap. */
static const char *way_words(const struct aspx_world *world, enum aspx_way way)
{
    if (way == ASPX_WAY_PRIVATE && world->layout &&
        strcmp(asp_layout_knob(world->layout, "heap", ""), "shared") == 0)
        return "window on private memory (MPI_Win_create; static, on the "
               "stack, from before MPI_Init, or below heap.threshold_kb)";
    return aspx_way_words(way);
}

static void print_line(FILE *out, const struct aspx_world *world,
                       const struct sums *sums)
{
    char calls[512], line[2048];
    size_t used;
    int nghosts = world->size_all - world->size_users;

    name_calls(sums, ASPX_WAY_GHOST, calls, sizeof(calls));
    used = (size_t) snprintf(
        line, sizeof(line),
        "aspen: ghost mode, %d user ranks and %d ghosts on %u nodes, %s%s%s; "
        "redirected %llu (%s)",
        world->size_users, nghosts, world->nnodes,
        world->layout->bound ? "bound" : "not bound",
        world->layout->reason[0] ? ": " : "", world->layout->reason,
        (unsigned long long) sum_way(sums, ASPX_WAY_GHOST),
        calls[0] ? calls : "nothing");
    for (int w = ASPX_WAY_GHOST + 1; w < ASPX_WAYS; w++) {
        if (!sum_way(sums, (enum aspx_way) w) || used >= sizeof(line))
            continue;
        name_calls(sums, (enum aspx_way) w, calls, sizeof(calls));
        used += (size_t) snprintf(
            line + used, sizeof(line) - used, "; %s %llu, %s (%s)",
            w < ASPX_WAY_PRIVATE ? "direct" : "native",
            (unsigned long long) sum_way(sums, (enum aspx_way) w),
            way_words(world, (enum aspx_way) w), calls);
    }
    fprintf(out, "%s\n", line);
    if (asp_layout_offloads(world->layout)) {
        fprintf(out, "aspen: and an offload thread in %llu of %d ranks; ",
                (unsigned long long) sums->offload.threads, world->size_users);
        aspx_offload_say(out, &sums->offload.counts);
        fputc('\n', out);
    }
    if (sums->progress.threads) {
        fprintf(out,
                "aspen: and progress threads in %llu of %d ranks, %llu "
                "of them on the ghosts' CPUs; ",
                (unsigned long long) sums->progress.threads, world->size_users,
                (unsigned long long) sums->progress.helper.confined);
        aspx_progress_print(out, &sums->progress);
        fputc('\n', out);
    }
}

static void put_ways(FILE *out, const struct sums *sums, int call)
{
    bool first = true;

    for (int w = 0; w < ASPX_WAYS; w++) {
        if (!sums->count[call][w])
            continue;
        fprintf(out, "%s\"%s\": %llu", first ? "" : ", ",
                aspx_way_key((enum aspx_way) w),
                (unsigned long long) sums->count[call][w]);
        first = false;
    }
}

static void put_ghosts(FILE *out, const struct aspx_world *world,
                       const struct sums *sums)
{
    bool first = true;

    for (int r = 0; r < world->size_all; r++) {
        if (world->peers[r].role != ASP_ROLE_GHOST)
            continue;
        fprintf(out,
                "%s\n    {\"rank\": %d, \"node\": %u, \"ops\": %llu, "
                "\"bytes\": %llu}",
                first ? "" : ",", r, world->peers[r].node,
                (unsigned long long) sums->ghosts[2 * r],
                (unsigned long long) sums->ghosts[2 * r + 1]);
        first = false;
    }
}

static int write_json(const char *path, const struct aspx_world *world,
                      const struct parts *parts)
{
    const struct asp_layout *layout = world->layout;
    const struct sums *sums = &parts->sums;
    FILE *out = fopen(path, "we");
    bool first = true;

    if (!out)
        return -1;
    aspx_record_head(out, layout, world->size_users,
                     world->size_all - world->size_users, world->nnodes);
    fprintf(out, ",\n  \"ghost_load\": [");
    put_ghosts(out, world, sums);
    fprintf(out, "\n  ],\n  \"redirected\": %llu,\n  \"calls\": {",
            (unsigned long long) sum_way(sums, ASPX_WAY_GHOST));
    for (int c = 0; c < ASPX_CALLS_COUNTED; c++) {
        fprintf(out, "%s\n    \"%s\": {", first ? "" : ",", call_names[c]);
        put_ways(out, sums, c);
        fprintf(out, "}");
        first = false;
    }
    fprintf(out, "\n  }");
    if (sums->progress.threads) {
        fprintf(out, ",\n  \"thread\": {\n    \"threads\": %llu,\n",
                (unsigned long long) sums->progress.threads);
        aspx_progress_json(out, &sums->progress);
        fprintf(out, "\n  }");
    }
    if (asp_layout_offloads(world->layout)) {
        fprintf(out, ",\n  \"offload\": {\n    \"threads\": %llu,\n",
                (unsigned long long) sums->offload.threads);
        aspx_offload_json(out, &sums->offload.counts);
        fprintf(out, "\n  }");
    }
    aspx_windows_json(out, parts->windows);
    aspx_adaptation_json(out, parts->adaptation);
    aspx_times_json(out, parts->times);
    aspx_ghost_times_json(out, parts->ghosts);
    aspx_scaling_json(out, parts->scaling);
    fprintf(out, "\n}\n");
    return fclose(out);
}

/* What this process has sent to each ghost: operations and bytes, by world
 * rank; 2 * size_all entries. */
static void read_loads(uint64_t *ops_and_bytes)
{
    for (int r = 0; aspx_engine.loads && r < aspx_engine.world->size_all; r++) {
        ops_and_bytes[2 * r] = atomic_load(&aspx_engine.loads[r].ops);
        ops_and_bytes[2 * r + 1] = atomic_load(&aspx_engine.loads[r].bytes);
    }
}

/* Sum what all users counted, in user rank 0. Returns false without memory
 * anywhere. */
static bool sum_up(const struct aspx_world *world, struct sums *sums)
{
    size_t nghosts = 2 * (size_t) world->size_all;
    uint64_t counts[COUNTERS], *ghosts = calloc(nghosts, sizeof(*ghosts));
    int ok, mine;

    sums->ghosts = calloc(nghosts, sizeof(*ghosts));
    mine = ghosts && sums->ghosts;
    aspx_real.MPI_Allreduce(&mine, &ok, 1, MPI_INT, MPI_LAND, world->users);
    if (ok) {
        for (int i = 0; i < COUNTERS; i++)
            counts[i] = atomic_load(&(&aspx_counts[0][0])[i]);
        read_loads(ghosts);
        aspx_real.MPI_Reduce(counts, sums->count, COUNTERS, MPI_UINT64_T,
                             MPI_SUM, 0, world->users);
        aspx_real.MPI_Reduce(ghosts, sums->ghosts, (int) nghosts, MPI_UINT64_T,
                             MPI_SUM, 0, world->users);
        if (asp_layout_offloads(world->layout))
            aspx_offload_add_up(world->users, &sums->offload);
        aspx_progress_add_up(world->users, aspx_on_demand_was_started(),
                             &sums->progress);
    }
    free(ghosts);
    return ok;
}

void aspx_record_report(const struct aspx_world *world)
{
    const char *where = aspx_record_where(world->layout);
    struct aspx_record_text text;
    struct parts parts;

    if (!where)
        return;
    aspx_profile_stop();
    parts.times = aspx_times_gather(world->users, world->node);
    parts.ghosts = aspx_ghost_times_gather(world);
    parts.scaling = aspx_scaling_gather(world);
    parts.windows = aspx_windows_gather(world);
    parts.adaptation = aspx_adaptation_gather(world);
    if (sum_up(world, &parts.sums) && world->rank_user == 0) {
        FILE *out = aspx_record_text_open(&text);

        print_line(out, world, &parts.sums);
        aspx_times_print(out, parts.times);
        aspx_ghost_times_print(out, parts.ghosts);
        aspx_windows_print(out, parts.windows);
        aspx_adaptation_print(out, parts.adaptation);
        aspx_record_text_close(&text);
        if (strcmp(where, "1") != 0 && write_json(where, world, &parts) != 0)
            fprintf(stderr, "aspen: cannot write the record to %s: %s\n", where,
                    strerror(errno));
    }
    free(parts.sums.ghosts);
    aspx_windows_free(parts.windows);
    aspx_adaptation_free(parts.adaptation);
    aspx_times_free(parts.times);
    aspx_ghost_times_free(parts.ghosts);
    aspx_scaling_free(parts.scaling);
}
