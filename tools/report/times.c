/* SPDX-License-Identifier: BSD-3-Clause */
/* What the page shows of time: in MPI by rank and by call, how busy ghosts
 * were, what adaptation did. */
#include "config.h"

#include "page.h"

#include "html.h"
#include "svg.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    RANK_ROWS = 16,    /* ranks that get a row of their own */
    COLUMNS_MAX = 200, /* of the picture for more of them */
};

static const struct aspt_legend wait_legend[] = {
    {"wait", "waiting for others"},
    {"work", "issuing and handling"},
    {NULL, NULL},
};

static void rank_rows(FILE *to, const struct aspt_time *time)
{
    static const char *const titles[] = {"Rank",     "",        "#waiting",
                                         "#working", "#in MPI", NULL};
    char wall[ASPT_SAY_MAX];

    aspt_html_table(to, titles);
    for (size_t i = 0; i < time->nranks; i++) {
        const struct aspt_rank_time *rank = &time->ranks[i];
        const struct aspt_bar parts[] = {
            {rank->wait_s, "wait", "waiting"},
            {rank->work_s, "work", "working"},
        };

        fputs("<tr>", to);
        aspt_page_rank(to, "", rank->rank, rank->node);
        fputs("<td class=\"wide\">", to);
        aspt_svg_bar(to, parts, 2, time->wall_s);
        fputs("</td>", to);
        aspt_page_seconds(to, rank->wait_s);
        aspt_page_seconds(to, rank->work_s);
        aspt_page_seconds(to, rank->mpi_s);
        fputs("</tr>\n", to);
    }
    fputs("</tbody></table>\n", to);
    aspt_html_tag(to, "p", "note", "A full bar is %s, the whole run.",
                  aspt_say_seconds(time->wall_s, wall, sizeof(wall)));
}

/* Many ranks: columns, each the mean of neighbours. */
static void rank_columns(FILE *to, const struct aspt_time *time)
{
    size_t n = time->nranks < COLUMNS_MAX ? time->nranks : COLUMNS_MAX;
    struct aspt_bar *bars = calloc(2 * n, sizeof(*bars));
    char wall[ASPT_SAY_MAX], full[ASPT_SAY_MAX];
    double most = 0;

    if (!bars)
        return;
    for (size_t c = 0; c < n; c++) {
        size_t from = c * time->nranks / n, end = (c + 1) * time->nranks / n;

        bars[2 * c] = (struct aspt_bar){0, "work", NULL};
        bars[2 * c + 1] = (struct aspt_bar){0, "wait", NULL};
        for (size_t i = from; i < end; i++) {
            bars[2 * c].value += time->ranks[i].work_s / (double) (end - from);
            bars[2 * c + 1].value += time->ranks[i].wait_s /
                                     (double) (end - from);
        }
        if (bars[2 * c].value + bars[2 * c + 1].value > most)
            most = bars[2 * c].value + bars[2 * c + 1].value;
    }
    aspt_svg_columns(to, bars, 2, n, most, "Time in MPI by rank");
    fputs("<div class=\"axis\">", to);
    aspt_html_tag(to, "span", NULL, "rank %" PRIu64, time->ranks[0].rank);
    aspt_html_tag(to, "span", NULL, "full height: %s of %s%s",
                  aspt_say_seconds(most, full, sizeof(full)),
                  aspt_say_seconds(time->wall_s, wall, sizeof(wall)),
                  n < time->nranks ? "; a column is the mean of neighbours"
                                   : "");
    aspt_html_tag(to, "span", NULL, "rank %" PRIu64,
                  time->ranks[time->nranks - 1].rank);
    fputs("</div>\n", to);
    free(bars);
}

static int by_wait(const void *a, const void *b)
{
    const struct aspt_rank_time *left = *(struct aspt_rank_time *const *) a;
    const struct aspt_rank_time *right = *(struct aspt_rank_time *const *) b;

    return (left->wait_s > right->wait_s) - (left->wait_s < right->wait_s);
}

