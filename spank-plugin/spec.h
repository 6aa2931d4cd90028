/* SPDX-License-Identifier: BSD-3-Clause */
/* The little that the plugin reads in a canonical request ("ghost:2,key=...",
 * made by `aspen request`): the mode, the number of ghosts, `require`, and if
 * the run is to find out whether ghosts help. The rest is the agent's.
 * Everything here treats the text as hostile. */
#ifndef ASPEN_SPANK_PLUGIN_SPEC_H
#define ASPEN_SPANK_PLUGIN_SPEC_H

#include <stdbool.h>
#include <stdint.h>

enum {
    ASPS_SPEC_MAX = 8192, /* bytes of a canonical request, with its NUL */
    ASPS_GHOSTS_MAX = 64, /* per node */
};

/* Carries the canonical request and the report from srun to the nodes. The
 * prefix SLURM is what survives every --export. */
#define ASPS_REQUEST_ENV "SLURM_ASPEN_REQUEST"
#define ASPS_REPORT_ENV  "SLURM_ASPEN_REPORT"

struct asps_spec {
    char mode[16];   /* "ghost", "offload", "thread", "off" */
    uint32_t ghosts; /* per node; 0 unless the mode is ghost */
    bool require;    /* fail the step rather than degrade */
    bool optional;   /* adapt=auto: do without ghosts rather than fail */
};

/* Returns 0, or -1 with errno EINVAL (no mode first, a character that is not
 * printable ASCII, a number out of range) or EMSGSIZE; *out_p is untouched
 * on failure. */
int asps_spec_parse(const char *text, struct asps_spec *out_p);

#endif
