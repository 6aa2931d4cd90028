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

static void err_set(struct asp_err *err, const char *fmt, va_list args)
{
    if (vsnprintf(err->text, sizeof(err->text), fmt, args) < 0)
        err->text[0] = '\0';
    make_printable(err->text);
}

int asp_errf(struct asp_err *err, int errnum, const char *fmt, ...)
{
    if (err) {
        va_list args;

        va_start(args, fmt);
        err_set(err, fmt, args);
        va_end(args);
        err->place[0] = '\0';
    }
    errno = errnum;
    return -1;
}

int asp_err_at(struct asp_err *err, int errnum, const char *file, size_t line,
               size_t column, const char *fmt, ...)
{
    if (err) {
        va_list args;

        va_start(args, fmt);
        err_set(err, fmt, args);
        va_end(args);
        if (line && column)
            snprintf(err->place, sizeof(err->place), "%s:%zu:%zu", file, line,
                     column);
        else if (line)
            snprintf(err->place, sizeof(err->place), "%s:%zu", file, line);
        else
            snprintf(err->place, sizeof(err->place), "%s", file);
        make_printable(err->place);
    }
    errno = errnum;
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
