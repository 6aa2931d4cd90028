/* SPDX-License-Identifier: BSD-3-Clause */
/* The record for a terminal: plain ASCII of its own, at most 80 columns. Texts
 * of the record are shown through aspt_safe_char(). */
#include "config.h"

#include "report.h"

#include "tools/base/command.h"

#include "common/base/strbuf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BAR = 30, ROWS = 40, TASKS = 128, NAME_COLUMNS = 18 };

/* One letter for each doer in bars. */
static const char doer_letters[] = "g=dt.";

static void head(FILE *to, const char *title)
{
    fprintf(to, "\n%s\n", title);
}

/* Words, wrapped at an indent; the first line after `first`. */
static void wrap(FILE *to, const char *first, int indent, const char *text)
{
    int column = (int) strlen(first);

    fputs(first, to);
    if (column < indent)
        fprintf(to, "%*s", indent - column, "");
    column = column > indent ? column : indent;
    for (bool begin = true; *text; begin = false) {
        size_t len = strcspn(text, " "), at = 0;
        char safe[5];

        if (!begin && column + 1 + (int) len > ASPT_WIDTH - 1) {
            fprintf(to, "\n%*s", indent, "");
            column = indent;
        } else if (!begin) {
            fputc(' ', to);
            column++;
        }
        while (at < len) {
            at += aspt_safe_char(text + at, safe);
            fputs(safe, to);
            column++;
        }
        text += len;
        text += strspn(text, " ");
    }
    fputc('\n', to);
}

/* In a column: cut, or filled up with blanks. */
static void cell(FILE *to, const char *text, int columns)
{
    char safe[5];

    for (; *text && columns > 1; columns--) {
        text += aspt_safe_char(text, safe);
        fputs(safe, to);
    }
    fprintf(to, "%*s", columns, "");
}

static void fact(FILE *to, const char *name, const char *text)
{
    char first[32];

    snprintf(first, sizeof(first), "  %s", name);
    wrap(to, first, NAME_COLUMNS, text);
}

static void print_head(FILE *to, const struct aspt_record *record)
{
    char text[1024], part[ASPT_SAY_MAX];

    fact(to, "job", record->job);
    fact(to, "mode", record->mode);
    snprintf(text, sizeof(text), "%" PRIu64 " on %s", record->users,
             aspt_say_many(record->nodes, "node", part, sizeof(part)));
    fact(to, "ranks", text);
    aspt_say_helpers(record, text, sizeof(text));
    fact(to, "helpers", text);
    snprintf(text, sizeof(text), "%s%s%.900s", record->bound ? "yes" : "no",
             record->reason[0] ? ": " : "", record->reason);
    fact(to, "bound", text);
    fact(to, "MPI", record->mpi);
    if (record->mpi_device)
        fact(to, "device", record->mpi_device);
    if (record->mpi_fixes)
        fact(to, "works around", aspt_say_fixes(record, text, sizeof(text)));
    if (record->digest[0])
        fact(to, "policy digest", record->digest);
    fact(to, "Aspen", record->version);
}

static void print_lines(FILE *to, const char *title,
                        const struct aspt_lines *lines)
{
    if (!lines->n)
        return;
    head(to, title);
    for (size_t i = 0; i < lines->n; i++)
        wrap(to, "  -", 4, lines->line[i]);
}

/* "  and 12 more, see the record" */
static void more(FILE *to, size_t n, size_t shown)
{
    if (n > shown)
        fprintf(to, "  and %zu more\n", n - shown);
}

