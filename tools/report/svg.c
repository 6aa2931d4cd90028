/* SPDX-License-Identifier: BSD-3-Clause */
/* Bars and strips of the page, as SVG. */
#include "config.h"

#include "svg.h"

#include "html.h"

enum { WIDE = 1000, LEAST = 3 }; /* units of a bar; what can still be seen */

static void open_svg(FILE *to, const char *class, int height)
{
    fprintf(to,
            "<svg class=\"%s\" viewBox=\"0 0 %d %d\" "
            "preserveAspectRatio=\"none\" role=\"img\">",
            class, WIDE, height);
}

static void rect(FILE *to, double x, double y, double width, double height,
                 const char *class, const char *title)
{
    fprintf(to,
            "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
            "class=\"%s\">",
            x, y, width, height, class);
    if (title)
        aspt_html_tag(to, "title", NULL, "%s", title);
    fputs("</rect>", to);
}

void aspt_svg_bar(FILE *to, const struct aspt_bar *parts, size_t n,
                  double whole)
{
    double x = 0;

    open_svg(to, "bar", 10);
    for (size_t i = 0; i < n; i++) {
        double width = whole > 0 ? parts[i].value / whole * WIDE : 0;

        if (parts[i].value <= 0)
            continue;
        if (width < LEAST)
            width = LEAST;
        if (x + width > WIDE)
            width = WIDE - x;
        if (width > 0)
            rect(to, x, 0, width, 10, parts[i].class, parts[i].name);
        x += width;
    }
    fputs("</svg>", to);
}

void aspt_svg_columns(FILE *to, const struct aspt_bar *bars, size_t parts,
                      size_t n, double whole, const char *label)
{
    double width = (double) WIDE / (double) n;

    open_svg(to, "columns", 100);
    aspt_html_tag(to, "title", NULL, "%s", label);
    for (int line = 25; line < 100; line += 25)
        fprintf(to, "<line x1=\"0\" x2=\"%d\" y1=\"%d\" y2=\"%d\"></line>",
                WIDE, line, line);
    for (size_t i = 0; i < n; i++) {
        double y = 100;

        for (size_t p = 0; p < parts; p++) {
            const struct aspt_bar *bar = &bars[i * parts + p];
            double height = whole > 0 ? bar->value / whole * 100 : 0;

            if (height > y)
                height = y;
            y -= height;
            if (height > 0)
                rect(to, width * ((double) i + 0.08), y, width * 0.84, height,
                     bar->class, bar->name);
        }
    }
    fputs("</svg>\n", to);
}

void aspt_svg_strip(FILE *to, const double *shares, size_t n, const char *label)
{
    double width = (double) WIDE / (double) n;

    open_svg(to, "strip", 10);
    aspt_html_tag(to, "title", NULL, "%s", label);
    for (size_t i = 0; i < n; i++)
        if (shares[i] > 0)
            fprintf(to,
                    "<rect x=\"%.2f\" y=\"0\" width=\"%.2f\" "
                    "height=\"10\" class=\"ghost\" fill-opacity=\"%.3f\">"
                    "</rect>",
                    width * (double) i, width, shares[i]);
    fputs("</svg>", to);
}

void aspt_svg_cpu(FILE *to, int x, int y, int cpu, const char *class,
                  const char *who, const char *title, int small)
{
    int size = small ? 14 : 44;

    fprintf(to,
            "<g><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
            "rx=\"%d\" class=\"cpu %s\"></rect>",
            x, y, size, size, small ? 2 : 6, class);
    if (!small) {
        fprintf(to,
                "<text x=\"%d\" y=\"%d\" class=\"os %s\">%d</text>"
                "<text x=\"%d\" y=\"%d\" class=\"who %s\">",
                x + 5, y + 12, class, cpu, x + size / 2, y + 32, class);
        aspt_html_text(to, who);
        fputs("</text>", to);
    }
    aspt_html_tag(to, "title", NULL, "%s", title);
    fputs("</g>\n", to);
}
