/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "job_controller.h"

#include <stdarg.h>
#include <stdio.h>

/* Slices of a trial. One is long against what it takes all nodes to hear of it,
 * and a trial of eight pairs is over in less than a second. */
static const double SLICE_S = 0.05;
/* Operations that the rounds must have had together to say something: few may
 * come through where they wait for targets. */
static const double OPS_LEAST = 20;
enum { LISTEN_ROUNDS = 3, ODD_ROUNDS = 4 };
/* Another phase: the rate of operations is so much more, or so much less. */
static const double OTHER_RATE = 2.5;
/* Or its targets are outside MPI so much longer; less does not matter. */
static const double DELAY_LEAST_S = 1e-3;
/* The predictor is of one mind: it wants so much of the users' time on, or
 * off. In between it follows phases or ranks, which no order for all can, or it
 * cannot make up its mind: a trial shows which. */
static const double OF_ONE_MIND = 0.9;
/* Each of the first kinds of phase is tried, as many as are remembered. No more
 * of the run than this is spent on trials after that, of which half is the
 * wrong way; each comparison of two ways takes a second at most. */
static const double TRIALS_SHARE = 0.04, COMPARISON_S = 1;
/* What was found is found anew. */
static const double STALE_S = 300;
/* Without operations up to here there is nothing for ghosts to do, yet. */
static const double SILENT_S = 2;

static void say(struct aspx_job_controller *job, double now,
                enum aspx_decided to, const char *why, ...)
    __attribute__((format(printf, 4, 5)));

static void say(struct aspx_job_controller *job, double now,
                enum aspx_decided to, const char *why, ...)
{
    const struct aspx_decisions *all = &job->decisions;
    va_list args;

    /* That nothing changes is told once. */
    if (to == ASPX_DECIDED_PREDICTOR && all->n > 0 &&
        all->list[all->n - 1].to == ASPX_DECIDED_PREDICTOR)
        return;
    va_start(args, why);
    aspx_decide_v(&job->decisions, now - job->begin_s, to, why, args);
    va_end(args);
}

void aspx_job_controller_begin(struct aspx_job_controller *job, double now,
                               enum aspx_threads_mode mode)
{
    *job = (struct aspx_job_controller){
        .begin_s = now, .cost = {.scale = 1}, .mind = ASPX_MIND_ON};
    aspx_thread_controller_begin(&job->threads, now, mode);
}

static enum aspx_decided decided(enum aspx_force force)
{
    return !aspx_force_overrules(force) ? ASPX_DECIDED_PREDICTOR
           : force == ASPX_FORCE_ON     ? ASPX_DECIDED_ON
                                        : ASPX_DECIDED_OFF;
}

struct aspx_order aspx_job_controller_next(
    const struct aspx_job_controller *job)
{
    if (job->state != ASPX_JOB_TRIAL)
        return (struct aspx_order){
            job->force, aspx_thread_controller_help(&job->threads),
            aspx_thread_controller_round_s(&job->threads)};
    return (struct aspx_order){job->ways[aspx_trial_next(&job->trial)],
                               ASPX_HELP_NONE, SLICE_S};
}

static double redirect_share(const struct aspx_workload *workload)
{
    return workload->user_s > 0 ? workload->wanted_s / workload->user_s : 1;
}

static void listen(struct aspx_job_controller *job)
{
    job->state = ASPX_JOB_LISTEN;
    job->force = ASPX_FORCE_NONE;
    job->rounds = 0;
    job->listened = (struct aspx_workload){0};
}

static void hold(struct aspx_job_controller *job, double now,
                 enum aspx_force force, double rate)
{
    job->state = ASPX_JOB_HOLD;
    job->force = force;
    job->held_s = now;
    job->rate = rate;
    job->odd = 0;
}

/* known: this phase was tried before. */
static bool may_try(const struct aspx_job_controller *job, double now,
                    bool known)
{
    double most = job->mind == ASPX_MIND_MIXED ? 2 * COMPARISON_S
                                               : COMPARISON_S;

    return (!known && job->trials < ASPX_LESSONS) ||
           job->trials_s + most < TRIALS_SHARE * (now - job->begin_s);
}

