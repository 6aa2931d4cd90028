/* SPDX-License-Identifier: BSD-3-Clause */
/* The page: head, verdict and frame; sections are in place.c,
 * counts.c and times.c. */
#include "config.h"

#include "page.h"

#include "html.h"

#include <inttypes.h>
#include <string.h>

static const char style[] =
#include "report_css.h"
    ;

void aspt_page_more(FILE *to, uint64_t n, uint64_t shown)
{
    if (n > shown)
        aspt_html_tag(to, "p", "note", "and %" PRIu64 " more", n - shown);
}

void aspt_page_seconds(FILE *to, double seconds)
{
    char text[ASPT_SAY_MAX];

    aspt_html_tag(to, "td", "n", "%s",
                  aspt_say_seconds(seconds, text, sizeof(text)));
}

void aspt_page_rank(FILE *to, const char *before, uint64_t rank, uint64_t node)
{
    aspt_html_tag(to, "td", "fit", "%s%" PRIu64 ", node %" PRIu64, before, rank,
                  node);
}

static void put_top(FILE *to, const struct aspt_record *record)
{
    char ranks[ASPT_SAY_MAX], ghosts[ASPT_SAY_MAX], nodes[ASPT_SAY_MAX];

    fputs(ASPT_PAGE_BEGIN
          "<meta name=\"viewport\" "
          "content=\"width=device-width, initial-scale=1\"/>\n<title>Job ",
          to);
    aspt_html_text(to, record->job);
    fputs(": Aspen report</title>\n<style>\n", to);
    fputs(style, to);
    fputs("</style>\n</head>\n<body>\n<main>\n<header>\n"
          "<div class=\"brand\">Aspen report</div>\n<h1>Job ",
          to);
    aspt_html_text(to, record->job);
    fputs("</h1>\n", to);
    aspt_html_tag(to, "span", "pill mode", "%s mode", record->mode);
    aspt_html_tag(to, "span", "pill", "%s",
                  aspt_say_many(record->users, "rank", ranks, sizeof(ranks)));
    if (record->ghosts)
        aspt_html_tag(
            to, "span", "pill", "%s",
            aspt_say_many(record->ghosts, "ghost", ghosts, sizeof(ghosts)));
    aspt_html_tag(to, "span", "pill", "%s",
                  aspt_say_many(record->nodes, "node", nodes, sizeof(nodes)));
    aspt_html_tag(to, "span", "pill", "%s",
                  record->bound ? "bound to CPUs" : "not bound");
    fputs("\n</header>\n", to);
}

static void put_verdict(FILE *to, const struct aspt_record *record)
{
    struct aspt_lines lines = {0};

    aspt_verdict(record, &lines);
    fputs("<section class=\"verdict\">\n<h2>Verdict</h2>\n", to);
    for (size_t i = 0; i < lines.n; i++) {
        aspt_html_tag(to, "p", NULL, "%s", lines.line[i]);
        fputc('\n', to);
    }
    aspt_html_tag(to, "p", "note",
                  "One run cannot tell what the job would have taken %s "
                  "Aspen; aspen compare runs it both ways.",
                  strcmp(record->mode, "off") ? "without" : "with");
    aspt_html_section_end(to);
}

static void put_hints(FILE *to, const struct aspt_record *record)
{
    struct aspt_lines lines = {0};

    aspt_hints(record, &lines);
    if (!lines.n)
        return;
    fputs("<section class=\"hints\">\n<h2>Worth a look</h2>\n", to);
    for (size_t i = 0; i < lines.n; i++) {
        aspt_html_tag(to, "p", NULL, "%s", lines.line[i]);
        fputc('\n', to);
    }
    aspt_html_section_end(to);
}

static void tile(FILE *to, const char *value, const char *what)
{
    fputs("<div class=\"tile\">", to);
    aspt_html_tag(to, "b", NULL, "%s", value);
    aspt_html_tag(to, "span", NULL, "%s", what);
    fputs("</div>\n", to);
}

static void count_tile(FILE *to, uint64_t count, const char *what)
{
    char text[ASPT_SAY_MAX];

    tile(to, aspt_say_count(count, text, sizeof(text)), what);
}

static void seconds_tile(FILE *to, double seconds, const char *what)
{
    char text[ASPT_SAY_MAX];

    tile(to, aspt_say_seconds(seconds, text, sizeof(text)), what);
}

