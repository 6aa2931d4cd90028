/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules for windows: every key that they may set, declared here and nowhere
 * else. runtime/casper/window/rules.h applies them.
 *
 * W(ID, name, alias or "", type, values, flags, help) */
#ifndef ASPEN_COMMON_RULES_WINRULE_H
#define ASPEN_COMMON_RULES_WINRULE_H

#include "common/base/knobs.h"
#include "objrule.h"

/* clang-format off */
#define ASP_WINKEYS(W)                                                        \
    W(ASYNC_CONFIG, "async_config", "", WORD, "on|off|auto|native",           \
      ASP_OBJ_LATER,                                                          \
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
      ASP_OBJ_KNOB,                                                           \
      "as the knob, for this window")                                         \
    W(BALANCE, "rma.balance", "", WORD, ASP_WORDS_TEXT(balance),              \
      ASP_OBJ_KNOB | ASP_OBJ_LATER,                                           \
      "as the knob, for this window")
/* clang-format on */

#define ASP_WINKEY_ENUM(ID, ...) ASP_WIN_##ID,
enum asp_winkey_id { ASP_WINKEYS(ASP_WINKEY_ENUM) ASP_WINKEY_COUNT };

extern const struct asp_objkey asp_winkeys[ASP_WINKEY_COUNT];

#endif
