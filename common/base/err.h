/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors of everything that reads input: a text a user can act on, and the
 * place in the input that caused it. Nothing in common/ prints; the edge
 * (plugin, agent, runtime, tool) prints an asp_err once. */
#ifndef ASPEN_COMMON_BASE_ERR_H
#define ASPEN_COMMON_BASE_ERR_H

#include <stdarg.h>
#include <stddef.h>

enum { ASP_ERR_TEXT_MAX = 512, ASP_ERR_PLACE_MAX = 256 };

struct asp_err {
    char text[ASP_ERR_TEXT_MAX];   /* reason and advice in one line */
    char place[ASP_ERR_PLACE_MAX]; /* "job.yaml:7:12", or "" */
};

/* Set the text of *err and errno. Control characters become '?'.
 *   err      may be NULL: then only errno is set
 *   errnum   becomes errno
 * Returns -1, so that callers can write "return asp_errf(...)".
 * Threads: reentrant.  Cost: no allocation. */
int asp_errf(struct asp_err *err, int errnum, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* A place in an input. */
struct asp_location {
    const char *file;    /* or "command line" */
    size_t line, column; /* from 1; 0: not known */
};

/* As asp_errf(), with the place in the input. */
int asp_err_at(struct asp_err *err, int errnum, const struct asp_location *at,
               const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* The same of a file as a whole. */
int asp_err_in(struct asp_err *err, int errnum, const char *file,
               const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Write "place: text" (or just the text) into buf; always terminated.
 * Returns buf. */
const char *asp_err_print(const struct asp_err *err, char *buf, size_t size);

#endif