static void ghost_tiles(FILE *to, const struct aspt_record *record)
{
    char all[ASPT_SAY_MAX], what[128];

    snprintf(what, sizeof(what), "of %s calls on windows carried out by ghosts",
             aspt_say_count(aspt_calls_sum(record), all, sizeof(all)));
    count_tile(to, record->redirected, what);
    count_tile(to, aspt_doer_sum(record, ASPT_BY_MPI),
               "calls on windows stayed plain MPI");
}

static void put_tiles(FILE *to, const struct aspt_record *record)
{
    struct aspt_counts counts = aspt_thread_counts(record);

    fputs("<div class=\"tiles\">\n", to);
    if (record->has_calls)
        ghost_tiles(to, record);
    if (record->has_messages)
        count_tile(to, record->messages.sent, "messages carried by ghosts");
    for (size_t i = 0; i < counts.n && i < 2; i++)
        count_tile(to, counts.item[i].count, counts.item[i].words);
    if (counts.n)
        seconds_tile(to,
                     record->has_offload ? record->offload.cpu_seconds
                                         : record->thread.cpu_seconds,
                     "CPU time of the threads");
    if (record->has_time) {
        seconds_tile(to, record->time.wall_s, "from MPI_Init to MPI_Finalize");
        seconds_tile(to, record->time.wait_s,
                     "waited in MPI, all ranks together");
    }
    fputs("</div>\n", to);
}

static void fact(FILE *to, const char *name, const char *text)
{
    fputs("<div>", to);
    aspt_html_tag(to, "dt", NULL, "%s", name);
    fputs("<dd>", to);
    aspt_html_text(to, text[0] ? text : "none");
    fputs("</dd></div>\n", to);
}

static void put_facts(FILE *to, const struct aspt_record *record)
{
    char text[128];

    aspt_html_section(to, "The job");
    fputs("<dl>\n", to);
    fact(to, "Job and step", record->job);
    fact(to, "Mode", record->mode);
    snprintf(text, sizeof(text), "%" PRIu64, record->users);
    fact(to, "Ranks", text);
    fact(to, "Helpers", aspt_say_helpers(record, text, sizeof(text)));
    snprintf(text, sizeof(text), "%" PRIu64, record->nodes);
    fact(to, "Nodes", text);
    fact(to, "Bound to CPUs", record->bound ? "yes" : "no");
    if (record->reason[0])
        fact(to, record->bound ? "Remark" : "Why not", record->reason);
    fact(to, "MPI", record->mpi);
    if (record->mpi_device)
        fact(to, "Device", record->mpi_device);
    if (record->mpi_fixes)
        fact(to, "Works around", aspt_say_fixes(record, text, sizeof(text)));
    fact(to, "Policy digest", record->digest);
    fact(to, "Aspen", record->version);
    fputs("</dl>\n", to);
    aspt_html_section_end(to);
}

static void put_end(FILE *to, const struct aspt_record *record)
{
    struct aspt_lines lines = {0};

    fputs("<footer>\n", to);
    aspt_unmeasured(record, &lines);
    if (lines.n)
        fputs("<p>Not measured in this run: ", to);
    for (size_t i = 0; i < lines.n; i++)
        aspt_html_put(to, "%s%s", i ? "; " : "", lines.line[i]);
    if (lines.n)
        fputs(".</p>\n", to);
    aspt_html_tag(to, "p", NULL,
                  "Made by aspen report %s from the job's record, form %d.",
                  PACKAGE_VERSION, ASPT_RECORD_FORM);
    fputs("\n</footer>\n</main>\n</body>\n</html>\n", to);
}

void aspt_report_page(FILE *to, const struct aspt_record *record)
{
    put_top(to, record);
    put_verdict(to, record);
    put_tiles(to, record);
    put_hints(to, record);
    put_facts(to, record);
    aspt_page_place(to, record);
    aspt_page_calls(to, record);
    aspt_page_loads(to, record);
    aspt_page_busy(to, record);
    aspt_page_counts(to, aspt_thread_counts(record));
    aspt_page_messages(to, record);
    aspt_page_counts(to, aspt_typed_counts(record));
    aspt_page_collectives(to, record);
    aspt_page_windows(to, record);
    aspt_page_time(to, record);
    aspt_page_adaptation(to, record);
    put_end(to, record);
}
