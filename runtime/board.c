/* SPDX-License-Identifier: BSD-3-Clause */
/* A user rank's end of the board (common/board.h). The descriptor comes from
 * the environment and is trusted only after its header fits the layout. */
#include "config.h"

#include "start.h"
#include "world.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct asp_board *board;
static uint32_t slot;

void aspx_board_open(const struct asp_layout *layout, uint32_t local)
{
    const char *text = getenv(ASP_BOARD_FD_ENV);
    size_t bytes = asp_board_bytes(layout->ntasks);
    struct stat st;
    void *map;
    int fd;

    if (!text || local >= layout->ntasks)
        return;
    fd = (int) strtol(text, NULL, 10);
    if (fd < 3 || fstat(fd, &st) != 0 || (size_t) st.st_size < bytes)
        return;
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
    slot = local;
    /* A wrapper script may have forked us: the ghosts watch this process. */
    atomic_store(&board->slots[slot].pid, (int32_t) getpid());
}

struct asp_board *aspx_board(void)
{
    return board;
}

void aspx_board_say(enum asp_board_state state)
{
    if (!board)
        return;
    atomic_store(&board->slots[slot].state, (uint32_t) state);
    atomic_fetch_add(&board->changes, 1);
    syscall(SYS_futex, &board->changes, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
