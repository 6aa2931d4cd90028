/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides for all ranks of a job: see job_controller.h. */
#include "config.h"

#include "job_controller.h"

#include <stdarg.h>
#include <stdio.h>

/* Length of a slice of a trial: long against the 12 ms until all nodes have
 * heard of an order, and eight pairs are over in less than a second. */
static const double SLICE_S = 0.05;
/* Operations and rounds that LISTEN needs: few operations may get done where
 * they wait for targets. Rounds in a row that make another phase. */
static const double OPS_LEAST = 20;
enum { LISTEN_ROUNDS = 3, ODD_ROUNDS = 4 };
/* Another phase has a rate of operations, or a delay of targets, that is so
 * many times more or less. Shorter delays than the least are all alike. */
static const double OTHER_RATE = 2.5, DELAY_LEAST_S = 1e-3;
/* Share of the users' time for which predictors must want ghosts to vote on, or
 * must not to vote off. In between they tell ranks or phases apart, or waver; a
 * trial shows which. */
static const double UNANIMOUS = 0.9;
/* Share of the run for trials after the first ASPX_TRIAL_RESULTS: half of that
 * time the worse order is in force. A comparison takes a second at most. */
static const double TRIALS_SHARE = 0.04, COMPARISON_S = 1;
/* A decision is reconsidered after so long. */
static const double STALE_S = 300;
/* Without operations up to here the record says that there are none. */
static const double SILENT_S = 2;

static void add_decision(struct aspx_job_controller *job, double now,
                         enum aspx_decision_kind to, const char *why, ...)
    __attribute__((format(printf, 4, 5)));

static void add_decision(struct aspx_job_controller *job, double now,
                         enum aspx_decision_kind to, const char *why, ...)
{
    const struct aspx_decisions *all = &job->decisions;
    va_list args;

    /* Leaving the predictors alone again is no news. */
    if (to == ASPX_DECISION_PREDICTOR && all->n > 0 &&
        all->list[all->n - 1].to == ASPX_DECISION_PREDICTOR)
        return;
    va_start(args, why);
    aspx_decisions_addv(&job->decisions, now - job->begin_s, to, why, args);
    va_end(args);
}

void aspx_job_controller_begin(struct aspx_job_controller *job, double now,
                               enum asp_threads mode)
{
    *job = (struct aspx_job_controller){
        .begin_s = now, .cost = {.scale = 1}, .vote = ASPX_VOTE_ON};
    aspx_thread_controller_begin(&job->threads, now, mode);
}

static enum aspx_decision_kind decision_of(enum aspx_order order)
{
    return !aspx_order_overrules(order) ? ASPX_DECISION_PREDICTOR
           : order == ASPX_ORDER_ON     ? ASPX_DECISION_ON
                                        : ASPX_DECISION_OFF;
}

struct aspx_round aspx_job_controller_next(
    const struct aspx_job_controller *job)
{
    if (job->state != ASPX_JOB_TRIAL)
        return (struct aspx_round){
            job->order, aspx_thread_controller_help(&job->threads),
            aspx_thread_controller_round_s(&job->threads)};
    return (struct aspx_round){job->orders[aspx_trial_next(&job->trial)],
                               ASPX_HELP_NONE, SLICE_S};
}

static double redirect_share(const struct aspx_workload *workload)
{
    return workload->user_s > 0 ? workload->wanted_s / workload->user_s : 1;
}

static void listen(struct aspx_job_controller *job)
{
    job->state = ASPX_JOB_LISTEN;
    job->order = ASPX_ORDER_NONE;
    job->rounds = 0;
    job->listened = (struct aspx_workload){0};
}

static void hold(struct aspx_job_controller *job, double now,
                 enum aspx_order order, double rate)
{
    job->state = ASPX_JOB_HOLD;
    job->order = order;
    job->held_s = now;
    job->rate = rate;
    job->odd = 0;
}

