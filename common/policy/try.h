/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of policies: what must go well fails the test with a word of
 * where. After cmocka.h. */
#ifndef ASPEN_COMMON_POLICY_TRY_H
#define ASPEN_COMMON_POLICY_TRY_H

#include "policy.h"

#include <string.h>

static inline struct asp_policy *create(void)
{
    struct asp_policy *policy = asp_policy_create();

    assert_non_null(policy);
    return policy;
}

static inline void add(struct asp_policy *policy, enum asp_policy_kind kind,
                       const char *text)
{
    struct asp_err err = {.text = ""};

    if (asp_policy_add_text(policy,
                            kind == ASP_POLICY_SITE ? "site.yaml" : "job.yaml",
                            text, strlen(text), kind, &err))
        fail_msg("%s: %s", err.place, err.text);
}

static inline void resolve(struct asp_policy *policy,
                           const struct asp_facts *facts)
{
    struct asp_err err = {.text = ""};

    if (asp_policy_resolve(policy, facts, &err))
        fail_msg("%s: %s", err.place, err.text);
}

static inline void refuse_yaml(enum asp_policy_kind kind, const char *text,
                               size_t len, const char *place, const char *says)
{
    struct asp_policy *policy = create();
    struct asp_err err = {.text = ""};

    if (!asp_policy_add_text(policy, "f", text, len, kind, &err))
        fail_msg("accepted: %s", text);
    if (strcmp(err.place, place) || !strstr(err.text, says))
        fail_msg("%s\ngives %s: %s", text, err.place, err.text);
    asp_policy_destroy(policy);
}

#endif
