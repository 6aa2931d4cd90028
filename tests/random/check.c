/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI did against what the model says. */
#include "random.h"

#include <stdarg.h>

enum { COMPLAINTS = 8 };

void complain(struct program *p, const char *format, ...)
{
    char text[600];
    va_list ap;

    if (p->wrong++ >= COMPLAINTS)
        return;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    fprintf(stderr, "random: seed %llu program %ld phase %d, rank %d: %s\n",
            (unsigned long long) p->seed, p->number, p->phase, world_rank,
            text);
}

/* True once, in the program named by an option --break. */
static int broken(const struct program *p, long number)
{
    static long done = -1;

    if (number < 0 || number != p->number || done == number)
        return 0;
    done = number;
    return 1;
}

static void words_keep(struct program *p, const struct window *w)
{
    const struct side *side = &w->side[w->comm->me];

    for (int i = 0; i < side->regions; i++) {
        const struct region *region = &side->region[i];

        for (int k = 0; k < region->words; k++)
            memcpy(&p->trace[region->final[k]].found,
                   w->base + region->at + k * 8, 8);
    }
}

static const struct region *region_at(const struct side *side, int at)
{
    int i = 0;

    while (at >= side->region[i].at + side->region[i].bytes)
        i++;
    return &side->region[i];
}

void check_memory(struct program *p, struct window *w)
{
    char text[160];
    const struct side *side = &w->side[w->comm->me];

    for (int at = 0; at < side->bytes; at++) {
        unsigned char expected = side->model[at];
        const struct region *region;

        if (!side->known[at])
            continue;
        if (broken(p, options.break_memory))
            expected ^= 1;
        if (w->base[at] == expected)
            continue;
        region = region_at(side, at);
        describe_window(p, w, text, sizeof text);
        complain(p, "%s byte %d is %#x, expected %#x; region at %d, %s, %s",
                 text, at, w->base[at], expected, region->at,
                 describe_mode(region->mode), type_name(region->type));
    }
    words_keep(p, w);
}

/* The image that a result buffer must have: elements where the datatype puts
 * them, and what was there before in between. */
static void check_buffer(struct program *p, const struct op *op,
                         const struct layout *layout,
                         const unsigned char *buffer)
{
    char window[160], text[400];
    int extent = op->type->extent, bytes = layout_span(layout) * extent;
    int reached = op->target >= 0;
    unsigned char *image = phase_memory((size_t) bytes + 32);
    unsigned char *known = phase_memory((size_t) bytes + 32);

    memset(image, FILL, (size_t) bytes + 32);
    memset(known, 1, (size_t) bytes + 32);
    for (int i = 0; reached && i < op->n; i++) {
        int at = layout_slot(layout, i) * extent;

        for (int b = 0; b < extent; b++) {
            int from = i * extent + b;

            image[at + b] = op->expect ? op->expect[from] : 0;
            known[at + b] = op->expect && op->expect_known[from] &&
                            op->type->significant >> b & 1;
        }
    }
    for (int at = 0; at < bytes + 32; at++) {
        if (known[at] && op->expect && broken(p, options.break_value))
            image[at] ^= 1;
        if (!known[at] || image[at] == buffer[at])
            continue;
        describe_window(p, op->window, window, sizeof window);
        describe_op(op, text, sizeof text);
        complain(p, "%s op %d, %s: byte %d of the result is %#x, expected %#x",
                 window, (int) (op - p->op), text, at, buffer[at], image[at]);
    }
}

void check_result(struct program *p, struct op *op)
{
    if (op->kind == GET)
        check_buffer(p, op, &op->from, op->origin_buffer);
    else if (op->result_buffer)
        check_buffer(p, op, &op->result, op->result_buffer);
}

/* ---- words that several processes changed: is there one order of all? */

static int before(const struct trace *a, const struct trace *b)
{
    return (b->found & a->bit) != 0;
}

/* Two operations on a word where each sets a bit of its own. a was issued
 * first if the origin is the same; accumulates of one origin are ordered. */
static const char *chain_pair(const struct trace *a, const struct trace *b)
{
    if (a->fetches && b->fetches && (a->found & b->found) != a->found &&
        (a->found & b->found) != b->found)
        return "neither saw all the other one saw";
    if (a->origin == b->origin && !a->final && !b->final) {
        if (b->fetches && a->bit && !before(a, b))
            return "the later one did not see the earlier one";
        if (a->fetches && b->bit && before(b, a))
            return "the earlier one saw the later one";
    }
    if (a->fetches && b->fetches && a->bit && b->bit &&
        before(a, b) == before(b, a))
        return before(a, b) ? "each saw the other" : "none saw the other";
    return NULL;
}

/* One word; n traces, the first is what the target found at the end. */
static const char *word_wrong(const struct trace **t, int n)
{
    uint64_t last = t[0]->found, written = last, found = 0;
    int winners = 0;

    for (int i = 1; i < n; i++) {
        written ^= t[i]->found;
        found ^= t[i]->bit;
        winners += t[i]->found == 0;
        if (t[i]->found == t[i]->bit && t[i]->bit)
            return "an operation found its own value";
        if (t[0]->mode == ONE_WINS && t[i]->found != 0 && t[i]->found != last)
            return "a loser did not find the winner";
    }
    /* each value but the last was replaced, and so found, exactly once */
    if (t[0]->mode == SWAPS && written != found)
        return "a value was lost or found twice";
    if (t[0]->mode == ONE_WINS && n > 1 && winners != 1)
        return "not exactly one won";
    return NULL;
}

static const char *chain_wrong(const struct trace **t, int n)
{
    const char *why = NULL;

    for (int i = 0; i < n && !why; i++) {
        if (t[i]->fetches && !t[i]->final && t[i]->found & t[i]->bit)
            why = "an operation found its own bit";
        for (int j = i + 1; j < n && !why; j++)
            why = chain_pair(t[i], t[j]);
    }
    return why;
}

static void traces_gather(struct program *p)
{
    static uint64_t mine[MAX_TRACES + 1], all[MAX_TRACES + 1];
    int n = p->n_traces;

    for (int i = 0; i < n; i++) {
        mine[i] = p->trace[i].found;
        if (p->trace[i].fetches && p->trace[i].bit && world_rank == 0 &&
            broken(p, options.break_order))
            mine[i] ^= 1ull << 62;
    }
    mine[n] = (uint64_t) p->wrong;
    MPI_Allreduce(mine, all, n + 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        p->trace[i].found = all[i];
    p->wrong = (long) all[n];
}

/* At the end of a program; afterwards p->wrong is that of all ranks. */
void check_traces(struct program *p)
{
    static const struct trace *word[MAX_TRACES];
    long bad = 0;

    traces_gather(p);
    for (int i = 0; i < p->n_traces; i++) {
        const struct trace *t = &p->trace[i];
        const char *why;
        int n = 0;

        if (!t->final)
            continue;
        for (int j = i; j < p->n_traces; j++)
            if (p->trace[j].group == t->group)
                word[n++] = &p->trace[j];
        why = t->mode == CHAIN || t->mode == GUARDED ? chain_wrong(word, n)
                                                     : word_wrong(word, n);
        if (why && bad++ < COMPLAINTS && world_rank == 0)
            fprintf(stderr,
                    "random: seed %llu program %ld phase %d: window %d, a "
                    "word of world rank %d: %s\n",
                    (unsigned long long) p->seed, p->number, t->phase,
                    t->window, t->target, why);
    }
    p->wrong += bad;
}
