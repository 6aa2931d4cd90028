/* SPDX-License-Identifier: BSD-3-Clause */
/* See watchdog.h. Every user rank has a watchdog of its own rather than one per
 * node: a rank that must end can always end itself, and no watchdog has to be
 * elected anew when a rank ends. It costs one wake-up per second, in which a
 * word is read for each ghost; no other system call while the ghosts move. It
 * keeps no descriptor: a program may close those that it does not know, and
 * open its own files under their numbers.
 *
 * Time is counted in rounds of this thread, not by a clock: when a whole step
 * is suspended its watchdogs are too, and nothing seems to have happened.
 *
 * A ghost that moves bumps its beat (casper/arena/heartbeat.h). One that does
 * not but uses CPU time is at work on something large, and is only told of.
 * Where there is no beat to see, before the engine is up, after it has gone, or
 * without an arena, being stopped is what counts: a ghost may well wait there,
 * for ranks that are late.
 *
 * The thread blocks all signals: it must never run a handler of the program. */
#include "config.h"

#include "watchdog.h"

#include "diagnosis.h"

#include "runtime/base/await.h"
#include "runtime/base/log.h"
#include "runtime/mpi/build.h"
#include "runtime/mpi/real.h"
#include "runtime/world/job_end.h"
#include "runtime/world/manager.h"
#include "runtime/world/board.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LIMIT_MIN_S = 2,   /* above the longest nap of a ghost, a second */
    WARN_MIN_S = 2,    /* likewise: a nap may outlast one round */
    JOIN_REPORT_S = 6, /* for world/join.c, to name missing ranks */
    KILL_S = 5,        /* for a killed ghost, to be gone */
    LEFT_S = 10,       /* for the launcher, to end a job that a rank has left */
    WATCHDOG_STACK = 128 * 1024, /* bytes; a report takes 8 KiB of it */
};

/* The phases of a job; a thread runs in each but STOPPED.
 *
 *   STOPPED --start--> INIT --joining--> JOINING --serving--> SERVING
 *   SERVING --leaving--> LEAVING --finish--> FINISHED (the thread ends)
 *   any --stop--> STOPPED */
enum phase { INIT, JOINING, SERVING, LEAVING, FINISHED, STOPPED };

struct ghost {
    struct aspx_diagnosis diagnosis;
    const struct asp_board_slot *slot; /* NULL without a board */
    _Atomic uint32_t *reported;        /* NULL: everybody tells */
    uint32_t beat;
    unsigned report_s; /* tell of it when it has been still for so long */
    bool slow;         /* and we told */
    bool gone;         /* its process has ended */
};

static struct {
    pthread_t thread;
    bool running;
    _Atomic uint32_t phase; /* enum phase */
    struct aspx_event phase_set;
    unsigned phase_s;               /* how long it has lasted */
    unsigned report_phase_s;        /* tell of it then */
    unsigned left_s;                /* how long a rank has left the job */
    unsigned limit_s, join_limit_s; /* 0: none */
    char node[ASP_NAME_MAX];
    struct ghost *ghosts;
    uint32_t nghosts;
} watchdog = {.phase = STOPPED, .phase_set.kind = ASPX_EVENT_BOTH_FENCE};

/* What follows from the death of a ghost. */
static const char *const follows[] = {
    [INIT] = "MPI_Init cannot complete, so the job ends",
    [JOINING] = "MPI_Init cannot complete, so the job ends",
    [SERVING] = ("operations on windows it serves cannot complete, so the job "
                 "ends"),
    [LEAVING] = "MPI_Finalize cannot complete, so the job ends",
    [FINISHED] = "the program had finished by then",
    [STOPPED] = "so the job ends",
};

/* Returns true in one of the watchdogs of the node. */
static bool may_report(const struct ghost *ghost, uint32_t what)
{
    return !ghost->reported || !(atomic_fetch_or(ghost->reported, what) & what);
}

