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
static const double SILENCE_LEAST_S = 1e-3;
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

static void say(struct aspx_chief *chief, double now, enum aspx_decided to,
                const char *why, ...) __attribute__((format(printf, 4, 5)));

static void say(struct aspx_chief *chief, double now, enum aspx_decided to,
                const char *why, ...)
{
    const struct aspx_decisions *all = &chief->decisions;
    va_list args;

    /* That nothing changes is told once. */
    if (to == ASPX_DECIDED_PREDICTOR && all->n > 0 &&
        all->list[all->n - 1].to == ASPX_DECIDED_PREDICTOR)
        return;
    va_start(args, why);
    aspx_decide_v(&chief->decisions, now - chief->begin_s, to, why, args);
    va_end(args);
}

void aspx_chief_begin(struct aspx_chief *chief, double now,
                      enum aspx_messages_mode mode)
{
    *chief = (struct aspx_chief){
        .begin_s = now, .cost = {.scale = 1}, .mind = ASPX_MIND_ON};
    aspx_messages_begin(&chief->messages, now, mode);
}

static enum aspx_decided decided(enum aspx_force force)
{
    return !aspx_force_overrules(force) ? ASPX_DECIDED_PREDICTOR
           : force == ASPX_FORCE_ON     ? ASPX_DECIDED_ON
                                        : ASPX_DECIDED_OFF;
}

struct aspx_order aspx_chief_order(const struct aspx_chief *chief)
{
    if (chief->state != ASPX_CHIEF_TRIAL)
        return (struct aspx_order){chief->force,
                                   aspx_messages_help(&chief->messages),
                                   aspx_messages_round_s(&chief->messages)};
    return (struct aspx_order){chief->ways[aspx_trial_next(&chief->trial)],
                               ASPX_HELP_NONE, SLICE_S};
}

static double wish_share(const struct aspx_demand *demand)
{
    return demand->user_s > 0 ? demand->wish_s / demand->user_s : 1;
}

static void listen(struct aspx_chief *chief)
{
    chief->state = ASPX_CHIEF_LISTEN;
    chief->force = ASPX_FORCE_NONE;
    chief->rounds = 0;
    chief->listened = (struct aspx_demand){0};
}

static void hold(struct aspx_chief *chief, double now, enum aspx_force force,
                 double rate)
{
    chief->state = ASPX_CHIEF_HOLD;
    chief->force = force;
    chief->held_s = now;
    chief->rate = rate;
    chief->odd = 0;
}

