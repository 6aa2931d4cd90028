/* SPDX-License-Identifier: BSD-3-Clause */
/* adapt=auto: one ghost of the job decides for all ranks, from the workload of
 * each round. Mostly the predictors of the nodes are left alone
 * (adapt/node/node_controller.h). An order overrules them where the model of
 * costs is clear, or a trial has shown that the program is faster the other
 * way, or no slower without ghosts.
 *
 *   state   | what happens                          | next
 *   LISTEN  | workloads are added up until three    | TRIAL; HOLD if there may
 *           | rounds had operations                 | be none
 *   TRIAL   | two orders in turns. If predictors    | HOLD
 *           | vote mixed: all on and all off, then  |
 *           | the better one and the predictors     |
 *   HOLD    | the order holds                       | LISTEN in another phase,
 *           |                                       | or after 300 s
 *
 * In rounds outside of trials thread_controller.h decides on threads.
 *
 * Pure: the caller brings the clock, and runs rounds
 * (adapt/node/sample_tree.h).
 */
#ifndef ASPEN_RUNTIME_ADAPT_DECIDE_JOB_CONTROLLER_H
#define ASPEN_RUNTIME_ADAPT_DECIDE_JOB_CONTROLLER_H

#include "cost.h"
#include "decision.h"
#include "thread_controller.h"
#include "trial.h"

/* One round: what is in force, and for how long it is counted. */
struct aspx_round {
    enum aspx_order order;
    enum aspx_help help;
    double seconds;
};

/* What predictors want for nearly all ranks; MIXED: it differs by rank or time.
 */
enum aspx_predictor_vote { ASPX_VOTE_OFF, ASPX_VOTE_ON, ASPX_VOTE_MIXED };

/* What a trial has shown for a kind of phase. */
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
    bool heard;                        /* there has been an operation */
    bool told_silence;                 /* the record says that there is none */
    struct aspx_workload before_first; /* before the first operation */
    struct aspx_thread_controller threads; /* decides on threads */
    struct aspx_cost cost;
    struct aspx_workload listened; /* in this state */
    uint32_t rounds;               /* of these, that had operations */
    struct aspx_trial trial;
    enum aspx_order orders[2]; /* that the trial compares: fewer ghosts, more */
    double trial_began_s, trials_s; /* length of all trials */
    uint32_t trials, nresults;
    double held_s;                 /* since when */
    enum aspx_predictor_vote vote; /* when it was decided */
    double rate;                   /* of operations then; 0: not known yet */
    uint32_t odd;                  /* rounds in a row unlike that */
    struct aspx_trial_result results[ASPX_TRIAL_RESULTS]; /* the last trials */
    struct aspx_decisions decisions;
};

/* now  seconds of a clock that does not go back, in all calls the same */
void aspx_job_controller_begin(struct aspx_job_controller *job, double now,
                               enum asp_threads mode);

/* The next round; and what to do when it is over. */
struct aspx_round aspx_job_controller_next(
    const struct aspx_job_controller *job);
void aspx_job_controller_round(struct aspx_job_controller *job, double now,
                               const struct aspx_workload *workload);

#endif
