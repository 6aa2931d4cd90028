/* SPDX-License-Identifier: BSD-3-Clause */
/* A copy of a step's board, through the descriptor that one of its processes
 * has. It is read, not mapped: a file that shrinks meanwhile ends a read early
 * and a mapping with SIGBUS. Called by show.c. */
#include "config.h"

#include "status.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Behind that number can be any file now; to open a device or a FIFO could
 * have effects. */
static int open_board(const struct aspt_member *member)
{
    static const char name[] = "/memfd:aspen-board";
    char path[64], target[sizeof(name)];
    struct stat st;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int) member->pid,
             member->board_fd);
    if (member->board_fd < 0 ||
        readlink(path, target, sizeof(target)) < (ssize_t) sizeof(name) - 1 ||
        strncmp(target, name, sizeof(name) - 1) != 0)
        return -1;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Returns whether the header is that of a board for so many tasks. */
static bool check_header(const struct asp_board *header, uint32_t ntasks)
{
    return header->magic == ASP_BOARD_MAGIC &&
           header->version == ASP_BOARD_VERSION && header->ntasks > 0 &&
           header->ntasks <= ASP_BOARD_SLOTS_MAX &&
           header->nghosts < header->ntasks && header->ntasks == ntasks;
}

static bool copy_slots(int fd, uint32_t ntasks, struct aspt_board *board)
{
    size_t bytes = asp_board_slots_bytes(ntasks);
    struct asp_board *raw = aligned_alloc(64, (bytes + 63) / 64 * 64);
    bool good = raw && pread(fd, raw, bytes, 0) == (ssize_t) bytes;

    for (uint32_t t = 0; good && t < ntasks; t++) {
        board->task[t].pid = atomic_load(&raw->slots[t].pid);
        board->task[t].state = atomic_load(&raw->slots[t].state);
        board->task[t].reported = atomic_load(&raw->slots[t].reported);
    }
    free(raw);
    return good;
}

void aspt_board_copy(const struct aspt_step *step, struct aspt_board *board)
{
    memset(board, 0, sizeof(*board));
    for (size_t m = 0; m < step->nmembers && !board->ntasks; m++) {
        struct asp_board header;
        int fd = open_board(&step->members[m]);

        if (fd < 0)
            continue;
        if (pread(fd, &header, sizeof(header), 0) == (ssize_t) sizeof(header) &&
            check_header(&header, step->layout->ntasks) &&
            copy_slots(fd, header.ntasks, board)) {
            board->nghosts = header.nghosts;
            board->ntasks = header.ntasks;
        }
        close(fd);
    }
}
