/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading requests; see request_spec.h. Called in srun, sbatch and salloc on
 * what `aspen request` printed, in slurmstepd and the agent on what arrived in
 * the step's environment, and by the policy on what users write. */
#include "request_spec.h"

#include "limits.h"
#include "words.h"

#include <errno.h>
#include <string.h>

bool asp_spec_next(const char **rest_p, struct asp_spec_item *out_p)
{
    const char *item = *rest_p, *equals;
    size_t len;

    if (item == NULL)
        return false;
    len = strcspn(item, ",");
    equals = memchr(item, '=', len);
    *rest_p = item[len] ? item + len + 1 : NULL;
    *out_p = (struct asp_spec_item){.key = item, .key_len = len};
    if (equals != NULL) {
        out_p->key_len = (size_t) (equals - item);
        out_p->value = equals + 1;
        out_p->value_len = len - out_p->key_len - 1;
    }
    return true;
}

bool asp_spec_says(const char *spec, const char *key, const char *value)
{
    struct asp_spec_item item;

    while (asp_spec_next(&spec, &item))
        if (asp_is_word(item.key, item.key_len, key) &&
            (item.value ? asp_is_word(item.value, item.value_len, value)
                        : strcmp(value, "yes") == 0))
            return true;
    return false;
}

bool asp_spec_helps_without_helpers(const char *spec)
{
    return asp_spec_says(spec, "pack", "auto") ||
           asp_spec_says(spec, "match", "auto") ||
           asp_spec_says(spec, "coll", "table") ||
           asp_spec_says(spec, "coll", "tune");
}

/* ":2", or nothing: one. */
static int parse_ghosts(const char **at_p, uint32_t *ghosts_p)
{
    *ghosts_p = 1;
    if (**at_p != ':')
        return 0;
    ++*at_p;
    if (asp_take_number(at_p, ASP_GHOSTS_MAX, ghosts_p) < 0)
        return -1;
    return *ghosts_p ? 0 : -1;
}

/* The first item: "ghost:2". */
static int parse_mode(const char *spec, struct asp_request_spec *out_p)
{
    static const struct {
        const char *word, *mode;
    } modes[] = {{"off", "off"},
                 {"ghost", "ghost"},
                 {"auto", "ghost"},
                 {"offload", "offload"},
                 {"thread", "thread"}};
    size_t len = strcspn(spec, ":,");
    const char *end = spec + len;

    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
        if (asp_is_word(spec, len, modes[i].word))
            strcpy(out_p->mode, modes[i].mode);
    if (strcmp(out_p->mode, "ghost") == 0 &&
        parse_ghosts(&end, &out_p->ghosts) < 0)
        return -1;
    return out_p->mode[0] && (*end == ',' || *end == '\0') ? 0 : -1;
}

int asp_request_spec_parse(const char *spec, struct asp_request_spec *out_p)
{
    struct asp_request_spec out = {.ghosts = 0};

    if (strlen(spec) > ASP_SPEC_MAX) {
        errno = EMSGSIZE;
        return -1;
    }
    for (const char *c = spec; *c; c++)
        if (*c < ' ' || *c > '~')
            goto bad;
    if (parse_mode(spec, &out) < 0)
        goto bad;
    out.require = asp_spec_says(spec, "require", "yes") ||
                  asp_spec_says(spec, "require", "true") ||
                  asp_spec_says(spec, "require", "on");
    out.optional = !out.require && asp_spec_says(spec, "adapt", "auto");
    *out_p = out;
    return 0;
bad:
    errno = EINVAL;
    return -1;
}
