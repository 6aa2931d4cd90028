/* SPDX-License-Identifier: BSD-3-Clause */
/* What was chosen for collective operations, of the page and of the text. */
#include "config.h"

#include "page.h"

#include "html.h"
#include "svg.h"

#include "common/base/strbuf.h"

#include <inttypes.h>
#include <string.h>

static bool is_default(const struct aspt_chosen *found)
{
    return strcmp(found->config, "default") == 0;
}

/* How often the default's time is the best one's; 0: not measured. */
static double ratio(const struct aspt_chosen *found)
{
    return found->best_us > 0 && found->default_us > 0
               ? found->default_us / found->best_us
               : 0;
}

/* The chosen configuration's time, and what it saves of the default's. */
static void put_bar(FILE *to, const struct aspt_chosen *found)
{
    double saved = found->default_us - found->best_us;
    struct aspt_bar parts[] = {
        {found->best_us, "work", "the chosen algorithm"},
        {saved > 0 ? saved : 0, "wait", "less than MPI's own"},
    };

    aspt_svg_bar(to, parts, 2, found->default_us);
}

static void put_row(FILE *to, const struct aspt_chosen *found)
{
    char text[ASPT_SAY_MAX];

    fputs("<tr>", to);
    aspt_html_tag(to, "td", NULL, "%s", found->key);
    aspt_html_tag(to, "td", NULL, "%s", found->config);
    aspt_html_tag(to, "td", "fit", "%s", found->end);
    aspt_html_count(to, found->candidates);
    aspt_html_count(to, found->tried);
    aspt_html_count(to, found->trials);
    aspt_html_count(to, found->agreements);
    aspt_html_count(to, found->model_rank);
    aspt_page_seconds(to, 1e-6 * found->spent_us);
    aspt_page_seconds(to, 1e-6 * found->best_us);
    aspt_page_seconds(to, 1e-6 * found->default_us);
    aspt_html_tag(to, "td", "n", "%s",
                  aspt_say_number(ratio(found), text, sizeof(text)));
    fputs("<td style=\"width: 20%\">", to);
    put_bar(to, found);
    fputs("</td></tr>\n", to);
}

/* "inside nodes by probe L 0.24 us, ...; between nodes by infiniband ..." */
void aspt_say_links(const struct aspt_collectives *collectives, char *buf,
                    size_t size)
{
    struct asp_strbuf sb = asp_strbuf_on(buf, size);

    for (size_t i = 0; i < collectives->nlinks; i++) {
        const struct aspt_link *link = &collectives->links[i];

        asp_strbuf_add(&sb,
                       "%s%s by %s L %.3g us, o %.3g us, g %.3g us, G %.3g ns "
                       "a byte",
                       i ? "; " : "", link->where, link->from, link->latency_us,
                       link->overhead_us, link->gap_us, link->byte_ns);
    }
    if (collectives->probe_ms > 0)
        asp_strbuf_add(&sb, "; measured in %.3g ms at MPI_Init",
                       collectives->probe_ms);
}

bool aspt_say_posted(const struct aspt_collectives *collectives, char *buf,
                     size_t size)
{
    if (!collectives->posted_in_memory && !collectives->posted_to_ghosts)
        return false;
    snprintf(buf, size,
             "Of rank 0's non-blocking calls %" PRIu64
             " were carried out in memory of its node, and %" PRIu64
             " among nodes by ghosts.",
             collectives->posted_in_memory, collectives->posted_to_ghosts);
    return true;
}

void aspt_page_collectives(FILE *to, const struct aspt_record *record)
{
    static const char *const titles[] = {
        "Call",     "Chosen algorithm", "Search", "#Candidates", "#Tried",
        "#Trials",  "#Agreed",          "#Rank",  "#Spent",      "#Best",
        "#Default", "#Ratio",           "",       NULL};
    const struct aspt_collectives *collectives = &record->collectives;
    char links[512], posted[ASPT_POSTED_MAX];

    if (!record->has_collectives)
        return;
    aspt_html_section(to, "What was chosen for collective operations");
    aspt_html_tag(
        to, "p", "note",
        "%" PRIu64 " communicators were tuned, for %" PRIu64
        " kinds of calls; %" PRIu64
        " more were known from communicators of the same shape. "
        "Rank: of the chosen algorithm in the model's order. The picture: "
        "its time in that of MPI's own choice.",
        collectives->communicators, collectives->kinds, collectives->reused);
    aspt_say_links(collectives, links, sizeof(links));
    aspt_html_tag(to, "p", "note", "Links as the model has them: %s.", links);
    if (aspt_say_posted(collectives, posted, sizeof(posted)))
        aspt_html_tag(to, "p", "note", "%s", posted);
    aspt_html_table(to, titles);
    for (size_t i = 0; i < collectives->nfound && i < ASPT_ROWS_MAX; i++)
        put_row(to, &collectives->found[i]);
    fputs("</tbody></table>\n", to);
    aspt_page_more(to, collectives->nfound, ASPT_ROWS_MAX);
    aspt_html_section_end(to);
}

/* "allreduce:...: shared,... 12.3 us instead of 45.6, chosen after 12 calls" */
void aspt_say_chosen(const struct aspt_chosen *found, char *buf, size_t size)
{
    int n = snprintf(buf, size, "%s: %s", found->key,
                     is_default(found) ? "MPI's own choice" : found->config);

    if (n > 0 && (size_t) n < size && ratio(found) > 0)
        snprintf(buf + n, size - (size_t) n,
                 ", %.1f us, default %.1f us; %s after %" PRIu64
                 " calls, %" PRIu64 " of %" PRIu64 " candidates tried",
                 found->best_us, found->default_us, found->end, found->trials,
                 found->tried, found->candidates);
}
