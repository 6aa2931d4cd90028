/* SPDX-License-Identifier: BSD-3-Clause */
/* The schema in words: what --async-progress=help prints, and the middle of
 * aspen-policy(5). A test compares the page with this. */
#include "config.h"

#include "explain.h"

#include <string.h>

enum { WIDTH = 78, INDENT = 6 };

void aspt_print_wrapped(FILE *to, const char *text)
{
    size_t column = INDENT;

    fprintf(to, "%*s", INDENT, "");
    while (*text) {
        size_t len = strcspn(text, " ");

        if (column + len > WIDTH && column > INDENT) {
            fprintf(to, "\n%*s", INDENT, "");
            column = INDENT;
        }
        fprintf(to, "%s%.*s", column > INDENT ? " " : "", (int) len, text);
        column += len + 1;
        text += len + strspn(text + len, " ");
    }
    fputc('\n', to);
}

/* "  name = one|two (built-in: one)", broken before a word where it is long. */
static void print_values(FILE *to, enum asp_knob_id id)
{
    char range[ASP_VALUE_MAX], end[ASP_VALUE_MAX];
    int column = fprintf(to, "  %s = ", asp_knobs[id].name);
    const char *at = asp_knob_range(id, range, sizeof(range));

    while (*at) {
        size_t len = strcspn(at, "|");

        len += at[len] == '|';
        if (column + (int) len > WIDTH)
            column = fprintf(to, "\n%*s", INDENT, "") - 1;
        column += fprintf(to, "%.*s", (int) len, at);
        at += len;
    }
    snprintf(end, sizeof(end), " (built-in: %s)\n", asp_knobs[id].builtin);
    if (column + (int) strlen(end) > WIDTH + 2)
        fprintf(to, "\n%*s", INDENT - 1, "");
    fputs(end, to);
}

void aspt_print_knobs(FILE *to)
{
    fputs("SPEC is mode[:N],key=value,... with these keys; a key that takes\n"
          "yes or no may stand alone. Without SPEC: auto.\n\n",
          to);
    for (enum asp_knob_id id = 0; id < ASP_KNOB_COUNT; id++) {
        print_values(to, id);
        aspt_print_wrapped(to, asp_knobs[id].help);
    }
    aspt_print_objkeys(to);
}

void aspt_put_troff(FILE *to, const char *text)
{
    for (; *text; text++) {
        if (*text == '-' || *text == '\\')
            fputc('\\', to);
        fputc(*text, to);
    }
}

void aspt_print_knobs_man(FILE *to)
{
    for (enum asp_knob_id id = 0; id < ASP_KNOB_COUNT; id++) {
        char range[ASP_VALUE_MAX];

        fputs(".TP\n\\fB", to);
        aspt_put_troff(to, asp_knobs[id].name);
        fputs("\\fR = ", to);
        aspt_put_troff(to, asp_knob_range(id, range, sizeof(range)));
        fputs("\n", to);
        aspt_put_troff(to, asp_knobs[id].help);
        fputs(".\nBuilt\\-in: ", to);
        aspt_put_troff(to, asp_knobs[id].builtin);
        fputs(asp_knobs[id].flags & ASP_KNOB_NOT_SITE ? ". For jobs only.\n"
                                                      : ".\n",
              to);
    }
    aspt_print_objkeys_man(to);
}
