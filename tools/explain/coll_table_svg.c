/* SPDX-License-Identifier: BSD-3-Clause */
/* The picture of a table of tuned collectives. A configuration has a colour and
 * a letter, for colours repeat after eight and not everybody can tell them
 * apart. */
#include "config.h"

#include "coll_table.h"

#include "tools/report/html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    CELL_W = 62,
    CELL_H = 26,
    LEFT = 132, /* names of communicators */
    MARGIN = 16,
    LINE = 20, /* of text */
    COLOURS = 8,
    SIZES = 1 << ASP_TUNE_BUCKET_BITS,
};

/* Colours of Okabe and Ito, which most kinds of colour blindness leave apart;
 * their black is the page's text. Grey is the default's. */
static const char style[] =
    "text{font:13px system-ui,sans-serif;fill:#1b1f24}"
    ".h{font-weight:600}.m{text-anchor:middle}.e{text-anchor:end}"
    ".q{fill:#59636e}.l{fill:#111}"
    "rect{stroke:#fff;stroke-width:1}.page{fill:#fff;stroke:none}"
    ".d{fill:#d0d4d9}.w0{fill:#56b4e9}.w1{fill:#e69f00}.w2{fill:#2fb58c}"
    ".w3{fill:#f0e442}.w4{fill:#5a8fd0}.w5{fill:#e57b3a}.w6{fill:#cc79a7}"
    ".w7{fill:#b3a0e0}"
    "@media(prefers-color-scheme:dark){text{fill:#e6e9ed}.q{fill:#9aa4af}"
    ".l{fill:#111}rect{stroke:#14171b}.page{fill:#14171b}.d{fill:#6b737c}}";

/* What is drawn of one use: its rows, sizes and communicators. */
struct panel {
    uint32_t use;
    uint32_t nsizes, nshapes;
    uint32_t column[SIZES]; /* of a bucket; UINT32_MAX: not there */
    uint32_t *line;         /* of a shape likewise */
};

/* Letters of the configurations that beat the default somewhere, in the order
 * in which they are met; UINT32_MAX: none. */
struct letters {
    uint32_t *of;
    uint32_t n;
};

static bool is_default(const struct asp_tune_row *row)
{
    return row->best_ns >= row->default_ns;
}

/* "a" to "z", then "a1", ... */
static const char *letter(uint32_t n, char buf[16])
{
    if (n < 26)
        snprintf(buf, 16, "%c", (int) ('a' + n));
    else
        snprintf(buf, 16, "%c%u", (int) ('a' + n % 26), n / 26);
    return buf;
}

static void give_letters(const struct asp_tune_table *table,
                         struct letters *letters)
{
    memset(letters->of, 0xff, table->nconfigs * sizeof(letters->of[0]));
    for (uint32_t i = 0; i < table->nrows; i++) {
        uint32_t *of = &letters->of[table->rows[i].config];

        if (!is_default(&table->rows[i]) && *of == UINT32_MAX)
            *of = letters->n++;
    }
}

/* ---- a panel ---- */

/* Sizes and communicators that have a row, numbered in their order. */
static void measure(const struct asp_tune_table *table, uint32_t use,
                    struct panel *panel)
{
    panel->use = use;
    panel->nsizes = panel->nshapes = 0;
    memset(panel->column, 0xff, sizeof(panel->column));
    memset(panel->line, 0xff, table->nshapes * sizeof(panel->line[0]));
    for (uint32_t i = 0; i < table->nrows; i++) {
        const struct asp_tune_key *key = &table->rows[i].key;

        if (aspt_coll_use_of(key->call) != use)
            continue;
        panel->column[key->call % SIZES] = 0;
        panel->line[asp_tune_table_shape(table, &key->shape)] = 0;
    }
    for (uint32_t i = 0; i < SIZES; i++)
        if (panel->column[i] == 0)
            panel->column[i] = panel->nsizes++;
    for (uint32_t i = 0; i < table->nshapes; i++)
        if (panel->line[i] == 0)
            panel->line[i] = panel->nshapes++;
}

static uint32_t height(const struct panel *panel)
{
    return 2 * LINE + panel->nshapes * CELL_H + LINE;
}

static void draw_text(FILE *to, uint32_t x, uint32_t y, const char *class,
                      const char *text)
{
    fprintf(to, "<text x=\"%u\" y=\"%u\" class=\"%s\">", x, y, class);
    aspt_html_text(to, text);
    fputs("</text>\n", to);
}

static void draw_axes(FILE *to, const struct asp_tune_table *table,
                      const struct panel *panel, uint32_t y)
{
    char text[64];

    for (uint32_t i = 0; i < SIZES; i++)
        if (panel->column[i] != UINT32_MAX)
            draw_text(
                to, LEFT + panel->column[i] * CELL_W + CELL_W / 2,
                y + 2 * LINE - 6, "q m",
                aspt_coll_size(panel->use << ASP_TUNE_BUCKET_BITS | i, text));
    for (uint32_t i = 0; i < table->nshapes; i++) {
        const struct asp_tune_shape *shape = &table->shapes[i];

        if (panel->line[i] == UINT32_MAX)
            continue;
        snprintf(text, sizeof(text), "%u (%u x %u%s)", shape->ranks,
                 shape->nodes, shape->ppn, shape->map ? ", mixed" : "");
        draw_text(to, LEFT - 8, y + 2 * LINE + panel->line[i] * CELL_H + 18,
                  "q e", text);
    }
}

