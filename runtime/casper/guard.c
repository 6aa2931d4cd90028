/* SPDX-License-Identifier: BSD-3-Clause */
/* See guard.h. Every user rank has a guard of its own rather than one per
 * node: a rank that must end can always end itself, and no guard has to be
 * elected anew when a rank ends. It costs one wake-up per second, in which a
 * word is read for each ghost; no system call while the ghosts move.
 *
 * Time is counted in rounds of this thread, not by a clock: when a whole step
 * is suspended its guards are too, and nothing seems to have happened.
 *
 * A ghost that moves bumps its beat (life.h). Where there is no beat to see,
 * before the engine is up, after it has gone, or without an arena, being
 * stopped is what counts: a ghost may well wait there, for ranks that are late.
 *
 * The thread blocks all signals: it must never run a handler of the program. */
#include "config.h"

#include "guard.h"

#include "suspect.h"

#include "runtime/job_end.h"
#include "runtime/start.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    ROUND_MS = 1000,
    LIMIT_S = 60, /* defaults of ghost.timeout_s and init.timeout_s */
    LIMIT_MIN_S = 2, /* the longest nap is a second */
    TELL_S = 1, /* what the guard that speaks gets before the others act */
    PASS_ON_US = 100000, /* and the launcher, to pass on what it said */
    ROLL_S = 6, /* what join.c needs to say who is missing, and more */
    KILL_S = 5, /* what a killed ghost gets to be gone */
    GUARD_STACK = 128 * 1024,
};

enum phase { INIT, JOINING, SERVING, LEAVING, FINISHED, STOPPED };

struct ghost {
    struct aspx_suspect suspect;
    const struct asp_board_slot *slot; /* NULL without a board */
    _Atomic uint32_t *told;            /* NULL: everybody tells */
    uint32_t beat;
    bool slow; /* and we told */
};

static struct {
    pthread_t thread;
    bool running;
    _Atomic int phase;   /* enum phase */
    unsigned phase_s;    /* how long it has lasted */
    unsigned limit_s, join_limit_s; /* 0: none */
    char node[ASP_NAME_MAX];
    struct ghost *ghosts;
    struct pollfd *fds;  /* [0] wakes us, [1 + i] is of ghosts[i] */
    uint32_t nghosts;
} guard = {.phase = STOPPED};

/* What follows from the death of a ghost. */
static const char *const follows[] = {
    [INIT] = "MPI_Init cannot complete, so the job ends",
    [JOINING] = "MPI_Init cannot complete, so the job ends",
    [SERVING] = "operations on windows it serves cannot complete, so the job "
                "ends",
    [LEAVING] = "MPI_Finalize cannot complete, so the job ends",
    [FINISHED] = "the program had finished by then",
    [STOPPED] = "so the job ends",
};

/* Returns true in one of the guards of the node. */
static bool may_tell(const struct ghost *ghost, uint32_t what)
{
    return !ghost->told || !(atomic_fetch_or(ghost->told, what) & what);
}

static _Noreturn void end_job(bool told)
{
    int phase = atomic_load(&guard.phase);
    bool in_mpi = phase == JOINING || phase == SERVING;

    /* MPI may also be so young that it has not met its manager. And mpiexec
     * drops what it has not yet passed on when a job is aborted. */
    if (!told || !in_mpi)
        sleep(TELL_S);
    else
        usleep(PASS_ON_US);
    aspx_job_end(in_mpi);
}

/* Another process of the node may have called MPI_Abort. */
static bool aborting(void)
{
    const struct asp_board *board = aspx_board();

    for (uint32_t i = 0; board && i < board->ntasks; i++)
        if (atomic_load(&board->slots[i].state) == ASP_TASK_ABORTING)
            return true;
    return false;
}

static bool left_on_purpose(const struct ghost *ghost)
{
    return (ghost->suspect.life &&
            atomic_load(&ghost->suspect.life->doing) == ASPX_GONE) ||
           (ghost->slot &&
            atomic_load(&ghost->slot->state) == ASP_TASK_FINALIZED) ||
           aborting();
}

