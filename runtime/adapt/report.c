/* SPDX-License-Identifier: BSD-3-Clause */
/* Called by casper/report/record.c. Each process brings its own trace, and that
 * of its ghost if that judges; those of a node are averaged. */
#include "config.h"

#include "report.h"

#include "adapt.h"
#include "runtime/mpi/real.h"

#include <inttypes.h>
#include <stdlib.h>

enum { STRIPS = 8 }; /* nodes on stderr; the file has all */

struct aspx_adaptation {
    double bucket_s, interval_s;
    uint32_t nnodes, nbuckets;
    uint64_t more;
    uint64_t n;
    struct aspx_trace_switch *change; /* by time */
    double *on; /* by node, then by bucket: share of its windows */
    struct aspx_decisions *decisions; /* for all ranks; NULL: none */
};

static int by_time(const void *a, const void *b)
{
    const struct aspx_trace_switch *left = a, *right = b;

    return (left->t_s > right->t_s) - (left->t_s < right->t_s);
}

/* Buckets that a trace of this length fills. Everybody's is as long as all its
 * buckets at most, yet what came from other processes may be anything. */
static uint32_t buckets_of(double length_s, double bucket_s)
{
    double n = length_s / bucket_s;

    return n >= 0 && n < ASPX_TRACE_BUCKETS ? (uint32_t) n + 1
                                            : ASPX_TRACE_BUCKETS;
}

/* The part of [0, end_s) that lies in a bucket. */
static double covered(double end_s, double bucket_s, uint32_t b)
{
    double part = end_s - b * bucket_s;

    return part < 0 ? 0 : part < bucket_s ? part : bucket_s;
}

/* Seconds on and seconds alive of all processes of a node, then shares.
 *   mine  room for both, zeroed; so has all->on */
static void sum_up(struct aspx_adaptation *all, const struct aspx_world *world,
                   const struct aspx_trace *trace, uint64_t more, double *mine)
{
    size_t cells = (size_t) all->nnodes * ASPX_TRACE_BUCKETS;
    size_t own = (size_t) world->node * ASPX_TRACE_BUCKETS;
    double end_s = trace->last_s - trace->begin_s;

    for (uint32_t b = 0; b < ASPX_TRACE_BUCKETS; b++) {
        mine[own + b] = trace->on_s[b];
        mine[cells + own + b] = covered(end_s, all->bucket_s, b);
    }
    aspx_real.MPI_Reduce(mine, all->on, (int) (2 * cells), MPI_DOUBLE, MPI_SUM,
                         0, world->users);
    aspx_real.MPI_Reduce(&more, &all->more, 1, MPI_UINT64_T, MPI_SUM, 0,
                         world->users);
    for (size_t c = 0; c < cells; c++)
        all->on[c] = all->on[cells + c] > 0 ? all->on[c] / all->on[cells + c]
                                            : 1;
}

/* The switches of two traces. Returns how many. */
static uint32_t join(struct aspx_trace_switch *change,
                     const struct aspx_world *world,
                     const struct aspx_trace *one, const struct aspx_trace *two)
{
    uint32_t n = one->n + two->n;

    for (uint32_t i = 0; i < n; i++) {
        change[i] = i < one->n ? one->change[i] : two->change[i - one->n];
        change[i].rank = world->rank_user;
        change[i].node = world->node;
    }
    return n;
}

/* All switches, in rank 0. Without memory there they are only counted. */
static void gather_switches(struct aspx_adaptation *all,
                            const struct aspx_world *world,
                            const struct aspx_trace_switch *change, uint32_t n)
{
    int mine = (int) (n * sizeof(*change)), sum = 0;
    size_t users = world->rank_user == 0 ? (size_t) world->size_users : 1;
    int *bytes = calloc(2 * users, sizeof(*bytes)), ok = bytes != NULL;

    aspx_real.MPI_Bcast(&ok, 1, MPI_INT, 0, world->users);
    if (ok) {
        aspx_real.MPI_Gather(&mine, 1, MPI_INT, bytes, 1, MPI_INT, 0,
                             world->users);
        for (size_t r = 0; bytes && world->rank_user == 0 && r < users; r++) {
            bytes[users + r] = sum;
            sum += bytes[r];
        }
        all->change = malloc((size_t) sum + 1);
        ok = all->change != NULL;
        aspx_real.MPI_Bcast(&ok, 1, MPI_INT, 0, world->users);
    }
    if (ok) {
        aspx_real.MPI_Gatherv(change, mine, MPI_BYTE, all->change, bytes,
                              bytes ? bytes + users : NULL, MPI_BYTE, 0,
                              world->users);
        all->n = (uint64_t) sum / sizeof(*all->change);
        if (all->n)
            qsort(all->change, all->n, sizeof(*all->change), by_time);
    }
    free(bytes);
}

struct aspx_adaptation *aspx_adaptation_gather(const struct aspx_world *world)
{
    static const struct aspx_trace none;
    struct aspx_trace_switch change[2 * ASPX_TRACE_SWITCHES];
    size_t cells = (size_t) world->nnodes * ASPX_TRACE_BUCKETS;
    struct aspx_adaptation *all;
    struct aspx_trace *own, *target, *shown;
    double mine[3], most[3], *sums;
    uint32_t n;
    int ok, everywhere;

