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

static void enter(struct aspx_messages *messages, int state, double now)
{
    messages->state = state;
    messages->since_s = now;
    messages->sum = (struct aspx_demand){0};
    messages->rounds = 0;
}

void aspx_messages_begin(struct aspx_messages *messages, double now,
                         enum aspx_messages_mode mode)
{
    *messages = (struct aspx_messages){.mode = mode, .rest_s = REST_LEAST_S};
    enter(messages, ASPX_MESSAGES_QUIET, now);
}

enum aspx_help aspx_messages_help(const struct aspx_messages *messages)
{
    if (messages->mode == ASPX_MESSAGES_ON)
        return messages->busy ? ASPX_HELP_NONE : ASPX_HELP_ON;
    switch (messages->state) {
    case ASPX_MESSAGES_QUIET:
        break;
    case ASPX_MESSAGES_COUNT:
        return ASPX_HELP_COUNT;
    case ASPX_MESSAGES_TRIAL:
        return aspx_trial_next(&messages->trial) ? ASPX_HELP_ON
                                                 : ASPX_HELP_COUNT;
    case ASPX_MESSAGES_HOLD:
        return ASPX_HELP_ON;
    }
    return ASPX_HELP_NONE;
}

double aspx_messages_round_s(const struct aspx_messages *messages)
{
    double steps = messages->steps * SLICE_S;

    if (messages->state != ASPX_MESSAGES_TRIAL)
        return ROUND_S;
    return steps >= SLICE_STEPS
               ? SLICE_S
               : fmin(SLICE_MOST_S, SLICE_S * SLICE_STEPS / steps);
}

bool aspx_messages_matter(const struct aspx_demand *demand, double *share_p)
{
    *share_p = demand->user_s > 0 ? demand->mpi_s / demand->user_s : 0;
    return *share_p > SHARE_LEAST;
}

/* Large messages of a rank in a second. */
static double rate(const struct aspx_demand *demand)
{
    return demand->user_s > 0 ? demand->large / demand->user_s : 0;
}

/* Leave ranks alone, and look again later: each time later. */
static void rest(struct aspx_messages *messages, double now)
{
    messages->rest_until_s = now + messages->rest_s;
    messages->rest_s = fmin(2 * messages->rest_s, REST_MOST_S);
    enter(messages, ASPX_MESSAGES_QUIET, now);
}

/*   seen  rounds that tell what the program does now */
static void begin_trial(struct aspx_messages *messages, double now,
                        const struct aspx_demand *seen)
{
    double bursts = seen->bursts > 1 ? seen->bursts : 1;
    double grain = seen->large * messages->users / bursts;

    messages->rate = rate(seen);
    messages->steps = seen->user_s > 0 ? bursts / seen->user_s : 1;
    enter(messages, ASPX_MESSAGES_TRIAL, now);
    messages->trial_began_s = now;
    aspx_trial_begin(&messages->trial, (uint32_t) (uint64_t) (1e6 * now), true);
    /* All ranks post at the same time. */
    messages->trial.grain = grain;
}

static void hold(struct aspx_messages *messages, double now)
{
    enter(messages, ASPX_MESSAGES_HOLD, now);
    messages->odd = messages->idle = 0;
    messages->rate = messages->helped_rate;
    messages->rest_s = REST_LEAST_S;
}

/* Has a trial found threads to help, not long ago? And did ranks post as often?
 */
static bool have_helped(const struct aspx_messages *messages, double now)
{
    return messages->helped_rate > 0 && now - messages->helped_s < STALE_S;
}

static bool is_known(const struct aspx_messages *messages, double now,
                     double its_rate)
{
    return have_helped(messages, now) &&
           its_rate < OTHER_RATE * messages->helped_rate &&
           its_rate > messages->helped_rate / OTHER_RATE;
}

/* QUIET. */
static void look(struct aspx_messages *messages, double now)
{
    double share;

    if (now - messages->since_s < LOOK_S)
        return;
    enter(messages,
          now >= messages->rest_until_s &&
                  aspx_messages_matter(&messages->sum, &share)
              ? ASPX_MESSAGES_COUNT
              : ASPX_MESSAGES_QUIET,
          now);
}

/* COUNT. */
static void count(struct aspx_messages *messages, double now,
                  struct aspx_decisions *all, double t_s)
{
    double share;
    bool again = have_helped(messages, now);
    uint32_t most = messages->sum.large > 0 || messages->vain >= 2
                        ? COUNT_ROUNDS_MOST
                        : COUNT_ROUNDS << messages->vain;

    if (again && messages->sum.large == 0)
        most = COUNT_ROUNDS;