static void draw_cell(FILE *to, const struct asp_tune_table *table,
                      const struct letters *letters, const struct panel *panel,
                      const struct asp_tune_row *row, uint32_t y)
{
    uint32_t shape = asp_tune_table_shape(table, &row->key.shape);
    uint32_t x = LEFT + panel->column[row->key.call % SIZES] * CELL_W;
    uint32_t config = letters->of[row->config];
    double gain = row->best_ns
                      ? (double) row->default_ns / (double) row->best_ns
                      : 1;
    char name[16], text[32];

    y += 2 * LINE + panel->line[shape] * CELL_H;
    fprintf(to, "<g><rect x=\"%u\" y=\"%u\" width=\"%d\" height=\"%d\" ", x, y,
            CELL_W, CELL_H);
    if (is_default(row))
        fprintf(to, "class=\"d\"/>");
    else
        fprintf(to, "class=\"w%u\"/>", config % COLOURS);
    aspt_html_tag(to, "title", NULL, "%s: %.3f us, default %.3f us, %s",
                  table->configs[row->config], (double) row->best_ns / 1e3,
                  (double) row->default_ns / 1e3, row->day);
    if (!is_default(row)) {
        snprintf(text, sizeof(text), "%s %.2f", letter(config, name), gain);
        draw_text(to, x + CELL_W / 2, y + 18, "l m", text);
    }
    fputs("</g>\n", to);
}

static void draw_panel(FILE *to, const struct asp_tune_table *table,
                       const struct letters *letters, const struct panel *panel,
                       uint32_t y)
{
    char use[ASPT_USE_MAX];

    draw_text(to, MARGIN, y + LINE - 6, "h",
              aspt_coll_use(panel->use << ASP_TUNE_BUCKET_BITS, use));
    draw_axes(to, table, panel, y);
    for (uint32_t i = 0; i < table->nrows; i++)
        if (aspt_coll_use_of(table->rows[i].key.call) == panel->use)
            draw_cell(to, table, letters, panel, &table->rows[i], y);
}

/* ---- the page ---- */

static void draw_legend(FILE *to, const struct asp_tune_table *table,
                        const struct letters *letters, uint32_t y)
{
    char name[16];

    fprintf(to,
            "<rect x=\"%d\" y=\"%u\" width=\"28\" height=\"16\" "
            "class=\"d\"/>\n",
            MARGIN, y);
    draw_text(to, MARGIN + 36, y + 13, "", "MPI's own choice is the best");
    for (uint32_t i = 0; i < table->nconfigs; i++) {
        uint32_t n = letters->of[i];

        if (n == UINT32_MAX)
            continue;
        fprintf(to,
                "<rect x=\"%d\" y=\"%u\" width=\"28\" height=\"16\" "
                "class=\"w%u\"/>\n",
                MARGIN, y + (n + 1) * LINE, n % COLOURS);
        draw_text(to, MARGIN + 14, y + (n + 1) * LINE + 13, "l m",
                  letter(n, name));
        draw_text(to, MARGIN + 36, y + (n + 1) * LINE + 13, "",
                  table->configs[i]);
    }
}

/* Uses of a table, each once, in the order of their numbers. */
static uint32_t find_uses(const struct asp_tune_table *table, uint32_t *uses)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < table->nrows; i++) {
        uint32_t use = aspt_coll_use_of(table->rows[i].key.call), at = n;

        while (at > 0 && uses[at - 1] > use)
            at--;
        if (at > 0 && uses[at - 1] == use)
            continue;
        memmove(uses + at + 1, uses + at, (n - at) * sizeof(uses[0]));
        uses[at] = use;
        n++;
    }
    return n;
}

static void draw_head(FILE *to, const struct asp_tune_table *table,
                      uint32_t width, uint32_t high)
{
    const struct asp_tune_machine *m = &table->machine;
    char text[320];

    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" "
            "height=\"%u\" viewBox=\"0 0 %u %u\" role=\"img\">\n"
            "<title>Tuned collectives</title>\n<style>%s</style>\n"
            "<rect class=\"page\" width=\"%u\" height=\"%u\"/>\n",
            width, high, width, high, style, width, high);
    snprintf(text, sizeof(text), "MPICH %s, UCX %s over %s, %u CPUs per node",
             m->mpi, m->ucx, m->fabric, m->cpus);
    draw_text(to, MARGIN, MARGIN + 13, "h", text);
    draw_text(
        to, MARGIN, MARGIN + 13 + LINE, "q",
        "Ranks (nodes x ranks per node) by bytes: algorithm, and how much "
        "faster it is than MPI's own choice.");
}

void aspt_coll_table_svg(FILE *to, const struct asp_tune_table *table)
{
    struct letters letters = {.n = 0};
    struct panel panel;
    uint32_t *uses = malloc((table->nrows + 1) * sizeof(*uses));
    uint32_t y = MARGIN + 3 * LINE, nuses = 0, width = 720;

    letters.of = malloc((table->nconfigs + 1) * sizeof(*letters.of));
    panel.line = malloc((table->nshapes + 1) * sizeof(*panel.line));
    if (uses && letters.of && panel.line) {
        nuses = find_uses(table, uses);
        give_letters(table, &letters);
        for (uint32_t i = 0; i < nuses; i++) {
            measure(table, uses[i], &panel);
            y += height(&panel);
            if (LEFT + panel.nsizes * CELL_W + MARGIN > width)
                width = LEFT + panel.nsizes * CELL_W + MARGIN;
        }
        draw_head(to, table, width, y + (letters.n + 2) * LINE);
        y = MARGIN + 3 * LINE;
        for (uint32_t i = 0; i < nuses; i++) {
            measure(table, uses[i], &panel);
            draw_panel(to, table, &letters, &panel, y);
            y += height(&panel);
        }
        draw_legend(to, table, &letters, y);
        fputs("</svg>\n", to);
    }
    free(uses);
    free(letters.of);
    free(panel.line);
}
