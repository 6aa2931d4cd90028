/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines on stderr; see log.h. */
#include "config.h"

#include "log.h"

#include "clock.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { UNREAD = ASPX_LOG_TRACE + 1, UNKNOWN = -1 };

_Atomic int aspx_log_level = UNREAD;

static const char *const names[] = {
    [ASPX_LOG_ERROR] = "error",
    [ASPX_LOG_WARNING] = "warning",
    [ASPX_LOG_NOTICE] = "notice",
    [ASPX_LOG_TRACE] = "trace",
};
enum { NAMES = sizeof(names) / sizeof(names[0]) };

static const char *program = "aspen";
static atomic_bool heads; /* time, rank and module are wanted */
static _Atomic int own_rank = UNKNOWN;
static _Atomic uint64_t began_ns;

/* ---- the environment --------------------------------------------------------- */

static int level_of(const char *value)
{
    for (int level = 0; level < NAMES; level++)
        if (strcmp(value, names[level]) == 0)
            return level;
    return UNKNOWN;
}

static int launchers_rank(void)
{
    static const char *const variables[] = {"PMI_RANK", "PMIX_RANK",
                                            "SLURM_PROCID"};

    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *value = secure_getenv(variables[i]);

        if (value && *value)
            return atoi(value);
    }
    return UNKNOWN;
}

static void read_level(const char *policys_report)
{
    const char *said = secure_getenv("ASPEN_LOG");
    const char *report = secure_getenv("ASPEN_REPORT");
    int level = said ? level_of(said) : UNKNOWN;

    if (!report)
        report = policys_report;
    if (level == UNKNOWN && report && strcmp(report, "trace") == 0)
        level = ASPX_LOG_TRACE;
    atomic_store(&own_rank, launchers_rank());
    atomic_store(&heads, level != UNKNOWN);
    atomic_store(&aspx_log_level,
                 level == UNKNOWN ? (int) ASPX_LOG_NOTICE : level);
}

static void check_level(void)
{
    const char *said = secure_getenv("ASPEN_LOG");

    if (said && *said && level_of(said) == UNKNOWN && launchers_rank() <= 0)
        aspx_log(ASPX_LOG_WARNING,
                 "ASPEN_LOG=%.64s is none of error, warning, notice, trace",
                 said);
}

void aspx_log_start(const char *name)
{
    if (name)
        program = name;
    atomic_store(&began_ns, aspx_clock_ns(CLOCK_MONOTONIC));
    read_level(NULL);
    check_level();
}

void aspx_log_set_report(const char *report)
{
    read_level(report);
}

void aspx_log_set_rank(int rank)
{
    atomic_store(&own_rank, rank);
}

/* ---- a line ------------------------------------------------------------------ */

struct line {
    char text[PIPE_BUF]; /* with its newline */
    size_t bytes;
};

__attribute__((format(printf, 2, 0))) static void add_list(struct line *line,
                                                           const char *format,
                                                           va_list args)
{
    size_t left = sizeof(line->text) - 1 - line->bytes;
    int length = vsnprintf(line->text + line->bytes, left, format, args);

    if (length > 0)
        line->bytes += (size_t) length < left ? (size_t) length : left - 1;
}

__attribute__((format(printf, 2, 3))) static void add(struct line *line,
                                                      const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_list(line, format, args);
    va_end(args);
}

/* "coll/node" of ".../runtime/coll/node/wait.c", as the compiler was given it;
 * "start" of a file in runtime/ itself. */
static void add_module(struct line *line, const char *file)
{
    const char *at = strstr(file, "runtime/"), *slash;

    file = at ? at + strlen("runtime/") : file;
    slash = strrchr(file, '/');
    add(line, "%.*s",
        (int) (slash ? (size_t) (slash - file) : strcspn(file, ".")), file);
}

static void add_head(struct line *line, const char *file)
{
    uint64_t since = atomic_load(&began_ns);
    int rank = atomic_load(&own_rank);

    if (since)
        since = aspx_clock_ns(CLOCK_MONOTONIC) - since;
    add(line, "%llu.%06llu ", (unsigned long long) (since / 1000000000),
        (unsigned long long) (since / 1000 % 1000000));
    if (rank == UNKNOWN)
        add(line, "rank ? ");
    else
        add(line, "rank %d ", rank);
    add_module(line, file);
    add(line, ": ");
}

/* fileno(): a program that has closed stderr may have another file there. */
static void write_line(const struct line *line)
{
    int fd = fileno(stderr);
    ssize_t written;

    do
        written = fd < 0 ? 0 : write(fd, line->text, line->bytes);
    while (written < 0 && errno == EINTR);
}

void aspx_log_line(enum aspx_log_level level, const char *file,
                   const char *format, ...)
{
    int saved = errno;
    struct line line;
    va_list args;

    if (atomic_load(&aspx_log_level) == UNREAD)
        read_level(NULL);
    if (!aspx_log_on(level))
        return;
    line.bytes = 0;
    add(&line, "%s: ", program);
    if (atomic_load(&heads))
        add_head(&line, file);
    va_start(args, format);
    add_list(&line, format, args);
    va_end(args);
    line.text[line.bytes++] = '\n';
    write_line(&line);
    errno = saved;
}