static void print_tasks(FILE *to, const struct aspt_record *record)
{
    head(to, "First node");
    for (size_t t = 0; t < record->ntasks && t < TASKS; t++) {
        const struct aspt_recorded_task *task = &record->tasks[t];
        char first[64], text[2048];
        struct asp_strbuf line = ASP_STRBUF(text);

        snprintf(first, sizeof(first), "  task %" PRIu64, task->local);
        asp_strbuf_add(&line, "%s, %s%.1500s", task->ghost ? "ghost" : "rank",
                       !task->cpu_list[0]               ? "no CPUs planned"
                       : strpbrk(task->cpu_list, ",-.") ? "CPUs "
                                                        : "CPU ",
                       task->cpu_list);
        if (task->numa >= 0)
            asp_strbuf_add(&line, ", NUMA domain %" PRId64, task->numa);
        if (task->helper_cpu >= 0)
            asp_strbuf_add(&line, ", offload thread on CPU %" PRId64,
                           task->helper_cpu);
        wrap(to, first, NAME_COLUMNS, text);
    }
    more(to, record->ntasks, TASKS);
    if (record->service_list[0])
        fact(to, "service CPUs", record->service_list);
}

/* A bar of letters; what is not zero gets one at least. In a record that
 * somebody wrote a part can be more than its whole, however much: that fills
 * the bar. */
static void bar(FILE *to, double part, double whole, char letter, int *used)
{
    int n = part < whole ? (int) (part / whole * BAR + 0.5) : BAR;

    if (part <= 0)
        return;
    if (n == 0)
        n = 1;
    for (; n > 0 && *used < BAR; n--) {
        fputc(letter, to);
        ++*used;
    }
}

static void print_call(FILE *to, const struct aspt_record *record,
                       const struct aspt_call *call, uint64_t most)
{
    int used = 0;

    fputs("  ", to);
    cell(to, call->name, NAME_COLUMNS - 2);
    for (int d = 0; d < ASPT_DOERS; d++) {
        uint64_t sum = 0;

        for (size_t w = 0; w < record->nhandlings; w++)
            if (aspt_handling_words(record->handlings[w]).doer ==
                (enum aspt_doer) d)
                sum += call->count[w];
        bar(to, (double) sum, (double) most, doer_letters[d], &used);
    }
    fprintf(to, "%*s %" PRIu64 "\n", BAR - used, "", call->sum);
}

static void print_calls(FILE *to, const struct aspt_record *record)
{
    uint64_t most = 0;

    if (!record->has_calls)
        return;
    for (size_t c = 0; c < record->ncalls; c++)
        most = record->calls[c].sum > most ? record->calls[c].sum : most;
    head(to, "Calls on windows");
    for (size_t c = 0; c < record->ncalls; c++)
        if (record->calls[c].sum)
            print_call(to, record, &record->calls[c], most);
    for (size_t w = 0; w < record->nhandlings; w++) {
        struct aspt_handling_words words = aspt_handling_words(
            record->handlings[w]);
        char first[64], text[512];

        snprintf(first, sizeof(first), "  %c %" PRIu64,
                 doer_letters[words.doer], aspt_handling_sum(record, w));
        snprintf(text, sizeof(text), "%s%.400s",
                 words.doer == ASPT_BY_MPI ? "plain MPI: " : "", words.words);
        wrap(to, first, NAME_COLUMNS, text);
    }
}

static void print_loads(FILE *to, const struct aspt_record *record)
{
    uint64_t most = 0;

    if (!record->nloads)
        return;
    head(to, "Load of the ghosts");
    for (size_t i = 0; i < record->nloads; i++)
        most = record->loads[i].ops > most ? record->loads[i].ops : most;
    for (size_t i = 0; i < record->nloads && i < ROWS; i++) {
        const struct aspt_load *load = &record->loads[i];
        char name[64], bytes[ASPT_SAY_MAX];
        int used = 0;

        snprintf(name, sizeof(name), "rank %" PRIu64 ", node %" PRIu64,
                 load->rank, load->node);
        fputs("  ", to);
        cell(to, name, NAME_COLUMNS - 2);
        bar(to, (double) load->ops, (double) most, doer_letters[0], &used);
        fprintf(to, "%*s %" PRIu64 " operations, %s\n", BAR - used, "",
                load->ops, aspt_say_bytes(load->bytes, bytes, sizeof(bytes)));
    }
    more(to, record->nloads, ROWS);
}

