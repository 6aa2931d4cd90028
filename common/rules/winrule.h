/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules for single windows: which windows, and what holds for them. A policy
 * reads them from its windows: section, they travel in the canonical request
 * and in the layout, and the runtime applies them
 * (runtime/casper/window/rules.h).
 *
 * One text form serves for both journeys: ITEM;ITEM;... with KEY:VALUE items,
 * bytes outside [A-Za-z0-9._@+/-] of a value as %XX. */
#ifndef ASPEN_COMMON_RULES_WINRULE_H
#define ASPEN_COMMON_RULES_WINRULE_H

#include "common/base/err.h"
#include "common/base/knobs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ASP_WINRULES_MAX = 32, /* of a step, site and job together */
    ASP_WINRULE_TEXT_MAX = 2048,
    ASP_WINNAME_MAX = 64, /* a pattern, with its NUL */
    ASP_WINSITE_MAX = 128,
    ASP_WINORIGIN_MAX = 64,
    ASP_WINVALUE_MAX = 24,
};

enum asp_winkey_type {
    ASP_WIN_WORD, /* one of values */
    ASP_WIN_BOOL, /* true or false, and their synonyms */
    ASP_WIN_LIST, /* some of values, by commas */
};

enum asp_winkey_flag {
    ASP_WIN_LATER = 1, /* may change while the window is in use, and not in
                          all processes at once: the only keys for name: */
    ASP_WIN_KNOB = 2,  /* a knob, for one window; others are MPI info keys */
};

/* The schema: every key of a rule, declared here and nowhere else.
 *
 * W(ID, name, alias or "", type, values, flags, help) */
/* clang-format off */
#define ASP_WINKEYS(W)                                                        \
    W(ASYNC_CONFIG, "async_config", "", WORD, "on|off|auto|native",           \
      ASP_WIN_LATER,                                                          \
      "on: ghosts serve the window, even if the program asks otherwise; "     \
      "native: leave it to MPI (not with name); off: likewise, but with "     \
      "adapt=user or profile the program may still switch it on; auto: as "   \
      "the knob adapt says. With name it needs adapt=user or profile, and "   \
      "holds from the next fence on")                                         \
    W(EPOCHS_USED, "epochs_used", "epoch_type", LIST,                         \
      "fence|pscw|lock|lockall", 0,                                           \
      "the only epochs that the program opens; without lock, "                \
      "MPI_Win_lock_all needs no messages; another epoch is an error "        \
      "(MPI_ERR_RMA_SYNC)")                                                   \
    W(NO_LOCKS, "no_locks", "", BOOL, "true|false", 0,                        \
      "true: the program opens no lock epochs; one that it opens is an error "\
      "(MPI_ERR_RMA_SYNC); false: takes back what the program promised")      \
    W(NO_LOAD_STORE, "no_load_store", "no_local_load_store", BOOL,            \
      "true|false", 0,                                                        \
      "true: the program reaches its own part by one-sided calls only")       \
    W(ACC_ORDERING, "accumulate_ordering", "", LIST,                          \
      "none|rar|raw|war|waw", 0,                                              \
      "the order of accumulates that the program relies on")                  \
    W(ACC_OPS, "accumulate_ops", "", WORD, "same_op|same_op_no_op", 0,        \
      "concurrent accumulates to one place use the same operation")           \
    W(SAME_SIZE, "same_size", "", BOOL, "true|false", 0,                      \
      "true: all processes bring parts of the same size; otherwise making "   \
      "the window is an error (MPI_ERR_SIZE)")                                \
    W(SAME_DISP_UNIT, "same_disp_unit", "", BOOL, "true|false", 0,            \
      "true: all processes name the same displacement unit; otherwise making "\
      "the window is an error (MPI_ERR_DISP)")                                \
    W(NONCONTIG, "alloc_shared_noncontig", "", BOOL, "true|false", 0,         \
      "true: the parts of an MPI_Win_allocate_shared window need not be "     \
      "neighbours; only for programs that ask MPI_Win_shared_query")          \
    W(BINDING, "rma.binding", "", WORD, ASP_WORDS_TEXT(binding),              \
      ASP_WIN_KNOB,                                                           \
      "as the knob, for this window")                                         \
    W(BALANCE, "rma.balance", "", WORD, ASP_WORDS_TEXT(balance),              \
      ASP_WIN_KNOB | ASP_WIN_LATER,                                           \
      "as the knob, for this window")
/* clang-format on */

#define ASP_WINKEY_ENUM(ID, ...) ASP_WIN_##ID,
enum asp_winkey_id { ASP_WINKEYS(ASP_WINKEY_ENUM) ASP_WINKEY_COUNT };

struct asp_winkey {
    const char *name;
    const char *alias;
    enum asp_winkey_type type;
    const char *values;
    unsigned flags; /* enum asp_winkey_flag */
    const char *help;
};

extern const struct asp_winkey asp_winkeys[ASP_WINKEY_COUNT];

/* All matchers that are given must hold; none given holds for every window. */
struct asp_winrule {
    char name[ASP_WINNAME_MAX];     /* pattern, or "" */
    char site[ASP_WINSITE_MAX];     /* likewise */
    uint32_t first, last;           /* order, from 1; first 0: any */
    char origin[ASP_WINORIGIN_MAX]; /* "job.yaml:4:5" */
    char value[ASP_WINKEY_COUNT][ASP_WINVALUE_MAX]; /* "": not set */
};

struct asp_winrules {
    uint32_t n;
    struct asp_winrule rule[ASP_WINRULES_MAX];
};

/* Find a key by name or alias. Returns ASP_WINKEY_COUNT if there is none. */
enum asp_winkey_id asp_winkey_find(const char *name);

/* Set a matcher (name, order, site) or a key, after a check; the value becomes
 * canonical. Returns 0, or -1 with errno EINVAL and the reason: unknown, twice,
 * or a value that is none. */
int asp_winrule_set(struct asp_winrule *rule, const char *key,
                    const char *value, struct asp_err *err);

/* Can a whole rule do anything, and all of what it says?
 * Returns 0, or -1 with errno EINVAL and the reason. */
int asp_winrule_check(const struct asp_winrule *rule, struct asp_err *err);

/* The text form. Returns its length, or -1 with errno ENOSPC. */
int asp_winrule_print(const struct asp_winrule *rule, char *buf, size_t size);

/* Read the text form; nothing in it is trusted.
 * Returns 0, or -1 with errno EINVAL and the reason. */
int asp_winrule_parse(const char *text, size_t len, struct asp_winrule *rule_p,
                      struct asp_err *err);

/* For people: "order 1-4, site app+0x1f", "every window"; and what it sets,
 * "async_config=off". Return buf. */
const char *asp_winrule_matchers(const struct asp_winrule *rule, char *buf,
                                 size_t size);
const char *asp_winrule_values(const struct asp_winrule *rule, char *buf,
                               size_t size);

#endif
