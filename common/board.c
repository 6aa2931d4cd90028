/* SPDX-License-Identifier: BSD-3-Clause */
/* Making and entering a board. In slurmstepd, which is root, only the header is
 * written, and nothing is read. */
#include "config.h"

#include "board.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int asp_board_create(uint32_t ntasks, uint32_t nghosts,
                     enum asp_board_launcher launcher)
{
    struct asp_board header = {.magic = ASP_BOARD_MAGIC,
                               .version = ASP_BOARD_VERSION,
                               .ntasks = ntasks,
                               .nghosts = nghosts,
                               .launcher = launcher};
    int fd = memfd_create("aspen-board", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0)
        return -1;
    if (ftruncate(fd, (off_t) asp_board_bytes(ntasks)) < 0 ||
        pwrite(fd, &header, sizeof(header), 0) != (ssize_t) sizeof(header) ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
        int saved = errno;

        close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

int asp_board_enter(int board_fd, uint32_t ntasks, uint32_t slot)
{
    size_t bytes = asp_board_bytes(ntasks);
    struct asp_board *board = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                   MAP_SHARED, board_fd, 0);

    if (board == MAP_FAILED)
        return -1;
    atomic_store(&board->slots[slot].pid, getpid());
    atomic_store(&board->slots[slot].state, ASP_TASK_STARTED);
    /* Ghosts sleep on this word in aspen-ghost's wait for its users. */
    atomic_fetch_add(&board->changes, 1);
    syscall(SYS_futex, &board->changes, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    munmap(board, bytes);
    return 0;
}
