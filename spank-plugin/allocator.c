/* SPDX-License-Identifier: BSD-3-Clause */
/* sbatch and salloc, running as the user: refuse early, and hand the options
 * down to every srun in the allocation.
 *
 * Slurm keeps a set of "job control" variables, which it writes into the
 * script's (or shell's) environment with the prefix SLURM_SPANK_; these
 * survive --export=NONE and --export-file, and srun reads options from them.
 * Just before it calls us, Slurm has put the options there as they were
 * written; we replace them by what is in force. No layout ever goes there. */
#include "config.h"

#include "allocator.h"

#include "filter.h"
#include "submit.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    struct asps_settings settings;
    struct asps_submit submit;
} allocator;

/* What an allocation says to the sruns inside it. Called inside one, we make
 * another, which has grown only if we say so. */
static void forget_outer(void)
{
    static const char *const told[] = {
        ASPS_GROWN_ENV, ASPS_HAD_CPUS_ENV, "SLURM_SPANK_" ASPS_SEEN_PROGRESS,
        "SLURM_SPANK_" ASPS_SEEN_POLICY, "SLURM_SPANK_" ASPS_SEEN_REPORT};

    for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
        unsetenv(told[i]);
}

int asps_allocator_init(spank_t spank, int argc, char **argv)
{
    char why[512];
    int rc;

    forget_outer();
    if (asps_settings_read(argc, argv, &allocator.settings, why, sizeof(why)) <
        0)
        slurm_error("aspen: %s", why);
    rc = asps_options_register(spank, allocator.settings.command,
                               allocator.settings.policy);
    asps_options_publish();
    return rc;
}

static void hand_down(spank_t spank, const char *name, const char *value)
{
    if (value != NULL && *value != '\0' &&
        spank_job_control_setenv(spank, name, value, 1) != ESPANK_SUCCESS)
        slurm_error("aspen: cannot hand %s down to srun: give the option to "
                    "srun itself",
                    name);
}

int asps_allocator_init_post_opt(spank_t spank, int argc, char **argv)
{
    struct asps_options *options = &allocator.submit.options;
    const struct asps_filter_answer *filter = &allocator.submit.filter;
    char text[256], policy[PATH_MAX];

    (void) argc, (void) argv;
    if (!asps_submit_check(&allocator.settings, &allocator.submit) ||
        (asps_submit_is_off(&allocator.submit) &&
         !asp_spec_helps_without_helpers(allocator.submit.text)))
        return 0;
    /* srun may run in another directory. */
    if (options->policy[0] != '\0' && realpath(options->policy, policy))
        snprintf(options->policy, sizeof(options->policy), "%s", policy);
    hand_down(spank, "_SLURM_SPANK_OPTION_aspen_async_progress",
              options->progress);
    hand_down(spank, "_SLURM_SPANK_OPTION_aspen_async_policy", options->policy);
    hand_down(spank, "_SLURM_SPANK_OPTION_aspen_async_report", options->report);
    hand_down(spank, ASPS_SEEN_PROGRESS, getenv("ASPEN_PROGRESS"));
    hand_down(spank, ASPS_SEEN_POLICY, getenv("ASPEN_POLICY"));
    hand_down(spank, ASPS_SEEN_REPORT, getenv("ASPEN_REPORT"));
    if (filter->is_grown &&
        asps_grown_print(&filter->grown, text, sizeof(text)) > 0)
        hand_down(spank, ASPS_GROWN_CONTROL, text);
    if (filter->cpus.total &&
        asps_cpus_print(&filter->cpus, text, sizeof(text)) > 0)
        hand_down(spank, ASPS_CPUS_CONTROL, text);
    return 0;
}
