/* SPDX-License-Identifier: BSD-3-Clause */
/* The plugin's line in plugstack.conf: where its programs are, and limits.
 * Written by the administrator, so trusted. */
#ifndef ASPEN_SPANK_PLUGIN_SETTINGS_H
#define ASPEN_SPANK_PLUGIN_SETTINGS_H

#include <stddef.h>

struct asps_settings {
    const char *agent;         /* agent=PATH, aspen-agent */
    const char *ghost;         /* ghost=PATH, aspen-ghost */
    const char *runtime;       /* runtime=PATH, libaspen.so */
    const char *heap;          /* heap=PATH, libaspenheap.so */
    const char *command;       /* command=PATH, the aspen command */
    const char *policy;        /* policy=PATH, the site policy; never NULL */
    const char *ghost_preload; /* ghost_preload=PATH, LD_PRELOAD of ghosts;
                                  NULL: none */
    int agent_timeout_ms;      /* agent_timeout=SECONDS, for its answer */
};

/* Read the arguments of the plugstack.conf line.
 *   argv   must outlive *out_p, which points into it
 *   why    on failure, what is wrong with the first bad argument
 * Returns 0, or -1 with errno EINVAL; *out_p is usable either way: bad
 * arguments leave the built-in value. */
int asps_settings_read(int argc, char **argv, struct asps_settings *out_p,
                       char *why, size_t why_bytes);

#endif
