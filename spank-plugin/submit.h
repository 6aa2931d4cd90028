/* SPDX-License-Identifier: BSD-3-Clause */
/* What srun, sbatch and salloc have in common: check the request before
 * anything is launched. These processes belong to the user, so on a refusal we
 * leave as Slurm's own option errors do, with exit(): a plugin that
 * plugstack.conf calls optional cannot stop them otherwise. */
#ifndef ASPEN_SPANK_PLUGIN_SUBMIT_H
#define ASPEN_SPANK_PLUGIN_SUBMIT_H

#include "filter.h"
#include "options.h"
#include "settings.h"
#include "common/base/request_spec.h"

struct asps_submit {
    struct asps_filter_answer filter;
    struct asps_options options; /* in force */
    char text[ASP_SPEC_MAX + 1]; /* canonical request */
    struct asp_request_spec spec;
    char remarks[4096]; /* on it: what auto chose, what limits changed */
};

/* Check what the options in force ask for, and that the filter found room.
 *   out_p  about 32 KiB
 * Returns true when Aspen is wanted, or a report of a run without it (mode
 * off); else false. Does not return when the request is refused. */
bool asps_submit_check(const struct asps_settings *settings,
                       struct asps_submit *out_p);

/* Is the mode off? */
bool asps_submit_is_off(const struct asps_submit *submit);

/* Print why, one line of Slurm's log per line of text, and exit with the
 * status of Slurm's own errors (SLURM_EXIT_ERROR). */
void asps_submit_refuse(const char *text) __attribute__((noreturn));

#endif
