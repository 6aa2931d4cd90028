/* SPDX-License-Identifier: BSD-3-Clause */
/* A program in words: names for messages, and the listing of --print. */
#include "random.h"

static const char *const kinds[KINDS] = {"put",          "get",
                                         "accumulate",   "get_accumulate",
                                         "fetch_and_op", "compare_and_swap",
                                         "store",        "load",
                                         "guarded add"};
static const char *const modes[] = {"idle",  "owned",    "read only",
                                    "local", "fold",     "chain",
                                    "swap",  "replaced", "guarded"};
static const char *const shapes[SHAPES] = {
    "plain",  "contiguous", "vector",  "indexed", "hindexed",
    "struct", "subarray",   "resized", "absolute"};
static const char *const epochs[] = {"fence", "pscw", "passive"};
static const char *const flavors[FLAVORS] = {"allocate", "allocate_shared",
                                             "create"};
static const char *const accesses[] = {"no epoch", "lock_all", "held locks",
                                       "one lock at a time"};
static const char *const separators[] = {"", ", then flush", ", then flush_all",
                                         ", then flush_local",
                                         ", then flush_local_all"};

static const char *passive_text(const struct window *w, int origin)
{
    return w->epoch == PASSIVE ? accesses[w->access[origin]] : "";
}

void describe_window(const struct program *p, const struct window *w, char *out,
                     size_t bytes)
{
    snprintf(out, bytes, "window %d (%s%s, %s, %s%s)", (int) (w - p->window),
             flavors[w->flavor], w->parent ? " on another" : "", w->comm->kind,
             epochs[w->epoch],
             w->handoff && w->epoch == PASSIVE ? " with handoffs" : "");
}

const char *describe_mode(enum mode mode)
{
    return modes[mode];
}

void describe_op(const struct op *op, char *out, size_t bytes)
{
    const struct window *w = op->window;
    int calculates = op->kind == ACCUMULATE || op->kind == GET_ACCUMULATE ||
                     op->kind == FETCH_AND_OP;

    snprintf(out, bytes,
             "%s%s%s by %d of %d %s%s%s at %d byte %d, round %d, %s to %s "
             "shape, %s%s",
             op->request ? (op->late ? "late R" : "R") : "", kinds[op->kind],
             op->large ? "_c" : "", op->origin, op->n, type_name(op->type),
             calculates ? " " : "", calculates ? operators[op->op].name : "",
             op->target, op->at, op->round, shapes[op->from.shape],
             shapes[op->to.shape], passive_text(w, op->origin),
             w->epoch == PASSIVE && op->round + 1 < w->rounds
                 ? separators[w->separator[op->origin][op->round]]
                 : "");
}

static void print_window(const struct program *p, const struct window *w)
{
    char text[160];

    describe_window(p, w, text, sizeof text);
    printf("  %s, rounds %d, nocheck %d, world ranks", text, w->rounds,
           w->nocheck);
    for (int r = 0; r < w->comm->n; r++)
        printf(" %d", w->comm->world[r]);
    printf("\n    bytes/unit:");
    for (int r = 0; r < w->comm->n; r++)
        printf(" %d/%d", w->side[r].bytes, w->side[r].unit);
    for (int o = 0; o < w->comm->n; o++) {
        printf("\n    origin %d, %s:", o, passive_text(w, o));
        for (int t = 0; t < w->comm->n; t++)
            if (w->may[o] >> t & 1)
                printf(" %d%s%s", t, w->lock[o][t] == LOCK_EXCLUSIVE ? "x" : "",
                       w->lock_nocheck[o] >> t & 1 ? "n" : "");
    }
    printf("\n");
}

void print_phase(const struct program *p)
{
    char text[400];

    printf("program %ld phase %d of %d\n", p->number, p->phase, p->phases);
    for (int i = 0; i < p->n_windows; i++)
        if (p->window[i].alive)
            print_window(p, &p->window[i]);
    for (int i = 0; i < p->n_ops; i++) {
        const struct op *op = &p->op[i];

        describe_op(op, text, sizeof text);
        printf(
            "    %d: window %d (%s) %s\n", i, (int) (op->window - p->window),
            op->target < 0
                ? "nobody"
                : modes[op->window->side[op->target].region[op->region].mode],
            text);
    }
    fflush(stdout);
}