    if (!aspx_adapt_able()) /* the same everywhere */
        return NULL;
    own = aspx_own_trace_close();
    target = aspx_adapt_target_trace();
    shown = target ? target : own;
    n = join(change, world, own, target ? target : &none);
    mine[0] = shown->bucket_s;
    mine[1] = shown->last_s - shown->begin_s;
    mine[2] = aspx_adapt_interval_s();
    aspx_real.MPI_Allreduce(mine, most, 3, MPI_DOUBLE, MPI_MAX, world->users);
    aspx_trace_coarsen(shown, most[0]);
    sums = calloc(2 * cells, sizeof(*sums));
    all = calloc(1, sizeof(*all));
    if (all)
        *all = (struct aspx_adaptation){
            .bucket_s = most[0],
            .interval_s = most[2],
            .nnodes = world->nnodes,
            .nbuckets = buckets_of(most[1], most[0]),
            .on = calloc(2 * cells, sizeof(double)),
        };
    ok = all && sums && all->on;
    aspx_real.MPI_Allreduce(&ok, &everywhere, 1, MPI_INT, MPI_LAND,
                            world->users);
    if (everywhere) {
        sum_up(all, world, shown, own->more + (target ? target->more : 0),
               sums);
        gather_switches(all, world, change, n);
        all->decisions = aspx_adapt_decisions();
    }
    free(sums);
    if (everywhere && world->rank_user == 0)
        return all;
    aspx_adaptation_free(all);
    return NULL;
}

void aspx_adaptation_free(struct aspx_adaptation *all)
{
    if (!all)
        return;
    free(all->on);
    free(all->change);
    free(all->decisions);
    free(all);
}

static char mark(double on)
{
    return on > 0.95 ? '#' : on > 0.5 ? '+' : on > 0.05 ? '-' : '.';
}

void aspx_adaptation_print(FILE *to, const struct aspx_adaptation *all)
{
    if (!all)
        return;
    fprintf(to,
            "aspen: adapt=%s, redirection to a rank was switched %" PRIu64
            " times; on # + - . off, %.3g s each:\n",
            aspx_adapt_mode(), all->n + all->more, all->bucket_s);
    for (uint32_t n = 0; n < all->nnodes && n < STRIPS; n++) {
        fprintf(to, "aspen:   node %" PRIu32 " |", n);
        for (uint32_t b = 0; b < all->nbuckets; b++)
            fputc(mark(all->on[n * ASPX_TRACE_BUCKETS + b]), to);
        fputs("|\n", to);
    }
    for (uint32_t i = 0; all->decisions && i < all->decisions->n; i++)
        fprintf(to, "aspen: auto, at %.2f s: %s: %s\n",
                all->decisions->list[i].t_s,
                aspx_decision_name(all->decisions->list[i].to),
                all->decisions->list[i].why);
    if (all->decisions && all->decisions->more)
        fprintf(to, "aspen: auto: and %" PRIu32 " decisions after these\n",
                all->decisions->more);
}

static void put_switch(FILE *to, const struct aspx_trace_switch *change)
{
    fprintf(to,
            "{\"t_s\": %.6f, \"node\": %" PRIu32 ", \"rank\": %" PRId32
            ", \"window\": %" PRId32 ", \"to\": \"%s\", \"why\": ",
            change->t_s, change->node, change->rank, change->window,
            change->on ? "on" : "off");
    if (change->why == ASPX_WHY_ASKED)
        fputs("\"async_config\"}", to);
    else if (change->why == ASPX_WHY_ORDER)
        fputs("\"decided for all\"}", to);
    else
        fprintf(to, "\"%d %% of the time in MPI\"}", change->why);
}

static void put_decisions(FILE *to, const struct aspx_decisions *all)
{
    fprintf(to, "],\n   \"decisions_more\": %" PRIu32 ",\n   \"decisions\": [",
            all ? all->more : 0);
    for (uint32_t i = 0; all && i < all->n; i++)
        fprintf(to, "%s{\"t_s\": %.6f, \"to\": \"%s\", \"why\": \"%s\"}",
                i ? ",\n    " : "\n    ", all->list[i].t_s,
                aspx_decision_name(all->list[i].to), all->list[i].why);
}

void aspx_adaptation_json(FILE *to, const struct aspx_adaptation *all)
{
    if (!all)
        return;
    fprintf(to,
            ",\n  \"adaptation\": {\"mode\": \"%s\", \"interval_s\": %g, "
            "\"bucket_s\": %.9g,\n   \"switches_more\": %" PRIu64
            ",\n   \"switches\": [",
            aspx_adapt_mode(), all->interval_s, all->bucket_s, all->more);
    for (uint64_t i = 0; i < all->n; i++) {
        fputs(i ? ",\n    " : "\n    ", to);
        put_switch(to, &all->change[i]);
    }
    put_decisions(to, all->decisions);
    fputs("],\n   \"timeline\": [", to);
    for (uint32_t n = 0; n < all->nnodes; n++) {
        fprintf(to, "%s{\"node\": %" PRIu32 ", \"on\": [",
                n ? ",\n    " : "\n    ", n);
        for (uint32_t b = 0; b < all->nbuckets; b++)
            fprintf(to, "%s%.3g", b ? ", " : "",
                    all->on[n * ASPX_TRACE_BUCKETS + b]);
        fputs("]}", to);
    }
    fputs("]}", to);
}