/* known: this phase was tried before. */
static bool may_try(const struct aspx_chief *chief, double now, bool known)
{
    double most = chief->mind == ASPX_MIND_MIXED ? 2 * COMPARISON_S
                                                 : COMPARISON_S;

    return (!known && chief->trials < ASPX_LESSONS) ||
           chief->trials_s + most < TRIALS_SHARE * (now - chief->begin_s);
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
static double rate_alone(const struct aspx_chief *chief)
{
    for (int more = 0; more < 2; more++)
        if (chief->ways[more] == ASPX_FORCE_NONE)
            return aspx_trial_rate(&chief->trial, more);
    return aspx_demand_rate(&chief->listened);
}

/* Who computes, be it for longer or shorter, is not who talks as often. */
static double silence(const struct aspx_chief *chief)
{
    double silence_s = aspx_demand_silence(&chief->listened);

    return silence_s > SILENCE_LEAST_S ? silence_s : SILENCE_LEAST_S;
}

/* What was learned of such a phase, or NULL. */
static struct aspx_lesson *recall(struct aspx_chief *chief, double rate)
{
    for (uint32_t i = 0; i < ASPX_LESSONS && i < chief->nlessons; i++) {
        struct aspx_lesson *lesson = &chief->lesson[i];

        if (lesson->mind == chief->mind && !is_other(rate, lesson->rate) &&
            !is_other(silence(chief), lesson->silence_s))
            return lesson;
    }
    return NULL;
}

/* In the place of what was learned of the same phase, or of the oldest. */
static void learn(struct aspx_chief *chief, enum aspx_force force)
{
    double rate = rate_alone(chief);
    struct aspx_lesson *lesson = recall(chief, rate);

    if (!lesson)
        lesson = &chief->lesson[chief->nlessons++ % ASPX_LESSONS];
    *lesson = (struct aspx_lesson){
        .mind = chief->mind,
        .rate = rate,
        .silence_s = silence(chief),
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
static void choose(struct aspx_chief *chief, double now,
                   const struct aspx_lesson *known)
{
    const struct aspx_demand *all = &chief->listened;
    struct aspx_forecast f = aspx_cost_forecast(&chief->cost, all);
    bool on = chief->mind == ASPX_MIND_ON;
    char words[ASPX_WHY_BYTES];

    if (known) {
        say(chief, now, decided(known->force),
            "as in the trial of a phase "
            "with %.3g operations/s",
            known->rate);
        hold(chief, now, known->force, 0);
    } else if (chief->mind == ASPX_MIND_MIXED) {
        say(chief, now, ASPX_DECIDED_PREDICTOR,
            "it tells ranks or phases apart: wants ghosts for %.0f %% of them",
            100 * wish_share(all));
        hold(chief, now, ASPX_FORCE_NONE, 0);
    } else if (f.verdict == (on ? ASPX_VERDICT_OFF : ASPX_VERDICT_ON)) {
        enum aspx_force force = on ? ASPX_FORCE_OFF : ASPX_FORCE_ON;

        say(chief, now, decided(force), "%s",
            in_words(&f, words, sizeof(words)));
        hold(chief, now, force, 0);
    } else {
        say(chief, now, ASPX_DECIDED_PREDICTOR, "it says %s; %s",
            on ? "on" : "off", in_words(&f, words, sizeof(words)));
        hold(chief, now, ASPX_FORCE_NONE, 0);
    }
}

static void begin_trial(struct aspx_chief *chief, double now,
                        enum aspx_force fewer, enum aspx_force more,
                        bool follow)
{
    chief->trial_began_s = now;
    chief->state = ASPX_CHIEF_TRIAL;
    chief->ways[0] = fewer;
    chief->ways[1] = more;
    aspx_trial_begin(&chief->trial, (uint32_t) (uint64_t) (1e6 * now), follow);
}

/* Enough rounds have had operations. */
static void weigh(struct aspx_chief *chief, double now)
{
    const struct aspx_lesson *known;

    chief->mind = mind_of(wish_share(&chief->listened));
    known = recall(chief, aspx_demand_rate(&chief->listened));
    choose(chief, now, known);
    if (!may_try(chief, now, known))
        return;
    say(chief, now, ASPX_DECIDED_TRIAL, "to see if that is right");
    chief->trials++;
    begin_trial(chief, now,
                chief->mind == ASPX_MIND_OFF ? ASPX_FORCE_NONE : ASPX_FORCE_OFF,
                chief->mind == ASPX_MIND_ON ? ASPX_FORCE_NONE : ASPX_FORCE_ON,
                false);
}

/* What a trial means for what is in force. Where ghosts make no difference
 * they are let rest, unless the predictor, left alone, could do better later;
 * and where it is right to say off, or no better than that, it may say so
 * longer. */
static enum aspx_force conclude(const struct aspx_chief *chief,
                                enum aspx_trial_end end)
{
    enum aspx_force fewer = chief->ways[0];

    switch (end) {
    case ASPX_TRIAL_ON:
        return chief->ways[1];
    case ASPX_TRIAL_OFF:
        return fewer == ASPX_FORCE_NONE && chief->mind == ASPX_MIND_OFF
                   ? ASPX_FORCE_CALM
                   : fewer;
    case ASPX_TRIAL_SAME:
        if (chief->mind == ASPX_MIND_MIXED)
            return fewer == ASPX_FORCE_OFF ? ASPX_FORCE_CALM : ASPX_FORCE_NONE;
        return fewer == ASPX_FORCE_NONE ? ASPX_FORCE_CALM : fewer;
    case ASPX_TRIAL_DEAF:
        return ASPX_FORCE_NONE;
    case ASPX_TRIAL_GOES_ON:
    case ASPX_TRIAL_UNDECIDED:
    case ASPX_TRIAL_SILENT:
        break;
    }
    return chief->force; /* as was said before */
}

/* What an order means, while the predictor is of that mind. */
static enum aspx_decided meaning(const struct aspx_chief *chief,
                                 enum aspx_force force)
{
    if (!aspx_force_overrules(force) && chief->mind != ASPX_MIND_MIXED)
        return chief->mind == ASPX_MIND_ON ? ASPX_DECIDED_ON : ASPX_DECIDED_OFF;
    return decided(force);
}

static const char *outcome(const struct aspx_chief *chief,
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
        return faster[meaning(chief, chief->ways[end == ASPX_TRIAL_ON])];
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
static bool goes_on(const struct aspx_chief *chief)
{
    return chief->ways[0] == ASPX_FORCE_OFF &&
           chief->ways[1] == ASPX_FORCE_ON && tells(chief->trial.end);
}

static void end_trial(struct aspx_chief *chief, double now)
{
    const struct aspx_trial *trial = &chief->trial;
    enum aspx_force force = conclude(chief, trial->end);
    enum aspx_decided to = decided(force);
    bool on = force == chief->ways[1], off = force == chief->ways[0];

    if (goes_on(chief))
        to = ASPX_DECIDED_TRIAL;
    else if (tells(trial->end))
        to = meaning(chief, force);
    say(chief, now, to,
        "trial of %.2f s: %s; %s over %s %.3g (%.3g to %.3g), %.3g against "
        "%.3g operations/s",
        now - chief->trial_began_s, outcome(chief, trial->end),
        aspx_decided_name((int32_t) meaning(chief, chief->ways[1])),
        aspx_decided_name((int32_t) meaning(chief, chief->ways[0])),
        trial->ratio, trial->low, trial->high, aspx_trial_rate(trial, true),
        aspx_trial_rate(trial, false));
    chief->trials_s += now - chief->trial_began_s;
    if (goes_on(chief)) {
        if (on || off)
            chief->force = force; /* for now */
        begin_trial(chief, now, on ? ASPX_FORCE_NONE : ASPX_FORCE_OFF,
                    on ? ASPX_FORCE_ON : ASPX_FORCE_NONE, true);
        return;
    }
    if (tells(trial->end) || trial->end == ASPX_TRIAL_DEAF)
        learn(chief, force);
    hold(chief, now, force, on || off ? aspx_trial_rate(trial, on) : 0);
}

/* Is it another phase than the one that was decided about? */
static void compare(struct aspx_chief *chief, double now,
                    const struct aspx_demand *demand)
{
    double rate = aspx_demand_rate(demand);
    enum aspx_mind mind = mind_of(wish_share(demand));
    bool other = mind != ASPX_MIND_MIXED && mind != chief->mind &&
                 chief->mind != ASPX_MIND_MIXED,
         overruled;

    if (chief->rate == 0)
        chief->rate = rate;
    chief->odd = other || is_other(rate, chief->rate) ? chief->odd + 1 : 0;
    if (chief->odd < ODD_ROUNDS && now - chief->held_s < STALE_S)
        return;
    overruled = aspx_force_overrules(chief->force);
    if (overruled && chief->odd < ODD_ROUNDS)
        say(chief, now, ASPX_DECIDED_PREDICTOR, "it was decided long ago");
    else if (overruled && other)
        say(chief, now, ASPX_DECIDED_PREDICTOR, "another phase: it says %s now",
            mind == ASPX_MIND_ON ? "on" : "off");
    else if (overruled)
        say(chief, now, ASPX_DECIDED_PREDICTOR,
            "another phase: %.3g operations/s, it was %.3g", rate, chief->rate);
    listen(chief);
}

/* Nothing was heard for so long that it is worth a word; where ranks are in MPI
 * for something else, thread_controller.c has one. */
static void excuse(struct aspx_chief *chief, double now,
                   const struct aspx_demand *demand)
{
    double share;

    if (chief->heard || chief->excused)
        return;
    aspx_demand_add(&chief->silent, demand);
    if (now - chief->begin_s < SILENT_S)
        return;
    chief->excused = true;
    if (chief->messages.mode != ASPX_MESSAGES_AUTO ||
        !aspx_messages_matter(&chief->silent, &share))
        say(chief, now, ASPX_DECIDED_NOTHING,
            "no one-sided operation to judge by in the first %.0f s", SILENT_S);
}

void aspx_chief_round(struct aspx_chief *chief, double now,
                      const struct aspx_demand *demand)
{
    double ops = aspx_demand_ops(demand);

    aspx_cost_learn(&chief->cost, demand);
    chief->heard |= ops > 0;
    if (chief->state == ASPX_CHIEF_TRIAL) {
        double seconds = demand->users > 0 ? demand->user_s / demand->users : 0;

        if (aspx_trial_slice(&chief->trial, seconds, ops, demand->redirected) !=
            ASPX_TRIAL_GOES_ON)
            end_trial(chief, now);
        return;
    }
    excuse(chief, now, demand);
    aspx_messages_round(&chief->messages, now, demand, &chief->decisions,
                        chief->begin_s);
    if (ops == 0)
        return;
    if (chief->state == ASPX_CHIEF_HOLD) {
        compare(chief, now, demand);
        return;
    }
    aspx_demand_add(&chief->listened, demand);
    if (++chief->rounds < LISTEN_ROUNDS ||
        aspx_demand_ops(&chief->listened) < OPS_LEAST)
        return;
    /* Counts were added up, too. */
    chief->listened.users = demand->users;
    chief->listened.ghosts = demand->ghosts;
    weigh(chief, now);
}