static void ended(uint32_t i)
{
    struct ghost *ghost = &guard.ghosts[i];
    int phase = atomic_load(&guard.phase);
    bool tell;

    if (guard.fds[1 + i].fd >= 0)
        close(guard.fds[1 + i].fd);
    guard.fds[1 + i].fd = -1;
    if (left_on_purpose(ghost))
        return;
    tell = may_tell(ghost, ASPX_TOLD_LOST);
    if (tell)
        aspx_suspect_tell_died(&ghost->suspect, follows[phase]);
    if (phase != FINISHED)
        end_job(tell);
}

/* Ghosts that the board told of before they ran. */
static void find_on_board(void)
{
    for (uint32_t i = 0; i < guard.nghosts; i++) {
        struct ghost *ghost = &guard.ghosts[i];

        if (ghost->suspect.pid != 0 || !ghost->slot)
            continue;
        ghost->suspect.pid = atomic_load(&ghost->slot->pid);
        if (ghost->suspect.pid == 0)
            continue;
        guard.fds[1 + i].fd = (int) syscall(SYS_pidfd_open,
                                            ghost->suspect.pid, 0);
        if (guard.fds[1 + i].fd < 0 && errno == ESRCH)
            ended(i);
    }
}

static bool moved(struct ghost *ghost, int phase)
{
    uint32_t beat;

    if (phase != SERVING || !ghost->suspect.life)
        return !aspx_suspect_stopped(ghost->suspect.pid);
    beat = atomic_load_explicit(&ghost->suspect.life->beat,
                                memory_order_relaxed);
    if (beat == ghost->beat)
        return false;
    ghost->beat = beat;
    return true;
}

static void recovered(struct ghost *ghost)
{
    ghost->suspect.stalled_s = 0;
    if (!ghost->slow)
        return;
    ghost->slow = false;
    if (ghost->told)
        atomic_fetch_and(ghost->told, ~(uint32_t) ASPX_TOLD_SLOW);
    aspx_suspect_tell_moving(&ghost->suspect);
}

static void warn(struct ghost *ghost, int phase)
{
    char then[80];

    ghost->slow = may_tell(ghost, ASPX_TOLD_SLOW);
    if (!ghost->slow)
        return;
    snprintf(then, sizeof(then), "%s in %u s if it stays so",
             phase == FINISHED ? "it is killed" : "the job ends",
             guard.limit_s - ghost->suspect.stalled_s);
    aspx_suspect_tell_stalled(&ghost->suspect, then);
}

static void lost(uint32_t i, int phase)
{
    struct ghost *ghost = &guard.ghosts[i];
    bool tell = may_tell(ghost, ASPX_TOLD_LOST);

    if (phase != FINISHED) {
        if (tell)
            aspx_suspect_tell_stalled(&ghost->suspect, "the job ends");
        end_job(tell);
    }
    /* Nobody needs it any more, and the step would wait for it. */
    if (tell)
        aspx_suspect_tell_stalled(&ghost->suspect, "the program has finished, "
                                  "so the ghost is killed");
    (void) syscall(SYS_pidfd_send_signal, guard.fds[1 + i].fd, SIGKILL, NULL,
                   0);
}

static void look_at(uint32_t i, int phase)
{
    struct ghost *ghost = &guard.ghosts[i];
    struct aspx_suspect *suspect = &ghost->suspect;
    bool overdue = phase == FINISHED && guard.phase_s >= 2 * guard.limit_s;

    if (guard.fds[1 + i].fd < 0)
        return;
    if (moved(ghost, phase) && !overdue) {
        recovered(ghost);
        return;
    }
    if (suspect->stalled_s++ == 0)
        (void) aspx_suspect_state(suspect->pid, &suspect->cpu);
    if (overdue || suspect->stalled_s == guard.limit_s)
        lost(i, phase);
    else if (suspect->stalled_s == guard.limit_s / 2)
        warn(ghost, phase);
}

/* All ranks are where ours is, and yet it does not go on. Where no ghost of
 * this node is to be seen as the cause, it is on another. */
