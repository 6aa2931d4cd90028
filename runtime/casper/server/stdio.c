/* SPDX-License-Identifier: BSD-3-Clause */
/* The three streams of a ghost's task.
 *
 * srun sends its stdin to every task, and slurmstepd keeps a piece until every
 * task of the node has taken it: with one that does not read, the others get
 * no more after the first megabyte. (So it is in Slurm without us, even when
 * that task closes its stdin.) The ghost has other things to do, so a child
 * takes its share; it ends with the input or with the ghost.
 *
 * The plugin put stdout aside, so that a TaskProlog prints as often as there
 * are user tasks; what MPI and UCX say in a ghost shall be seen. */
#include "config.h"

#include "ghost.h"

#include "common/board.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

static void drain(pid_t ghost)
{
    static char scrap[65536];
    ssize_t got;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "aspen-stdin");
    if (getppid() != ghost)
        _exit(EXIT_SUCCESS); /* it ended before we asked to be told */
    close_range(STDIN_FILENO + 1, ~0U, 0);
    do
        got = read(STDIN_FILENO, scrap, sizeof(scrap));
    while (got > 0 || (got < 0 && errno == EINTR));
    _exit(EXIT_SUCCESS);
}

static void leave_stdin(void)
{
    pid_t ghost = getpid();
    struct stat info;
    int null;

    if (fstat(STDIN_FILENO, &info) < 0 ||
        !(S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode)))
        return;
    if (fork() == 0)
        drain(ghost);
    null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        close(null);
    }
}

static void take_stdout(void)
{
    const char *text = getenv(ASP_STDOUT_FD_ENV);
    int fd = text != NULL ? atoi(text) : -1;

    if (fd > STDERR_FILENO && dup2(fd, STDOUT_FILENO) >= 0)
        close(fd);
}

void aspx_ghost_take_stdio(void)
{
    take_stdout();
    leave_stdin();
}
