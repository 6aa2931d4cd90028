/* SPDX-License-Identifier: BSD-3-Clause */
/* The decisions of one communicator: for each call a configuration, from the
 * table, from a search, or the default. It ties key, table, search and pattern
 * together and is all that a runtime calls:
 *
 *   enter(args) -> {config, agree}      before the call
 *      ... the call, by that configuration ...
 *   leave(what this rank measured)
 *   agree: values() -> MPI_Allreduce(MPI_DOUBLE, MPI_MAX) -> agreed()
 *
 * Every rank of the communicator makes the same calls in the same order, as MPI
 * demands, with equal args; enter() and agreed() look at nothing else, so all
 * ranks do the same. leave() takes what differs, and decides nothing. Bytes of
 * each rank's own, of operations that are ASP_TUNE_AGREED, enter() takes into
 * what goes to the next agreement (size.h), and no decision before that.
 *
 *   table has the key (or a near size) ------> its configuration, no search
 *   else pattern nonblocking, no room, effort off --> the default
 *   else ------------------------------------> the search of the key
 *
 * All memory is given at once, when ranks can still agree that one of them has
 * none. Threads: one at a time, as MPI has it for collectives of a
 * communicator. */
#ifndef ASPEN_COMMON_TUNE_DECIDE_H
#define ASPEN_COMMON_TUNE_DECIDE_H

#include "pattern.h"
#include "search.h"
#include "size.h"
#include "table.h"

enum {
    ASP_DECIDE_KEYS = 32, /* searches of a communicator; more: the default */
    ASP_DECIDE_FEW = 8,   /* candidates on trial in each, at most */
    ASP_DECIDE_PATTERN = ASP_SEARCH_VALUES, /* place in an agreement */
    ASP_DECIDE_SIZE,
    ASP_DECIDE_VALUES,
    ASP_DECIDE_CANDIDATES = 128, /* that a model may order */
};

/* No configuration of ours: leave the call to MPI as it is. */
#define ASP_DECIDE_DEFAULT UINT32_MAX
/* What a table says for it. */
#define ASP_DECIDE_DEFAULT_TEXT "default"

enum asp_decide_from {
    ASP_DECIDE_FROM_DEFAULT, /* nothing known, or not to be touched */
    ASP_DECIDE_FROM_TABLE,   /* the key's own row */
    ASP_DECIDE_FROM_NEAR,    /* that of a near size */
    ASP_DECIDE_FROM_SEARCH,
};

/* The eligible configurations of a call in the model's order, fastest first.
 *   args  bytes is the power of two of the bucket
 *   out   room for ASP_DECIDE_CANDIDATES; the configuration of MPI's default
 *         choice has the number ASP_DECIDE_DEFAULT and must be among them
 * Returns how many; 0: leave the key alone. All ranks must return the same:
 * compute from agreed constants only. */
typedef uint32_t (*asp_decide_order_f)(void *data,
                                       const struct asp_tune_shape *shape,
                                       const struct asp_tune_args *args,
                                       struct asp_search_candidate *out);

/* A call as this rank saw it; nothing of it is equal elsewhere. */
struct asp_decide_seen {
    double took_us; /* negative: not known */
    double gap_us;  /* since the last call of this operation; negative: none */
    double last_us; /* how long that took here */
};

struct asp_decision {
    /* A number: of asp_tune_table.configs where from is TABLE or NEAR, of the
     * model where it is SEARCH; ASP_DECIDE_DEFAULT with each. */
    uint32_t config;
    enum asp_decide_from from;
    bool timed; /* times are wanted: else leave() need not be called */
    bool agree; /* an agreement is due at the end of this call */
};

struct asp_decide_line;

struct asp_decide_config {
    struct asp_tune_shape shape;
    const struct asp_tune_table *table; /* borrowed; NULL: none */
    struct asp_search_effort effort;    /* budget_us 0: never search */
    asp_decide_order_f order;           /* NULL: never search */
    void *data;                         /* for order() */
    uint64_t seed; /* of what all ranks must have alike: digest of the table and
                      of the model's constants */
};

struct asp_decide;

/* Calls of a kind that are decided to be MPI's and need nothing else: `left` of
 * them still come, on all ranks. A caller that knows the line of a call may
 * leave asp_decide_enter() out, if it counts the call by asp_decide_pass(). */
struct asp_decide_line {
    uint32_t left;
};

/* Was it such a call? It is then counted. */
static inline bool asp_decide_pass(struct asp_decide_line *line)
{
    uint32_t left;

    if (__builtin_sub_overflow(line->left, 1, &left))
        return false;
    line->left = left;
    return true;
}

/* Memory of one: a fixed number of bytes, about 32 KiB. */
size_t asp_decide_bytes(void);

/* Begin in this memory (aligned as malloc() does), which stays the caller's.
 * Returns it. */
struct asp_decide *asp_decide_start(void *memory,
                                    const struct asp_decide_config *config);

/* What is known of a call word, and what it was found out to be. */
struct asp_decide_known {
    uint32_t word;
    struct asp_search_known search; /* config is a number of the model's */
};

/* What the search of number i has come to. Returns false when there are fewer;
 * known_p->word is 0 where it goes on. */
bool asp_decide_known(const struct asp_decide *decide, uint32_t i,
                      struct asp_decide_known *known_p);

/* Begin with what another communicator of the same shape found out. Before the
 * first call; the same on all ranks. Without room nothing is taken. */
void asp_decide_resume(struct asp_decide *decide,
                       const struct asp_decide_known *known);

/* A call begins.
 *   args  pattern: NONBLOCKING, or STRICT, of which the detector may make LOOSE
 */
struct asp_decision asp_decide_enter(struct asp_decide *decide,
                                     const struct asp_tune_args *args);

/* The line of the call that asp_decide_enter() saw last, if calls like it are
 * MPI's and need nothing; else NULL. Lives as long as the decisions do. */
struct asp_decide_line *asp_decide_line(const struct asp_decide *decide);

/* It ended on this rank. */
void asp_decide_leave(struct asp_decide *decide,
                      const struct asp_decide_seen *seen);

/* With decision.agree: what goes into the agreement and what comes out. */
void asp_decide_values(const struct asp_decide *decide,
                       double values[ASP_DECIDE_VALUES]);
void asp_decide_agreed(struct asp_decide *decide,
                       const double values[ASP_DECIDE_VALUES]);

/* The searches, for the record: key and account of number i. Returns false when
 * there are fewer. */
bool asp_decide_account(const struct asp_decide *decide, uint32_t i,
                        struct asp_tune_key *key_p,
                        struct asp_search_sum *sum_p);

/* Did ranks differ once? Then all is default for good. */
bool asp_decide_broken(const struct asp_decide *decide);

#endif
