/* SPDX-License-Identifier: BSD-3-Clause */
/* What users write for a knob: check it, make it canonical, store it with its
 * origin. The table is common/base/knobs.h. */
#include "config.h"

#include "common/base/nearest.h"
#include "common/base/strbuf.h"
#include "common/base/words.h"
#include "priv.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const layer_names[ASP_LAYER_COUNT] = {
    [ASP_LAYER_BUILTIN] = "built-in", [ASP_LAYER_SITE] = "site default",
    [ASP_LAYER_RULE] = "site rule",   [ASP_LAYER_JOB] = "job policy",
    [ASP_LAYER_ENV] = "environment",  [ASP_LAYER_LINE] = "command line",
};

const char *asp_layer_name(enum asp_layer layer)
{
    return layer_names[layer];
}

const char *asp_knob_range(enum asp_knob_id id, char *buf, size_t size)
{
    const struct asp_knob *knob = &asp_knobs[id];

    switch (knob->type) {
    case ASP_TYPE_WORD:
    case ASP_TYPE_BOOL:
    case ASP_TYPE_NAME:
        snprintf(buf, size, "%s", knob->values);
        break;
    case ASP_TYPE_NUMBER:
        snprintf(buf, size, "%s%s%" PRId64 "..%" PRId64 " %s", knob->values,
                 knob->values[0] ? " or " : "", knob->min, knob->max,
                 knob->unit);
        break;
    case ASP_TYPE_FILE:
        snprintf(buf, size, "%s|FILE", knob->values);
        break;
    }
    return buf;
}

/* "did you mean" for the words of a knob. Returns a static-lifetime word in
 * buf, or NULL. */
static const char *meant(const char *word, const char *words, char *buf,
                         size_t size)
{
    const char *candidates[ASP_ALLOW_MAX];
    size_t count = 0;
    char *save = NULL;

    snprintf(buf, size, "%s", words);
    for (char *w = strtok_r(buf, "|", &save); w && count < ASP_ALLOW_MAX;
         w = strtok_r(NULL, "|", &save))
        candidates[count++] = w;
    return asp_nearest(word, candidates, count);
}

static int refuse_word(const struct asp_knob *knob, const char *value,
                       struct asp_err *err)
{
    char words[ASP_VALUE_MAX];
    const char *near = meant(value, knob->values, words, sizeof(words));

    if (near)
        return asp_errf(err, EINVAL,
                        "unknown %s \"%.64s\": did you mean "
                        "\"%s\"? (%s)",
                        knob->name, value, near, knob->values);
    return asp_errf(err, EINVAL, "unknown %s \"%.64s\": one of %s", knob->name,
                    value, knob->values);
}

static int check_bool(const struct asp_knob *knob, const char *value, char *out,
                      struct asp_err *err)
{
    int is = asp_knob_bool(value);

    if (is < 0)
        return refuse_word(knob, value, err);
    strcpy(out, is ? "yes" : "no");
    return 0;
}

static int check_number(enum asp_knob_id id, const char *value, char *out,
                        struct asp_err *err)
{
    const struct asp_knob *knob = &asp_knobs[id];
    char range[ASP_VALUE_MAX];
    int n;

    if (asp_knob_number(id, value, &n) < 0) {
        bool outside = errno == ERANGE;

        asp_knob_range(id, range, sizeof(range));
        return asp_errf(err, EINVAL,
                        outside ? "%s: %.64s is out of range; give %s"
                                : "%s: \"%.64s\" is not a number; give %s",
                        knob->name, value, range);
    }
    if (n == ASP_NUMBER_AUTO)
        snprintf(out, ASP_VALUE_MAX, "%s", value);
    else
        snprintf(out, ASP_VALUE_MAX, "%d", n);
    return 0;
}

static int check_file(const struct asp_knob *knob, const char *value, char *out,
                      struct asp_err *err)
{
    for (const char *c = value; *c; c++)
        if (*c == ',' || iscntrl((unsigned char) *c))
            return asp_errf(err, EINVAL,
                            "%s: a file name must not have "
                            "commas or control characters",
                            knob->name);
        else if ((unsigned char) *c > '~') /* requests are ASCII: spec.c */
            return asp_errf(err, EINVAL,
                            "%s: a file name must be of ASCII "
                            "characters",
                            knob->name);
    if (!value[0])
        return asp_errf(err, EINVAL, "%s: give %s|FILE", knob->name,
                        knob->values);
    snprintf(out, ASP_VALUE_MAX, "%s", value);
    return 0;
}

