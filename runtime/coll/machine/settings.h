/* SPDX-License-Identifier: BSD-3-Clause */
/* What the request says of collectives: knobs coll and coll.*. */
#ifndef ASPEN_RUNTIME_COLL_MACHINE_SETTINGS_H
#define ASPEN_RUNTIME_COLL_MACHINE_SETTINGS_H

#include "common/layout/layout.h"

#include <stdbool.h>
#include <stdint.h>

struct aspx_coll_settings {
    enum asp_coll_mode mode;
    double budget_us;     /* for the trials of a key */
    double probe_us;      /* to measure links at the start; 0: not */
    int join_s;           /* how long ranks wait for each other at the start */
    const char *table;    /* file to begin with, NULL: none; of the layout */
    const char *save;     /* file to write what was found into, NULL: none */
    const char *force;    /* name of the algorithm to take always, NULL: none */
    bool reproducible;    /* reproducible.h */
    bool explicit_effort; /* try everything (aspen tune) */
    bool shows_links;     /* who measures a machine, or asked for a report,
                             wants to see what was measured */
};

extern struct aspx_coll_settings aspx_coll_settings;

/* Read them. Returns whether there is anything to do. */
bool aspx_coll_settings_read(const struct asp_layout *layout);

/* A number that is the same where the settings are. */
uint64_t aspx_coll_settings_hash(void);

#endif
