/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "settings.h"

#include "runtime/record/frame.h"

#include "common/base/hash.h"

#include <stdlib.h>
#include <string.h>

struct aspx_coll_settings aspx_coll_settings;

static const char *word(const struct asp_layout *layout, const char *knob)
{
    const char *value = asp_layout_knob(layout, knob, "no");

    return strcmp(value, "no") == 0 ? NULL : value;
}

static enum aspx_coll_mode mode_of(const char *value)
{
    if (strcmp(value, "tune") == 0)
        return ASPX_COLL_TUNE;
    return strcmp(value, "table") == 0 ? ASPX_COLL_TABLE : ASPX_COLL_OFF;
}

bool aspx_coll_settings_read(const struct asp_layout *layout)
{
    struct aspx_coll_settings *s = &aspx_coll_settings;

    s->mode = mode_of(asp_layout_knob(layout, "coll", "off"));
    s->budget_us = 1e3 *
                   atof(asp_layout_knob(layout, "coll.budget_ms", "1000"));
    s->join_s = atoi(asp_layout_knob(layout, "init.timeout_s", "60"));
    s->probe_us = 1e3 * atof(asp_layout_knob(layout, "coll.probe_ms", "20"));
    if (s->probe_us > 1e6 / 2 * s->join_s) /* the others wait so long */
        s->probe_us = 1e6 / 2 * s->join_s;
    s->table = word(layout, "coll.table");
    s->save = word(layout, "coll.save");
    s->shows_links = s->save || aspx_record_where(layout);
    s->force = word(layout, "coll.force");
    s->reproducible = word(layout, "coll.reproducible") != NULL;
    s->explicit_effort = strcmp(asp_layout_knob(layout, "coll.effort", "few"),
                                "all") == 0;
    return s->mode != ASPX_COLL_OFF;
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