int asp_knob_check(enum asp_knob_id id, const char *value,
                   char out[ASP_VALUE_MAX], struct asp_err *err)
{
    const struct asp_knob *knob = &asp_knobs[id];

    if (strlen(value) >= ASP_VALUE_MAX)
        return asp_errf(err, EINVAL, "%s: the value is longer than %d bytes",
                        knob->name, ASP_VALUE_MAX - 1);
    switch (knob->type) {
    case ASP_TYPE_WORD:
    case ASP_TYPE_NAME:
        if (asp_knob_word(id, value) < 0)
            return refuse_word(knob, value, err);
        snprintf(out, ASP_VALUE_MAX, "%s", value);
        return 0;
    case ASP_TYPE_BOOL:
        return check_bool(knob, value, out, err);
    case ASP_TYPE_NUMBER:
        return check_number(id, value, out, err);
    case ASP_TYPE_FILE:
        return check_file(knob, value, out, err);
    }
    return asp_errf(err, EINVAL, "%s: no such type", knob->name);
}

static int err_place(struct asp_err *err, int errnum,
                     const struct asp_location *at, const struct asp_err *why)
{
    return asp_err_at(err, errnum, at, "%s", why->text);
}

int asp_policy_unknown(const char *what, const char *word,
                       const char *const known[], size_t nknown,
                       const struct asp_location *at, struct asp_err *err)
{
    const char *near = asp_nearest(word, known, nknown);
    char list[320];
    struct asp_strbuf sb = ASP_STRBUF(list);

    if (near)
        return asp_err_at(err, EINVAL, at,
                          "unknown %s \"%.64s\": did you mean \"%s\"?", what,
                          word, near);
    for (size_t i = 0; i < nknown && sb.len + 24 < sizeof(list); i++)
        asp_strbuf_add(&sb, "%s%.20s", i ? ", " : "", known[i]);
    return asp_err_at(err, EINVAL, at, "unknown %s \"%.64s\": one of %s", what,
                      word, list);
}

static int set_one(struct asp_setting settings[ASP_KNOB_COUNT],
                   enum asp_knob_id id, const char *value, enum asp_layer layer,
                   const struct asp_location *at, struct asp_err *err)
{
    struct asp_setting *setting = &settings[id];
    struct asp_err why;
    char text[ASP_VALUE_MAX];

    if (layer <= ASP_LAYER_RULE && asp_knobs[id].flags & ASP_KNOB_NOT_SITE)
        return asp_err_at(err, EINVAL, at,
                          "%s is for jobs, not for site policies",
                          asp_knobs[id].name);
    if (setting->set)
        return asp_err_at(err, EINVAL, at, "%s is set twice",
                          asp_knobs[id].name);
    if (asp_knob_check(id, value, text, &why) < 0)
        return err_place(err, EINVAL, at, &why);
    setting->set = true;
    setting->layer = layer;
    memcpy(setting->value, text, sizeof(text));
    setting->note[0] = '\0';
    if (at->line)
        snprintf(setting->origin, sizeof(setting->origin), "%.200s:%zu:%zu",
                 at->file, at->line, at->column);
    else
        snprintf(setting->origin, sizeof(setting->origin), "%.200s", at->file);
    return 0;
}

static int set_mode(struct asp_setting settings[ASP_KNOB_COUNT],
                    const char *value, enum asp_layer layer,
                    const struct asp_location *at, struct asp_err *err)
{
    const char *colon = strchr(value, ':');
    char mode[ASP_VALUE_MAX];

    snprintf(mode, sizeof(mode), "%.*s",
             colon ? (int) (colon - value) : (int) strlen(value), value);
    if (set_one(settings, ASP_KNOB_MODE, mode, layer, at, err) < 0)
        return -1;
    if (!colon)
        return 0;
    if (strcmp(mode, "ghost") != 0)
        return asp_err_at(err, EINVAL, at,
                          "mode %s takes no number; ghost:%s does", mode,
                          colon + 1);
    return set_one(settings, ASP_KNOB_GHOSTS, colon + 1, layer, at, err);
}

int asp_policy_set(struct asp_setting settings[ASP_KNOB_COUNT],
                   const char *name, const char *value, enum asp_layer layer,
                   const struct asp_location *at, struct asp_err *err)
{
    enum asp_knob_id id = asp_knob_find(name);
    const char *names[ASP_KNOB_COUNT];

    if (id == ASP_KNOB_MODE)
        return set_mode(settings, value, layer, at, err);
    if (id < ASP_KNOB_COUNT)
        return set_one(settings, id, value, layer, at, err);
    for (id = 0; id < ASP_KNOB_COUNT; id++)
        names[id] = asp_knobs[id].name;
    return asp_policy_unknown("setting", name, names, ASP_KNOB_COUNT, at, err);
}