static _Noreturn void end_job(bool reported)
{
    uint32_t phase = atomic_load(&watchdog.phase);
    bool in_mpi = phase == JOINING || phase == SERVING;

    /* MPI may also be so young that it has not met its manager. And mpiexec
     * drops what it has not yet passed on when a job is aborted. */
    if (!reported || !in_mpi)
        aspx_backoff_nap(ASPX_WAIT_OTHER_REPORTS);
    else
        aspx_backoff_nap(ASPX_WAIT_PASS_ON);
    aspx_job_end(in_mpi);
}

/* Is another process of the node in this state? */
static bool somebody_is(enum asp_board_state state)
{
    const struct asp_board *board = aspx_board();

    for (uint32_t i = 0; board && i < board->ntasks; i++)
        if (atomic_load(&board->slots[i].state) == (uint32_t) state)
            return true;
    return false;
}

/* Ghosts go before the launcher kills the others. */
static bool job_was_left(void)
{
    const struct asp_board *board = aspx_board();

    return board && board->launcher == ASP_LAUNCHER_KILLS &&
           somebody_is(ASP_TASK_LEFT);
}

static bool left_on_purpose(const struct ghost *ghost)
{
    return (ghost->diagnosis.heartbeat &&
            atomic_load(&ghost->diagnosis.heartbeat->doing) == ASPX_GONE) ||
           (ghost->slot &&
            atomic_load(&ghost->slot->state) == ASP_TASK_FINALIZED) ||
           somebody_is(ASP_TASK_ABORTING) || job_was_left();
}

static void ghost_ended(struct ghost *ghost, uint32_t phase)
{
    bool report;

    ghost->gone = true;
    if (left_on_purpose(ghost))
        return;
    report = may_report(ghost, ASPX_REPORTED_LOST);
    if (report)
        aspx_diagnosis_report_died(&ghost->diagnosis, follows[phase]);
    if (phase != FINISHED)
        end_job(report);
}

/* Ghosts that the board told of before they ran. */
static void find_on_board(void)
{
    for (uint32_t i = 0; i < watchdog.nghosts; i++) {
        struct ghost *ghost = &watchdog.ghosts[i];

        if (ghost->diagnosis.process.pid == 0 && ghost->slot)
            aspx_process_know(&ghost->diagnosis.process,
                              atomic_load(&ghost->slot->pid));
    }
}

static bool has_beat(struct ghost *ghost, uint32_t phase)
{
    uint32_t beat;

    if (phase != SERVING || !ghost->diagnosis.heartbeat)
        return false;
    beat = atomic_load_explicit(&ghost->diagnosis.heartbeat->beat,
                                memory_order_relaxed);
    if (beat == ghost->beat)
        return false;
    ghost->beat = beat;
    return true;
}

static unsigned first_report_s(void)
{
    unsigned half_s = watchdog.limit_s / 2;

    return half_s > WARN_MIN_S ? half_s : WARN_MIN_S;
}

static void ghost_recovered(struct ghost *ghost)
{
    ghost->diagnosis.still_s = ghost->diagnosis.idle_s = 0;
    ghost->report_s = first_report_s();
    if (!ghost->slow)
        return;
    ghost->slow = false;
    if (ghost->reported)
        atomic_fetch_and(ghost->reported, ~(uint32_t) ASPX_REPORTED_SLOW);
    aspx_diagnosis_report_moving(&ghost->diagnosis);
}

/* The same watchdog tells all of it. */
static void warn_of_ghost(struct ghost *ghost, uint32_t phase)
{
    const struct aspx_diagnosis *diagnosis = &ghost->diagnosis;
    char then[80] = "the job waits for it";

    ghost->report_s *= 2;
    ghost->slow = ghost->slow || may_report(ghost, ASPX_REPORTED_SLOW);
    if (!ghost->slow)
        return;
    if (diagnosis->idle_s > 0)
        snprintf(then, sizeof(then), "%s in %u s if it stays so",
                 phase == FINISHED ? "it is killed" : "the job ends",
                 watchdog.limit_s - diagnosis->idle_s);
    aspx_diagnosis_report_stalled(diagnosis, then);
}

