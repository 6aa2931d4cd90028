/* SPDX-License-Identifier: BSD-3-Clause */
/* A step of two nodes, three tasks on this one, for tests of slurmstepd's hooks
 * with a fake agent. */
#ifndef ASPEN_SPANK_PLUGIN_STEPD_TRY_H
#define ASPEN_SPANK_PLUGIN_STEPD_TRY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum {
    USER_ID = 64998,
    GROUP_ID = 64997,
    OUTPUT_MAX = 262144, /* holds the longest variable there can be */
};

extern char dir[64]; /* with the programs, readable by everybody */

/* For cmocka: before each test; before and after all. */
int setup(void **state);
int setup_group(void **state);
int teardown_group(void **state);

/* Start the step with the agent of a name. */
void start(const char *agent, const char *request);

/* What local task `slot` looks like just before Slurm execs. Returns its exit
 * status; text, of OUTPUT_MAX bytes, gets its output. */
int task(int slot, char *text);

bool has_line(const char *text, const char *line);

/* The first line that has start_of, from there on; "(none)". */
const char *line_of(const char *text, const char *start_of);

#define HAS(line)                                                              \
    do {                                                                       \
        if (!has_line(text, line))                                             \
            fail_msg("no line \"%s\" in:\n%s", line, text);                    \
    } while (0)

#endif