/* "ghosts 12 ms, targets 430 ms" */
static const char *in_words(const struct aspx_forecast *f, char *buf,
                            size_t size)
{
    snprintf(buf, size,
             "a rank's operations of one second would take %.3g ms "
             "with ghosts (%.0f %% busy), %.3g ms without",
             1e3 * f->with_s, 100 * (f->load < 1 ? f->load : 1),
             1e3 * f->without_s);
    return buf;
}

static bool is_other(double rate, double than)
{
    return rate > OTHER_RATE * than || rate < than / OTHER_RATE;
}

/* The rate of operations with the predictor left alone: as tried, or before. */
static double rate_alone(const struct aspx_job_controller *job)
{
    for (int more = 0; more < 2; more++)
        if (job->ways[more] == ASPX_FORCE_NONE)
            return aspx_trial_rate(&job->trial, more);
    return aspx_workload_rate(&job->listened);
}

/* Who computes, be it for longer or shorter, is not who talks as often. */
static double delay(const struct aspx_job_controller *job)
{
    double delay_s = aspx_workload_delay(&job->listened);

    return delay_s > DELAY_LEAST_S ? delay_s : DELAY_LEAST_S;
}

/* What was learned of such a phase, or NULL. */
static struct aspx_lesson *recall(struct aspx_job_controller *job, double rate)
{
    for (uint32_t i = 0; i < ASPX_LESSONS && i < job->nlessons; i++) {
        struct aspx_lesson *lesson = &job->lesson[i];

        if (lesson->mind == job->mind && !is_other(rate, lesson->rate) &&
            !is_other(delay(job), lesson->delay_s))
            return lesson;
    }
    return NULL;
}

/* In the place of what was learned of the same phase, or of the oldest. */
static void learn(struct aspx_job_controller *job, enum aspx_force force)
{
    double rate = rate_alone(job);
    struct aspx_lesson *lesson = recall(job, rate);

    if (!lesson)
        lesson = &job->lesson[job->nlessons++ % ASPX_LESSONS];
    *lesson = (struct aspx_lesson){
        .mind = job->mind,
        .rate = rate,
        .delay_s = delay(job),
        .force = force,
    };
}

static enum aspx_mind mind_of(double share)
{
    return share > OF_ONE_MIND       ? ASPX_MIND_ON
           : share < 1 - OF_ONE_MIND ? ASPX_MIND_OFF
                                     : ASPX_MIND_MIXED;
}

/* Without a trial: as one has shown before, or by the prices.
 *   known  what was learned of this phase, or NULL */
static void choose(struct aspx_job_controller *job, double now,
                   const struct aspx_lesson *known)
{
    const struct aspx_workload *all = &job->listened;
    struct aspx_forecast f = aspx_cost_forecast(&job->cost, all);
    bool on = job->mind == ASPX_MIND_ON;
    char words[ASPX_WHY_BYTES];

    if (known) {
        say(job, now, decided(known->force),
            "as in the trial of a phase "
            "with %.3g operations/s",
            known->rate);
        hold(job, now, known->force, 0);
    } else if (job->mind == ASPX_MIND_MIXED) {
        say(job, now, ASPX_DECIDED_PREDICTOR,
            "it tells ranks or phases apart: wants ghosts for %.0f %% of them",
            100 * redirect_share(all));
        hold(job, now, ASPX_FORCE_NONE, 0);
    } else if (f.verdict == (on ? ASPX_VERDICT_OFF : ASPX_VERDICT_ON)) {
        enum aspx_force force = on ? ASPX_FORCE_OFF : ASPX_FORCE_ON;

        say(job, now, decided(force), "%s", in_words(&f, words, sizeof(words)));
        hold(job, now, force, 0);
    } else {
        say(job, now, ASPX_DECIDED_PREDICTOR, "it says %s; %s",
            on ? "on" : "off", in_words(&f, words, sizeof(words)));
        hold(job, now, ASPX_FORCE_NONE, 0);
    }
}

static void begin_trial(struct aspx_job_controller *job, double now,
                        enum aspx_force fewer, enum aspx_force more,
                        bool follow)
{
    job->trial_began_s = now;
    job->state = ASPX_JOB_TRIAL;
    job->ways[0] = fewer;
    job->ways[1] = more;
    aspx_trial_begin(&job->trial, (uint32_t) (uint64_t) (1e6 * now), follow);
}

