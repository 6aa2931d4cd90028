/* SPDX-License-Identifier: BSD-3-Clause */
/* Policy: what the user, the job file and the site want, merged into one value
 * for every knob, and where each value came from.
 *
 * Use: create, add the sources in any order, resolve once, then read. The tool
 * `aspen request` does so in srun, the agent on every node; docs/design/
 * policy.md says why both. Everything here may be called on hostile input, and
 * nothing here runs as root. */
#ifndef ASPEN_COMMON_POLICY_POLICY_H
#define ASPEN_COMMON_POLICY_POLICY_H

#include "common/base/build_id.h"
#include "common/base/err.h"
#include "common/base/knobs.h"
#include "common/base/request_spec.h"
#include "common/layout/layout.h"
#include "common/rules/objrule.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    ASP_POLICY_FILE_MAX = 1 << 20, /* bytes of a policy file */
    ASP_ALLOW_MAX = 16,            /* words in a limit's allow list */
    ASP_RULES_MAX = 256,
};

/* Sources of values, weakest first. */
enum asp_layer {
    ASP_LAYER_BUILTIN,
    ASP_LAYER_SITE, /* defaults: of the site policy */
    ASP_LAYER_RULE, /* rules: of the site policy that match */
    ASP_LAYER_JOB,  /* job policy file */
    ASP_LAYER_ENV,  /* ASPEN_PROGRESS */
    ASP_LAYER_LINE, /* command line; on a node: the canonical request */
    ASP_LAYER_COUNT
};

struct asp_setting {
    bool set;
    enum asp_layer layer;
    char value[ASP_VALUE_MAX];      /* canonical text: "yes", "16" */
    char origin[ASP_ERR_PLACE_MAX]; /* "job.yaml:7:12", "command line" */
    char note[ASP_ERR_PLACE_MAX];   /* what a limit did to it, or "" */
    bool chosen;                    /* by mode auto, or with a profile */
};

/* What a site's rules can match. NULL or 0: not known, and then a rule that
 * asks for it does not match. */
struct asp_facts {
    const char *partition;
    const char *account;
    const char *user;
    const char *qos;
    const char *program;
    uint32_t nodes;
    uint32_t tasks_per_node; /* user tasks of the fullest node */
    const char *no_ghosts;   /* why there cannot be any; NULL: there can */
    bool no_more_ghosts;     /* than in the run of the record */
};

enum asp_policy_kind { ASP_POLICY_SITE, ASP_POLICY_JOB };

struct asp_policy; /* opaque; owned by its creator */

/* NULL with errno ENOMEM. */
struct asp_policy *asp_policy_create(void);

/* Takes NULL; keeps errno. */
void asp_policy_destroy(struct asp_policy *policy);

/* Add a SPEC, "mode[:N],key=value,...".
 *   spec    "" is "auto"; "on" leaves the mode to weaker layers
 *   origin  "command line", "ASPEN_PROGRESS", ...
 * Returns 0, or -1 with errno EINVAL, or ENOTSUP for a mode that this version
 * lacks; the policy is unchanged then. */
int asp_policy_add_spec(struct asp_policy *policy, const char *spec,
                        enum asp_layer layer, const char *origin,
                        struct asp_err *err);

/* Add a job policy file; any file the caller may read.
 * Returns 0, or -1 with errno EINVAL (content), EISDIR, EFBIG, ENOTSUP, or
 * what open() says. */
int asp_policy_add_job(struct asp_policy *policy, const char *path,
                       struct asp_err *err);

/* Add the site policy: a regular file, not a link, it and its folders owned by
 * owner_uid (0; tests use their own) and writable by nobody else.
 * Errors as above, and EPERM, ELOOP, ENOENT. */
int asp_policy_add_site(struct asp_policy *policy, const char *path,
                        uid_t owner_uid, struct asp_err *err);

