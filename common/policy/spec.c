/* SPDX-License-Identifier: BSD-3-Clause */
/* SPEC, the text of --async-progress: "mode[:N],key=value,...". A bare word is
 * the mode, or a yes-or-no knob that is meant: "ghost:2,require"; "offload" is
 * the mode where it comes first, else the knob: "ghost:1,offload". "on", in its
 * place, is a wish without a mode. Rules for single objects come as window=TEXT
 * and communicator=TEXT, in the form of common/rules/objrule.h. */
#include "config.h"

#include "common/base/nearest.h"
#include "priv.h"
#include "common/base/printable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A bare word when there is a mode already. */
static int refuse_word(const char *item, const char *mode,
                       const struct asp_location *at, struct asp_err *err)
{
    const char *known[ASP_KNOB_COUNT];
    size_t nknown = 0, len = strcspn(item, ":");
    enum asp_mode second;
    char word[16] = "";

    if (len < sizeof(word))
        memcpy(word, item, len);
    if (asp_mode_parse(word, &second) == 0)
        return asp_err_in(err, EINVAL, at->file,
                          "two modes, %s and %s; for ghosts with offload "
                          "threads write ghost:N,offload",
                          mode, word);
    for (size_t id = 0; id < ASP_KNOB_COUNT; id++)
        if (asp_knobs[id].type == ASP_TYPE_BOOL)
            known[nknown++] = asp_knobs[id].name;
    return asp_policy_unknown("word", item, known, nknown, at, err);
}

static bool says_on(const char *spec)
{
    return strncmp(spec, "on", 2) == 0 && (spec[2] == ',' || spec[2] == '\0');
}

/* One item: a key with its value, or a word (value NULL). */
static int add_item(struct asp_setting settings[ASP_KNOB_COUNT],
                    struct asp_policy *policy, const char *item,
                    const char *value, bool first, enum asp_layer layer,
                    const struct asp_location *at, struct asp_err *err)
{
    enum asp_objkind_id kind = asp_objkind_find(item);
    enum asp_knob_id id;

    if (!item[0] && !value)
        return asp_err_in(err, EINVAL, at->file,
                          "an empty item: give mode[:N],key=value,...");
    if (first && says_on(item))
        return 0;
    if (value) {
        if (kind < ASP_OBJ_KINDS)
            return asp_policy_objects_spec(&policy->objects[kind].layers[layer],
                                           kind, value, at->file, err);
        return asp_policy_set(settings, item, value, layer, at, err);
    }
    id = asp_knob_find(item);
    if (id < ASP_KNOB_COUNT && asp_knobs[id].type == ASP_TYPE_BOOL &&
        !(first && id == ASP_KNOB_OFFLOAD))
        return asp_policy_set(settings, item, "yes", layer, at, err);
    if (settings[ASP_KNOB_MODE].set)
        return refuse_word(item, settings[ASP_KNOB_MODE].value, at, err);
    return asp_policy_set(settings, "mode", item, layer, at, err);
}

/* A knob that the mode has no use for, and whose name promises more. */
static int check_offload(const struct asp_setting settings[ASP_KNOB_COUNT],
                         const char *origin, struct asp_err *err)
{
    if (!settings[ASP_KNOB_MODE].set || !settings[ASP_KNOB_OFFLOAD].set ||
        strcmp(settings[ASP_KNOB_MODE].value, "thread") != 0 ||
        strcmp(settings[ASP_KNOB_OFFLOAD].value, "yes") != 0)
        return 0;
    return asp_err_in(err, EINVAL, origin,
                      "offload threads do what a progress thread does, and "
                      "more: write offload, or ghost:N,offload, or thread");
}

/* Two ways for a message in one SPEC; of two sources the stronger one holds
 * (p2p.c). */
static int check_p2p(const struct asp_setting settings[ASP_KNOB_COUNT],
                     const char *origin, struct asp_err *err)
{
    if (!settings[ASP_KNOB_P2P].set || !settings[ASP_KNOB_OFFLOAD].set ||
        strcmp(settings[ASP_KNOB_P2P].value, "off") == 0 ||
        strcmp(settings[ASP_KNOB_OFFLOAD].value, "no") == 0)
        return 0;
    return asp_err_in(err, EINVAL, origin,
                      "ghosts carry messages, or offload threads do: write "
                      "ghost:N,p2p=%s, or ghost:N,offload",
                      settings[ASP_KNOB_P2P].value);
}

int asp_policy_add_spec(struct asp_policy *policy, const char *spec,
                        enum asp_layer layer, const char *origin,
                        struct asp_err *err)
{
    struct asp_setting *settings; /* too many for the stack */
    const struct asp_location at = {.file = origin};
    char text[ASP_SPEC_MAX + 1];
    const char *rest = text;
    struct asp_spec_item item;
    uint32_t nrules[ASP_OBJ_KINDS];
    size_t len = strlen(spec), bytes = sizeof(policy->layers[layer]);
    int rc = 0;

    if (len > ASP_SPEC_MAX)
        return asp_err_in(err, EINVAL, origin,
                          "the request is longer than %d bytes", ASP_SPEC_MAX);
    for (size_t i = 0; i < len; i++)
        if (asp_control(spec + i))
            return asp_err_in(err, EINVAL, origin,
                              "control character at byte %zu", i + 1);
    memcpy(text, len ? spec : "auto", len ? len + 1 : sizeof("auto"));
    settings = malloc(bytes);
    if (!settings)
        return asp_errf(err, ENOMEM, "out of memory");
    memcpy(settings, policy->layers[layer], bytes);
    for (enum asp_objkind_id kind = 0; kind < ASP_OBJ_KINDS; kind++)
        nrules[kind] = policy->objects[kind].layers[layer].n;
    while (rc == 0 && asp_spec_next(&rest, &item)) {
        text[item.key + item.key_len - text] = '\0';
        if (item.value)
            text[item.value + item.value_len - text] = '\0';
        rc = add_item(settings, policy, item.key, item.value, item.key == text,
                      layer, &at, err);
    }
    if (rc == 0)
        rc = check_offload(settings, origin, err);
    if (rc == 0)
        rc = check_p2p(settings, origin, err);
    if (rc == 0)
        memcpy(policy->layers[layer], settings, bytes);
    for (enum asp_objkind_id kind = 0; rc < 0 && kind < ASP_OBJ_KINDS; kind++)
        policy->objects[kind].layers[layer].n = nrules[kind];
    if (rc == 0 && says_on(spec) && layer > policy->wanted)
        policy->wanted = layer;
    free(settings);
    return rc;
}
