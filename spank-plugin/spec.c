/* SPDX-License-Identifier: BSD-3-Clause */
/* Called in srun, sbatch and salloc on what `aspen request` printed, and in
 * slurmstepd on what arrived in the step's environment. */
#include "config.h"

#include "spec.h"

#include <errno.h>
#include <string.h>

static bool is_word(const char *item, size_t len, const char *word)
{
    return strlen(word) == len && strncmp(item, word, len) == 0;
}

/* "", ":3": the count behind a mode. Returns 0 when out of range. */
static uint32_t parse_count(const char *text, size_t len)
{
    uint32_t value = 0;

    if (len == 0)
        return 1;
    if (text[0] != ':' || len < 2 || len > 4)
        return 0;
    for (size_t i = 1; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return 0;
        value = value * 10 + (uint32_t) (text[i] - '0');
    }
    return value <= ASPS_GHOSTS_MAX ? value : 0;
}

static int parse_mode(const char *item, size_t len, struct asps_spec *spec)
{
    static const char *const modes[] = {"off", "ghost", "offload", "thread",
                                        "auto"};
    size_t name = strcspn(item, ":,");

    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        if (!is_word(item, name, modes[i]))
            continue;
        strcpy(spec->mode, modes[i]);
        if (strcmp(spec->mode, "auto") == 0)
            strcpy(spec->mode, "ghost");
        if (strcmp(spec->mode, "ghost") != 0)
            return name == len ? 0 : -1;
        spec->ghosts = parse_count(item + name, len - name);
        return spec->ghosts ? 0 : -1;
    }
    return -1;
}

int asps_spec_parse(const char *text, struct asps_spec *out_p)
{
    struct asps_spec spec = {.ghosts = 0};
    const char *item = text;

    if (strlen(text) >= ASPS_SPEC_MAX) {
        errno = EMSGSIZE;
        return -1;
    }
    for (const char *c = text; *c; c++)
        if (*c < ' ' || *c > '~')
            goto bad;
    if (parse_mode(item, strcspn(item, ","), &spec) < 0)
        goto bad;
    for (item += strcspn(item, ","); *item == ','; item += strcspn(item, ",")) {
        size_t len = strcspn(++item, ",");

        if (is_word(item, len, "require") ||
            is_word(item, len, "require=yes") ||
            is_word(item, len, "require=true") ||
            is_word(item, len, "require=on"))
            spec.require = true;
        else if (is_word(item, len, "adapt=auto"))
            spec.optional = true;
    }
    spec.optional = spec.optional && !spec.require;
    *out_p = spec;
    return 0;
bad:
    errno = EINVAL;
    return -1;
}