static void ghost_lost(struct ghost *ghost, uint32_t phase)
{
    bool report = may_report(ghost, ASPX_REPORTED_LOST);

    if (phase != FINISHED) {
        if (report)
            aspx_diagnosis_report_stalled(&ghost->diagnosis, "the job ends");
        end_job(report);
    }
    /* Nobody needs it any more, and the step would wait for it. */
    if (report)
        aspx_diagnosis_report_stalled(&ghost->diagnosis,
                                      "the program has finished, "
                                      "so the ghost is killed");
    (void) kill(ghost->diagnosis.process.pid, SIGKILL);
}

static void check_ghost(struct ghost *ghost, uint32_t phase)
{
    struct aspx_diagnosis *diagnosis = &ghost->diagnosis;
    bool overdue = phase == FINISHED &&
                   watchdog.phase_s >= 2 * watchdog.limit_s;
    bool serving = phase == SERVING && diagnosis->heartbeat;
    struct aspx_process_look look;

    if (diagnosis->process.pid == 0 || ghost->gone)
        return;
    if (has_beat(ghost, phase)) {
        ghost_recovered(ghost);
        return;
    }
    look = aspx_process_look(&diagnosis->process);
    if (look.ended) {
        ghost_ended(ghost, phase);
    } else if (!serving && !aspx_diagnosis_stopped(look.state) && !overdue) {
        ghost_recovered(ghost);
    } else if (watchdog.limit_s > 0) {
        aspx_diagnosis_update(diagnosis, &look, serving);
        if (overdue || diagnosis->idle_s >= watchdog.limit_s)
            ghost_lost(ghost, phase);
        else if (diagnosis->still_s >= ghost->report_s)
            warn_of_ghost(ghost, phase);
    }
}

/* What is to be done about a phase that lasts, where no ghost of this node is
 * to be seen as the cause. */
__attribute__((format(printf, 1, 2))) static void report_phase(
    const char *format, ...)
{
    char what[512];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    aspx_log(ASPX_LOG_ERROR, "node %s: %s", watchdog.node, what);
}

/* In MPI's own MPI_Init. A rank may come late; but nodes whose MPI differs wait
 * for ever, so each names its own. */
static void check_starting(void)
{
    char path[PATH_MAX];

    if (watchdog.phase_s < watchdog.report_phase_s)
        return;
    watchdog.report_phase_s *= 2;
    if (aspx_real_path(path) != 0)
        strcpy(path, "?");
    if (watchdog.nghosts == 0 ||
        may_report(&watchdog.ghosts[0], ASPX_REPORTED_STARTING))
        report_phase("MPI_Init has lasted %u s: a rank has not called it yet, "
                     "or processes do not reach each other; the job waits. MPI "
                     "is %.200s here (%.20s)",
                     watchdog.phase_s, path, aspx_mpi_build());
}

/* All ranks are in MPI_Init, in code of ours, and yet it does not go on. */
static void check_joining(void)
{
    if (watchdog.join_limit_s == 0 || watchdog.phase_s < watchdog.join_limit_s)
        return;
    if (watchdog.nghosts > 0 &&
        !may_report(&watchdog.ghosts[0], ASPX_REPORTED_LOST))
        end_job(false);
    report_phase(
        "ghosts and ranks did not start MPI together within %u s (knob "
        "init.timeout_s); a process on this node or another is stopped "
        "or stuck, so the job ends",
        watchdog.join_limit_s);
    end_job(true);
}

/* A rank may be in a callback of the program's for as long as it likes. */
static void check_leaving(void)
{
    if (watchdog.limit_s == 0 || watchdog.phase_s < watchdog.report_phase_s)
        return;
    watchdog.report_phase_s *= 2;
    if (watchdog.nghosts == 0 ||
        may_report(&watchdog.ghosts[0], ASPX_REPORTED_LEAVING))
        report_phase("MPI_Finalize has lasted %u s; a rank runs a delete "
                     "callback of the program, or a process on another node is "
                     "stopped or stuck; the job waits for it",
                     watchdog.phase_s);
}