/* Where all is well it is one line. */
static void print_waits(FILE *to, const struct aspt_record *record)
{
    size_t events = 0, naps = 0;
    const char *why = NULL;

    for (size_t i = 0; i < record->nbusy; i++) {
        const char *waits = record->busy[i].waits;

        events += waits && strcmp(waits, "events") == 0;
        if (waits && strcmp(waits, "naps") == 0) {
            naps++;
            why = record->busy[i].naps_why;
        }
    }
    if (naps)
        fprintf(to, "  waited in naps: %zu of %zu%s%s%s\n", naps, record->nbusy,
                why ? " (" : "", why ? why : "", why ? ")" : "");
    else if (events)
        fputs("  waited for events\n", to);
}

static void print_busy(FILE *to, const struct aspt_record *record)
{
    if (!record->nbusy)
        return;
    head(to, "Ghosts at work");
    for (size_t i = 0; i < record->nbusy && i < ROWS; i++) {
        const struct aspt_busy *busy = &record->busy[i];
        char name[64], share[ASPT_SAY_MAX], held[ASPT_SAY_MAX];
        char cpu[ASPT_SAY_MAX], parked[ASPT_SAY_MAX];
        int used = 0;

        snprintf(name, sizeof(name), "rank %" PRIu64 ", node %" PRIu64,
                 busy->rank, busy->node);
        fputs("  ", to);
        cell(to, name, NAME_COLUMNS - 2);
        bar(to, busy->busy_s, busy->held_s, '#', &used);
        fprintf(
            to, "%*s %s of %s, %s %s\n", BAR - used, "",
            aspt_say_percent(busy->busy_s, busy->held_s, share, sizeof(share)),
            aspt_say_seconds(busy->held_s, held, sizeof(held)),
            busy->parked_s > 0 ? "parked" : "CPU",
            busy->parked_s > 0
                ? aspt_say_seconds(busy->parked_s, parked, sizeof(parked))
                : aspt_say_seconds(busy->cpu_s - busy->start_cpu_s, cpu,
                                   sizeof(cpu)));
    }
    more(to, record->nbusy, ROWS);
    print_waits(to, record);
}

static void print_window(FILE *to, const struct aspt_record *record,
                         const struct aspt_window *window)
{
    struct aspt_handling_words handling = aspt_handling_words(window->handling);
    const char *place = aspt_window_place(window);
    char first[64], text[2048], least[ASPT_SAY_MAX], most[ASPT_SAY_MAX];
    struct asp_strbuf line = ASP_STRBUF(text);
    size_t i;
    json_t *rule;

    if (window->count > 1)
        snprintf(first, sizeof(first),
                 "  %" PRIu64 "-%" PRIu64 " (%" PRIu64 ")", window->order,
                 window->last, window->count);
    else
        snprintf(first, sizeof(first), "  %" PRIu64, window->order);
    aspt_say_bytes(window->bytes_least, least, sizeof(least));
    aspt_say_bytes(window->bytes_most, most, sizeof(most));
    asp_strbuf_add(&line,
                   "%s%.200s%s%.80s at %.200s%s%.200s%s, %" PRIu64
                   " processes, %s%s%s each, %s%.200s%s",
                   window->name[0] ? "\"" : "", window->name,
                   window->name[0] ? "\": " : "", window->made_by,
                   window->site[0] ? window->site : "?",
                   place == window->source ? ", "
                   : place[0]              ? " ("
                                           : "",
                   place, place[0] && place != window->source ? ")" : "",
                   window->processes,
                   window->bytes_least == window->bytes_most ? "" : least,
                   window->bytes_least == window->bytes_most ? "" : " to ",
                   most, handling.doer == ASPT_BY_MPI ? "plain MPI: " : "",
                   handling.words,
                   window->switchable ? " (can be switched)" : "");
    json_array_foreach((json_t *) window->rules, i, rule)
        asp_strbuf_add(&line, "%s%.200s", i ? ", " : "; rules ",
                       record->rules[json_integer_value(rule)].from);
    wrap(to, first, NAME_COLUMNS, text);
}

