/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of rules, each with the releases in which it holds. A release that
 * is not known counts as the oldest that Aspen supports. */
#include "slurm_rules.h"

#include "words.h"

#include <stddef.h>

#define R(year, month, patch) ASP_SLURM_RELEASE(year, month, patch)

enum { OLDEST = R(22, 5, 0), STILL = 0 };

/* Each holds from one release on, until another. */
static const struct {
    uint32_t since; /* the first that has it */
    uint32_t until; /* the first that no longer has it; STILL: the newest has */
} rules[ASP_SLURM_NRULES] = {
    [ASP_SLURM_STEP_READS_CPUS] = {R(23, 11, 0), STILL},
    [ASP_SLURM_MINCPUS_ADDS] = {OLDEST, R(24, 11, 1)},
    [ASP_SLURM_OVERCOMMITS_NODES] = {OLDEST, R(24, 11, 1)},
};

int asp_slurm_release_parse(const char *text, uint32_t *out_p)
{
    uint32_t part[3];

    for (int i = 0; i < 3; i++) {
        if ((i > 0 && *text++ != '.') ||
            asp_take_number(&text, UINT8_MAX, &part[i]) < 0)
            return -1;
    }
    *out_p = R(part[0], part[1], part[2]);
    return 0;
}

bool asp_slurm_has(uint32_t release, enum asp_slurm_rule rule)
{
    uint32_t asked = release ? release : OLDEST;

    return asked >= rules[rule].since &&
           (rules[rule].until == STILL || asked < rules[rule].until);
}
