/* SPDX-License-Identifier: BSD-3-Clause */
/* One run of a command: its own process group, its output in files, its wall
 * time. */
#ifndef ASPEN_TOOLS_COMPARE_RUN_H
#define ASPEN_TOOLS_COMPARE_RUN_H

#include "common/base/err.h"

enum { ASPT_RUN_ENV = 8 };

struct aspt_run {
    char **argv;
    const char *out, *err; /* files for stdout and stderr, made anew */
    struct {
        const char *name, *value; /* a value of NULL: not set */
    } env[ASPT_RUN_ENV];          /* up to the first without name */
};

struct aspt_run_end {
    double seconds;
    int status;      /* as from wait() */
    int interrupted; /* the signal that ended our wait, else 0 */
};

/* Block the signals that shall end a run and not us. Before the first run. */
void aspt_run_prepare(void);

/* Wait between two runs. Returns the signal that came, else 0. */
int aspt_run_pause(int ms);

/* Run and wait. SIGINT, SIGTERM or SIGHUP to us end the run: it gets SIGTERM,
 * after a while or at the next signal SIGKILL. stdin is rewound if that is
 * possible, and else empty.
 * Returns 0, or -1 with errno and err when it cannot be started at all. */
int aspt_run(const struct aspt_run *run, struct aspt_run_end *out_p,
             struct asp_err *err);

#endif
