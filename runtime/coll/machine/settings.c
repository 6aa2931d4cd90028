/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies the knobs from the layout, and hashes those that all ranks must have
 * alike. */
#include "config.h"

#include "settings.h"

#include "runtime/record/frame.h"

#include "common/base/hash.h"

#include <string.h>

struct aspx_coll_settings aspx_coll_settings;

static const char *named(const char *name)
{
    return name[0] ? name : NULL;
}

bool aspx_coll_settings_read(const struct asp_layout *layout)
{
    const struct asp_knobs *knobs = &layout->knobs;
    struct aspx_coll_settings *s = &aspx_coll_settings;

    s->mode = knobs->coll;
    s->budget_us = 1e3 * knobs->coll_budget_ms;
    s->join_s = knobs->init_timeout_s;
    s->probe_us = 1e3 * knobs->coll_probe_ms;
    if (s->probe_us > 1e6 / 2 * s->join_s) /* the others wait so long */
        s->probe_us = 1e6 / 2 * s->join_s;
    s->table = named(knobs->coll_table);
    s->save = named(knobs->coll_save);
    s->shows_links = s->save || aspx_record_where(layout);
    s->force = named(knobs->coll_force);
    s->reproducible = knobs->coll_reproducible;
    s->explicit_effort = knobs->coll_effort == ASP_EFFORT_ALL;
    return s->mode != ASP_COLL_MODE_OFF;
}

uint64_t aspx_coll_settings_hash(void)
{
    const struct aspx_coll_settings *s = &aspx_coll_settings;
    uint64_t hash = ASP_HASH_START;

    hash = asp_hash(hash, &s->mode, sizeof(s->mode));
    hash = asp_hash(hash, &s->budget_us, sizeof(s->budget_us));
    hash = asp_hash(hash, &s->probe_us, sizeof(s->probe_us));
    hash = asp_hash(hash, &s->reproducible, sizeof(s->reproducible));
    hash = asp_hash(hash, &s->explicit_effort, sizeof(s->explicit_effort));
    return s->force ? asp_hash(hash, s->force, strlen(s->force)) : hash;
}
