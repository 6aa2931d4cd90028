/* SPDX-License-Identifier: BSD-3-Clause */
/* Time in MPI of both kinds of run, from their records: what the helpers took
 * away of the waiting, and what they cost. Called by say.c and
 * json.c. */
#include "config.h"

#include "compare.h"

#include <math.h>

static const double trifle = 0.005; /* as of the times; stat.c */

bool aspt_saved(const struct aspt_compare *compare, struct aspt_saved *out_p)
{
    const struct aspt_side *with = &compare->side[ASPT_WITH],
                           *without = &compare->side[ASPT_WITHOUT];

    if (!compare->is_timed || !with->n || !without->n)
        return false;
    aspt_saved_of(with->wait_s, with->n, without->wait_s, without->n, out_p);
    return true;
}

double aspt_helpers_cost(const struct aspt_compare *compare)
{
    const struct aspt_side *with = &compare->side[ASPT_WITH];

    if (!compare->is_timed || !with->n)
        return -1;
    return aspt_median(with->helpers_s, with->n);
}

static void print_row(FILE *to, const struct aspt_side *side)
{
    double ranks = aspt_median(side->ranks_s, side->n);
    double inside = aspt_median(side->mpi_s, side->n);
    double least, most;

    aspt_ends(side->wait_s, side->n, &least, &most);
    fprintf(to, "  %-20s %9.3g %9.3g %9.3g %9.3g %9.3g %7.3g %%\n", side->name,
            aspt_median(side->wait_s, side->n), least, most, inside, ranks,
            ranks > 0 ? 100 * inside / ranks : 0);
}

static const char *sign(double saved_s)
{
    return saved_s < 0 ? "more" : "less";
}

/* "5.3 and 6 s less", or "0.1 s more and 0.4 s less". */
static void print_ends(FILE *to, const struct aspt_saved *saved)
{
    double low = fabs(saved->low), high = fabs(saved->high);

    if (saved->low < 0 && saved->high >= 0)
        fprintf(to, "%.3g s more and %.3g s less", low, high);
    else
        fprintf(to, "%.3g and %.3g s %s", fmin(low, high), fmax(low, high),
                sign(saved->low));
}

static void print_saved(FILE *to, const struct aspt_compare *compare,
                        const struct aspt_saved *saved)
{
    long users = compare->facts.users;

    fprintf(to, "  With Aspen all ranks together wait %.3g s %s",
            fabs(saved->s), sign(saved->s));
    if (users > 1 && !compare->fill && !compare->without)
        fprintf(to, ", %.3g s each", fabs(saved->s) / (double) users);
    if (saved->confidence > 0) {
        fputs(":\n  between ", to);
        print_ends(to, saved);
        fprintf(to, " (%d %% sure)", (int) (100 * saved->confidence));
    }
    fputs(".\n", to);
}

void aspt_mpi_print(FILE *to, const struct aspt_compare *compare)
{
    struct aspt_saved saved;

    if (!aspt_saved(compare, &saved))
        return;
    fprintf(to, "\n  %-20s %8s %9s %9s %9s %9s %9s\n", "of all ranks, seconds",
            "waiting", "least", "most", "in MPI", "in all", "share");
    for (int i = 0; i < ASPT_SIDES; i++)
        print_row(to, &compare->side[i]);
    fputc('\n', to);
    print_saved(to, compare, &saved);
}

/* Is it too little of the ranks' time to speak of? */
static bool is_trifle(const struct aspt_compare *compare,
                      const struct aspt_saved *saved)
{
    const struct aspt_side *without = &compare->side[ASPT_WITHOUT];

    return fabs(saved->s) < trifle * aspt_median(without->ranks_s, without->n);
}

const char *aspt_mpi_verdict(const struct aspt_compare *compare, char *buf,
                             size_t size)
{
    double cost = aspt_helpers_cost(compare);
    struct aspt_saved saved;
    double width;
    int n;

    buf[0] = '\0';
    if (!aspt_saved(compare, &saved) || saved.confidence == 0)
        return buf;
    width = fmax(saved.high - saved.s, saved.s - saved.low);
    if ((saved.low <= 0 && saved.high >= 0) || is_trifle(compare, &saved))
        n = snprintf(buf, size, "saved no MPI wait that shows");
    else
        n = snprintf(buf, size, "%s about %.3g s +- %.2g of MPI wait",
                     saved.s < 0 ? "added" : "saved", fabs(saved.s), width);
    if (cost >= 0)
        snprintf(buf + n, size - (size_t) n, "; helpers cost %.3g %s-seconds",
                 cost, compare->facts.holds_cores ? "core" : "CPU");
    return buf;
}
