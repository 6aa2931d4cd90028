/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides whether progress threads work: see thread_controller.h. */
#include "config.h"

#include "thread_controller.h"

#include <math.h>

/* QUIET: how long time in MPI is measured, and the share of it above which
 * messages are counted. */
static const double LOOK_S = 1, SHARE_LEAST = 0.02;
/* COUNT: rounds at least, as each rank begins to count when it next leaves MPI;
 * and at most, where there are few messages, or none twice before. Counting
 * costs a rank some ns for each small message. */
enum { COUNT_ROUNDS = 5, COUNT_ROUNDS_MOST = 20 };
/* Large messages of each rank while counted that are worth a trial. */
static const double LARGE_LEAST = 4;
/* Length of a round; of a slice of a trial: bounds, and the steps of the
 * program that it should hold, as a count of fewer is coarse. */
static const double ROUND_S = 0.1, SLICE_S = 0.1, SLICE_MOST_S = 0.5,
                    SLICE_STEPS = 16;
/* HOLD: another phase has a rate so many times more or less, in ODD times
 * HOLD_ROUNDS rounds; messages have ceased after IDLE times as many. */
static const double OTHER_RATE = 2.5;
enum { HOLD_ROUNDS = 10, ODD = 2, IDLE = 5 };
/* The time between trials, in lengths of the last, because half of a trial goes
 * the worse way; its bounds, as it doubles each time; how long a result holds.
 */
static const double REST_FACTOR = 25, REST_LEAST_S = 10, REST_MOST_S = 300,
                    STALE_S = 300;
/* Ghosts need their CPUs if each has so many operations in a second, in so many
 * rounds: a counter that is fetched now and then needs none. */
static const double BUSY_RATE = 200;
enum { BUSY_ROUNDS = 3 };

static void enter(struct aspx_thread_controller *threads, int state, double now)
{
    threads->state = state;
    threads->since_s = now;
    threads->sum = (struct aspx_workload){0};
    threads->rounds = 0;
}

void aspx_thread_controller_begin(struct aspx_thread_controller *threads,
                                  double now, enum asp_threads mode)
{
    *threads = (struct aspx_thread_controller){.mode = mode,
                                               .back_off_s = REST_LEAST_S};
    enter(threads, ASPX_THREADS_QUIET, now);
}

enum aspx_help aspx_thread_controller_help(
    const struct aspx_thread_controller *threads)
{
    if (threads->mode == ASP_THREADS_ON)
        return threads->busy ? ASPX_HELP_NONE : ASPX_HELP_ON;
    switch (threads->state) {
    case ASPX_THREADS_QUIET:
        break;
    case ASPX_THREADS_COUNT:
        return ASPX_HELP_COUNT;
    case ASPX_THREADS_TRIAL:
        return aspx_trial_next(&threads->trial) ? ASPX_HELP_ON
                                                : ASPX_HELP_COUNT;
    case ASPX_THREADS_HOLD:
        return ASPX_HELP_ON;
    }
    return ASPX_HELP_NONE;
}

double aspx_thread_controller_round_s(
    const struct aspx_thread_controller *threads)
{
    double steps = threads->steps * SLICE_S;

    if (threads->state != ASPX_THREADS_TRIAL)
        return ROUND_S;
    return steps >= SLICE_STEPS
               ? SLICE_S
               : fmin(SLICE_MOST_S, SLICE_S * SLICE_STEPS / steps);
}

bool aspx_thread_controller_worth_counting(const struct aspx_workload *workload,
                                           double *share_p)
{
    *share_p = workload->user_s > 0 ? workload->mpi_s / workload->user_s : 0;
    return *share_p > SHARE_LEAST;
}

/* Large messages of a rank per second. */
static double rate(const struct aspx_workload *workload)
{
    return workload->user_s > 0 ? workload->large / workload->user_s : 0;
}

/* To QUIET, for twice as long as the last time. */
static void back_off(struct aspx_thread_controller *threads, double now)
{
    threads->back_off_until_s = now + threads->back_off_s;
    threads->back_off_s = fmin(2 * threads->back_off_s, REST_MOST_S);
    enter(threads, ASPX_THREADS_QUIET, now);
}