/* known: there was a trial of this kind of phase. */
static bool may_try(const struct aspx_job_controller *job, double now,
                    bool known)
{
    double most = job->vote == ASPX_VOTE_MIXED ? 2 * COMPARISON_S
                                               : COMPARISON_S;

    return (!known && job->trials < ASPX_TRIAL_RESULTS) ||
           job->trials_s + most < TRIALS_SHARE * (now - job->begin_s);
}

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

/* The rate of operations while predictors are left alone: in the trial if it
 * tried that, else before it. */
static double rate_alone(const struct aspx_job_controller *job)
{
    for (int more = 0; more < 2; more++)
        if (job->orders[more] == ASPX_ORDER_NONE)
            return aspx_trial_rate(&job->trial, more);
    return aspx_workload_rate(&job->listened);
}

/* Tells phases apart that compute for longer or shorter, at the same rate. */
static double delay(const struct aspx_job_controller *job)
{
    double delay_s = aspx_workload_delay(&job->listened);

    return delay_s > DELAY_LEAST_S ? delay_s : DELAY_LEAST_S;
}

/* The result of a trial of this kind of phase, or NULL. */
static struct aspx_trial_result *recall(struct aspx_job_controller *job,
                                        double rate)
{
    for (uint32_t i = 0; i < ASPX_TRIAL_RESULTS && i < job->nresults; i++) {
        struct aspx_trial_result *result = &job->results[i];

        if (result->vote == job->vote && !is_other(rate, result->rate) &&
            !is_other(delay(job), result->delay_s))
            return result;
    }
    return NULL;
}

/* Replaces the result of the same kind of phase, or the oldest. */
static void learn(struct aspx_job_controller *job, enum aspx_order order)
{
    double rate = rate_alone(job);
    struct aspx_trial_result *result = recall(job, rate);

    if (!result)
        result = &job->results[job->nresults++ % ASPX_TRIAL_RESULTS];
    *result = (struct aspx_trial_result){
        .vote = job->vote,
        .rate = rate,
        .delay_s = delay(job),
        .order = order,
    };
}

static enum aspx_predictor_vote vote_of(double share)
{
    return share > UNANIMOUS       ? ASPX_VOTE_ON
           : share < 1 - UNANIMOUS ? ASPX_VOTE_OFF
                                   : ASPX_VOTE_MIXED;
}

/* What holds without a trial: as one has shown before, else as the model of
 * costs says.
 *   known  the result of that trial, or NULL */
static void choose(struct aspx_job_controller *job, double now,
                   const struct aspx_trial_result *known)
{
    const struct aspx_workload *all = &job->listened;
    struct aspx_forecast f = aspx_cost_forecast(&job->cost, all);
    bool on = job->vote == ASPX_VOTE_ON;
    char words[ASPX_WHY_BYTES];

    if (known) {
        add_decision(job, now, decision_of(known->order),
                     "as in the trial of a phase "
                     "with %.3g operations/s",
                     known->rate);
        hold(job, now, known->order, 0);
    } else if (job->vote == ASPX_VOTE_MIXED) {
        add_decision(
            job, now, ASPX_DECISION_PREDICTOR,
            "it tells ranks or phases apart: wants ghosts for %.0f %% of them",
            100 * redirect_share(all));
        hold(job, now, ASPX_ORDER_NONE, 0);
    } else if (f.cheaper == (on ? ASPX_CHEAPER_TARGETS : ASPX_CHEAPER_GHOSTS)) {
        enum aspx_order order = on ? ASPX_ORDER_OFF : ASPX_ORDER_ON;

        add_decision(job, now, decision_of(order), "%s",
                     in_words(&f, words, sizeof(words)));
        hold(job, now, order, 0);
    } else {
        add_decision(job, now, ASPX_DECISION_PREDICTOR, "it says %s; %s",
                     on ? "on" : "off", in_words(&f, words, sizeof(words)));
        hold(job, now, ASPX_ORDER_NONE, 0);
    }
}

static void begin_trial(struct aspx_job_controller *job, double now,
                        enum aspx_order fewer, enum aspx_order more,
                        bool known_effective)
{
    job->trial_began_s = now;
    job->state = ASPX_JOB_TRIAL;
    job->orders[0] = fewer;
    job->orders[1] = more;
    aspx_trial_begin(&job->trial, (uint32_t) (uint64_t) (1e6 * now),
                     known_effective);
}