/* Least, middle and most: what a picture of many ranks does not tell. */
static void rank_spread(FILE *to, const struct aspt_time *time)
{
    const struct aspt_rank_time **order = calloc(time->nranks, sizeof(*order));
    char least[ASPT_SAY_MAX], middle[ASPT_SAY_MAX], most[ASPT_SAY_MAX];
    const struct aspt_rank_time *first, *half, *last;

    if (!order)
        return;
    for (size_t i = 0; i < time->nranks; i++)
        order[i] = &time->ranks[i];
    qsort(order, time->nranks, sizeof(*order), by_wait);
    first = order[0];
    half = order[time->nranks / 2];
    last = order[time->nranks - 1];
    aspt_html_tag(
        to, "p", NULL,
        "Waiting: least %s (rank %" PRIu64
        "), median %s, most %s (rank %" PRIu64 ").",
        aspt_say_seconds(first->wait_s, least, sizeof(least)), first->rank,
        aspt_say_seconds(half->wait_s, middle, sizeof(middle)),
        aspt_say_seconds(last->wait_s, most, sizeof(most)), last->rank);
    fputc('\n', to);
    free(order);
}

static void call_times(FILE *to, const struct aspt_time *time)
{
    static const char *const titles[] = {
        "Call", "", "#waiting", "#working", "#calls", "#mean", NULL};

    if (!time->ncalls)
        return;
    fputs("<h3>By call, all ranks together</h3>\n", to);
    aspt_html_table(to, titles);
    for (size_t i = 0; i < time->ncalls && i < ASPT_ROWS_MAX; i++) {
        const struct aspt_call_time *call = &time->calls[i];
        char mean[ASPT_SAY_MAX] = "";
        const struct aspt_bar parts[] = {
            {call->wait_s, "wait", "waiting"},
            {aspt_call_work(call), "work", "working"},
        };

        if (call->count)
            aspt_say_seconds(call->seconds / (double) call->count, mean,
                             sizeof(mean));
        fputs("<tr><td class=\"code fit\">", to);
        aspt_html_text(to, call->name);
        fputs("</td><td class=\"wide\">", to);
        aspt_svg_bar(to, parts, 2, time->calls[0].seconds);
        fputs("</td>", to);
        aspt_page_seconds(to, call->wait_s);
        aspt_page_seconds(to, parts[1].value);
        aspt_html_count(to, call->count);
        aspt_html_tag(to, "td", "n", "%s", mean);
        fputs("</tr>\n", to);
    }
    fputs("</tbody></table>\n", to);
    aspt_page_more(to, time->ncalls, ASPT_ROWS_MAX);
}

void aspt_page_time(FILE *to, const struct aspt_record *record)
{
    const struct aspt_time *time = &record->time;

    if (!record->has_time)
        return;
    aspt_html_section(to, "Time in MPI");
    aspt_html_legend(to, wait_legend);
    if (time->nranks > RANK_ROWS) {
        rank_columns(to, time);
        rank_spread(to, time);
    } else if (time->nranks) {
        rank_rows(to, time);
    }
    call_times(to, time);
    aspt_html_section_end(to);
}

void aspt_page_busy(FILE *to, const struct aspt_record *record)
{
    const char *titles[] = {
        "Ghost",     "",           "#at work",
        "#share",    "#there for", "#CPU time",
        "#to start", "woken by",   record->has_scaling ? "#parked" : NULL,
        NULL};

    if (!record->nbusy)
        return;
    aspt_html_section(to, "How busy the ghosts were");
    aspt_html_table(to, titles);
    for (size_t i = 0; i < record->nbusy && i < ASPT_ROWS_MAX; i++) {
        const struct aspt_busy *busy = &record->busy[i];
        struct aspt_bar part = {busy->busy_s, "ghost", NULL};
        char text[ASPT_SAY_MAX];

        fputs("<tr>", to);
        aspt_page_rank(to, "rank ", busy->rank, busy->node);
        fputs("<td class=\"wide\">", to);
        aspt_svg_bar(to, &part, 1, busy->held_s);
        fputs("</td>", to);
        aspt_page_seconds(to, busy->busy_s);
        aspt_html_tag(
            to, "td", "n", "%s",
            aspt_say_percent(busy->busy_s, busy->held_s, text, sizeof(text)));
        aspt_page_seconds(to, busy->held_s);
        aspt_page_seconds(to, busy->cpu_s - busy->start_cpu_s);
        aspt_page_seconds(to, busy->start_cpu_s);
        fputs("<td>", to);
        aspt_html_text(to, busy->waits ? busy->waits : "");
        if (busy->naps_why && *busy->naps_why) {
            fputs(": ", to);
            aspt_html_text(to, busy->naps_why);
        }
        fputs("</td>", to);
        if (record->has_scaling)
            aspt_page_seconds(to, busy->parked_s);
        fputs("</tr>\n", to);
    }
    fputs("</tbody></table>\n", to);
    aspt_page_more(to, record->nbusy, ASPT_ROWS_MAX);
    aspt_page_scaling(to, record);
    aspt_html_section_end(to);
}

