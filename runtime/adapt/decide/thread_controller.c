/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "thread_controller.h"

#include <math.h>

/* So long is looked how much ranks are in MPI, and more than this share of it
 * is worth a look at what for. */
static const double LOOK_S = 1, SHARE_LEAST = 0.02;
/* Counting begins in each rank when it next leaves MPI, so these rounds at
 * least, and so many where there is a little, or where nothing was seen twice
 * before: who posts seldom. It costs small messages some ns each. And what
 * makes a trial worth while, of each rank. */
enum { COUNT_ROUNDS = 5, COUNT_ROUNDS_MOST = 20 };
static const double LARGE_LEAST = 4;
/* A slice of a trial has so many steps of the program, if a tenth of a second
 * to a half is enough for that: counts of fewer are coarse. */
static const double ROUND_S = 0.1, SLICE_S = 0.1, SLICE_MOST_S = 0.5,
                    SLICE_STEPS = 16;
/* Another phase, as in job_controller.c, so many times so many rounds; or large
 * messages have ceased. */
static const double OTHER_RATE = 2.5;
enum { HOLD_ROUNDS = 10, ODD = 2, IDLE = 5 };
/* A trial goes the wrong way half of the time: so much longer than it was is
 * waited before the next, and longer each time. What it said holds so long. */
static const double REST_FACTOR = 25, REST_LEAST_S = 10, REST_MOST_S = 300,
                    STALE_S = 300;
/* Ghosts need their CPU where each has so many operations in a second, for so
 * many rounds: a counter that is fetched now and then is no phase. */
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
                                  double now, enum aspx_threads_mode mode)
{
    *threads = (struct aspx_thread_controller){.mode = mode,
                                               .rest_s = REST_LEAST_S};
    enter(threads, ASPX_THREADS_QUIET, now);
}

enum aspx_help aspx_thread_controller_help(
    const struct aspx_thread_controller *threads)
{
    if (threads->mode == ASPX_THREADS_ON)
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

/* Large messages of a rank in a second. */
static double rate(const struct aspx_workload *workload)
{
    return workload->user_s > 0 ? workload->large / workload->user_s : 0;
}

/* Leave ranks alone, and look again later: each time later. */
static void rest(struct aspx_thread_controller *threads, double now)
{
    threads->rest_until_s = now + threads->rest_s;
    threads->rest_s = fmin(2 * threads->rest_s, REST_MOST_S);
    enter(threads, ASPX_THREADS_QUIET, now);
}

/*   seen  rounds that tell what the program does now */
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
    threads->rest_s = REST_LEAST_S;
}

/* Has a trial found threads to help, not long ago? And did ranks post as often?
 */
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
static void look(struct aspx_thread_controller *threads, double now)
{
    double share;

    if (now - threads->since_s < LOOK_S)
        return;
    enter(threads,
          now >= threads->rest_until_s &&
                  aspx_thread_controller_worth_counting(&threads->sum, &share)
              ? ASPX_THREADS_COUNT
              : ASPX_THREADS_QUIET,
          now);
}

/* COUNT. */
static void count(struct aspx_thread_controller *threads, double now,
                  struct aspx_decisions *all, double t_s)
{
    double share;
    bool again = have_helped(threads, now);
    uint32_t most = threads->sum.large > 0 || threads->vain >= 2
                        ? COUNT_ROUNDS_MOST
                        : COUNT_ROUNDS << threads->vain;

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
        threads->vain += !again;
        if (!threads->told && aspx_workload_ops(&threads->sum) == 0)
            aspx_decisions_add(
                all, t_s, ASPX_DECISION_NOTHING,
                "ranks are in MPI "
                "for %.0f %% of the time, but no operation is seen "
                "that a ghost or a progress thread could work for",
                100 * share);
        threads->told = true;
        if (again) /* it may begin at any time */
            threads->rest_s = REST_LEAST_S;
        rest(threads, now);
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
static void try(struct aspx_thread_controller *threads, double now,
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
        threads->rest_s = fmax(threads->rest_s, REST_FACTOR * threads->trial_s);
        rest(threads, now);
        return;
    }
    threads->helped_rate = aspx_trial_rate(trial, true) / threads->users;
    threads->helped_s = now;
    hold(threads, now);
}

/* HOLD. It is over when there is nothing to work for, and begins again without
 * a trial; it is tried anew when the program does something else, or a long
 * time is over. */
static void compare(struct aspx_thread_controller *threads, double now,
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

/* Have ghosts enough to do to need their CPU for themselves? */
static bool is_busy(struct aspx_thread_controller *threads,
                    const struct aspx_workload *workload)
{
    if (aspx_workload_rate(workload) < BUSY_RATE * fmax(workload->ghosts, 1))
        threads->busy_rounds = 0;
    else if (threads->busy_rounds < BUSY_ROUNDS)
        threads->busy_rounds++;
    return threads->busy_rounds == BUSY_ROUNDS;
}

/* They have. A trial that is cut off is made again later. */
static void yield(struct aspx_thread_controller *threads, double now,
                  struct aspx_decisions *all, double t_s)
{
    bool tries = threads->state == ASPX_THREADS_TRIAL;

    if (tries)
        threads->rest_until_s = now + threads->rest_s;
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
    if (threads->mode != ASPX_THREADS_AUTO)
        return;
    if (threads->busy) {
        yield(threads, now, all, t_s);
        return;
    }
    aspx_workload_add(&threads->sum, workload);
    threads->rounds++;
    switch (threads->state) {
    case ASPX_THREADS_QUIET:
        look(threads, now);
        break;
    case ASPX_THREADS_COUNT:
        count(threads, now, all, t_s);
        break;
    case ASPX_THREADS_TRIAL:
        try(threads, now, workload, all, t_s);
        break;
    case ASPX_THREADS_HOLD:
        compare(threads, now, all, t_s);
        break;
    }
}
