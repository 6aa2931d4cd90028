/* SPDX-License-Identifier: BSD-3-Clause */
/* The ghost's end of the board (common/board.h): users come, users go. The
 * pids on it are hints; pidfds say who is alive, and /proc where there are
 * none. */
#include "config.h"

#include "ghost.h"

#include "common/board.h"
#include "common/layout/layout.h"
#include "runtime/base/process.h"
#include "runtime/base/wait_table.h"
#include "runtime/world/manager.h"
#include "runtime/world/settings.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    /* Between two looks at programs that do not come, which grow rarer. */
    STRANGERS_FIRST_S = 1,
    STRANGERS_LAST_S = 64,
    /* The same under Slurm, in rounds of the watcher: what is found waits for
     * ever anyway. */
    STRANGERS_ROUNDS = 6,
    /* Bounds a wait for what is announced; nobody needs it. */
    ANNOUNCED_S = 60,
};

struct user {
    struct aspx_process process; /* pid 0: not started */
    bool ended;
    uint32_t hidden; /* looks in a row; await_users' own */
};

static struct asp_board *board;
static struct asp_board_settings *settings; /* NULL: the board has none */
static uint32_t nusers;
static struct user *users;
/* By user, then the parent's; -1: not started, ended, or no pidfd. */
static struct pollfd *fds;
static sigset_t blocked_signals; /* while the watcher waits */
static pid_t parent;
static atomic_bool in_mpi; /* or about to be */

static struct asp_board *map_board(void)
{
    const char *text = getenv(ASP_BOARD_FD_ENV);
    struct asp_board *map;
    struct stat st;
    size_t bytes;
    int fd;

    if (!text)
        return NULL;
    fd = (int) strtol(text, NULL, 10);
    if (fd < 3 || fstat(fd, &st) != 0 ||
        (size_t) st.st_size < asp_board_slots_bytes(1))
        return NULL;
    bytes = (size_t) st.st_size;
    map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return NULL;
    if (map->magic != ASP_BOARD_MAGIC || map->version != ASP_BOARD_VERSION ||
        map->ntasks > ASP_TASKS_MAX || map->nghosts >= map->ntasks ||
        asp_board_slots_bytes(map->ntasks) > bytes) {
        munmap(map, bytes);
        return NULL;
    }
    settings = asp_board_settings(map, bytes);
    return map;
}

static void forget(uint32_t i)
{
    if (fds[i].fd >= 0)
        close(fds[i].fd);
    fds[i].fd = -1;
}

/* That no pidfd can be had says nothing of the process, except ESRCH. */
static void meet(uint32_t i, int32_t pid)
{
    forget(i);
    aspx_process_know(&users[i].process, pid);
    fds[i].fd = (int) syscall(SYS_pidfd_open, pid, 0);
    users[i].ended = fds[i].fd < 0 && errno == ESRCH;
}

/* Follow the board: open who is new. Returns how many users may still live:
 * running, or not started yet. */
static uint32_t rescan(void)
{
    uint32_t alive = 0;

    for (uint32_t i = 0; i < nusers; i++) {
        int32_t pid = atomic_load(&board->slots[i].pid);
        struct user *user = &users[i];

        if (pid != user->process.pid)
            meet(i, pid);
        if (pid != 0 && !user->ended && fds[i].fd < 0)
            user->ended = aspx_process_look(&user->process).ended;
        alive += !user->ended;
    }
    return alive;
}

static void drop_ended(void)
{
    for (uint32_t i = 0; i < nusers; i++)
        if (fds[i].fd >= 0 && fds[i].revents) {
            forget(i);
            users[i].ended = true;
        }
}

static bool launcher_kills(void)
{
    return board->launcher == ASP_LAUNCHER_KILLS;
}

/* Does a user end the whole job? */
static bool job_ends(void)
{
    for (uint32_t i = 0; i < nusers; i++) {
        uint32_t state = atomic_load(&board->slots[i].state);

        if (state == ASP_TASK_ABORTING ||
            (state == ASP_TASK_LEFT && launcher_kills()))
            return true;
    }
    return false;
}

/* This process's place on the board, or NULL. */
static struct asp_board_slot *own_slot(void)
{
    int32_t self = (int32_t) getpid();

    for (uint32_t i = nusers; board && i < board->ntasks; i++)
        if (atomic_load(&board->slots[i].pid) == self)
            return &board->slots[i];
    return NULL;
}

void aspx_ghost_gone(void)
{
    struct asp_board_slot *slot = own_slot();

    aspx_heartbeat_set_doing(ASPX_GONE);
    if (slot)
        atomic_store(&slot->state, ASP_TASK_FINALIZED);
}

void aspx_ghost_parked(bool parked)
{
    struct asp_board_slot *slot = own_slot();

    if (slot && parked)
        atomic_fetch_or(&slot->reported, ASP_REPORTED_PARKED);
    else if (slot)
        atomic_fetch_and(&slot->reported, ~(uint32_t) ASP_REPORTED_PARKED);
}

static bool users_in_mpi(void)
{
    for (uint32_t i = 0; i < nusers; i++) {
        uint32_t state = atomic_load(&board->slots[i].state);

        if (state >= ASP_TASK_INIT && state <= ASP_TASK_FINALIZED)
            return true;
    }
    return false;
}

/* Under Slurm. One ghost of the node does it; who is found twice does not just
 * wait for an answer of Slurm's. */
static void look_for_strangers(void)
{
    static uint32_t rounds;
    static bool found;

    if (launcher_kills() || ++rounds % STRANGERS_ROUNDS != 0 ||
        users_in_mpi() ||
        atomic_load(&board->slots[nusers].pid) != (int32_t) getpid())
        return;
    found = aspx_ghost_strangers(found);
}

