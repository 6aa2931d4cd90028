/* SPDX-License-Identifier: BSD-3-Clause */
/* What changes over time, a strip for each node: called by times.c. */
#include "config.h"

#include "page.h"

#include "html.h"
#include "svg.h"

#include <inttypes.h>
#include <math.h>

enum {
    FIELDS_MAX = 240, /* of a strip */
    SCALING_FIELDS = 120,
    STRIPS_MAX = 32,
};

static void open_strips(FILE *to, const char *note, const char *last)
{
    const char *const titles[] = {"Node", "", last, NULL};

    aspt_html_tag(to, "p", "note", "%s", note);
    aspt_html_table(to, titles);
}

/* sum: of all fields, of which there were `whole`. */
static void put_strip(FILE *to, uint64_t node, const double *shares, size_t n,
                      double sum, double whole)
{
    char label[64], text[ASPT_SAY_MAX];

    snprintf(label, sizeof(label), "node %" PRIu64, node);
    fputs("<tr>", to);
    aspt_html_tag(to, "td", "fit", "%s", label);
    fputs("<td style=\"width: 75%\">", to);
    if (n)
        aspt_svg_strip(to, shares, n, label);
    fputs("</td>", to);
    aspt_html_tag(to, "td", "n", "%s",
                  aspt_say_percent(sum, whole, text, sizeof(text)));
    fputs("</tr>\n", to);
}

static void close_strips(FILE *to, double end_s, size_t n)
{
    char end[ASPT_SAY_MAX];

    aspt_say_seconds(end_s, end, sizeof(end));
    fputs("<tr><td></td><td><div class=\"axis\"><span>0 s</span>", to);
    aspt_html_tag(to, "span", NULL, "%s", end);
    fputs("</div></td><td></td></tr>\n</tbody></table>\n", to);
    aspt_page_more(to, n, STRIPS_MAX);
}

static void redirection(FILE *to, const struct aspt_strip *strip)
{
    size_t n = strip->n < FIELDS_MAX ? strip->n : FIELDS_MAX;
    double shares[FIELDS_MAX], sum = 0;

    for (size_t c = 0; c < n; c++)
        shares[c] = aspt_strip_mean(strip, c, n);
    for (size_t i = 0; i < strip->n; i++)
        sum += json_number_value(json_array_get(strip->on, i));
    put_strip(to, strip->node, shares, n, sum, (double) strip->n);
}

void aspt_page_strips(FILE *to, const struct aspt_adaptation *adaptation)
{
    size_t most = 0;

    if (!adaptation->nstrips)
        return;
    open_strips(to,
                "How much of a node was redirected, over time: the darker "
                "the more.",
                "#on");
    for (size_t i = 0; i < adaptation->nstrips && i < STRIPS_MAX; i++) {
        redirection(to, &adaptation->strips[i]);
        if (adaptation->strips[i].n > most)
            most = adaptation->strips[i].n;
    }
    close_strips(to, (double) most * adaptation->bucket_s, adaptation->nstrips);
}

/* A node's ghosts: how many, until when, and how many of them were active. */
struct scaling {
    double ghosts, end_s;
    double shares[SCALING_FIELDS]; /* ghost-seconds at first */
};

/* So many were active from one time to the other. */
static void add_active(struct scaling *scaling, double from_s, double end_s,
                       double active)
{
    double field_s = scaling->end_s / SCALING_FIELDS;

    for (size_t c = 0; c < SCALING_FIELDS; c++) {
        double from = (double) c * field_s, end = from + field_s;

        from = from > from_s ? from : from_s;
        end = end < end_s ? end : end_s;
        if (end > from)
            scaling->shares[c] += active * (end - from);
    }
}

static void read_scaling(struct scaling *scaling,
                         const struct aspt_record *record, uint64_t node)
{
    double since_s = 0, active;

    *scaling = (struct scaling){0};
    for (size_t i = 0; i < record->nbusy; i++)
        if (record->busy[i].node == node) {
            scaling->ghosts++;
            if (record->busy[i].held_s > scaling->end_s)
                scaling->end_s = record->busy[i].held_s;
        }
    active = scaling->ghosts;
    for (size_t i = 0; i < record->nscaling; i++)
        if (record->scaling[i].node == node &&
            record->scaling[i].t_s >= since_s) {
            add_active(scaling, since_s, record->scaling[i].t_s, active);
            since_s = record->scaling[i].t_s;
            active = fmin((double) record->scaling[i].active, scaling->ghosts);
        }
    add_active(scaling, since_s, scaling->end_s, active);
}

static void put_scaling(FILE *to, struct scaling *scaling, uint64_t node)
{
    double sum = 0, field_s = scaling->end_s / SCALING_FIELDS;

    for (size_t c = 0; c < SCALING_FIELDS; c++) {
        scaling->shares[c] = fmin(
            scaling->shares[c] / field_s / scaling->ghosts, 1);
        sum += scaling->shares[c];
    }
    put_strip(to, node, scaling->shares, SCALING_FIELDS, sum, SCALING_FIELDS);
}

/* The first nodes that have ghosts, in the record's order. */
static size_t first_nodes(const struct aspt_record *record,
                          uint64_t nodes[STRIPS_MAX])
{
    size_t n = 0;

    for (size_t i = 0; i < record->nbusy && n < STRIPS_MAX; i++) {
        size_t seen = 0;

        while (seen < n && nodes[seen] != record->busy[i].node)
            seen++;
        if (seen == n && record->busy[i].held_s > 0)
            nodes[n++] = record->busy[i].node;
    }
    return n;
}

void aspt_page_scaling(FILE *to, const struct aspt_record *record)
{
    uint64_t nodes[STRIPS_MAX];
    double most_s = 0;
    size_t n = first_nodes(record, nodes);

    if (!record->has_scaling || !n)
        return;
    open_strips(to,
                "How many of a node's ghosts were active, the others being "
                "parked, over time: the darker the more.",
                "#active");
    for (size_t i = 0; i < n; i++) {
        struct scaling scaling;

        read_scaling(&scaling, record, nodes[i]);
        put_scaling(to, &scaling, nodes[i]);
        if (scaling.end_s > most_s)
            most_s = scaling.end_s;
    }
    close_strips(to, most_s, n < STRIPS_MAX ? n : (size_t) record->nodes);
    if (record->scaling_more)
        aspt_html_tag(to, "p", "note",
                      "%" PRIu64 " later changes found no "
                      "room in the record.",
                      record->scaling_more);
}