/* As add_site, but a file that does not exist is no policy and no error when
 * path is the default one, asp_policy_site_path(). path may be NULL or "". */
int asp_policy_add_default_site(struct asp_policy *policy, const char *path,
                                struct asp_err *err);
const char *asp_policy_site_path(void);

/* Add a policy that is in memory already; name is for messages. */
int asp_policy_add_text(struct asp_policy *policy, const char *name,
                        const char *text, size_t len, enum asp_policy_kind kind,
                        struct asp_err *err);

/* What an earlier run says of the next one. */
struct asp_advice {
    enum asp_mode mode; /* AUTO: nothing */
    uint32_t ghosts;    /* per node, in mode ghost */
    char why[200];
    char build[ASP_BUILD_MAX]; /* of MPI then; "": not known */
};

/* Choose so where the mode is auto, from the next resolve on; limits hold. */
void asp_policy_advise(struct asp_policy *policy,
                       const struct asp_advice *advice);

/* Did auto choose the resolved mode? */
bool asp_policy_is_auto(const struct asp_policy *policy);

/* Merge by layer and apply the site's limits.
 *   facts  may be NULL: no rule that asks for something matches
 * Returns 0, or -1 with errno EPERM (require, and a limit changed what was
 * asked, or it cannot be had) or ENOTSUP; may be called again with other facts.
 */
int asp_policy_resolve(struct asp_policy *policy, const struct asp_facts *facts,
                       struct asp_err *err);

/* Resolved values. Results are borrowed from the policy. */
const struct asp_setting *asp_policy_setting(const struct asp_policy *policy,
                                             enum asp_knob_id id);
const char *asp_policy_text(const struct asp_policy *policy,
                            enum asp_knob_id id);
int64_t asp_policy_number(const struct asp_policy *policy,
                          enum asp_knob_id id); /* a word is 0 */
int asp_policy_word(const struct asp_policy *policy,
                    enum asp_knob_id id); /* its enumerator */
bool asp_policy_bool(const struct asp_policy *policy, enum asp_knob_id id);
enum asp_mode asp_policy_mode(const struct asp_policy *policy);

/* Rules for single objects of a kind, weakest first. Borrowed from the policy.
 */
const struct asp_objrules *asp_policy_objects(const struct asp_policy *policy,
                                              enum asp_objkind_id kind);

/* Notes of all limits that applied, joined by "; ". "" when none. */
const char *asp_policy_notes(const struct asp_policy *policy, char *buf,
                             size_t size);

/* The canonical request, after resolve: mode, ghosts, and what the user set
 * (job file, environment, command line), each value as limited. The same
 * grammar reads it back. Returns its length, or -1 with errno ENOSPC. */
int asp_policy_canonical(const struct asp_policy *policy, char *buf,
                         size_t size, struct asp_err *err);

/* The same with the site's values of the knobs that counting depends on
 * (ASP_KNOB_COUNTS): for asp_expand_words(), not for the nodes, which know the
 * site's values themselves. */
int asp_policy_counting(const struct asp_policy *policy, char *buf, size_t size,
                        struct asp_err *err);

/* 16 hexadecimal digits that stand for all resolved values. */
void asp_policy_digest(const struct asp_policy *policy, char out[17]);

/* Put digest, the runtime's knobs and the rules for objects into a layout. */
void asp_policy_to_layout(const struct asp_policy *policy,
                          struct asp_layout *layout);

/* Name of a layer for people: "site rule". */
const char *asp_layer_name(enum asp_layer layer);

/* Check a value and write its canonical text.
 * Returns 0, or -1 with errno EINVAL and the reason, without a place. */
int asp_knob_check(enum asp_knob_id id, const char *value,
                   char out[ASP_VALUE_MAX], struct asp_err *err);

/* "1..64 per node", "numa|pack": what the knob accepts. Returns buf. */
const char *asp_knob_range(enum asp_knob_id id, char *buf, size_t size);

#endif
