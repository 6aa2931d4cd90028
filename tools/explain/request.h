/* SPDX-License-Identifier: BSD-3-Clause */
/* What the user asked for, checked and completed: option, environment and
 * policies become the canonical request. For `aspen request`, which the plugin
 * calls, and for `aspen run`. */
#ifndef ASPEN_TOOLS_EXPLAIN_REQUEST_H
#define ASPEN_TOOLS_EXPLAIN_REQUEST_H

#include "common/base/err.h"
#include "common/base/request_spec.h"
#include "common/policy/policy.h"

/* Strings are borrowed; NULL is "not given". ASPEN_PROGRESS and ASPEN_POLICY
 * stand in for the first two. */
struct aspt_request {
    const char *progress; /* --async-progress */
    const char *policy;   /* --async-policy */
    const char *site;     /* the site's policy file, else the default one */
    struct asp_facts facts;
};

struct aspt_answer {
    char spec[ASP_SPEC_MAX + 1]; /* the canonical request */
    /* The same with the site's knobs that counting depends on. */
    char counting[ASP_SPEC_MAX + 1];
    char remarks[4096]; /* what the user should hear, line by line, or "" */
};

/* Returns 0, or -1 with errno and err: the request is refused. *out_p is all
 * set then, too, as far as it went. */
int aspt_request_answer(const struct aspt_request *request,
                        struct aspt_answer *out_p, struct asp_err *err);

#endif
