/* SPDX-License-Identifier: BSD-3-Clause */
/* What of a rule holds for an object, and which rule has the last word. */
#include "objrule.h"

#include <fnmatch.h>

bool asp_objrule_site_holds(const struct asp_objrule *rule, const char *place,
                            const char *function)
{
    return !rule->site[0] || (place[0] && fnmatch(rule->site, place, 0) == 0) ||
           (function[0] && fnmatch(rule->site, function, 0) == 0);
}

bool asp_objrule_name_holds(const struct asp_objrule *rule, const char *name)
{
    return !rule->name[0] || (name[0] && fnmatch(rule->name, name, 0) == 0);
}

bool asp_objrange_has(struct asp_objrange range, uint32_t n)
{
    return range.first == 0 || (n >= range.first && n <= range.last);
}

const struct asp_objrule *asp_objrules_last(const struct asp_objrules *rules,
                                            uint32_t holds, size_t key)
{
    for (uint32_t r = rules->n; r-- > 0;)
        if (holds >> r & 1 && rules->rule[r].value[key][0])
            return &rules->rule[r];
    return NULL;
}