/* Enough rounds have had operations. */
static void weigh(struct aspx_job_controller *job, double now)
{
    const struct aspx_lesson *known;

    job->mind = mind_of(redirect_share(&job->listened));
    known = recall(job, aspx_workload_rate(&job->listened));
    choose(job, now, known);
    if (!may_try(job, now, known))
        return;
    say(job, now, ASPX_DECIDED_TRIAL, "to see if that is right");
    job->trials++;
    begin_trial(
        job, now, job->mind == ASPX_MIND_OFF ? ASPX_FORCE_NONE : ASPX_FORCE_OFF,
        job->mind == ASPX_MIND_ON ? ASPX_FORCE_NONE : ASPX_FORCE_ON, false);
}

/* What a trial means for what is in force. Where ghosts make no difference
 * they are let rest, unless the predictor, left alone, could do better later;
 * and where it is right to say off, or no better than that, it may say so
 * longer. */
static enum aspx_force conclude(const struct aspx_job_controller *job,
                                enum aspx_trial_end end)
{
    enum aspx_force fewer = job->ways[0];

    switch (end) {
    case ASPX_TRIAL_ON:
        return job->ways[1];
    case ASPX_TRIAL_OFF:
        return fewer == ASPX_FORCE_NONE && job->mind == ASPX_MIND_OFF
                   ? ASPX_FORCE_CALM
                   : fewer;
    case ASPX_TRIAL_SAME:
        if (job->mind == ASPX_MIND_MIXED)
            return fewer == ASPX_FORCE_OFF ? ASPX_FORCE_CALM : ASPX_FORCE_NONE;
        return fewer == ASPX_FORCE_NONE ? ASPX_FORCE_CALM : fewer;
    case ASPX_TRIAL_DEAF:
        return ASPX_FORCE_NONE;
    case ASPX_TRIAL_GOES_ON:
    case ASPX_TRIAL_UNDECIDED:
    case ASPX_TRIAL_SILENT:
        break;
    }
    return job->force; /* as was said before */
}

/* What an order means, while the predictor is of that mind. */
static enum aspx_decided meaning(const struct aspx_job_controller *job,
                                 enum aspx_force force)
{
    if (!aspx_force_overrules(force) && job->mind != ASPX_MIND_MIXED)
        return job->mind == ASPX_MIND_ON ? ASPX_DECIDED_ON : ASPX_DECIDED_OFF;
    return decided(force);
}

static const char *outcome(const struct aspx_job_controller *job,
                           enum aspx_trial_end end)
{
    static const char *const words[] =
        {
            [ASPX_TRIAL_SAME] = "ghosts make no difference",
            [ASPX_TRIAL_UNDECIDED] = "too uneven to tell",
            [ASPX_TRIAL_SILENT] = "operations ceased",
            [ASPX_TRIAL_DEAF] = "no legal point, operations go the same way",
        },
                             *const faster[] = {
                                 [ASPX_DECIDED_PREDICTOR] =
                                     "faster as predicted",
                                 [ASPX_DECIDED_ON] = "faster with ghosts",
                                 [ASPX_DECIDED_OFF] = "faster without",
                             };

    if (end == ASPX_TRIAL_ON || end == ASPX_TRIAL_OFF)
        return faster[meaning(job, job->ways[end == ASPX_TRIAL_ON])];
    return words[end];
}

/* The trial says something about the program. */
static bool tells(enum aspx_trial_end end)
{
    return end == ASPX_TRIAL_ON || end == ASPX_TRIAL_OFF ||
           end == ASPX_TRIAL_SAME;
}

/* Two ways were compared, neither of them the predictor's: is the better one,
 * or off if they are the same, better than the predictor, too? */
static bool goes_on(const struct aspx_job_controller *job)
{
    return job->ways[0] == ASPX_FORCE_OFF && job->ways[1] == ASPX_FORCE_ON &&
           tells(job->trial.end);
}

