/* SPDX-License-Identifier: BSD-3-Clause */
/* What the runtime says on stderr: a line is "aspen: " and a text. ASPEN_LOG
 * says how much: "error", "warning", "notice" (what is said without it) or
 * "trace", which tells each decision; so does ASPEN_REPORT=trace, which
 * --async-report=trace is, and a policy's report: trace. Where one of the two
 * is set, the time since aspx_log_start(), rank and module stand before the
 * text:
 *
 *     aspen: 0.018274 rank 1 casper/window: window 3: ...
 *
 * A line is one write(2) of at most PIPE_BUF bytes, so lines of several ranks
 * do not mix in a pipe, and nothing waits for a lock: a program may hold that
 * of stderr while it waits for what the line is about, a child of fork() may
 * have it held for good. No memory is allocated, and errno stays. */
#ifndef ASPEN_RUNTIME_BASE_LOG_H
#define ASPEN_RUNTIME_BASE_LOG_H

#include <stdatomic.h>
#include <stdbool.h>

enum aspx_log_level {
    ASPX_LOG_ERROR,   /* the job or a call fails, or runs without Aspen */
    ASPX_LOG_WARNING, /* something that was asked for is not had */
    ASPX_LOG_NOTICE,  /* what a user wants to know anyway */
    ASPX_LOG_TRACE,   /* decisions, for whoever asks why */
};

/* Lines up to this level are written. All of them are tried until the
 * environment was read, by aspx_log_start() or the first line. */
extern _Atomic int aspx_log_level __attribute__((visibility("hidden")));

/* Is a line of this level wanted?  Cost: a load. */
static inline bool aspx_log_on(enum aspx_log_level level)
{
    return (int) level <=
           atomic_load_explicit(&aspx_log_level, memory_order_relaxed);
}

/* Time begins, and the environment is read (not that of a setuid program). What
 * it says may be no level: the first rank of the launcher says so.
 *   name  of the program in front of its lines; NULL: "aspen". Static.
 * Threads: one, before others. */
void aspx_log_start(const char *name);

/* The policy's knob report, which counts as ASPEN_REPORT where that is not
 * set. Threads: one, before others. */
void aspx_log_set_report(const char *report);

/* From now on lines are of this rank: of the users, in a ghost that of MPI's
 * own world; until then it is the launcher's. */
void aspx_log_set_rank(int rank);

/* Write a line; the module is the folder of `file` in runtime/. Threads: any;
 * from a signal handler, too. */
void aspx_log_line(enum aspx_log_level level, const char *file,
                   const char *format, ...)
    __attribute__((cold, format(printf, 3, 4)));

/* aspx_log(level, format, ...): a line without its newline, if it is wanted. */
#define aspx_log(level, ...)                                                   \
    do {                                                                       \
        if (aspx_log_on(level))                                                \
            aspx_log_line(level, __FILE__, __VA_ARGS__);                       \
    } while (0)
#define aspx_trace(...) aspx_log(ASPX_LOG_TRACE, __VA_ARGS__)

#endif
