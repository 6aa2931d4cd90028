/* SPDX-License-Identifier: BSD-3-Clause */
/* The record's section of adaptation. Each process brings its own trace, and
 * that of its ghost if that judges; those of a node are averaged. */
#include "config.h"

#include "report.h"

#include "adapt.h"

#include "runtime/mpi/real.h"

#include <inttypes.h>
#include <stdlib.h>

enum { STRIPS = 8 }; /* nodes on stderr; the file has all */

/* Of a node and a bucket: nanoseconds of its processes. */
struct cell {
    uint64_t on, alive;
};

struct adaptation {
    double bucket_s, interval_s;
    uint32_t nbuckets;
    size_t n;
    const struct aspx_trace_switch *change; /* n, by time */
    const struct cell *cell; /* by node, then by bucket of ASPX_TRACE_BUCKETS */
    uint64_t more;           /* switches that found no room */
    struct aspx_decisions decisions; /* for all ranks */
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

/* What comes from other processes may be anything. */
static uint64_t ns(double s)
{
    return s > 0 && s < 1e9 ? (uint64_t) (1e9 * s) : 0;
}

/* The cells of all nodes, summed, and behind them a number. */
static uint64_t *sum_cells(struct aspx_record *record,
                           const struct aspx_trace *trace, double bucket_s,
                           uint64_t number)
{
    size_t cells = (size_t) record->nnodes * ASPX_TRACE_BUCKETS;
    double end_s = trace->last_s - trace->begin_s;
    uint64_t *own = aspx_record_alloc(record, (2 * cells + 1) * sizeof(*own));
    struct cell *node;

    if (own) {
        node = (struct cell *) own + (size_t) record->node * ASPX_TRACE_BUCKETS;
        for (uint32_t b = 0; b < ASPX_TRACE_BUCKETS; b++)
            node[b] = (struct cell){ns(trace->on_s[b]),
                                    ns(covered(end_s, bucket_s, b))};
        own[2 * cells] = number;
    }
    return aspx_record_sum(record, own, 2 * cells + 1);
}

/* The switches of two traces. Returns how many. */
static uint32_t join(struct aspx_trace_switch *change,
                     const struct aspx_record *record,
                     const struct aspx_trace *one, const struct aspx_trace *two)
{
    uint32_t n = one->n + two->n;

    for (uint32_t i = 0; i < n; i++) {
        change[i] = i < one->n ? one->change[i] : two->change[i - one->n];
        change[i].rank = record->rank;
        change[i].node = record->node;
    }
    return n;
}

static void *gather(struct aspx_record *record)
{
    static const struct aspx_trace none;
    struct aspx_trace_switch change[2 * ASPX_TRACE_SWITCHES], *changes;
    size_t cells = (size_t) record->nnodes * ASPX_TRACE_BUCKETS, nchanges;
    struct aspx_trace *own, *target, *shown;
    struct aspx_decisions *decisions;
    struct adaptation *all;
    double mine[3], most[3];
    uint64_t *sums;
    uint32_t n;

    if (!aspx_adapt_able()) /* the same everywhere */
        return NULL;
    own = aspx_own_trace_close();
    target = aspx_adapt_target_trace();
    shown = target ? target : own;
    n = join(change, record, own, target ? target : &none);
    mine[0] = shown->bucket_s;
    mine[1] = shown->last_s - shown->begin_s;
    mine[2] = aspx_adapt_interval_s();
    aspx_real.MPI_Allreduce(mine, most, 3, MPI_DOUBLE, MPI_MAX, record->users);
    aspx_trace_coarsen(shown, most[0]);
    sums = sum_cells(record, shown, most[0],
                     own->more + (target ? target->more : 0));
    changes = aspx_record_rows(record, change, n, sizeof(change[0]), &nchanges);
    all = aspx_record_alloc(record, sizeof(*all));
    if (!sums || !all)
        return NULL;
    *all = (struct adaptation){
        .bucket_s = most[0],
        .interval_s = most[2],
        .nbuckets = buckets_of(most[1], most[0]),
        .n = nchanges, /* without memory 0: they are only counted */
        .change = changes,
        .cell = (const struct cell *) sums,
        .more = sums[2 * cells],
    };
    if (changes)
        qsort(changes, nchanges, sizeof(*changes), by_time);
    decisions = aspx_adapt_decisions();
    if (decisions)
        all->decisions = *decisions;
    free(decisions);
    return all;
}

/* The share of a node's windows that was redirected. */
static double share_on(const struct adaptation *all, uint32_t node,
                       uint32_t bucket)
{
    const struct cell *cell =
        &all->cell[(size_t) node * ASPX_TRACE_BUCKETS + bucket];

    return cell->alive ? (double) cell->on / (double) cell->alive : 1;
}

static char mark(double on)
{
    return on > 0.95 ? '#' : on > 0.5 ? '+' : on > 0.05 ? '-' : '.';
}

static void print(FILE *to, const struct aspx_record *record, const void *data)
{
    const struct adaptation *all = data;
    const struct aspx_decisions *decisions = &all->decisions;

    fprintf(to,
            "aspen: adapt=%s, redirection to a rank was switched %" PRIu64
            " times; on # + - . off, %.3g s each:\n",
            aspx_adapt_mode(), all->n + all->more, all->bucket_s);
    for (uint32_t n = 0; n < record->nnodes && n < STRIPS; n++) {
        fprintf(to, "aspen:   node %" PRIu32 " |", n);
        for (uint32_t b = 0; b < all->nbuckets; b++)
            fputc(mark(share_on(all, n, b)), to);
        fputs("|\n", to);
    }
    for (uint32_t i = 0; i < decisions->n; i++)
        fprintf(to, "aspen: auto, at %.2f s: %s: %s\n", decisions->list[i].t_s,
                aspx_decision_name(decisions->list[i].to),
                decisions->list[i].why);
    if (decisions->more)
        fprintf(to, "aspen: auto: and %" PRIu32 " decisions after these\n",
                decisions->more);
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
            all->more);
    for (uint32_t i = 0; i < all->n; i++) {
        fprintf(to, "%s{\"t_s\": %.6f, \"to\": \"%s\", \"why\": ",
                i ? ",\n    " : "\n    ", all->list[i].t_s,
                aspx_decision_name(all->list[i].to));
        aspx_record_put_string(to, all->list[i].why);
        fputc('}', to);
    }
}

static void put_json(FILE *to, const struct aspx_record *record,
                     const void *data)
{
    const struct adaptation *all = data;

    fprintf(to,
            ",\n  \"adaptation\": {\"mode\": \"%s\", \"interval_s\": %g, "
            "\"bucket_s\": %.9g,\n   \"switches_more\": %" PRIu64
            ",\n   \"switches\": [",
            aspx_adapt_mode(), all->interval_s, all->bucket_s, all->more);
    for (size_t i = 0; i < all->n; i++) {
        fputs(i ? ",\n    " : "\n    ", to);
        put_switch(to, &all->change[i]);
    }
    put_decisions(to, &all->decisions);
    fputs("],\n   \"timeline\": [", to);
    for (uint32_t n = 0; n < record->nnodes; n++) {
        fprintf(to, "%s{\"node\": %" PRIu32 ", \"on\": [",
                n ? ",\n    " : "\n    ", n);
        for (uint32_t b = 0; b < all->nbuckets; b++)
            fprintf(to, "%s%.3g", b ? ", " : "", share_on(all, n, b));
        fputs("]}", to);
    }
    fputs("]}", to);
}

const struct aspx_section aspx_adaptation_section = {
    .text_place = 70,
    .gather = gather,
    .print = print,
    .json = put_json,
};
