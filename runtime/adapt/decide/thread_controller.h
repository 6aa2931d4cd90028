/* SPDX-License-Identifier: BSD-3-Clause */
/* adapt=auto, programs that send messages: would progress threads on the
 * ghosts' CPUs help their ranks (progress/on_demand.h)? Ghosts can do nothing
 * for them, but the CPUs are there.
 *
 *   QUIET  ranks are left alone, while it is measured how long they are in MPI
 *   COUNT  long enough: is there anything that a thread could work for?
 *   TRIAL  with threads and without, in turns (trial.h)
 *   HOLD   with threads: the trial said so, until the phase changes
 *
 * Pure: the job controller (job_controller.h) brings clock and rounds. */
#ifndef ASPEN_RUNTIME_ADAPT_DECIDE_THREAD_CONTROLLER_H
#define ASPEN_RUNTIME_ADAPT_DECIDE_THREAD_CONTROLLER_H

#include "decision.h"
#include "workload.h"
#include "trial.h"

/* The knob adapt.threads. */
enum aspx_threads_mode { ASPX_THREADS_OFF, ASPX_THREADS_AUTO, ASPX_THREADS_ON };

struct aspx_thread_controller {
    enum aspx_threads_mode mode;
    enum {
        ASPX_THREADS_QUIET,
        ASPX_THREADS_COUNT,
        ASPX_THREADS_TRIAL,
        ASPX_THREADS_HOLD
    } state;
    bool busy;            /* ghosts need their CPU themselves */
    uint32_t busy_rounds; /* in a row that say so */
    double users;
    double since_s;           /* of this state, or of what is added up in it */
    struct aspx_workload sum; /* since then */
    uint32_t rounds;
    double rest_s, rest_until_s; /* QUIET for so long before the next look */
    bool told;                   /* that there is nothing to work for */
    bool yielded;                /* that threads went for ghosts */
    uint32_t vain;               /* times that counting found nothing */
    struct aspx_trial trial;
    double trial_s, trial_began_s;
    double rate, steps; /* of a rank, per second: large messages; bursts of
                           them */
    double helped_rate, helped_s; /* what the last trial that said on found that
                                     threads help, and when; 0: nothing */
    uint32_t odd, idle; /* HOLD: seconds in a row that are unlike it; that had
                           no large message */
};

void aspx_thread_controller_begin(struct aspx_thread_controller *threads,
                                  double now, enum aspx_threads_mode mode);

/* What threads do in the next round. */
enum aspx_help aspx_thread_controller_help(
    const struct aspx_thread_controller *threads);

/* How long that round is: seconds. */
double aspx_thread_controller_round_s(
    const struct aspx_thread_controller *threads);

/* A round is over in which ranks did so.
 *   begin_s  when the program began, for what is written to `all` */
void aspx_thread_controller_round(struct aspx_thread_controller *threads,
                                  double now,
                                  const struct aspx_workload *workload,
                                  struct aspx_decisions *all, double begin_s);

/* Are ranks in MPI for so much of their time, share_p, that it is worth a look
 * what for? To move data for a message that could have moved before is not
 * waiting, but it takes as long. */
bool aspx_thread_controller_worth_counting(const struct aspx_workload *workload,
                                           double *share_p);

#endif