/* LISTEN is over: enough rounds had operations. */
static void end_listening(struct aspx_job_controller *job, double now)
{
    const struct aspx_trial_result *known;

    job->vote = vote_of(redirect_share(&job->listened));
    known = recall(job, aspx_workload_rate(&job->listened));
    choose(job, now, known);
    if (!may_try(job, now, known))
        return;
    add_decision(job, now, ASPX_DECISION_TRIAL, "to see if that is right");
    job->trials++;
    begin_trial(
        job, now, job->vote == ASPX_VOTE_OFF ? ASPX_ORDER_NONE : ASPX_ORDER_OFF,
        job->vote == ASPX_VOTE_ON ? ASPX_ORDER_NONE : ASPX_ORDER_ON, false);
}

/* The order after a trial, as in the table of docs/design/adaptation.md. Where
 * ghosts make no difference they are off, unless mixed predictors may do better
 * later; where off is as good as what predictors say, they say off longer. */
static enum aspx_order conclude(const struct aspx_job_controller *job,
                                enum aspx_trial_end end)
{
    enum aspx_order fewer = job->orders[0];

    switch (end) {
    case ASPX_TRIAL_ON:
        return job->orders[1];
    case ASPX_TRIAL_OFF:
        return fewer == ASPX_ORDER_NONE && job->vote == ASPX_VOTE_OFF
                   ? ASPX_ORDER_LOW_THRESHOLD
                   : fewer;
    case ASPX_TRIAL_SAME:
        if (job->vote == ASPX_VOTE_MIXED)
            return fewer == ASPX_ORDER_OFF ? ASPX_ORDER_LOW_THRESHOLD
                                           : ASPX_ORDER_NONE;
        return fewer == ASPX_ORDER_NONE ? ASPX_ORDER_LOW_THRESHOLD : fewer;
    case ASPX_TRIAL_INEFFECTIVE:
        return ASPX_ORDER_NONE;
    case ASPX_TRIAL_GOES_ON:
    case ASPX_TRIAL_UNDECIDED:
    case ASPX_TRIAL_SILENT:
        break;
    }
    return job->order; /* as before the trial */
}

/* What an order means to the reader of the record, given the vote. */
static enum aspx_decision_kind meaning(const struct aspx_job_controller *job,
                                       enum aspx_order order)
{
    if (!aspx_order_overrules(order) && job->vote != ASPX_VOTE_MIXED)
        return job->vote == ASPX_VOTE_ON ? ASPX_DECISION_ON : ASPX_DECISION_OFF;
    return decision_of(order);
}

static const char *outcome(const struct aspx_job_controller *job,
                           enum aspx_trial_end end)
{
    static const char *const words[] =
        {
            [ASPX_TRIAL_SAME] = "ghosts make no difference",
            [ASPX_TRIAL_UNDECIDED] = "too uneven to tell",
            [ASPX_TRIAL_SILENT] = "operations ceased",
            [ASPX_TRIAL_INEFFECTIVE] =
                "no legal point, operations go the same way",
        },
                             *const faster[] = {
                                 [ASPX_DECISION_PREDICTOR] =
                                     "faster as predicted",
                                 [ASPX_DECISION_ON] = "faster with ghosts",
                                 [ASPX_DECISION_OFF] = "faster without",
                             };

    if (end == ASPX_TRIAL_ON || end == ASPX_TRIAL_OFF)
        return faster[meaning(job, job->orders[end == ASPX_TRIAL_ON])];
    return words[end];
}

/* The trial says something about the program, not of the trial. */
static bool is_conclusive(enum aspx_trial_end end)
{
    return end == ASPX_TRIAL_ON || end == ASPX_TRIAL_OFF ||
           end == ASPX_TRIAL_SAME;
}

/* All on was compared with all off: a second trial compares the better of them,
 * or off if they are the same, with the predictors. */