static void put_decisions(FILE *to, const struct aspt_adaptation *adaptation)
{
    static const char *const titles[] = {"#at", "Decision", "Why", NULL};

    if (!adaptation->ndecisions)
        return;
    fputs("<h3>Decisions for all ranks</h3>\n", to);
    aspt_html_table(to, titles);
    for (size_t i = 0; i < adaptation->ndecisions && i < ASPT_ROWS_MAX; i++) {
        const struct aspt_adapt_decision *decision = &adaptation->decisions[i];

        fputs("<tr>", to);
        aspt_html_tag(to, "td", "n", "%.3f s", decision->t_s);
        fputs("<td>", to);
        aspt_html_text(to, decision->to);
        fputs("</td><td>", to);
        aspt_html_text(to, decision->why);
        fputs("</td></tr>\n", to);
    }
    fputs("</tbody></table>\n", to);
    aspt_page_more(to, adaptation->ndecisions + adaptation->decisions_more,
                   adaptation->ndecisions < ASPT_ROWS_MAX
                       ? adaptation->ndecisions
                       : ASPT_ROWS_MAX);
}

static void put_switches(FILE *to, const struct aspt_adaptation *adaptation)
{
    static const char *const titles[] = {"#at", "Rank", "Window",
                                         "To",  "Why",  NULL};

    if (!adaptation->nswitches)
        return;
    fputs("<h3>Switches</h3>\n", to);
    aspt_html_table(to, titles);
    for (size_t i = 0; i < adaptation->nswitches && i < ASPT_ROWS_MAX; i++) {
        const struct aspt_switch *change = &adaptation->switches[i];

        fputs("<tr>", to);
        aspt_html_tag(to, "td", "n", "%.3f s", change->t_s);
        aspt_page_rank(to, "", change->rank, change->node);
        if (change->window == ASPT_ALL_WINDOWS)
            aspt_html_tag(to, "td", NULL, "all");
        else
            aspt_html_tag(to, "td", NULL, "%" PRId64, change->window);
        fputs("<td>", to);
        aspt_html_text(to, change->to);
        fputs("</td><td>", to);
        aspt_html_text(to, change->why);
        fputs("</td></tr>\n", to);
    }
    fputs("</tbody></table>\n", to);
    aspt_page_more(to, adaptation->nswitches + adaptation->switches_more,
                   adaptation->nswitches < ASPT_ROWS_MAX ? adaptation->nswitches
                                                         : ASPT_ROWS_MAX);
}

void aspt_page_adaptation(FILE *to, const struct aspt_record *record)
{
    const struct aspt_adaptation *adaptation = &record->adaptation;
    char interval[ASPT_SAY_MAX];

    if (!record->has_adaptation)
        return;
    aspt_html_section(to, "Adaptation");
    fputs("<p>", to);
    aspt_html_put(
        to,
        "adapt=%.100s. Redirection was looked at every %s and switched %" PRIu64
        " times.",
        adaptation->mode,
        aspt_say_seconds(adaptation->interval_s, interval, sizeof(interval)),
        adaptation->nswitches + adaptation->switches_more);
    fputs("</p>\n", to);
    aspt_page_strips(to, adaptation);
    put_decisions(to, adaptation);
    put_switches(to, adaptation);
    aspt_html_section_end(to);
}