static void end_trial(struct aspx_job_controller *job, double now)
{
    const struct aspx_trial *trial = &job->trial;
    enum aspx_force force = conclude(job, trial->end);
    enum aspx_decided to = decided(force);
    bool on = force == job->ways[1], off = force == job->ways[0];

    if (goes_on(job))
        to = ASPX_DECIDED_TRIAL;
    else if (tells(trial->end))
        to = meaning(job, force);
    say(job, now, to,
        "trial of %.2f s: %s; %s over %s %.3g (%.3g to %.3g), %.3g against "
        "%.3g operations/s",
        now - job->trial_began_s, outcome(job, trial->end),
        aspx_decided_name((int32_t) meaning(job, job->ways[1])),
        aspx_decided_name((int32_t) meaning(job, job->ways[0])), trial->ratio,
        trial->low, trial->high, aspx_trial_rate(trial, true),
        aspx_trial_rate(trial, false));
    job->trials_s += now - job->trial_began_s;
    if (goes_on(job)) {
        if (on || off)
            job->force = force; /* for now */
        begin_trial(job, now, on ? ASPX_FORCE_NONE : ASPX_FORCE_OFF,
                    on ? ASPX_FORCE_ON : ASPX_FORCE_NONE, true);
        return;
    }
    if (tells(trial->end) || trial->end == ASPX_TRIAL_DEAF)
        learn(job, force);
    hold(job, now, force, on || off ? aspx_trial_rate(trial, on) : 0);
}

/* Is it another phase than the one that was decided about? */
static void compare(struct aspx_job_controller *job, double now,
                    const struct aspx_workload *workload)
{
    double rate = aspx_workload_rate(workload);
    enum aspx_mind mind = mind_of(redirect_share(workload));
    bool other = mind != ASPX_MIND_MIXED && mind != job->mind &&
                 job->mind != ASPX_MIND_MIXED,
         overruled;

    if (job->rate == 0)
        job->rate = rate;
    job->odd = other || is_other(rate, job->rate) ? job->odd + 1 : 0;
    if (job->odd < ODD_ROUNDS && now - job->held_s < STALE_S)
        return;
    overruled = aspx_force_overrules(job->force);
    if (overruled && job->odd < ODD_ROUNDS)
        say(job, now, ASPX_DECIDED_PREDICTOR, "it was decided long ago");
    else if (overruled && other)
        say(job, now, ASPX_DECIDED_PREDICTOR, "another phase: it says %s now",
            mind == ASPX_MIND_ON ? "on" : "off");
    else if (overruled)
        say(job, now, ASPX_DECIDED_PREDICTOR,
            "another phase: %.3g operations/s, it was %.3g", rate, job->rate);
    listen(job);
}

/* Nothing was heard for so long that it is worth a word; where ranks are in MPI
 * for something else, thread_controller.c has one. */
static void excuse(struct aspx_job_controller *job, double now,
                   const struct aspx_workload *workload)
{
    double share;

    if (job->heard || job->excused)
        return;
    aspx_workload_add(&job->silent, workload);
    if (now - job->begin_s < SILENT_S)
        return;
    job->excused = true;
    if (job->threads.mode != ASPX_THREADS_AUTO ||
        !aspx_thread_controller_worth_counting(&job->silent, &share))
        say(job, now, ASPX_DECIDED_NOTHING,
            "no one-sided operation to judge by in the first %.0f s", SILENT_S);
}

void aspx_job_controller_round(struct aspx_job_controller *job, double now,
                               const struct aspx_workload *workload)
{
    double ops = aspx_workload_ops(workload);

    aspx_cost_learn(&job->cost, workload);
    job->heard |= ops > 0;
    if (job->state == ASPX_JOB_TRIAL) {
        double seconds = workload->users > 0
                             ? workload->user_s / workload->users
                             : 0;

        if (aspx_trial_slice(&job->trial, seconds, ops, workload->redirected) !=
            ASPX_TRIAL_GOES_ON)
            end_trial(job, now);
        return;
    }
    excuse(job, now, workload);
    aspx_thread_controller_round(&job->threads, now, workload, &job->decisions,
                                 job->begin_s);
    if (ops == 0)
        return;
    if (job->state == ASPX_JOB_HOLD) {
        compare(job, now, workload);
        return;
    }
    aspx_workload_add(&job->listened, workload);
    if (++job->rounds < LISTEN_ROUNDS ||
        aspx_workload_ops(&job->listened) < OPS_LEAST)
        return;
    /* Counts were added up, too. */
    job->listened.users = workload->users;
    job->listened.ghosts = workload->ghosts;
    weigh(job, now);
}