static void check_phase(int phase)
{
    unsigned limit = phase == JOINING ? guard.join_limit_s : 2 * guard.limit_s;
    char text[512];
    int n;

    if ((phase != JOINING && phase != LEAVING) || limit == 0 ||
        guard.phase_s < limit)
        return;
    if (guard.nghosts > 0 && !may_tell(&guard.ghosts[0], ASPX_TOLD_LOST))
        end_job(false);
    n = snprintf(text, sizeof(text),
                 "aspen: node %s: ghosts and ranks did not %s MPI together "
                 "within %u s (knob %s); a process on this node or another "
                 "is stopped or stuck, so the job ends\n", guard.node,
                 phase == JOINING ? "start" : "leave", limit,
                 phase == JOINING ? "init.timeout_s" : "ghost.timeout_s");
    if (n > 0 && write(STDERR_FILENO, text, (size_t) n) < 0)
        _exit(1);
    end_job(true);
}

/* Every second, if anything has to be counted. */
static void round_of_guard(int phase)
{
    guard.phase_s++;
    find_on_board();
    for (uint32_t i = 0; guard.limit_s > 0 && i < guard.nghosts; i++)
        look_at(i, phase);
    check_phase(phase);
}

static bool must_count(int phase)
{
    if (guard.limit_s > 0 || (phase == JOINING && guard.join_limit_s > 0))
        return true;
    for (uint32_t i = 0; i < guard.nghosts; i++)
        if (guard.ghosts[i].suspect.pid == 0)
            return true;
    return false;
}

/* Returns true when there is nothing more to watch. */
static bool finished(int phase)
{
    if (phase != FINISHED || guard.limit_s == 0)
        return phase >= FINISHED;
    if (guard.phase_s > 2 * guard.limit_s + KILL_S)
        return true;
    for (uint32_t i = 0; i < guard.nghosts; i++)
        if (guard.fds[1 + i].fd >= 0)
            return false;
    return true;
}

static void *watch(void *unused)
{
    int phase = atomic_load(&guard.phase), before = phase;

    find_on_board();
    while (!finished(phase)) {
        int ready = poll(guard.fds, 1 + guard.nghosts,
                         must_count(phase) ? ROUND_MS : -1);
        uint64_t count;

        if (ready < 0 && errno != EINTR)
            break;
        if (ready > 0 && guard.fds[0].revents &&
            read(guard.fds[0].fd, &count, sizeof(count)) < 0)
            break;
        phase = atomic_load(&guard.phase);
        if (phase != before)
            guard.phase_s = 0;
        before = phase;
        for (uint32_t i = 0; ready > 0 && i < guard.nghosts; i++)
            if (guard.fds[1 + i].fd >= 0 && guard.fds[1 + i].revents)
                ended(i);
        if (ready == 0)
            round_of_guard(phase);
    }
    return unused;
}

static void run_thread(void)
{
    pthread_attr_t attr;
    sigset_t all, old;

    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, GUARD_STACK);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    guard.running = pthread_create(&guard.thread, &attr, watch, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    if (guard.running)
        pthread_setname_np(guard.thread, "aspen-guard");
}

static void set_phase(enum phase phase)
{
    const uint64_t one = 1;

    atomic_store(&guard.phase, phase);
    if (guard.running && write(guard.fds[0].fd, &one, sizeof(one)) < 0)
        return;
}

static void join_thread(void)
{
    if (guard.running)
        pthread_join(guard.thread, NULL);
    guard.running = false;
}

static unsigned knob(const struct asp_layout *layout, const char *name)
{
    const char *text = asp_layout_knob(layout, name, NULL);

    return text && *text ? (unsigned) strtoul(text, NULL, 10) : LIMIT_S;
}

static int make_room(uint32_t nghosts)
{
    guard.ghosts = calloc(nghosts + 1, sizeof(*guard.ghosts));
    guard.fds = calloc(nghosts + 1, sizeof(*guard.fds));
    if (!guard.ghosts || !guard.fds)
        return -1;
    guard.fds[0] = (struct pollfd) {eventfd(0, EFD_CLOEXEC), POLLIN, 0};
    guard.nghosts = nghosts;
    for (uint32_t i = 0; i < nghosts; i++) {
        guard.fds[1 + i] = (struct pollfd) {-1, POLLIN, 0};
        guard.ghosts[i].suspect.node = guard.node;
        guard.ghosts[i].suspect.rank = -1;
    }
    return guard.fds[0].fd < 0 ? -1 : 0;
}