/* Not all launchers end the job then, nor always. */
static void check_left(uint32_t phase)
{
    if (phase > LEAVING || !job_was_left() || ++watchdog.left_s < LEFT_S)
        return;
    report_phase("a rank has exited without MPI_Finalize, and the ghosts went "
                 "with it, so the job ends");
    end_job(true);
}

static void run_round(uint32_t phase)
{
    watchdog.phase_s++;
    find_on_board();
    for (uint32_t i = 0; i < watchdog.nghosts; i++)
        check_ghost(&watchdog.ghosts[i], phase);
    if (phase == INIT)
        check_starting();
    if (phase == JOINING)
        check_joining();
    if (phase == LEAVING)
        check_leaving();
    check_left(phase);
}

static bool all_gone(void)
{
    for (uint32_t i = 0; i < watchdog.nghosts; i++)
        if (watchdog.ghosts[i].diagnosis.process.pid &&
            !watchdog.ghosts[i].gone)
            return false;
    return true;
}

static void find_ended(void)
{
    for (uint32_t i = 0; i < watchdog.nghosts; i++) {
        struct ghost *ghost = &watchdog.ghosts[i];

        if (ghost->diagnosis.process.pid && !ghost->gone &&
            aspx_process_look(&ghost->diagnosis.process).ended)
            ghost_ended(ghost, FINISHED);
    }
}

/* MPI is finalized: the ghosts are about to be gone. Short waits, of which
 * those that make up a second are a round. */
static void await_ghosts_gone(void)
{
    struct aspx_backoff backoff = {0};
    uint32_t passed_us = 0;

    watchdog.phase_s = 0;
    while (watchdog.limit_s > 0 &&
           watchdog.phase_s <= 2 * watchdog.limit_s + KILL_S) {
        find_ended();
        if (all_gone())
            return;
        passed_us += aspx_backoff_sleep(
            &backoff, &aspx_wait_table[ASPX_WAIT_PROCESS_ENDS]);
        if (passed_us >= aspx_wait_table[ASPX_WAIT_WATCHDOG].max_us) {
            run_round(FINISHED);
            passed_us = 0;
        }
    }
}

static bool is_over(void *phase)
{
    return atomic_load(&watchdog.phase) != *(const uint32_t *) phase;
}

/* Until there is another phase, or a round is over. */
static void await_phase(uint32_t phase)
{
    (void) aspx_await_once(&watchdog.phase_set,
                           aspx_wait_table[ASPX_WAIT_WATCHDOG].max_us, is_over,
                           &phase);
}

static void *run_watchdog(void *unused)
{
    uint32_t phase = atomic_load(&watchdog.phase);

    while (phase < FINISHED) {
        uint32_t now;

        await_phase(phase);
        now = atomic_load(&watchdog.phase);
        if (now == phase) {
            run_round(phase);
        } else {
            watchdog.phase_s = 0;
            watchdog.report_phase_s = 2 * watchdog.limit_s;
        }
        phase = now;
    }
    if (phase == FINISHED)
        await_ghosts_gone();
    return unused;
}

static void run_thread(void)
{
    pthread_attr_t attr;
    sigset_t all, old;

    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, WATCHDOG_STACK);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    watchdog.running = pthread_create(&watchdog.thread, &attr, run_watchdog,
                                      NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    if (watchdog.running)
        pthread_setname_np(watchdog.thread, "aspen-guard");
}

static void set_phase(enum phase phase)
{
    atomic_store(&watchdog.phase, phase);
    aspx_event_notify(&watchdog.phase_set);
}

static void join_thread(void)
{
    if (watchdog.running)
        pthread_join(watchdog.thread, NULL);
    watchdog.running = false;
}

static int make_room(uint32_t nghosts)
{
    watchdog.ghosts = calloc(nghosts + 1, sizeof(*watchdog.ghosts));
    if (!watchdog.ghosts)
        return -1;
    watchdog.nghosts = nghosts;
    for (uint32_t i = 0; i < nghosts; i++) {
        watchdog.ghosts[i].diagnosis.node = watchdog.node;
        watchdog.ghosts[i].diagnosis.rank = -1;
        watchdog.ghosts[i].report_s = first_report_s();
    }
    return 0;
}

