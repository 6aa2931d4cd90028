/* SPDX-License-Identifier: BSD-3-Clause */
/* Time in MPI of all ranks: gathered in one of them, printed, and written. */
#include "config.h"

#include "report.h"

#include "profile.h"
#include "timing.h"

#include "runtime/mpi/real.h"
#include "runtime/record/frame.h"

#include <inttypes.h>
#include <stdlib.h>

/* What travels; times in nanoseconds. */
struct rank_times {
    uint64_t wall, mpi, wait;
    uint32_t node, threads;
};

struct call_times {
    uint64_t count, mpi, wait;
};

enum { NUMBERS = 3 * ASPX_CALLS };

_Static_assert(sizeof(struct call_times[ASPX_CALLS]) ==
                   NUMBERS * sizeof(uint64_t),
               "an array of numbers");

struct times {
    const struct call_times *call; /* ASPX_CALLS */
    const struct rank_times *rank; /* nranks */
    int nranks;
};

static uint64_t ns(double seconds)
{
    return (uint64_t) (1e9 * seconds);
}

static double seconds(uint64_t some_ns)
{
    return 1e-9 * (double) some_ns;
}

static struct rank_times measure(uint32_t node, struct call_times *calls)
{
    struct aspx_timing_sum sum = aspx_timing_sum();
    double wall_s = aspx_profile_wall_seconds();
    double most_s = wall_s * (sum.threads > 1 ? sum.threads : 1);

    if (sum.inside_s > most_s) /* samples stand for too much in a short run */
        sum.inside_s = most_s;
    if (sum.idle_s > most_s)
        sum.idle_s = most_s;
    for (size_t i = 0; i < ASPX_CALLS; i++) {
        struct aspx_timing_call call = aspx_timing_call(i);

        calls[i] = (struct call_times){call.count, ns(call.inside_s),
                                       ns(call.idle_s)};
    }
    return (struct rank_times){
        .wall = ns(wall_s),
        .mpi = ns(sum.inside_s),
        .wait = ns(sum.idle_s),
        .node = node,
        .threads = sum.threads,
    };
}

static void *gather(struct aspx_record *record)
{
    struct call_times own[ASPX_CALLS];
    struct rank_times mine = measure(record->node, own);
    uint64_t *calls = aspx_record_sum(record, (const uint64_t *) own, NUMBERS);
    size_t nranks;
    void *ranks = aspx_record_rows(record, &mine, 1, sizeof(mine), &nranks);
    struct times *times = aspx_record_alloc(record, sizeof(*times));

    if (!times || !calls || !ranks)
        return NULL;
    *times = (struct times){(const void *) calls, ranks, (int) nranks};
    return times;
}

/* All ranks; wall is the sum too. */
static struct rank_times add_up(const struct times *times, uint64_t *longest_p)
{
    struct rank_times sum = {0};

    *longest_p = 0;
    for (int r = 0; r < times->nranks; r++) {
        const struct rank_times *rank = &times->rank[r];

        sum.wall += rank->wall;
        sum.mpi += rank->mpi;
        sum.wait += rank->wait;
        if (rank->wall > *longest_p)
            *longest_p = rank->wall;
    }
    return sum;
}

static size_t most(const struct times *times)
{
    size_t best = 0;

    for (size_t i = 1; i < ASPX_CALLS; i++)
        if (times->call[i].mpi > times->call[best].mpi)
            best = i;
    return best;
}

/* "12.3" or "0.04". */
struct text {
    char s[32];
};

static struct text words(uint64_t some_ns)
{
    struct text text;

    snprintf(text.s, sizeof(text.s), "%.*f", seconds(some_ns) < 9.995 ? 2 : 1,
             seconds(some_ns));
    return text;
}

double aspx_times_waited(const void *data, enum asp_advice_kind advice)
{
    const struct times *times = data;
    uint64_t waited = 0, held = 0;

    for (size_t i = 0; i < ASPX_CALLS; i++)
        if (asp_advice_of(aspx_real_names[i]) == advice)
            waited += times->call[i].wait;
    for (int r = 0; r < times->nranks; r++) /* threads wait each on its own */
        held += times->rank[r].wall *
                (times->rank[r].threads > 1 ? times->rank[r].threads : 1);
    /* samples stand for others, and may say too much */
    return waited < held ? (double) waited / (double) held : held != 0;
}

static void print(FILE *to, const struct aspx_record *record, const void *data)
{
    const struct times *times = data;
    struct rank_times sum;
    char where[96] = "";
    uint64_t longest;
    size_t first;

    (void) record;
    sum = add_up(times, &longest);
    first = most(times);
    if (times->call[first].mpi)
        snprintf(where, sizeof(where), "; most in %s, %s s",
                 aspx_real_names[first], words(times->call[first].mpi).s);
    fprintf(to,
            "aspen: %d %s in MPI %s of %s s: %s s waiting, %s s working%s\n",
            times->nranks, times->nranks == 1 ? "rank was" : "ranks were",
            words(sum.mpi).s, words(sum.wall).s, words(sum.wait).s,
            words(sum.mpi - sum.wait).s, where);
}

static void put_times(FILE *to, uint64_t mpi, uint64_t wait)
{
    fprintf(to, "\"mpi_s\": %.6f, \"wait_s\": %.6f, \"work_s\": %.6f",
            seconds(mpi), seconds(wait), seconds(mpi - wait));
}

static void put_json(FILE *to, const struct aspx_record *record,
                     const void *data)
{
    const struct times *times = data;
    struct rank_times sum;
    uint64_t longest;
    const char *comma = "";

    (void) record;
    sum = add_up(times, &longest);
    fprintf(to, ",\n  \"time\": {\n    \"wall_s\": %.6f, ", seconds(longest));
    put_times(to, sum.mpi, sum.wait);
    fputs(",\n    \"ranks\": [", to);
    for (int r = 0; r < times->nranks; r++, comma = ",") {
        const struct rank_times *rank = &times->rank[r];

        fprintf(to, "%s\n      {\"rank\": %d, \"node\": %" PRIu32 ", ", comma,
                r, rank->node);
        put_times(to, rank->mpi, rank->wait);
        fprintf(to, ", \"wall_s\": %.6f, \"threads\": %" PRIu32 "}",
                seconds(rank->wall), rank->threads);
    }
    fputs("\n    ],\n    \"calls\": {", to);
    comma = "";
    for (size_t i = 0; i < ASPX_CALLS; i++) {
        const struct call_times *call = &times->call[i];

        if (!call->count)
            continue;
        fprintf(to,
                "%s\n      \"%s\": {\"count\": %" PRIu64
                ", \"seconds\": %.6f, \"wait_s\": %.6f}",
                comma, aspx_real_names[i], call->count, seconds(call->mpi),
                seconds(call->wait));
        comma = ",";
    }
    fputs("\n    }\n  }", to);
}

const struct aspx_section aspx_times_section = {
    .text_place = 40,
    .close = aspx_profile_stop,
    .gather = gather,
    .print = print,
    .json = put_json,
};
