/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixed-size error texts; see err.h. */
#include "err.h"

#include "printable.h"

#include <errno.h>
#include <stdio.h>

static void make_printable(char *text)
{
    for (char *c = text; *c; c++)
        for (size_t n = asp_control(c); n; n--)
            c[n - 1] = '?';
}

static void print_location(const struct asp_location *at, char *buf,
                           size_t size)
{
    if (at->line && at->column)
        snprintf(buf, size, "%s:%zu:%zu", at->file, at->line, at->column);
    else if (at->line)
        snprintf(buf, size, "%s:%zu", at->file, at->line);
    else
        snprintf(buf, size, "%s", at->file);
}

__attribute__((format(printf, 4, 0))) static void err_set(
    struct asp_err *err, int errnum, const struct asp_location *at,
    const char *fmt, va_list args)
{
    if (err) {
        if (vsnprintf(err->text, sizeof(err->text), fmt, args) < 0)
            err->text[0] = '\0';
        make_printable(err->text);
        print_location(at, err->place, sizeof(err->place));
        make_printable(err->place);
    }
    errno = errnum;
}

int asp_errf(struct asp_err *err, int errnum, const char *fmt, ...)
{
    static const struct asp_location nowhere = {.file = ""};
    va_list args;

    va_start(args, fmt);
    err_set(err, errnum, &nowhere, fmt, args);
    va_end(args);
    return -1;
}

int asp_err_at(struct asp_err *err, int errnum, const struct asp_location *at,
               const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    err_set(err, errnum, at, fmt, args);
    va_end(args);
    return -1;
}

int asp_err_in(struct asp_err *err, int errnum, const char *file,
               const char *fmt, ...)
{
    const struct asp_location at = {.file = file};
    va_list args;

    va_start(args, fmt);
    err_set(err, errnum, &at, fmt, args);
    va_end(args);
    return -1;
}

const char *asp_err_print(const struct asp_err *err, char *buf, size_t size)
{
    if (err->place[0])
        snprintf(buf, size, "%s: %s", err->place, err->text);
    else
        snprintf(buf, size, "%s", err->text);
    return buf;
}
