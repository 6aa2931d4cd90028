/* SPDX-License-Identifier: BSD-3-Clause */
/* adapt=auto, for programs that send messages: do progress threads on the CPUs
 * of the ghosts help their ranks (progress/on_demand.h)? Ghosts can do nothing
 * for messages.
 *
 *   state  | threads      | next
 *   QUIET  | none         | COUNT if ranks were in MPI for 2 % of a second
 *   COUNT  | wait, counts | TRIAL if there are enough large messages, HOLD if
 *          |              | threads helped with as many before; else QUIET
 *   TRIAL  | in turns     | HOLD if it is faster with threads; else QUIET
 *   HOLD   | work         | QUIET after 5 s without large messages; TRIAL at
 *          |              | another rate, or after 300 s
 *   any    |              | QUIET when ghosts have operations to handle
 *
 * Pure: the job controller brings clock and rounds. */
#ifndef ASPEN_RUNTIME_ADAPT_DECIDE_THREAD_CONTROLLER_H
#define ASPEN_RUNTIME_ADAPT_DECIDE_THREAD_CONTROLLER_H

#include "common/base/knobs.h"
#include "decision.h"
#include "workload.h"
#include "trial.h"

struct aspx_thread_controller {
    enum asp_threads mode; /* the knob adapt.threads */
    enum {
        ASPX_THREADS_QUIET,
        ASPX_THREADS_COUNT,
        ASPX_THREADS_TRIAL,
        ASPX_THREADS_HOLD
    } state;
    bool busy;            /* ghosts need their CPUs themselves */
    uint32_t busy_rounds; /* in a row in which they do */
    double users;
    double since_s;           /* when the state, or the sum, began */
    struct aspx_workload sum; /* since then */
    uint32_t rounds;
    double back_off_s, back_off_until_s; /* how long QUIET lasts before the next
                                            COUNT, and until when */
    bool told_nothing;  /* the record says that there is nothing to work for */
    bool yielded;       /* the record says that threads went for ghosts */
    uint32_t fruitless; /* times that COUNT found nothing */
    struct aspx_trial trial;
    double trial_s, trial_began_s;
    double rate, steps; /* of a rank, per second: large messages; bursts of
                           them */
    double helped_rate, helped_s; /* rate at which threads helped in the last
                                     trial, and when; 0: they did not */
    uint32_t odd, idle; /* HOLD: seconds in a row that are unlike it; that had
                           no large message */
};

void aspx_thread_controller_begin(struct aspx_thread_controller *threads,
                                  double now, enum asp_threads mode);

/* What threads do in the next round, */
enum aspx_help aspx_thread_controller_help(
    const struct aspx_thread_controller *threads);

/* and how long that is, in seconds. */
double aspx_thread_controller_round_s(
    const struct aspx_thread_controller *threads);

/* A round is over.
 *   begin_s  when the program began: times in `all` count from there */
void aspx_thread_controller_round(struct aspx_thread_controller *threads,
                                  double now,
                                  const struct aspx_workload *workload,
                                  struct aspx_decisions *all, double begin_s);

/* Are ranks in MPI for a share of their time, *share_p, that is worth counting
 * messages? Time counts that was work, too: a thread could have moved the data
 * of a message before the call that now does. */
bool aspx_thread_controller_worth_counting(const struct aspx_workload *workload,
                                           double *share_p);

#endif
