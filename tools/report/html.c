/* SPDX-License-Identifier: BSD-3-Clause */
/* Tags, cells and texts of the page, escaped. */
#include "config.h"

#include "html.h"

#include "report.h"

#include <stdarg.h>
#include <string.h>

void aspt_html_text(FILE *to, const char *text)
{
    char safe[5];

    while (*text) {
        text += aspt_safe_char(text, safe);
        switch (safe[0]) {
        case '<':
            fputs("&lt;", to);
            break;
        case '>':
            fputs("&gt;", to);
            break;
        case '&':
            fputs("&amp;", to);
            break;
        case '"':
            fputs("&quot;", to);
            break;
        default:
            fputs(safe, to);
        }
    }
}

static void put(FILE *to, const char *fmt, va_list args)
    __attribute__((format(printf, 2, 0)));

static void put(FILE *to, const char *fmt, va_list args)
{
    char text[4096];

    vsnprintf(text, sizeof(text), fmt, args);
    aspt_html_text(to, text);
}

void aspt_html_put(FILE *to, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    put(to, fmt, args);
    va_end(args);
}

void aspt_html_tag(FILE *to, const char *name, const char *class,
                   const char *fmt, ...)
{
    va_list args;

    fprintf(to, "<%s", name);
    if (class)
        fprintf(to, " class=\"%s\"", class);
    fputc('>', to);
    va_start(args, fmt);
    put(to, fmt, args);
    va_end(args);
    fprintf(to, "</%s>", name);
}

void aspt_html_count(FILE *to, uint64_t count)
{
    char text[ASPT_SAY_MAX];

    aspt_html_tag(to, "td", "n", "%s",
                  aspt_say_count(count, text, sizeof(text)));
}

void aspt_html_section(FILE *to, const char *title)
{
    fputs("<section>\n", to);
    aspt_html_tag(to, "h2", NULL, "%s", title);
    fputc('\n', to);
}

void aspt_html_section_end(FILE *to)
{
    fputs("</section>\n", to);
}

void aspt_html_table(FILE *to, const char *const *titles)
{
    fputs("<table>\n<thead><tr>", to);
    for (; *titles; titles++) {
        bool number = **titles == '#';

        aspt_html_tag(to, "th", number ? "n" : NULL, "%s", *titles + number);
    }
    fputs("</tr></thead>\n<tbody>\n", to);
}

void aspt_html_legend(FILE *to, const struct aspt_legend *legend)
{
    fputs("<ul class=\"legend\">", to);
    for (; legend->name; legend++) {
        fprintf(to, "<li><i class=\"%s\"></i>", legend->class);
        aspt_html_text(to, legend->name);
        fputs("</li>", to);
    }
    fputs("</ul>\n", to);
}
