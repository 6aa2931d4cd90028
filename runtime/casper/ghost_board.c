/* SPDX-License-Identifier: BSD-3-Clause */
/* The ghost's end of the board (common/board.h): users come, users go. The
 * pids on it are hints; pidfds say who is alive. */
#include "config.h"

#include "ghost.h"

#include "common/board.h"
#include "common/layout.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* How late we may notice a pid that changed: a user that a wrapper script
 * forked writes its own pid over the script's. Ends of processes are noticed
 * at once. */
enum { RESCAN_MS = 500 };

static struct asp_board *board;
static uint32_t nusers;
static int32_t *pids;          /* by user: whom fds[i] stands for */
static struct pollfd *fds;     /* fd -1: not started, or gone */
static pid_t parent;

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
        (size_t) st.st_size < asp_board_bytes(1))
        return NULL;
    bytes = (size_t) st.st_size;
    map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return NULL;
    if (map->magic != ASP_BOARD_MAGIC || map->version != ASP_BOARD_VERSION ||
        map->ntasks > ASP_TASKS_MAX || map->nghosts >= map->ntasks ||
        asp_board_bytes(map->ntasks) > bytes) {
        munmap(map, bytes);
        return NULL;
    }
    return map;
}

/* Follow the board: open who is new. Returns how many users may still live:
 * running, or not started yet. */
static uint32_t rescan(void)
{
    uint32_t alive = 0;

    for (uint32_t i = 0; i < nusers; i++) {
        int32_t pid = atomic_load(&board->slots[i].pid);

        if (pid != pids[i]) {
            if (fds[i].fd >= 0)
                close(fds[i].fd);
            pids[i] = pid;
            fds[i].fd = (int) syscall(SYS_pidfd_open, pid, 0);
        }
        if (pid == 0 || fds[i].fd >= 0)
            alive++;
    }
    return alive;
}

static void drop_ended(void)
{
    for (uint32_t i = 0; i < nusers; i++)
        if (fds[i].fd >= 0 && fds[i].revents) {
            close(fds[i].fd);
            fds[i].fd = -1;
        }
}

static bool aborting(void)
{
    for (uint32_t i = 0; i < nusers; i++)
        if (atomic_load(&board->slots[i].state) == ASP_TASK_ABORTING)
            return true;
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

    aspx_life_say(ASPX_GONE);
    if (slot)
        atomic_store(&slot->state, ASP_TASK_FINALIZED);
}

void aspx_ghost_parked(bool parked)
{
    struct asp_board_slot *slot = own_slot();

    if (slot && parked)
        atomic_fetch_or(&slot->told, ASP_TOLD_PARKED);
    else if (slot)
        atomic_fetch_and(&slot->told, ~(uint32_t) ASP_TOLD_PARKED);
}

/* The whole life of the process. Leaves with _exit(): the other thread may be
 * anywhere in MPI. */
static void *watch(void *unused)
{
    while (rescan() > 0 && !aborting() && getppid() == parent) {
        (void) poll(fds, nusers, RESCAN_MS);
        drop_ended();
    }
    aspx_ghost_gone();
    _exit(0);
    return unused;
}

bool aspx_ghost_watch(void)
{
    pthread_t thread;
    sigset_t all, old;
    bool started;

    board = map_board();
    if (!board)
        return false;
    nusers = board->ntasks - board->nghosts;
    pids = calloc(nusers, sizeof(*pids));
    fds = calloc(nusers, sizeof(*fds));
    if (!pids || !fds)
        return false;
    for (uint32_t i = 0; i < nusers; i++)
        fds[i] = (struct pollfd) {-1, POLLIN, 0};
    parent = getppid();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    started = pthread_create(&thread, NULL, watch, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return started;
}

static bool users_in_mpi(void)
{
    for (uint32_t i = 0; i < nusers; i++) {
        uint32_t state = atomic_load(&board->slots[i].state);

        if (state >= ASP_TASK_INIT && state != ASP_TASK_ABORTING)
            return true;
    }
    return false;
}

/* The other side is aspx_board_say(): state first, then changes, then wake. */
void aspx_ghost_await_users(void)
{
    for (;;) {
        uint32_t seen = atomic_load(&board->changes);

        if (users_in_mpi())
            return;
        syscall(SYS_futex, &board->changes, FUTEX_WAIT, seen, NULL, NULL, 0);
    }
}
