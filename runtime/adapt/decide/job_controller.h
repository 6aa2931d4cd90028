/* SPDX-License-Identifier: BSD-3-Clause */
/* adapt=auto: what all nodes do next, decided by one ghost of the job from the
 * demand of the round that is over. Mostly the predictor of each node is left
 * alone (adapt/node/node_controller.h). It is overruled, for all ranks at once,
 * where the cost of the operations says so clearly, and where a trial has shown
 * that the program gets on faster the other way, or no slower without ghosts.
 *
 *   LISTEN  a few rounds with operations; then what the prices say
 *   TRIAL   two ways in turns: the predictor's and the other one; where it
 *           tells ranks or phases apart all on and all off, then the better of
 *           them and the predictor's
 *   HOLD    what was decided, until the phase changes or a long time is over
 *
 * Beside that, in rounds without operations, thread_controller.h.
 *
 * Pure: the caller brings clock and rounds (adapt/node/sample_tree.h). */
#ifndef ASPEN_RUNTIME_ADAPT_DECIDE_JOB_CONTROLLER_H
#define ASPEN_RUNTIME_ADAPT_DECIDE_JOB_CONTROLLER_H

#include "cost.h"
#include "decision.h"
#include "thread_controller.h"
#include "trial.h"

/* One round: what is in order, and how long to count operations under it. */
struct aspx_round {
    enum aspx_order order;
    enum aspx_help help;
    double seconds;
};

/* What the predictor wants of all ranks together. */
enum aspx_predictor_vote { ASPX_VOTE_OFF, ASPX_VOTE_ON, ASPX_VOTE_MIXED };

/* What a trial has shown of a phase. */
struct aspx_trial_result {
    enum aspx_predictor_vote vote;
    double rate;    /* of operations, while the predictor was left alone */
    double delay_s; /* of targets, then (aspx_workload_delay) */
    enum aspx_order order;
};

enum { ASPX_TRIAL_RESULTS = 4 };

struct aspx_job_controller {
    enum { ASPX_JOB_LISTEN, ASPX_JOB_TRIAL, ASPX_JOB_HOLD } state;
    enum aspx_order order; /* outside of trials */
    double begin_s;
    bool heard;                            /* there has been an operation */
    bool excused;                          /* it was said that there is none */
    struct aspx_workload silent;           /* before there was one */
    struct aspx_thread_controller threads; /* what to do for those */
    struct aspx_cost cost;
    struct aspx_workload listened; /* in this state */
    uint32_t rounds;               /* of these with operations */
    struct aspx_trial trial;
    enum aspx_order ways[2]; /* that it compares: of fewer ghosts, of more */
    double trial_began_s, trials_s; /* length of all trials */
    uint32_t trials, nresults;
    double held_s;                 /* since when */
    enum aspx_predictor_vote vote; /* while it was decided */
    double rate;                   /* then, the chosen way; 0: not known */
    uint32_t odd;                  /* rounds in a row that are unlike it */
    struct aspx_trial_result results[ASPX_TRIAL_RESULTS]; /* the last trials */
    struct aspx_decisions decisions;
};

/* now  seconds of a clock that does not go back, in all calls the same */
void aspx_job_controller_begin(struct aspx_job_controller *job, double now,
                               enum aspx_threads_mode mode);

/* The first round, and each one after the last is over. */
struct aspx_round aspx_job_controller_next(
    const struct aspx_job_controller *job);
void aspx_job_controller_round(struct aspx_job_controller *job, double now,
                               const struct aspx_workload *workload);

#endif