/*   what  they are for, "window" */
static void print_rules(FILE *to, const struct aspt_rule *rules, size_t n,
                        const char *what)
{
    if (n)
        fprintf(to, "\nRules for %ss\n", what);
    for (size_t i = 0; i < n; i++) {
        char text[2048], held[ASPT_SAY_MAX];

        snprintf(text, sizeof(text), "%.200s: %.800s: %.800s (%s)",
                 rules[i].from, rules[i].match, rules[i].set,
                 aspt_say_many(rules[i].held, what, held, sizeof(held)));
        wrap(to, "  -", 4, text);
    }
}

static void print_windows(FILE *to, const struct aspt_record *record)
{
    if (record->nwindows)
        head(to, "Windows");
    for (size_t i = 0; i < record->nwindows && i < ROWS; i++)
        print_window(to, record, &record->windows[i]);
    more(to, record->nwindows + record->windows_more,
         record->nwindows < ROWS ? record->nwindows : ROWS);
    print_rules(to, record->rules, record->nrules, "window");
}

static void print_ranks(FILE *to, const struct aspt_time *time)
{
    for (size_t i = 0; i < time->nranks && i < ROWS; i++) {
        const struct aspt_rank_time *rank = &time->ranks[i];
        char name[64], wait[ASPT_SAY_MAX], work[ASPT_SAY_MAX];
        int used = 0;

        snprintf(name, sizeof(name), "rank %" PRIu64, rank->rank);
        fputs("  ", to);
        cell(to, name, NAME_COLUMNS - 2);
        bar(to, rank->wait_s, time->wall_s, 'w', &used);
        bar(to, rank->work_s, time->wall_s, '#', &used);
        fprintf(to, "%*s wait %s, work %s\n", BAR - used, "",
                aspt_say_seconds(rank->wait_s, wait, sizeof(wait)),
                aspt_say_seconds(rank->work_s, work, sizeof(work)));
    }
    more(to, time->nranks, ROWS);
}

static void print_time(FILE *to, const struct aspt_record *record)
{
    const struct aspt_time *time = &record->time;
    char wall[ASPT_SAY_MAX];

    if (!record->has_time)
        return;
    head(to, "Time in MPI");
    fprintf(to, "  a full bar is %s; w waiting, # issuing and handling\n",
            aspt_say_seconds(time->wall_s, wall, sizeof(wall)));
    print_ranks(to, time);
    if (time->ncalls)
        head(to, "Time in MPI by call, all ranks together");
    for (size_t i = 0; i < time->ncalls && i < ROWS; i++) {
        char seconds[ASPT_SAY_MAX];
        int used = 0;

        fputs("  ", to);
        cell(to, time->calls[i].name, 2 * NAME_COLUMNS - 12);
        bar(to, time->calls[i].wait_s, time->calls[0].seconds, 'w', &used);
        bar(to, aspt_call_work(&time->calls[i]), time->calls[0].seconds, '#',
            &used);
        fprintf(
            to, "%*s %s in %" PRIu64 "\n", BAR - used, "",
            aspt_say_seconds(time->calls[i].seconds, seconds, sizeof(seconds)),
            time->calls[i].count);
    }
    more(to, time->ncalls, ROWS);
}

static void print_strip(FILE *to, const struct aspt_strip *strip)
{
    static const char shades[] = " .:-=+*#";
    size_t columns = strip->n < 60 ? strip->n : 60;
    char name[64];

    snprintf(name, sizeof(name), "  node %" PRIu64, strip->node);
    cell(to, name, NAME_COLUMNS);
    fputc('|', to);
    for (size_t c = 0; c < columns; c++) {
        double on = aspt_strip_mean(strip, c, columns);

        fputc(shades[(size_t) (on * (sizeof(shades) - 2) + 0.5)], to);
    }
    fputs("|\n", to);
}