/*   seen  the workload of the phase that is tried */
static void begin_trial(struct aspx_thread_controller *threads, double now,
                        const struct aspx_workload *seen)
{
    double bursts = seen->bursts > 1 ? seen->bursts : 1;
    double burst_size = seen->large * threads->users / bursts;

    threads->rate = rate(seen);
    threads->steps = seen->user_s > 0 ? bursts / seen->user_s : 1;
    enter(threads, ASPX_THREADS_TRIAL, now);
    threads->trial_began_s = now;
    aspx_trial_begin(&threads->trial, (uint32_t) (uint64_t) (1e6 * now), true);
    /* All ranks post at the same time. */
    threads->trial.burst_size = burst_size;
}

static void hold(struct aspx_thread_controller *threads, double now)
{
    enter(threads, ASPX_THREADS_HOLD, now);
    threads->odd = threads->idle = 0;
    threads->rate = threads->helped_rate;
    threads->back_off_s = REST_LEAST_S;
}

/* Has a trial found not long ago that threads help? */
static bool have_helped(const struct aspx_thread_controller *threads,
                        double now)
{
    return threads->helped_rate > 0 && now - threads->helped_s < STALE_S;
}

static bool is_known(const struct aspx_thread_controller *threads, double now,
                     double its_rate)
{
    return have_helped(threads, now) &&
           its_rate < OTHER_RATE * threads->helped_rate &&
           its_rate > threads->helped_rate / OTHER_RATE;
}

/* QUIET. */
static void step_quiet(struct aspx_thread_controller *threads, double now)
{
    double share;

    if (now - threads->since_s < LOOK_S)
        return;
    enter(threads,
          now >= threads->back_off_until_s &&
                  aspx_thread_controller_worth_counting(&threads->sum, &share)
              ? ASPX_THREADS_COUNT
              : ASPX_THREADS_QUIET,
          now);
}

/* COUNT. */
static void step_count(struct aspx_thread_controller *threads, double now,
                       struct aspx_decisions *all, double t_s)
{
    double share;
    bool again = have_helped(threads, now);
    uint32_t most = threads->sum.large > 0 || threads->fruitless >= 2
                        ? COUNT_ROUNDS_MOST
                        : COUNT_ROUNDS << threads->fruitless;

    if (again && threads->sum.large == 0)
        most = COUNT_ROUNDS;

    if (threads->rounds < COUNT_ROUNDS)
        return;
    aspx_thread_controller_worth_counting(&threads->sum, &share);
    if (is_known(threads, now, rate(&threads->sum))) {
        hold(threads, now);
    } else if (threads->sum.large >= LARGE_LEAST * threads->users) {
        aspx_decisions_add(
            all, t_s, ASPX_DECISION_TRIAL,
            "ranks are in MPI for %.0f "
            "%% of the time, and post %.3g large messages/s each: to "
            "see if progress threads help",
            100 * share, rate(&threads->sum));
        begin_trial(threads, now, &threads->sum);
    } else if (threads->rounds >= most) {
        threads->fruitless += !again;
        if (!threads->told_nothing && aspx_workload_ops(&threads->sum) == 0)
            aspx_decisions_add(
                all, t_s, ASPX_DECISION_NOTHING,
                "ranks are in MPI "
                "for %.0f %% of the time, but no operation is seen "
                "that a ghost or a progress thread could work for",
                100 * share);
        threads->told_nothing = true;
        if (again) /* the phase may come back at any time */
            threads->back_off_s = REST_LEAST_S;
        back_off(threads, now);
    }
}

static const char *outcome(enum aspx_trial_end end)
{
    return end == ASPX_TRIAL_ON       ? "faster with progress threads"
           : end == ASPX_TRIAL_OFF    ? "faster without progress threads"
           : end == ASPX_TRIAL_SAME   ? "progress threads make no difference"
           : end == ASPX_TRIAL_SILENT ? "large messages ceased"
                                      : "too uneven to tell";
}

/* TRIAL: a slice is over. */
static void step_trial(struct aspx_thread_controller *threads, double now,
                       const struct aspx_workload *workload,
                       struct aspx_decisions *all, double t_s)
{
    struct aspx_trial *trial = &threads->trial;
    double seconds = workload->users > 0 ? workload->user_s / workload->users
                                         : 0;
    bool on;

