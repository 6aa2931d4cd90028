/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules are few and each uses one number of the record, so that a user can
 * follow them (docs/manual.md):
 *   no call on a window, no message by ghosts
 *                           ghosts had nothing to do: the same again if progress
 *                           threads beside them helped, or an offload thread,
 *                           or nothing where nobody waited
 *   ghosts busy over 70 %   one more on each node, where it has room
 *   ghosts busy below 10 %  one less, if there is one to spare
 *   nothing posted, nobody waited; nothing watched   off
 *   mode off                a helper for what was waited for, if anything
 *   else                    the same again */
#include "config.h"

#include "advice.h"

#include "mpi_build.h"
#include "tools/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const double BUSY = 0.70, IDLE = 0.10, WAITED = 0.02;

static uint64_t users_of_node(const struct aspt_record *record)
{
    uint64_t users = 0;

    for (size_t t = 0; t < record->ntasks; t++)
        users += !record->tasks[t].ghost;
    return users;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool is_same(const struct aspt_record *record,
                    const struct asp_facts *facts, struct asp_advice *advice)
{
    const char *name = facts->program ? last_part(facts->program) : NULL;
    uint64_t users = users_of_node(record);
    char build[ASP_BUILD_MAX];

    if (name && strcmp(name, record->program) != 0)
        snprintf(advice->why, sizeof(advice->why), "it is of %.40s, not %.40s",
                 record->program, name);
    else if (facts->nodes && facts->nodes != record->nodes)
        snprintf(advice->why, sizeof(advice->why),
                 "it is of %" PRIu64 " nodes, not %" PRIu32, record->nodes,
                 facts->nodes);
    else if (facts->tasks_per_node && facts->tasks_per_node != users)
        snprintf(advice->why, sizeof(advice->why),
                 "it is of %" PRIu64 " task%s per node, not %" PRIu32, users,
                 users == 1 ? "" : "s", facts->tasks_per_node);
    else if (name && aspt_mpi_build(facts->program, build) == 0 &&
             asp_build_differs(build, record->mpi_build))
        snprintf(advice->why, sizeof(advice->why),
                 "it is of another build of MPI: %.24s..., here it is "
                 "%.24s...",
                 record->mpi_build, build);
    else
        return true;
    return false;
}

/* Share of the run that an average rank waited in MPI; 1 if not measured. */
static double waited(const struct aspt_record *record)
{
    double all = record->time.wall_s * (double) record->users;

    return record->has_time && all > 0 ? record->time.wait_s / all : 1;
}

static double busiest(const struct aspt_record *record)
{
    double most = 0;

    for (size_t g = 0; g < record->nbusy; g++) {
        const struct aspt_busy *busy = &record->busy[g];

        if (busy->held_s > 0 && busy->busy_s / busy->held_s > most)
            most = busy->busy_s / busy->held_s;
    }
    return most;
}

static void choose(struct asp_advice *advice, enum asp_mode mode,
                   const char *because, ...)
    __attribute__((format(printf, 3, 4)));

static void choose(struct asp_advice *advice, enum asp_mode mode,
                   const char *because, ...)
{
    va_list args;

    advice->mode = mode;
    va_start(args, because);
    vsnprintf(advice->why, sizeof(advice->why), because, args);
    va_end(args);
}

/* Was the last word of auto on messages that progress threads help? */
static bool threads_helped(const struct aspt_record *record)
{
    const struct aspt_adaptation *adaptation = &record->adaptation;

    for (size_t i = adaptation->ndecisions; i-- > 0;)
        if (strcmp(adaptation->decisions[i].to, "threads") == 0)
            return true;
        else if (strcmp(adaptation->decisions[i].to, "plain") == 0)
            return false;
    return false;
}

static void after_ghosts(const struct aspt_record *record,
                         const struct asp_facts *facts,
                         struct asp_advice *advice)
{
    uint64_t each = record->nodes ? record->ghosts / record->nodes : 0;
    double busy = busiest(record);

    if (!aspt_calls_sum(record) && !record->messages.sent) {
        if (threads_helped(record)) {
            advice->ghosts = each ? (uint32_t) each : 1;
            choose(advice, ASP_MODE_GHOST,
                   "last time it made no call on a "
                   "window, and progress threads helped its messages");
        } else if (waited(record) < WAITED)
            choose(advice, ASP_MODE_OFF,
                   "last time it made no call on a "
                   "window and waited %.1f %% of the time",
                   100 * waited(record));
        else
            choose(advice, ASP_MODE_OFFLOAD,
                   "last time it made no call on a "
                   "window and waited %.0f %% of the time",
                   100 * waited(record));
        return;
    }
    if (record->has_busy && busy > BUSY && !facts->no_more_ghosts)
        each++;
    else if (record->has_busy && busy < IDLE && each > 1)
        each--;
    advice->ghosts = each ? (uint32_t) each : 1;
    if (record->has_busy)
        choose(advice, ASP_MODE_GHOST,
               "last time the busiest ghost worked "
               "%.0f %% of the time%s",
               100 * busy,
               busy > BUSY && facts->no_more_ghosts
                   ? ", and one more has no room"
                   : "");
    else
        choose(advice, ASP_MODE_GHOST, "as last time");
}

/* Plain MPI, measured: is there something to do for a helper? */
static void after_off(const struct aspt_record *record,
                      struct asp_advice *advice)
{
    double all = aspt_ranks_s(record);
    double window = aspt_waited_s(record, ASP_ADVICE_GHOST);
    double message = aspt_waited_s(record, ASP_ADVICE_THREAD);

    advice->ghosts = 1;
    if (all > 0 && window >= ASP_ADVICE_LEAST * all)
        choose(advice, ASP_MODE_GHOST,
               "last time, without helpers, it waited "
               "%.0f %% of the time for windows",
               100 * window / all);
    else if (all > 0 && message >= ASP_ADVICE_LEAST * all)
        choose(advice, ASP_MODE_OFFLOAD,
               "last time, without helpers, it "
               "waited %.0f %% of the time for messages",
               100 * message / all);
    else
        choose(advice, ASP_MODE_OFF,
               "last time it waited little for windows "
               "or messages");
}

bool aspt_advise(const struct aspt_record *record,
                 const struct asp_facts *facts, struct asp_advice *advice)
{
    enum asp_mode mode = ASP_MODE_AUTO;
    bool rested = waited(record) < WAITED;

    *advice = (struct asp_advice){.mode = ASP_MODE_AUTO};
    if (!is_same(record, facts, advice))
        return false;
    snprintf(advice->build, sizeof(advice->build), "%s", record->mpi_build);
    (void) asp_mode_parse(record->mode, &mode);
    if (mode == ASP_MODE_GHOST)
        after_ghosts(record, facts, advice);
    else if (mode == ASP_MODE_OFF)
        after_off(record, advice);
    else if (mode == ASP_MODE_OFFLOAD && !record->offload.posted && rested)
        choose(advice, ASP_MODE_OFF,
               "last time it posted nothing and waited "
               "%.1f %% of the time",
               100 * waited(record));
    else if (mode == ASP_MODE_THREAD && !record->thread.watched)
        choose(advice, ASP_MODE_OFF,
               "last time no operation was large "
               "enough for the progress thread");
    else
        choose(advice, mode, "as last time");
    return true;
}

int aspt_advice_take(struct asp_policy *policy, const struct asp_facts *facts,
                     FILE *remarks, struct asp_err *err)
{
    const char *path = asp_policy_text(policy, ASP_KNOB_PROFILE);
    struct aspt_record *record = NULL;
    struct asp_advice advice;
    char text[ASP_ERR_TEXT_MAX + ASP_ERR_PLACE_MAX];
    struct asp_err why;
    int rc = 0;

    if (strcmp(path, "no") == 0 || !asp_policy_is_auto(policy) ||
        (access(path, F_OK) < 0 && errno == ENOENT))
        return 0;
    if (aspt_record_read(path, &record, &why) < 0) {
        fprintf(remarks, "the profile is left alone: %s\n",
                asp_err_print(&why, text, sizeof(text)));
        return 0;
    }
    if (aspt_advise(record, facts, &advice)) {
        asp_policy_advise(policy, &advice);
        rc = asp_policy_resolve(policy, facts, err);
    } else {
        fprintf(remarks, "the profile %.200s is left alone: %s\n", path,
                advice.why);
    }
    aspt_record_free(record);
    return rc;
}
