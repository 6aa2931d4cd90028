/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules for communicators: every key that they may set, declared here and
 * nowhere else; and what they say of one communicator.
 *
 * C(ID, name, alias or "", type, values, flags, help) */
#ifndef ASPEN_COMMON_RULES_COMMRULE_H
#define ASPEN_COMMON_RULES_COMMRULE_H

#include "common/base/knobs.h"
#include "objrule.h"

/* clang-format off */
#define ASP_COMMKEYS(C)                                                       \
    C(P2P, "p2p", "", WORD, ASP_WORDS_TEXT(p2p), ASP_OBJ_KNOB,                \
      "as the knob, for messages of this communicator")                       \
    C(EXACT_LENGTH, "exact_length", "mpi_assert_exact_length", BOOL,          \
      "true|false", 0,                                                        \
      "true: each message has the length of the buffer that it is received "  \
      "into, so that p2p: large can tell small ones apart; where that is not "\
      "so, messages may never arrive; false: takes back what the program "    \
      "promised")
/* clang-format on */

#define ASP_COMMKEY_ENUM(ID, ...) ASP_COMM_##ID,
enum asp_commkey_id { ASP_COMMKEYS(ASP_COMMKEY_ENUM) ASP_COMMKEY_COUNT };

/* A communicator that is made. All its ranks have to bring the same, and then
 * get the same answer. */
struct asp_comm_made {
    const char *name; /* "MPI_COMM_WORLD", "MPI_COMM_SELF", "" for others */
    uint32_t order;   /* its number among those that the program made, from 1,
                         agreed on as docs/design/window-rules.md says; those
                         two: 0 */
    uint32_t size;    /* ranks */
    uint32_t missed;  /* of asp_commrules_missed(), of all ranks by OR */
};

/* What the rules say; -1: nothing. */
struct asp_comm_said {
    int p2p;          /* enum asp_p2p */
    int exact_length; /* 1: promised; 0: taken back */
    uint32_t holds;   /* the rules that match, a bit for each */
};

/* The rules that ask for another call site than this rank's, a bit for each. 0
 * where no rule asks for a site: then it need not be found.
 *   place, function  see asp_objrule_site_holds() */
uint32_t asp_commrules_missed(const struct asp_objrules *rules,
                              const char *place, const char *function);

/* Of all rules that match, and for each key, the last one that sets it.
 * Threads: reentrant; no other state than the arguments. */
struct asp_comm_said asp_commrules_ask(const struct asp_objrules *rules,
                                       const struct asp_comm_made *made);

#endif