static void print_adaptation(FILE *to, const struct aspt_record *record)
{
    const struct aspt_adaptation *adaptation = &record->adaptation;

    if (!record->has_adaptation)
        return;
    head(to, "Adaptation");
    if (adaptation->nstrips)
        fputs("  how much of a node is redirected, over time: blank nothing, "
              "# all\n",
              to);
    for (size_t i = 0; i < adaptation->nstrips && i < ROWS; i++)
        print_strip(to, &adaptation->strips[i]);
    more(to, adaptation->nstrips, ROWS);
    for (size_t i = 0; i < adaptation->ndecisions && i < ROWS; i++) {
        const struct aspt_adapt_decision *decision = &adaptation->decisions[i];
        char first[64], text[1024];

        snprintf(first, sizeof(first), "  %.3f s", decision->t_s);
        snprintf(text, sizeof(text), "auto, for all: %.40s, %.700s",
                 decision->to, decision->why);
        wrap(to, first, NAME_COLUMNS, text);
    }
    more(to, adaptation->ndecisions + adaptation->decisions_more,
         adaptation->ndecisions < ROWS ? adaptation->ndecisions : ROWS);
    for (size_t i = 0; i < adaptation->nswitches && i < ROWS; i++) {
        const struct aspt_switch *change = &adaptation->switches[i];
        char first[64], text[1024], window[64] = "all windows";

        if (change->window != ASPT_ALL_WINDOWS)
            snprintf(window, sizeof(window), "window %" PRId64, change->window);
        snprintf(first, sizeof(first), "  %.3f s", change->t_s);
        snprintf(text, sizeof(text),
                 "rank %" PRIu64 " (node %" PRIu64 "), %s: %.40s, %.700s",
                 change->rank, change->node, window, change->to, change->why);
        wrap(to, first, NAME_COLUMNS, text);
    }
    more(to, adaptation->nswitches + adaptation->switches_more,
         adaptation->nswitches < ROWS ? adaptation->nswitches : ROWS);
}

static void print_counts(FILE *to, struct aspt_counts counts)
{
    if (counts.n)
        head(to, counts.title);
    for (size_t i = 0; i < counts.n; i++) {
        char first[64];

        snprintf(first, sizeof(first), "  %" PRIu64, counts.item[i].count);
        wrap(to, first, NAME_COLUMNS, counts.item[i].words);
    }
}

/* Keys and configurations are long words of parts with commas: each may begin a
 * line. */
static void wrap_parts(FILE *to, const char *first, const char *text)
{
    char loose[2048];
    size_t n = 0;

    for (; *text && n + 3 < sizeof(loose); text++) {
        loose[n++] = *text;
        if ((*text == ',' || *text == '+') && text[1] != ' ')
            loose[n++] = ' ';
    }
    loose[n] = '\0';
    wrap(to, first, 4, loose);
}

static void print_collectives(FILE *to, const struct aspt_record *record)
{
    const struct aspt_collectives *collectives = &record->collectives;
    char links[512], posted[ASPT_POSTED_MAX];

    if (!record->has_collectives)
        return;
    head(to, "What was chosen for collective operations");
    aspt_say_links(collectives, links, sizeof(links));
    wrap_parts(to, "  Links: ", links);
    if (aspt_say_posted(collectives, posted, sizeof(posted)))
        wrap(to, "  -", 4, posted);
    for (size_t i = 0; i < collectives->nfound && i < ROWS; i++) {
        char text[1024];

        aspt_say_chosen(&collectives->found[i], text, sizeof(text));
        wrap_parts(to, "  -", text);
    }
    more(to, collectives->nfound, ROWS);
}

void aspt_report_text(FILE *to, const struct aspt_record *record)
{
    struct aspt_lines lines = {0};

    fputs("Record of an MPI job with Aspen\n\n", to);
    print_head(to, record);
    aspt_verdict(record, &lines);
    print_lines(to, "Verdict", &lines);
    aspt_hints(record, &lines);
    print_lines(to, "Worth a look", &lines);
    print_tasks(to, record);
    print_calls(to, record);
    print_loads(to, record);
    print_busy(to, record);
    print_counts(to, aspt_thread_counts(record));
    print_counts(to, aspt_messages_counts(record));
    print_rules(to, record->messages.rules, record->messages.nrules,
                "communicator");
    print_counts(to, aspt_typed_counts(record));
    print_collectives(to, record);
    print_windows(to, record);
    print_time(to, record);
    print_adaptation(to, record);
    aspt_unmeasured(record, &lines);
    print_lines(to, "Not measured in this run", &lines);
}
