/* SPDX-License-Identifier: BSD-3-Clause */
/* What the page shows of counts: calls by handling, load of the ghosts,
 * threads, windows and their rules. */
#include "config.h"

#include "page.h"

#include "html.h"
#include "svg.h"

#include <inttypes.h>
#include <string.h>

/* The colour of a handling; reasons of plain MPI are shades of one. */
static const char *handling_class(const struct aspt_record *record,
                                  size_t handling)
{
    static const char *const shades[] = {"mpi", "mpi m1", "mpi m2", "mpi m3"};
    enum aspt_doer doer = aspt_handling_words(record->handlings[handling]).doer;
    size_t shade = 0;

    if (doer != ASPT_BY_MPI)
        return aspt_doer_class(doer);
    for (size_t w = 0; w < handling; w++)
        shade += aspt_handling_words(record->handlings[w]).doer == ASPT_BY_MPI;
    return shades[shade < 4 ? shade : 3];
}

static void handling_title(const struct aspt_record *record, size_t handling,
                           char *buf, size_t size)
{
    struct aspt_handling_words words = aspt_handling_words(
        record->handlings[handling]);

    snprintf(buf, size, "%s%.120s",
             words.doer == ASPT_BY_MPI ? "plain MPI: " : "", words.words);
}

static void call_row(FILE *to, const struct aspt_record *record,
                     const struct aspt_call *call, uint64_t most)
{
    struct aspt_bar parts[ASPT_HANDLINGS_MAX];
    char titles[ASPT_HANDLINGS_MAX][200];

    for (size_t w = 0; w < record->nhandlings; w++) {
        char words[160];

        handling_title(record, w, words, sizeof(words));
        snprintf(titles[w], sizeof(titles[w]), "%s: %" PRIu64, words,
                 call->count[w]);
        parts[w] = (struct aspt_bar){(double) call->count[w],
                                     handling_class(record, w), titles[w]};
    }
    fputs("<tr><td class=\"fit\">", to);
    aspt_html_text(to, call->name);
    fputs("</td><td class=\"wide\">", to);
    aspt_svg_bar(to, parts, record->nhandlings, (double) most);
    fputs("</td>", to);
    for (size_t w = 0; w < record->nhandlings; w++)
        aspt_html_count(to, call->count[w]);
    aspt_html_count(to, call->sum);
    fputs("</tr>\n", to);
}

/* Columns of handlings have the colour of the legend over their name. */
static void calls_head(FILE *to, const struct aspt_record *record)
{
    static const char *const names[ASPT_DOERS] = {"ghosts", "copies", "device",
                                                  "targets", "plain"};

    fputs("<table>\n<thead><tr><th>Call</th><th></th>", to);
    for (size_t w = 0; w < record->nhandlings; w++)
        fprintf(to, "<th class=\"n\"><i class=\"dot %s\"></i>%s</th>",
                handling_class(record, w),
                names[aspt_handling_words(record->handlings[w]).doer]);
    fputs("<th class=\"n\">all</th></tr></thead>\n<tbody>\n", to);
}

/* What was never called, in a line. */
static void never_called(FILE *to, const struct aspt_record *record)
{
    const char *between = "<p class=\"note\">Never called: ";
    bool any = false;

    for (size_t c = 0; c < record->ncalls; c++) {
        if (record->calls[c].sum)
            continue;
        fputs(between, to);
        aspt_html_text(to, record->calls[c].name);
        between = ", ";
        any = true;
    }
    if (any)
        fputs(".</p>\n", to);
}

void aspt_page_calls(FILE *to, const struct aspt_record *record)
{
    uint64_t most = 0;

    if (!record->has_calls)
        return;
    aspt_html_section(to, "Calls on windows, and who carried them out");
    fputs("<ul class=\"legend\">", to);
    for (size_t w = 0; w < record->nhandlings; w++) {
        char title[160];

        handling_title(record, w, title, sizeof(title));
        fprintf(to, "<li><i class=\"%s\"></i>", handling_class(record, w));
        aspt_html_put(to, "%s: %" PRIu64, title, aspt_handling_sum(record, w));
        fputs("</li>", to);
    }
    fputs("</ul>\n", to);
    for (size_t c = 0; c < record->ncalls; c++)
        most = record->calls[c].sum > most ? record->calls[c].sum : most;
    if (most)
        calls_head(to, record);
    for (size_t c = 0; c < record->ncalls; c++)
        if (record->calls[c].sum)
            call_row(to, record, &record->calls[c], most);
    if (most)
        fputs("</tbody></table>\n", to);
    never_called(to, record);
    aspt_html_section_end(to);
}

void aspt_page_loads(FILE *to, const struct aspt_record *record)
{
    static const char *const titles[] = {"Ghost", "", "#operations", "#data",
                                         NULL};
    uint64_t most = 0;

    if (!record->nloads)
        return;
    for (size_t i = 0; i < record->nloads; i++)
        most = record->loads[i].ops > most ? record->loads[i].ops : most;
    aspt_html_section(to, "What each ghost was sent");
    aspt_html_table(to, titles);
    for (size_t i = 0; i < record->nloads && i < ASPT_ROWS_MAX; i++) {
        const struct aspt_load *load = &record->loads[i];
        struct aspt_bar part = {(double) load->ops, "ghost", NULL};
        char bytes[ASPT_SAY_MAX];

        fputs("<tr>", to);
        aspt_page_rank(to, "rank ", load->rank, load->node);
        fputs("<td class=\"wide\">", to);
        aspt_svg_bar(to, &part, 1, (double) most);
        fputs("</td>", to);
        aspt_html_count(to, load->ops);
        aspt_html_tag(to, "td", "n", "%s",
                      aspt_say_bytes(load->bytes, bytes, sizeof(bytes)));
        fputs("</tr>\n", to);
    }
    fputs("</tbody></table>\n", to);
    aspt_page_more(to, record->nloads, ASPT_ROWS_MAX);
    aspt_html_tag(to, "p", "note",
                  "Ranks of MPI's real world: ghosts come after all ranks of "
                  "the program, or after those of their node. Operations move "
                  "data; locks, flushes and the like are not among them.");
    aspt_html_section_end(to);
}