static void drop_room(void)
{
    for (uint32_t i = 0; guard.fds && i < 1 + guard.nghosts; i++)
        if (guard.fds[i].fd >= 0)
            close(guard.fds[i].fd);
    free(guard.fds);
    free(guard.ghosts);
    guard.fds = NULL;
    guard.ghosts = NULL;
    guard.nghosts = 0;
}

static void name_node(const struct asp_layout *layout)
{
    const char *name = layout->nodes ? layout->nodes[layout->node].name : "";

    if (*name)
        snprintf(guard.node, sizeof(guard.node), "%s", name);
    else if (gethostname(guard.node, sizeof(guard.node) - 1) != 0)
        strcpy(guard.node, "?");
}

void aspx_guard_start(const struct asp_layout *layout)
{
    struct asp_board *board = aspx_board();

    guard.limit_s = knob(layout, "ghost.timeout_s");
    if (guard.limit_s == 1)
        guard.limit_s = LIMIT_MIN_S;
    guard.join_limit_s = 2 * knob(layout, "init.timeout_s") + ROLL_S;
    name_node(layout);
    if (make_room(layout->ghosts_per_node) != 0) {
        drop_room();
        return;
    }
    for (uint32_t i = 0; board && i < guard.nghosts; i++) {
        uint32_t task = layout->ntasks - guard.nghosts + i;
        struct asp_board_slot *slot = &board->slots[task];
        uint32_t rank = layout->tasks[task].rank_world;

        guard.ghosts[i].slot = slot;
        guard.ghosts[i].told = &slot->told;
        if (rank != ASP_RANK_NONE)
            guard.ghosts[i].suspect.rank = (int) rank;
    }
    set_phase(INIT);
    run_thread();
}

void aspx_guard_joining(void)
{
    set_phase(JOINING);
}

/* In a container of its own, a user sees other pids than its ghosts do, and
 * cannot open their arena either. */
static bool same_pids(const struct aspx_engine *engine, int ghost)
{
    return engine->arena.bells || !engine->arena_addr[ghost];
}

/* Now that pid, rank and bell of each ghost are known. */
static void meet(const struct aspx_engine *engine, uint32_t i, int rank)
{
    const struct aspx_bell *bell = aspx_engine_bell(engine, (uint32_t) rank);
    struct ghost *ghost = &guard.ghosts[i];

    ghost->suspect.rank = rank;
    if (bell)
        ghost->suspect.life = aspx_life_map(bell);
    if (!ghost->told && ghost->suspect.life)
        ghost->told = &ghost->suspect.life->told;
    if (guard.fds[1 + i].fd >= 0 || !same_pids(engine, rank))
        return;
    ghost->suspect.pid = engine->pids[rank];
    guard.fds[1 + i].fd = (int) syscall(SYS_pidfd_open, ghost->suspect.pid, 0);
    if (guard.fds[1 + i].fd < 0 && errno == ESRCH)
        ended(i);
}

void aspx_guard_serving(const struct aspx_engine *engine)
{
    const struct aspx_world *world = engine->world;
    uint32_t i = 0;

    if (!guard.fds)
        return;
    set_phase(STOPPED);
    join_thread();
    for (int r = 0; r < world->size_all && i < guard.nghosts; r++)
        if (world->peers[r].node == world->node &&
            world->peers[r].role == ASP_ROLE_GHOST)
            meet(engine, i++, r);
    set_phase(SERVING);
    guard.phase_s = 0;
    run_thread();
}

void aspx_guard_leaving(void)
{
    set_phase(LEAVING);
}

void aspx_guard_finish(void)
{
    set_phase(FINISHED);
    join_thread();
    drop_room();
}

void aspx_guard_stop(void)
{
    set_phase(STOPPED);
    join_thread();
    drop_room();
}
