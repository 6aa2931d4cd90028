/* SPDX-License-Identifier: BSD-3-Clause */
/* What the plugin does with the board of tasks (common/board.h), for jobs under
 * plain mpiexec on this machine, and nodes that it pretends to be. ghostrun
 * puts it before the programs:
 *
 *   boards make USERS GHOSTS NODES PROGRAM...
 *       make a board for each pretended node, which PROGRAM inherits as the
 *       descriptors in ASPEN_TEST_BOARD_0, ASPEN_TEST_BOARD_1, ...; ranks are
 *       dealt to nodes in turn, ghosts are the last ones of each
 *   boards enter NODE SLOT PRELOAD PROGRAM...
 *       this process is the task of that slot; then run PROGRAM with the
 *       board of its node only, and with this LD_PRELOAD
 */
#define _GNU_SOURCE
#include "config.h"

#include "common/board.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Noreturn void fail(const char *what)
{
    perror(what);
    exit(127);
}

static char *name_of(int node)
{
    static char name[40];

    snprintf(name, sizeof(name), "ASPEN_TEST_BOARD_%d", node);
    return name;
}

static int make(int ntasks, int ghosts)
{
    int fd = asp_board_create((uint32_t) ntasks, (uint32_t) ghosts,
                              ASP_LAUNCHER_KILLS);

    if (fd < 0 || fcntl(fd, F_SETFD, 0) < 0)
        fail("boards: cannot make a board");
    return fd;
}

static void make_all(int users, int ghosts, int nodes)
{
    for (int node = 0; node < nodes; node++) {
        int ntasks = ghosts + users / nodes + (node < users % nodes);
        char fd[16];

        snprintf(fd, sizeof(fd), "%d", make(ntasks, ghosts));
        setenv(name_of(node), fd, 1);
    }
}

/* Close the boards of other nodes; returns that of our own. */
static int take(int own)
{
    const char *text;
    int mine = -1;

    for (int node = 0; (text = getenv(name_of(node))); node++) {
        if (node == own)
            mine = atoi(text);
        else
            close(atoi(text));
        unsetenv(name_of(node));
    }
    return mine;
}

static void enter(int fd, uint32_t slot)
{
    char text[16];

    if (asp_board_enter(fd, slot + 1, slot) < 0)
        fail("boards: cannot enter the board");
    snprintf(text, sizeof(text), "%d", fd);
    setenv(ASP_BOARD_FD_ENV, text, 1);
}

int main(int argc, char **argv)
{
    if (argc < 6)
        return 2;
    if (strcmp(argv[1], "make") == 0) {
        make_all(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
    } else {
        enter(take(atoi(argv[2])), (uint32_t) atoi(argv[3]));
        setenv("LD_PRELOAD", argv[4], 1);
    }
    execvp(argv[5], argv + 5);
    fail(argv[5]);
}