static void put_counts(FILE *to, const struct aspt_counts *counts)
{
    static const char *const titles[] = {"", "#count, all ranks", NULL};

    aspt_html_table(to, titles);
    for (size_t i = 0; i < counts->n; i++) {
        fputs("<tr>", to);
        aspt_html_tag(to, "td", NULL, "%s", counts->item[i].words);
        aspt_html_count(to, counts->item[i].count);
        fputs("</tr>\n", to);
    }
    fputs("</tbody></table>\n", to);
}

void aspt_page_counts(FILE *to, struct aspt_counts counts)
{
    if (!counts.n)
        return;
    aspt_html_section(to, counts.title);
    put_counts(to, &counts);
    aspt_html_section_end(to);
}

static void window_rules(FILE *to, const struct aspt_record *record,
                         const struct aspt_window *window)
{
    size_t i;
    json_t *rule;

    fputs("<td class=\"code\">", to);
    json_array_foreach((json_t *) window->rules, i, rule)
    {
        if (i)
            fputs(", ", to);
        aspt_html_text(to, record->rules[json_integer_value(rule)].from);
    }
    fputs("</td>", to);
}

static void window_row(FILE *to, const struct aspt_record *record,
                       const struct aspt_window *window)
{
    struct aspt_handling_words handling = aspt_handling_words(window->handling);
    char least[ASPT_SAY_MAX], most[ASPT_SAY_MAX];

    fputs("<tr>", to);
    if (window->count > 1)
        aspt_html_tag(to, "td", "fit", "%" PRIu64 "-%" PRIu64 " (%" PRIu64 ")",
                      window->order, window->last, window->count);
    else
        aspt_html_tag(to, "td", NULL, "%" PRIu64, window->order);
    fputs("<td>", to);
    aspt_html_text(to, window->name);
    fputs("</td><td>", to);
    aspt_html_text(to, window->made_by);
    fputs("<br/><span class=\"code soft\">", to);
    aspt_html_text(to, window->site[0] ? window->site : "?");
    if (aspt_window_place(window)[0])
        fputs(" ", to);
    aspt_html_text(to, aspt_window_place(window));
    fputs("</span></td>", to);
    aspt_html_count(to, window->processes);
    aspt_say_bytes(window->bytes_least, least, sizeof(least));
    aspt_say_bytes(window->bytes_most, most, sizeof(most));
    if (window->bytes_least == window->bytes_most)
        aspt_html_tag(to, "td", "n", "%s", most);
    else
        aspt_html_tag(to, "td", "n", "%s to %s", least, most);
    fputs("<td>", to);
    if (handling.doer == ASPT_BY_MPI)
        fputs("plain MPI: ", to);
    aspt_html_text(to, handling.words);
    if (window->switchable)
        fputs(", can be switched", to);
    fputs("</td>", to);
    if (record->nrules)
        window_rules(to, record, window);
    fputs("</tr>\n", to);
}

static void put_rules(FILE *to, const struct aspt_rule *rules, size_t n,
                      const char *whose)
{
    const char *titles[] = {"Rule", whose, "Sets", "#held for", NULL};

    if (!n)
        return;
    fputs("<h3>Rules</h3>\n", to);
    aspt_html_table(to, titles);
    for (size_t i = 0; i < n; i++) {
        const struct aspt_rule *rule = &rules[i];

        fputs("<tr><td class=\"code\">", to);
        aspt_html_text(to, rule->from);
        fputs("</td><td>", to);
        aspt_html_text(to, rule->match);
        fputs("</td><td>", to);
        aspt_html_text(to, rule->set);
        fputs("</td>", to);
        aspt_html_count(to, rule->held);
        fputs("</tr>\n", to);
    }
    fputs("</tbody></table>\n", to);
}

void aspt_page_windows(FILE *to, const struct aspt_record *record)
{
    const char *titles[] = {"No.",
                            "Name",
                            "Made by, at",
                            "#processes",
                            "#bytes each",
                            "Carried out",
                            record->nrules ? "Rules" : NULL,
                            NULL};

    if (!record->nwindows && !record->nrules)
        return;
    aspt_html_section(to, "Windows");
    if (record->nwindows) {
        aspt_html_table(to, titles);
        for (size_t i = 0; i < record->nwindows && i < ASPT_ROWS_MAX; i++)
            window_row(to, record, &record->windows[i]);
        fputs("</tbody></table>\n", to);
    }
    aspt_page_more(to, record->nwindows + record->windows_more,
                   record->nwindows < ASPT_ROWS_MAX ? record->nwindows
                                                    : ASPT_ROWS_MAX);
    put_rules(to, record->rules, record->nrules, "For windows");
    aspt_html_section_end(to);
}

void aspt_page_messages(FILE *to, const struct aspt_record *record)
{
    struct aspt_counts counts = aspt_messages_counts(record);

    if (!counts.n)
        return;
    aspt_html_section(to, counts.title);
    put_counts(to, &counts);
    put_rules(to, record->messages.rules, record->messages.nrules,
              "For communicators");
    aspt_html_section_end(to);
}