    if (aspx_trial_slice(trial, seconds, workload->large, 0) ==
        ASPX_TRIAL_GOES_ON)
        return;
    on = trial->end == ASPX_TRIAL_ON;
    threads->trial_s = now - threads->trial_began_s;
    aspx_decisions_add(
        all, t_s, on ? ASPX_DECISION_THREADS : ASPX_DECISION_PLAIN,
        "trial of %.2f s: %s; with over without %.3g (%.3g to %.3g), "
        "%.3g against %.3g large messages/s",
        threads->trial_s, outcome(trial->end), trial->ratio, trial->low,
        trial->high, aspx_trial_rate(trial, true),
        aspx_trial_rate(trial, false));
    if (!on) {
        threads->helped_rate = 0;
        threads->back_off_s = fmax(threads->back_off_s,
                                   REST_FACTOR * threads->trial_s);
        back_off(threads, now);
        return;
    }
    threads->helped_rate = aspx_trial_rate(trial, true) / threads->users;
    threads->helped_s = now;
    hold(threads, now);
}

/* HOLD, as in the table of thread_controller.h. */
static void step_hold(struct aspx_thread_controller *threads, double now,
                      struct aspx_decisions *all, double t_s)
{
    const struct aspx_workload seen = threads->sum;
    double its_rate = rate(&seen);

    if (threads->rounds < HOLD_ROUNDS)
        return;
    threads->sum = (struct aspx_workload){0};
    threads->rounds = 0;
    threads->idle = its_rate > 0 ? 0 : threads->idle + 1;
    if (threads->idle >= IDLE)
        enter(threads, ASPX_THREADS_QUIET, now);
    if (its_rate == 0)
        return;
    threads->odd = its_rate > OTHER_RATE * threads->rate ||
                           its_rate < threads->rate / OTHER_RATE
                       ? threads->odd + 1
                       : 0;
    if ((threads->odd >= ODD &&
         now - threads->trial_began_s > REST_FACTOR * threads->trial_s) ||
        now - threads->helped_s > STALE_S) {
        aspx_decisions_add(all, t_s, ASPX_DECISION_TRIAL,
                           "%s: %.3g large messages/s "
                           "each, it was %.3g",
                           threads->odd >= ODD ? "another phase"
                                               : "it was decided long ago",
                           its_rate, threads->rate);
        begin_trial(threads, now, &seen);
    }
}

/* Do ghosts need their CPUs themselves? */
static bool is_busy(struct aspx_thread_controller *threads,
                    const struct aspx_workload *workload)
{
    if (aspx_workload_rate(workload) < BUSY_RATE * fmax(workload->ghosts, 1))
        threads->busy_rounds = 0;
    else if (threads->busy_rounds < BUSY_ROUNDS)
        threads->busy_rounds++;
    return threads->busy_rounds == BUSY_ROUNDS;
}

/* Threads make room for ghosts. A trial that is cut off is made again later. */
static void make_room(struct aspx_thread_controller *threads, double now,
                      struct aspx_decisions *all, double t_s)
{
    bool tries = threads->state == ASPX_THREADS_TRIAL;

    if (tries)
        threads->back_off_until_s = now + threads->back_off_s;
    if (tries || (threads->state == ASPX_THREADS_HOLD && !threads->yielded)) {
        aspx_decisions_add(
            all, t_s, ASPX_DECISION_PLAIN,
            "one-sided operations have "
            "begun, and ghosts work for them: no progress threads "
            "meanwhile");
        threads->yielded = true;
    }
    enter(threads, ASPX_THREADS_QUIET, now);
}

void aspx_thread_controller_round(struct aspx_thread_controller *threads,
                                  double now,
                                  const struct aspx_workload *workload,
                                  struct aspx_decisions *all, double begin_s)
{
    double t_s = now - begin_s;

    threads->busy = is_busy(threads, workload);
    threads->users = workload->users > 1 ? workload->users : 1;
    if (threads->mode != ASP_THREADS_AUTO)
        return;
    if (threads->busy) {
        make_room(threads, now, all, t_s);
        return;
    }
    aspx_workload_add(&threads->sum, workload);
    threads->rounds++;
    switch (threads->state) {
    case ASPX_THREADS_QUIET:
        step_quiet(threads, now);
        break;
    case ASPX_THREADS_COUNT:
        step_count(threads, now, all, t_s);
        break;
    case ASPX_THREADS_TRIAL:
        step_trial(threads, now, workload, all, t_s);
        break;
    case ASPX_THREADS_HOLD:
        step_hold(threads, now, all, t_s);
        break;
    }
}