static void drop_room(void)
{
    free(watchdog.ghosts);
    watchdog.ghosts = NULL;
    watchdog.nghosts = 0;
}

static void name_node(const struct asp_layout *layout)
{
    const char *name = layout->nodes ? layout->nodes[layout->node].name : "";

    if (*name)
        snprintf(watchdog.node, sizeof(watchdog.node), "%s", name);
    else if (gethostname(watchdog.node, sizeof(watchdog.node) - 1) != 0)
        strcpy(watchdog.node, "?");
}

void aspx_watchdog_start(const struct asp_layout *layout)
{
    struct asp_board *board = aspx_board();

    watchdog.limit_s = (unsigned) layout->knobs.ghost_timeout_s;
    if (watchdog.limit_s == 1)
        watchdog.limit_s = LIMIT_MIN_S;
    watchdog.join_limit_s = 2 * (unsigned) layout->knobs.init_timeout_s +
                            JOIN_REPORT_S;
    watchdog.report_phase_s = (unsigned) layout->knobs.init_timeout_s;
    name_node(layout);
    aspx_manager_note_socket();
    if (make_room(layout->ghosts_per_node) != 0)
        return;
    for (uint32_t i = 0; board && i < watchdog.nghosts; i++) {
        uint32_t task = layout->ntasks - watchdog.nghosts + i;
        struct asp_board_slot *slot = &board->slots[task];
        uint32_t rank = layout->tasks[task].rank_world;

        watchdog.ghosts[i].slot = slot;
        watchdog.ghosts[i].reported = &slot->reported;
        if (rank != ASP_RANK_NONE)
            watchdog.ghosts[i].diagnosis.rank = (int) rank;
    }
    set_phase(INIT);
    run_thread();
}

void aspx_watchdog_joining(void)
{
    set_phase(JOINING);
}

/* In a container of its own, a user sees other pids than its ghosts do, and
 * cannot open their arena either. */
static bool same_pids(const struct aspx_engine *engine, int ghost)
{
    return engine->arena.doorbells || !engine->arena_addr[ghost];
}

/* Now that pid, rank and doorbell of each ghost are known. */
static void learn_ghost(const struct aspx_engine *engine, uint32_t i, int rank)
{
    const struct aspx_doorbell *doorbell = aspx_engine_doorbell(
        engine, (uint32_t) rank);
    struct ghost *ghost = &watchdog.ghosts[i];

    ghost->diagnosis.rank = rank;
    if (doorbell)
        ghost->diagnosis.heartbeat = aspx_heartbeat_map(doorbell);
    if (!ghost->reported && ghost->diagnosis.heartbeat)
        ghost->reported = &ghost->diagnosis.heartbeat->reported;
    if (ghost->diagnosis.process.pid == 0 && same_pids(engine, rank))
        aspx_process_know(&ghost->diagnosis.process, engine->pids[rank]);
}

void aspx_watchdog_serving(const struct aspx_engine *engine)
{
    const struct aspx_world *world = engine->world;
    uint32_t i = 0;

    if (!watchdog.ghosts)
        return;
    set_phase(STOPPED);
    join_thread();
    for (int r = 0; r < world->size_all && i < watchdog.nghosts; r++)
        if (world->peers[r].node == world->node &&
            world->peers[r].role == ASP_ROLE_GHOST)
            learn_ghost(engine, i++, r);
    set_phase(SERVING);
    watchdog.phase_s = 0;
    run_thread();
}

void aspx_watchdog_leaving(void)
{
    set_phase(LEAVING);
}

void aspx_watchdog_finish(void)
{
    set_phase(FINISHED);
    join_thread();
    drop_room();
}

void aspx_watchdog_stop(void)
{
    set_phase(STOPPED);
    join_thread();
    drop_room();
}