    if (messages->rounds < COUNT_ROUNDS)
        return;
    aspx_messages_matter(&messages->sum, &share);
    if (is_known(messages, now, rate(&messages->sum))) {
        hold(messages, now);
    } else if (messages->sum.large >= LARGE_LEAST * messages->users) {
        aspx_decide(all, t_s, ASPX_DECIDED_TRIAL,
                    "ranks are in MPI for %.0f "
                    "%% of the time, and post %.3g large messages/s each: to "
                    "see if progress threads help",
                    100 * share, rate(&messages->sum));
        begin_trial(messages, now, &messages->sum);
    } else if (messages->rounds >= most) {
        messages->vain += !again;
        if (!messages->told && aspx_demand_ops(&messages->sum) == 0)
            aspx_decide(all, t_s, ASPX_DECIDED_NOTHING,
                        "ranks are in MPI "
                        "for %.0f %% of the time, but no operation is seen "
                        "that a ghost or a progress thread could work for",
                        100 * share);
        messages->told = true;
        if (again) /* it may begin at any time */
            messages->rest_s = REST_LEAST_S;
        rest(messages, now);
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
static void try(struct aspx_messages *messages, double now,
                const struct aspx_demand *demand, struct aspx_decisions *all,
                double t_s)
{
    struct aspx_trial *trial = &messages->trial;
    double seconds = demand->users > 0 ? demand->user_s / demand->users : 0;
    bool on;

    if (aspx_trial_slice(trial, seconds, demand->large, 0) ==
        ASPX_TRIAL_GOES_ON)
        return;
    on = trial->end == ASPX_TRIAL_ON;
    messages->trial_s = now - messages->trial_began_s;
    aspx_decide(all, t_s, on ? ASPX_DECIDED_THREADS : ASPX_DECIDED_PLAIN,
                "trial of %.2f s: %s; with over without %.3g (%.3g to %.3g), "
                "%.3g against %.3g large messages/s",
                messages->trial_s, outcome(trial->end), trial->ratio,
                trial->low, trial->high, aspx_trial_rate(trial, true),
                aspx_trial_rate(trial, false));
    if (!on) {
        messages->helped_rate = 0;
        messages->rest_s = fmax(messages->rest_s,
                                REST_FACTOR * messages->trial_s);
        rest(messages, now);
        return;
    }
    messages->helped_rate = aspx_trial_rate(trial, true) / messages->users;
    messages->helped_s = now;
    hold(messages, now);
}

/* HOLD. It is over when there is nothing to work for, and begins again without
 * a trial; it is tried anew when the program does something else, or a long
 * time is over. */
static void compare(struct aspx_messages *messages, double now,
                    struct aspx_decisions *all, double t_s)
{
    const struct aspx_demand seen = messages->sum;
    double its_rate = rate(&seen);

    if (messages->rounds < HOLD_ROUNDS)
        return;
    messages->sum = (struct aspx_demand){0};
    messages->rounds = 0;
    messages->idle = its_rate > 0 ? 0 : messages->idle + 1;
    if (messages->idle >= IDLE)
        enter(messages, ASPX_MESSAGES_QUIET, now);
    if (its_rate == 0)
        return;
    messages->odd = its_rate > OTHER_RATE * messages->rate ||
                            its_rate < messages->rate / OTHER_RATE
                        ? messages->odd + 1
                        : 0;
    if ((messages->odd >= ODD &&
         now - messages->trial_began_s > REST_FACTOR * messages->trial_s) ||
        now - messages->helped_s > STALE_S) {
        aspx_decide(all, t_s, ASPX_DECIDED_TRIAL,
                    "%s: %.3g large messages/s "
                    "each, it was %.3g",
                    messages->odd >= ODD ? "another phase"
                                         : "it was decided long ago",
                    its_rate, messages->rate);
        begin_trial(messages, now, &seen);
    }
}

/* Have ghosts enough to do to need their CPU for themselves? */
static bool is_busy(struct aspx_messages *messages,
                    const struct aspx_demand *demand)
{
    if (aspx_demand_rate(demand) < BUSY_RATE * fmax(demand->ghosts, 1))
        messages->busy_rounds = 0;
    else if (messages->busy_rounds < BUSY_ROUNDS)
        messages->busy_rounds++;
    return messages->busy_rounds == BUSY_ROUNDS;
}

/* They have. A trial that is cut off is made again later. */
static void yield(struct aspx_messages *messages, double now,
                  struct aspx_decisions *all, double t_s)
{
    bool tries = messages->state == ASPX_MESSAGES_TRIAL;

    if (tries)
        messages->rest_until_s = now + messages->rest_s;
    if (tries ||
        (messages->state == ASPX_MESSAGES_HOLD && !messages->yielded)) {
        aspx_decide(all, t_s, ASPX_DECIDED_PLAIN,
                    "one-sided operations have "
                    "begun, and ghosts work for them: no progress threads "
                    "meanwhile");
        messages->yielded = true;
    }
    enter(messages, ASPX_MESSAGES_QUIET, now);
}

void aspx_messages_round(struct aspx_messages *messages, double now,
                         const struct aspx_demand *demand,
                         struct aspx_decisions *all, double begin_s)
{
    double t_s = now - begin_s;

    messages->busy = is_busy(messages, demand);
    messages->users = demand->users > 1 ? demand->users : 1;
    if (messages->mode != ASPX_MESSAGES_AUTO)
        return;
    if (messages->busy) {
        yield(messages, now, all, t_s);
        return;
    }
    aspx_demand_add(&messages->sum, demand);
    messages->rounds++;
    switch (messages->state) {
    case ASPX_MESSAGES_QUIET:
        look(messages, now);
        break;
    case ASPX_MESSAGES_COUNT:
        count(messages, now, all, t_s);
        break;
    case ASPX_MESSAGES_TRIAL:
        try(messages, now, demand, all, t_s);
        break;
    case ASPX_MESSAGES_HOLD:
        compare(messages, now, all, t_s);
        break;
    }
}
