/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules for single objects of MPI, windows or communicators: which of them, and
 * what holds for these. A policy reads them from its sections windows: and
 * communicators:, they travel in the canonical request and in the layout, and
 * the runtime applies them. What may be matched and set is a table for each
 * kind: winrule.h, commrule.h.
 *
 * One text form serves for both journeys: ITEM;ITEM;... with KEY:VALUE items,
 * bytes outside [A-Za-z0-9._@+/-] of a value as %XX. */
#ifndef ASPEN_COMMON_RULES_OBJRULE_H
#define ASPEN_COMMON_RULES_OBJRULE_H

#include "common/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ASP_OBJRULES_MAX = 32, /* of a kind, step, site and job together */
    ASP_OBJRULE_TEXT_MAX = 2048,
    ASP_OBJKEYS_MAX = 12, /* of a kind */
    ASP_OBJNAME_MAX = 64, /* a pattern, with its NUL */
    ASP_OBJSITE_MAX = 128,
    ASP_OBJORIGIN_MAX = 64,
    ASP_OBJVALUE_MAX = 24,
};

enum asp_objkind_id { ASP_OBJ_WINDOW, ASP_OBJ_COMM, ASP_OBJ_KINDS };

enum asp_objkey_type {
    ASP_OBJ_WORD, /* one of values */
    ASP_OBJ_BOOL, /* true or false, and their synonyms */
    ASP_OBJ_LIST, /* some of values, by commas */
};

enum asp_objkey_flag {
    ASP_OBJ_LATER = 1, /* may change while the object is in use, and not in
                          all processes at once: the only keys for the names
                          that a program gives */
    ASP_OBJ_KNOB = 2,  /* a knob, for one object; others are MPI info keys */
};

struct asp_objkey {
    const char *name;
    const char *alias; /* or "" */
    enum asp_objkey_type type;
    const char *values;
    unsigned flags; /* enum asp_objkey_flag */
    const char *help;
};

/* A range of numbers from 1; first 0: any number. */
struct asp_objrange {
    uint32_t first, last;
};

/* All matchers that are given must hold; none given holds for every object. */
struct asp_objrule {
    enum asp_objkind_id kind;
    char name[ASP_OBJNAME_MAX];     /* pattern, or "" */
    char site[ASP_OBJSITE_MAX];     /* likewise */
    struct asp_objrange order;      /* its number among those of the job */
    struct asp_objrange size;       /* its processes */
    char origin[ASP_OBJORIGIN_MAX]; /* "job.yaml:4:5" */
    char value[ASP_OBJKEYS_MAX][ASP_OBJVALUE_MAX]; /* "": not set */
};

struct asp_objrules {
    uint32_t n;
    struct asp_objrule rule[ASP_OBJRULES_MAX];
};

struct asp_objmatcher {
    const char *name; /* "order", "size", "site" or "name" */
    const char *takes;
    const char *help;
};

struct asp_objkind {
    const char *word;    /* "window": its key in a SPEC and in a layout */
    const char *section; /* "windows", of a policy */
    const struct asp_objmatcher *matchers;
    size_t nmatchers;
    const struct asp_objkey *keys;
    size_t nkeys;
    /* Does the rule agree with itself? As asp_objrule_check(). */
    int (*check)(const struct asp_objrule *rule, struct asp_err *err);
};

extern const struct asp_objkind asp_window_kind, asp_comm_kind;

/* The kind of that number. */
const struct asp_objkind *asp_objkind(enum asp_objkind_id id);

/* The kind with this word. Returns ASP_OBJ_KINDS if there is none. */
enum asp_objkind_id asp_objkind_find(const char *word);

/* Find a key by name or alias. Returns kind->nkeys if there is none. */
size_t asp_objkey_find(const struct asp_objkind *kind, const char *name);

/* Has the kind such a matcher? */
bool asp_objmatcher_known(const struct asp_objkind *kind, const char *name);

/* Set a matcher or a key, after a check; the value becomes canonical.
 *   rule  its kind is set
 * Returns 0, or -1 with errno EINVAL and the reason: unknown, twice, or a value
 * that is none. */
int asp_objrule_set(struct asp_objrule *rule, const char *key,
                    const char *value, struct asp_err *err);

/* Can a whole rule do anything, and all of what it says?
 * Returns 0, or -1 with errno EINVAL and the reason. */
int asp_objrule_check(const struct asp_objrule *rule, struct asp_err *err);

/* The text form, which does not say the kind. Returns its length, or -1 with
 * errno ENOSPC. */
int asp_objrule_print(const struct asp_objrule *rule, char *buf, size_t size);

/* Read the text form; nothing in it is trusted.
 * Returns 0, or -1 with errno EINVAL and the reason. */
int asp_objrule_parse(enum asp_objkind_id kind, const char *text, size_t len,
                      struct asp_objrule *rule_p, struct asp_err *err);

/* Over the text of all rules: equal where the rules are. */
uint64_t asp_objrules_digest(const struct asp_objrules *rules);

/* For people: "order 1-4, site app+0x1f", "every window"; and what it sets,
 * "async_config=off". Return buf. */
const char *asp_objrule_matchers(const struct asp_objrule *rule, char *buf,
                                 size_t size);
const char *asp_objrule_values(const struct asp_objrule *rule, char *buf,
                               size_t size);

/* Does the rule ask for no call site, or for this one?
 *   place     "app+0x11f3", or "" where it cannot be told
 *   function  "app:main", or "" */
bool asp_objrule_site_holds(const struct asp_objrule *rule, const char *place,
                            const char *function);

/* Does the rule ask for no name, or for this one? "" is none. */
bool asp_objrule_name_holds(const struct asp_objrule *rule, const char *name);

/* Is n in the range, or the range any? */
bool asp_objrange_has(struct asp_objrange range, uint32_t n);

/* The last rule that sets a key, of those whose bit stands in holds; or NULL.
 */
const struct asp_objrule *asp_objrules_last(const struct asp_objrules *rules,
                                            uint32_t holds, size_t key);

#endif