static bool needs_second_trial(const struct aspx_job_controller *job)
{
    return job->orders[0] == ASPX_ORDER_OFF &&
           job->orders[1] == ASPX_ORDER_ON && is_conclusive(job->trial.end);
}

static void end_trial(struct aspx_job_controller *job, double now)
{
    const struct aspx_trial *trial = &job->trial;
    enum aspx_order order = conclude(job, trial->end);
    enum aspx_decision_kind to = decision_of(order);
    bool on = order == job->orders[1], off = order == job->orders[0];

    if (needs_second_trial(job))
        to = ASPX_DECISION_TRIAL;
    else if (is_conclusive(trial->end))
        to = meaning(job, order);
    add_decision(
        job, now, to,
        "trial of %.2f s: %s; %s over %s %.3g (%.3g to %.3g), %.3g against "
        "%.3g operations/s",
        now - job->trial_began_s, outcome(job, trial->end),
        aspx_decision_name((int32_t) meaning(job, job->orders[1])),
        aspx_decision_name((int32_t) meaning(job, job->orders[0])),
        trial->ratio, trial->low, trial->high, aspx_trial_rate(trial, true),
        aspx_trial_rate(trial, false));
    job->trials_s += now - job->trial_began_s;
    if (needs_second_trial(job)) {
        if (on || off)
            job->order = order; /* if the next trial ends undecided */
        begin_trial(job, now, on ? ASPX_ORDER_NONE : ASPX_ORDER_OFF,
                    on ? ASPX_ORDER_ON : ASPX_ORDER_NONE, true);
        return;
    }
    if (is_conclusive(trial->end) || trial->end == ASPX_TRIAL_INEFFECTIVE)
        learn(job, order);
    hold(job, now, order, on || off ? aspx_trial_rate(trial, on) : 0);
}

/* HOLD: is it another phase than the one that was decided on? */
static void compare(struct aspx_job_controller *job, double now,
                    const struct aspx_workload *workload)
{
    double rate = aspx_workload_rate(workload);
    enum aspx_predictor_vote vote = vote_of(redirect_share(workload));
    bool other = vote != ASPX_VOTE_MIXED && vote != job->vote &&
                 job->vote != ASPX_VOTE_MIXED,
         overruled;

    if (job->rate == 0)
        job->rate = rate;
    job->odd = other || is_other(rate, job->rate) ? job->odd + 1 : 0;
    if (job->odd < ODD_ROUNDS && now - job->held_s < STALE_S)
        return;
    overruled = aspx_order_overrules(job->order);
    if (overruled && job->odd < ODD_ROUNDS)
        add_decision(job, now, ASPX_DECISION_PREDICTOR,
                     "it was decided long ago");
    else if (overruled && other)
        add_decision(job, now, ASPX_DECISION_PREDICTOR,
                     "another phase: it says %s now",
                     vote == ASPX_VOTE_ON ? "on" : "off");
    else if (overruled)
        add_decision(job, now, ASPX_DECISION_PREDICTOR,
                     "another phase: %.3g operations/s, it was %.3g", rate,
                     job->rate);
    listen(job);
}

/* Tell the record once that there are no operations; where ranks are in MPI for
 * something else, thread_controller.c tells it. */
static void tell_silence(struct aspx_job_controller *job, double now,
                         const struct aspx_workload *workload)
{
    double share;

    if (job->heard || job->told_silence)
        return;
    aspx_workload_add(&job->before_first, workload);
    if (now - job->begin_s < SILENT_S)
        return;
    job->told_silence = true;
    if (job->threads.mode != ASP_THREADS_AUTO ||
        !aspx_thread_controller_worth_counting(&job->before_first, &share))
        add_decision(job, now, ASPX_DECISION_NOTHING,
                     "no one-sided operation to judge by in the first %.0f s",
                     SILENT_S);
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
    tell_silence(job, now, workload);
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
    /* Numbers of ranks do not add up over rounds. */
    job->listened.users = workload->users;
    job->listened.ghosts = workload->ghosts;
    end_listening(job, now);
}
