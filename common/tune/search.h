/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for the best configuration of one key, in the program's own calls.
 * Each rank has a copy of this state machine; all copies take the same steps,
 * because they are fed with the same things only: candidates in the order of a
 * model whose constants were agreed, the count of calls, bytes that the
 * standard makes equal, and times after an MPI_Allreduce (MAX). What a rank
 * measures itself is kept for the next agreement and decides nothing.
 *
 *            one candidate, veto
 *   start ---------------------------------------------------> FIXED
 *     |                                                          ^
 *     v        stamps differ (at any agreement)                  |
 *   CHECK -------------------------------------------------------+
 *     |  one call of the default; ranks compare what they are    |
 *     v  about to do                                             |
 *   FIRST    each of the few best in the model's order, once:    |
 *     |      it pays for connections and cold caches; what is    |
 *     v      far behind is dropped                               |
 *   MEASURE  what is left, and the default      budget spent, or |
 *     |                                    too much time lost to |
 *     v                                          bad candidates  |
 *   FINAL    the best and its closest rival, again ------------->+
 *     |                                                          |
 *     v  the best, if it beats the default by the margin;        |
 *     |  else the default: WATCH                                 |
 *   PROOF    windows of 32 calls, the default and that one in    |
 *     |      turns: it is taken if a rank-sum test says that     |
 *     v      it is faster, else the default is                   |
 *   WATCH    rests of w calls, in which nothing is done;         |
 *     ^ |    after each a sample. Most of it slower than was     |
 *     | |    promised: CHECK, MEASURE, FINAL, PROOF again;       |
 *     | |    else w doubles                                      |
 *     +-+                               that happened too often -+
 *
 * The estimate for a candidate is the least of its agreed times, for what
 * disturbs a call only makes it longer; a first call is thus thrown away unless
 * it was the faster one, and nothing is chosen after a first call only.
 *
 * Agreements carry the times of several calls, or of one where a call takes so
 * long that an agreement costs little beside it.
 *
 * Calls of other sizes than that of the first trial use the default until the
 * proof and are not trials: times of 48 and of 80 KiB cannot be compared,
 * though they have one key. When the size does not come back the search moves
 * to the present one and begins anew, a bounded number of times.
 *
 * The time of a call: from the last rank's arrival to the last rank's leaving,
 * where the caller can tell (docs/design/coll-tune.md); else each rank's own
 * time, of which MAX makes the slowest rank's.
 *
 * Never waits, allocates, or reads a clock. Threads: one at a time, as MPI has
 * it for collectives of a communicator.
 *
 * Source: Nishtala 2009, 8.3.4 (the model's order, the best x + 1); STAR-MPI
 * (trials in the program's calls, MAX, windows that double, 10 %). */
#ifndef ASPEN_COMMON_TUNE_SEARCH_H
#define ASPEN_COMMON_TUNE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum asp_search_phase {
    ASP_SEARCH_CHECK,
    ASP_SEARCH_FIRST,
    ASP_SEARCH_MEASURE,
    ASP_SEARCH_FINAL,
    ASP_SEARCH_PROOF,
    ASP_SEARCH_WATCH, /* a configuration is chosen */
    ASP_SEARCH_FIXED, /* likewise, and no agreement comes any more */
};

/* Why there is no search, or no longer. */
enum asp_search_end {
    ASP_SEARCH_GOES_ON,
    ASP_SEARCH_CHOSEN,   /* in WATCH or FIXED: as it should be */
    ASP_SEARCH_VETO,     /* the budget is 0 */
    ASP_SEARCH_ALONE,    /* the default is the only candidate */
    ASP_SEARCH_BUDGET,   /* spent: the best so far */
    ASP_SEARCH_LOSS,     /* trials cost too much over the default: likewise */
    ASP_SEARCH_MISMATCH, /* ranks differ: the default, for good */
    ASP_SEARCH_SIZES,    /* no size came often enough: the default */
    ASP_SEARCH_BLIND,    /* no times on some rank, again and again: likewise */
    ASP_SEARCH_RESTLESS, /* begun again too often: what was proved last */
    ASP_SEARCH_ENDS,
};

/* One word for people: "chosen", "budget". */
const char *asp_search_end_name(enum asp_search_end end);

/* A configuration that could be used, in the model's order. */
struct asp_search_candidate {
    uint32_t config;     /* the caller's number for it, equal on all ranks */
    double predicted_us; /* by the model; above 0 */
};

/* How much may be tried: the same on all ranks, for it comes from knobs of the
 * step. */
struct asp_search_effort {
    /* For all trials of a key but those of the default, which the program would
     * have made anyway: one of them that is disturbed must not end the search.
     * 0: veto. */
    double budget_us;
    double agree_us; /* what the model predicts for an agreement */
    /* What is faster than the default by the margin, or by less, confirm, if
     * that is so after FINAL has measured both once more, goes to PROOF. A
     * sample is slower than was promised by the margin. Both above 1. */
    double margin, confirm;
    /* Candidates that the model finds this many times slower than its best one
     * are not tried. */
    double spread;
    double loss_calls;   /* calls of the default that trials may cost more */
    uint32_t few;        /* candidates to try, the default not counted */
    uint32_t repeats;    /* calls of each in MEASURE */
    uint32_t finals;     /* likewise in FINAL */
    uint32_t window;     /* calls of the first rest; 0: do not watch */
    uint32_t window_max; /* calls of the longest */
};

/* In a program: at most 12 calls until the choice. */
extern const struct asp_search_effort asp_search_online;
/* aspen tune: everything, several times. */
extern const struct asp_search_effort asp_search_explicit;

/* A candidate on trial. */
struct asp_search_try {
    uint32_t config, rank; /* in the model's order, from 1 */
    double predicted_us;   /* likewise by it */
    double best_us;        /* least agreed time; 0: none yet */
    uint32_t calls;        /* agreed */
    uint32_t place;        /* which try has this place in the round */
    bool out;              /* dropped */
    bool refuted;          /* in a proof */
};

/* In an agreement: no time (us). Larger than any. */
#define ASP_SEARCH_NO_TIME 1e30

enum {
    ASP_PROOF_TIMES = 12, /* of the default, and of the other, in a window */
    ASP_SEARCH_TIMES = 2 * ASP_PROOF_TIMES, /* times in an agreement */
    /* What an agreement carries: times, a stamp and its opposite. Always all of
     * them, so that ranks of an erroneous program that are in different states
     * still call MPI_Allreduce alike, and see it. */
    ASP_SEARCH_VALUES = ASP_SEARCH_TIMES + 2,
};

/* The windows of a proof; search_proof.c. All of it was agreed. */
struct asp_proof {
    uint32_t windows;     /* that have ended */
    int64_t lead, spread; /* sums of the rank-sum test over them */
};

struct asp_search {
    struct asp_search_effort effort;
    enum asp_search_phase phase;
    enum asp_search_end end;
    struct asp_search_try *tries; /* the caller's memory */
    uint32_t ntries;
    uint32_t standard, chosen, second; /* indexes into tries */
    /* The round: turn / places is the repeat, turn % places the place. In a
     * window of PROOF and in a sample turn is the call. */
    uint32_t places, turns, turn;
    /* Trials whose times are not agreed yet, and what they should take. */
    uint32_t batch[ASP_SEARCH_TIMES], nbatch;
    double planned_us;
    bool due;       /* an agreement must come before the next trial */
    uint32_t blind; /* trials without a time on some rank */
    /* The size of trials; calls of other sizes in a row; new sizes. */
    uint64_t bytes;
    uint32_t strange, moves;
    struct asp_proof proof;
    enum asp_search_end proposed; /* what end is after PROOF */
    /* WATCH: calls of this rest, how many are left of it, and what the chosen
     * configuration took when it was chosen; 0: the next sample says it. */
    uint32_t window, rest;
    double promised_us;
    uint32_t repeated; /* how often it began again */
    uint32_t held;     /* what was chosen before that */
    uint64_t seed;     /* of the stamp */
    uint64_t calls;
    uint32_t candidates, trials, agreements, switches;
    double spent_us, loss_us; /* agreed */
    double charged_us;        /* of spent_us: to the budget */
    bool resumed;             /* asp_search_resume() */
    /* Of this rank, not yet agreed: times[slot] is awaited for the last call.
     */
    bool awaits;
    uint32_t slot;
    double times[ASP_SEARCH_TIMES];
};

/* What a search came to, for the next one of the same key among ranks that are
 * placed alike. All of it was agreed. */
struct asp_search_known {
    uint32_t config, rank;      /* chosen; in the model's order */
    uint64_t bytes;             /* of the calls that were measured */
    double best_us, default_us; /* 0: not measured */
    double promised_us;         /* as in struct asp_search */
    bool proving; /* that configuration is not chosen yet, but in PROOF, */
    struct asp_proof proof; /* which has come to this */
};

/* What this call is to do. */
struct asp_search_step {
    uint32_t config;
    bool trial; /* it is one */
    bool timed; /* a time is wanted: asp_search_note() */
    bool agree; /* an agreement is due at the end of this call */
};

/* Begin.
 *   search      set by this
 *   tries       memory for the candidates on trial, at least 2; keeps borrowed
 *   capacity    how many; effort->few + 1 is enough
 *   candidates  borrowed for the call; in the model's order, none twice
 *   n           1 or more
 *   standard    index of the default among them, which is always tried
 *   seed        what else all ranks must have alike: a digest of the key, of
 *               the table, of the model's constants
 * Cost: O(n). */
void asp_search_start(struct asp_search *search, struct asp_search_try *tries,
                      uint32_t capacity, const struct asp_search_effort *effort,
                      const struct asp_search_candidate *candidates, uint32_t n,
                      uint32_t standard, uint64_t seed);

/* What it came to. Returns false before a proof, and where its end says
 * nothing of the key: a veto, ranks that differ or cannot measure. */
bool asp_search_known(const struct asp_search *search,
                      struct asp_search_known *known_p);

/* Begin with what is known: no trial; the configuration is watched (WATCH), or
 * its proof goes on.
 *   tries     memory for 2
 *   known     the same on all ranks
 *   standard  the number of the default's configuration
 *   seed      as for asp_search_start() */
void asp_search_resume(struct asp_search *search, struct asp_search_try *tries,
                       const struct asp_search_effort *effort,
                       const struct asp_search_known *known, uint32_t standard,
                       uint64_t seed);

/* Begin a call.
 *   bytes  of it, as in the key; 0 where the standard makes none equal */
struct asp_search_step asp_search_next(struct asp_search *search,
                                       uint64_t bytes);

/* How many calls from now on need nothing: they use the chosen configuration,
 * which is that of the last step, and neither a time nor an agreement is
 * wanted. Equal on all ranks. asp_search_pass() says that so many, or fewer,
 * were made without asp_search_next(). */
uint32_t asp_search_rest(const struct asp_search *search);
void asp_search_pass(struct asp_search *search, uint32_t calls);

/* After a call with step.timed: how long it took on this rank (us, 0 or more).
 * Left out where it is not known; the trial is then void on all ranks. */
void asp_search_note(struct asp_search *search, double local_us);

/* What goes into the agreement, MPI_Allreduce(MPI_DOUBLE, MPI_MAX). */
void asp_search_values(const struct asp_search *search,
                       double values[ASP_SEARCH_VALUES]);

/* What came out of it: all ranks have the same. Afterwards the machine has
 * taken its step. */
void asp_search_agreed(struct asp_search *search,
                       const double values[ASP_SEARCH_VALUES]);

/* Make one call of a configuration, for asp_search_drive(). Returns its time in
 * us, agreed by all ranks; negative: give up. */
typedef double (*asp_search_run_f)(void *data, uint32_t config);

/* Search to the end at once. Returns 0 when chosen, -1 when run() gave up. */
int asp_search_drive(struct asp_search *search, asp_search_run_f run,
                     void *data);

/* The account of a search. */
struct asp_search_sum {
    enum asp_search_phase phase;
    enum asp_search_end end;
    uint32_t candidates; /* eligible ones that the model ordered */
    uint32_t tried;      /* that were measured, with the default */
    uint32_t trials;     /* calls that were trials; those of PROOF are not */
    uint32_t agreements, switches;
    double spent_us;            /* agreed times of the trials */
    double best_us, default_us; /* 0: not measured */
    double ratio;               /* default_us over best_us; 0: not known */
    uint32_t config;            /* chosen, or the best so far */
    uint32_t model_rank;        /* of it, from 1 */
    bool resumed;               /* was known: nothing was tried */
};

void asp_search_sum(const struct asp_search *search,
                    struct asp_search_sum *sum_p);

#endif
