/* SPDX-License-Identifier: BSD-3-Clause */
/* The three options, their environment twins, and which one counts. */
#ifndef ASPEN_SPANK_PLUGIN_OPTIONS_H
#define ASPEN_SPANK_PLUGIN_OPTIONS_H

#include "common/base/request_spec.h"

#include <slurm/spank.h>
#include <stdbool.h>

enum { ASPS_PATH_MAX = 4096 };

/* From an allocation to the sruns inside it: the environment twins as sbatch or
 * salloc found them. */
#define ASPS_SEEN_PROGRESS "ASPEN_SEEN_PROGRESS"
#define ASPS_SEEN_POLICY   "ASPEN_SEEN_POLICY"
#define ASPS_SEEN_REPORT   "ASPEN_SEEN_REPORT"

/* What a command line asks for. "" means: not asked. */
struct asps_options {
    char progress[ASP_SPEC_MAX + 1];
    char policy[ASPS_PATH_MAX];
    char report[ASPS_PATH_MAX]; /* "1": to stderr */
};

/* Register the options; call it from slurm_spank_init in every context, so
 * that no context refuses what another one accepts.
 *   command  the `aspen` command; it and policy, the site's, are kept */
int asps_options_register(spank_t spank, const char *command,
                          const char *policy);

/* What is in force now: the command line, else the environment twins, else
 * what sbatch or salloc hands down to srun.
 *   out_p  of about 16 KiB; overwritten
 * Returns false when nothing asks for Aspen, or the strongest says off and
 * nobody wants a report. */
bool asps_options_effective(struct asps_options *out_p);

/* Does this value of --async-report, or of its twin, ask for one? */
bool asps_report_wanted(const char *value);

/* Tell cli_filter.lua what is in force (filter.h). Options do it themselves
 * when they are read; slurm_spank_init calls it for the environment twins. */
void asps_options_publish(void);

/* For tests: forget what the callbacks were told. */
void asps_options_reset(void);

#endif
