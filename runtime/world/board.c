/* SPDX-License-Identifier: BSD-3-Clause */
/* A user rank's end of the board (common/board.h). The descriptor comes from
 * the environment and is trusted only after its header fits the layout. */
#include "config.h"

#include "board.h"
#include "settings.h"
#include "world.h"

#include "runtime/base/backoff.h"

#include "common/base/clock.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LEAVE_MS = 1000 }; /* that the ghosts of this node get */

static struct asp_board *board;
static struct asp_board_settings *settings; /* NULL: the board has none */
static uint32_t slot;

/* A ghost that gets no signal looks a minute later. */
static void signal_ghosts(void)
{
    for (uint32_t i = board->ntasks - board->nghosts; i < board->ntasks; i++) {
        pid_t pid = atomic_load(&board->slots[i].pid);

        if (pid > 0)
            (void) kill(pid, ASP_BOARD_SIGNAL);
    }
}

void aspx_board_open(const struct asp_layout *layout, uint32_t local)
{
    const char *text = getenv(ASP_BOARD_FD_ENV);
    size_t bytes;
    struct stat st;
    void *map;
    int fd;

    if (!text || local >= layout->ntasks)
        return;
    fd = (int) strtol(text, NULL, 10);
    if (fd < 3 || fstat(fd, &st) != 0 ||
        (size_t) st.st_size < asp_board_slots_bytes(layout->ntasks))
        return;
    bytes = (size_t) st.st_size;
    map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return;
    board = map;
    if (board->magic != ASP_BOARD_MAGIC ||
        board->version != ASP_BOARD_VERSION ||
        board->ntasks != layout->ntasks) {
        munmap(map, bytes);
        board = NULL;
        return;
    }
    settings = asp_board_settings(board, bytes);
    slot = local;
    /* A wrapper script may have forked us: the ghosts watch this process. */
    atomic_store(&board->slots[slot].pid, (int32_t) getpid());
    signal_ghosts();
}

struct asp_board *aspx_board(void)
{
    return board;
}

int aspx_board_tell_settings(const int *required)
{
    return aspx_settings_tell(settings, required);
}

void aspx_board_say(enum asp_board_state state)
{
    if (!board)
        return;
    atomic_store(&board->slots[slot].state, (uint32_t) state);
    atomic_fetch_add(&board->changes, 1);
    syscall(SYS_futex, &board->changes, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    signal_ghosts();
}

/* Or the launcher has yet to take note of their end. */
static bool ghosts_are_left(void)
{
    for (uint32_t i = board->ntasks - board->nghosts; i < board->ntasks; i++) {
        pid_t pid = atomic_load(&board->slots[i].pid);

        if (pid > 0 && (kill(pid, 0) == 0 || errno != ESRCH))
            return true;
    }
    return false;
}

/* exit() without MPI_Finalize, after all that the program does then: it may
 * still call MPI_Finalize. Where the launcher now kills everybody, the ghosts
 * go before us, so that it meets only those that it would meet without them.
 * Not in a child that the program forked. */
__attribute__((destructor)) static void exiting(void)
{
    struct aspx_backoff backoff = {0};
    long long until_ms;
    uint32_t state;

    if (!board || atomic_load(&board->slots[slot].pid) != (int32_t) getpid())
        return;
    state = atomic_load(&board->slots[slot].state);
    if (state != ASP_TASK_INIT && state != ASP_TASK_RUNNING)
        return;
    aspx_board_say(ASP_TASK_LEFT);
    if (board->launcher != ASP_LAUNCHER_KILLS)
        return;
    until_ms = asp_now_ms() + LEAVE_MS;
    while (ghosts_are_left() && asp_now_ms() < until_ms)
        (void) aspx_backoff_sleep(&backoff,
                                  &aspx_wait_table[ASPX_WAIT_PROCESS_ENDS]);
    aspx_backoff_nap(ASPX_WAIT_LEFT_ALONE);
}