/* Will the watcher be woken by whatever may still come? Users end visibly, and
 * write on the board once they have loaded our library. */
static bool all_is_announced(void)
{
    for (uint32_t i = 0; i < nusers; i++)
        if (fds[i].fd < 0 && !users[i].ended)
            return false;
    return fds[nusers].fd >= 0 && users_in_mpi();
}

/* Until a user ends or writes on the board (aspx_board_say), or the parent
 * ends; with a bound. */
static void await_change(void)
{
    uint32_t us = aspx_wait_table[ASPX_WAIT_GHOST_BOARD].max_us;
    struct timespec limit = {us / 1000000, us % 1000000 * 1000};

    if (all_is_announced())
        limit.tv_sec = ANNOUNCED_S;
    if (ppoll(fds, nusers + 1, &limit, &blocked_signals) > 0)
        drop_ended();
}

/* Then the job has passed the last barrier, and the other thread with it. */
static bool users_finalized(void)
{
    for (uint32_t i = 0; i < nusers; i++)
        if (atomic_load(&board->slots[i].state) != ASP_TASK_FINALIZED)
            return false;
    return true;
}

/* The whole life of the process. Leaves with _exit(): the other thread may be
 * anywhere in MPI. mpiexec would take that for a failure and kill the others,
 * and one that it kills may hide the status of the program. */
static void *watch(void *unused)
{
    while (rescan() > 0 && !job_ends() && getppid() == parent) {
        await_change();
        look_for_strangers();
    }
    aspx_ghost_gone();
    if (launcher_kills() && users_finalized())
        aspx_manager_await_finalize();
    else if (launcher_kills() && atomic_load(&in_mpi))
        aspx_manager_leave();
    _exit(0);
    return unused;
}

static void ignore_signal(int number)
{
    (void) number;
}

/* All signals are blocked in the watcher, but for the board's while it waits;
 * that one is blocked in all other threads, which begin as this one is now. */
static bool start_watcher(void)
{
    struct sigaction action = {.sa_handler = ignore_signal};
    sigset_t others;
    pthread_t thread;
    bool started;

    sigfillset(&blocked_signals);
    pthread_sigmask(SIG_SETMASK, &blocked_signals, &others);
    sigdelset(&blocked_signals, ASP_BOARD_SIGNAL);
    sigaddset(&others, ASP_BOARD_SIGNAL);
    sigaction(ASP_BOARD_SIGNAL, &action, NULL);
    started = pthread_create(&thread, NULL, watch, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &others, NULL);
    return started;
}

bool aspx_ghost_watch(void)
{
    board = map_board();
    if (!board)
        return false;
    nusers = board->ntasks - board->nghosts;
    users = calloc(nusers, sizeof(*users));
    fds = calloc(nusers + 1, sizeof(*fds));
    if (!users || !fds)
        return false;
    aspx_manager_note_socket();
    for (uint32_t i = 0; i <= nusers; i++)
        fds[i] = (struct pollfd){-1, POLLIN, 0};
    parent = getppid();
    fds[nusers].fd = (int) syscall(SYS_pidfd_open, parent, 0);
    return start_watcher();
}

/* Something hidden counts when it is there at two looks in a row: a script may
 * have started something that ends soon. */
static bool is_lost(uint32_t i)
{
    static bool said;
    pid_t task = atomic_load(&board->slots[i].pid), pid;
    enum aspx_ghost_sight sight = ASPX_SIGHT_CLEAR;

    if (task > 0)
        sight = aspx_ghost_look(task, launcher_kills(), &pid);
    users[i].hidden = sight == ASPX_SIGHT_HIDDEN ? users[i].hidden + 1 : 0;
    if (users[i].hidden == 2 && !said && own_slot() == &board->slots[nusers]) {
        said = true;
        aspx_ghost_say_hidden(pid);
    }
    return sight == ASPX_SIGHT_LOST || users[i].hidden >= 2;
}

/* A program that lost LD_PRELOAD enters MPI without a word, and waits there for
 * us. We follow it, to find out who it is (aspx_ghost_count_lost). Under Slurm
 * those that can be looked into are ended (look_for_strangers). */
static bool strangers_come(void)
{
    bool lost = false;

    for (uint32_t i = 0; i < nusers; i++)
        lost |= is_lost(i);
    return lost;
}

uint32_t aspx_ghost_count_lost(uint32_t *first_p)
{
    bool leads = board && own_slot() == &board->slots[nusers];
    uint32_t lost = 0;

    for (uint32_t i = nusers; leads && i-- > 0;)
        if (atomic_load(&board->slots[i].state) == ASP_TASK_STARTED) {
            *first_p = i;
            lost++;
        }
    return lost;
}

/* The other side is aspx_board_say(): state first, then changes, then wake. */
void aspx_ghost_await_users(void)
{
    struct timespec wait = {.tv_sec = STRANGERS_FIRST_S};

    for (;;) {
        uint32_t seen = atomic_load(&board->changes);

        if (users_in_mpi() && aspx_settings_are_written(settings))
            break;
        if (syscall(SYS_futex, &board->changes, FUTEX_WAIT, seen, &wait, NULL,
                    0) == 0 ||
            errno != ETIMEDOUT)
            continue;
        if (strangers_come())
            break;
        if (wait.tv_sec < STRANGERS_LAST_S)
            wait.tv_sec *= 2;
    }
    atomic_store(&in_mpi, true);
    aspx_settings_take(settings);
}
