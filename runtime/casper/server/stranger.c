/* SPDX-License-Identifier: BSD-3-Clause */
/* Users that enter MPI without our library: somebody replaced LD_PRELOAD, or
 * the program is linked statically. Their MPI_Init waits at the process manager
 * for all tasks of the step, ghosts too; and ghosts wait to be told that users
 * enter MPI: neither would ever come. Were the ghosts to come, the program
 * would find ranks that nobody asked for. So such processes are ended, with a
 * word why.
 *
 * What tells them: they sit in a read from the descriptor that Slurm's PMI gave
 * the task (PMI_FD), are of this step, and have not mapped our library. Where
 * the kernel does not show that, or PMI is another, nothing is done.
 */
#include "config.h"

#include "ghost.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static FILE *open_of(const char *pid, const char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%.16s/%s", pid, name);
    return fopen(path, "re");
}

/* The descriptor that its main thread reads from, or -1. */
static int reads_from(const char *pid)
{
    FILE *file = open_of(pid, "syscall");
    unsigned long fd;
    long number;
    bool known;

    if (!file)
        return -1;
    known = fscanf(file, "%ld %lx", &number, &fd) == 2 && number == SYS_read;
    fclose(file);
    return known ? (int) fd : -1;
}

/* Does a file of /proc, cut at each `end`, have a piece that is `what`, or one
 * that holds it where `within`? */
static bool has(const char *pid, const char *name, int end, const char *what,
                bool within)
{
    FILE *file = open_of(pid, name);
    char *piece = NULL;
    size_t bytes = 0;
    bool found = false;

    if (!file)
        return false;
    while (!found && getdelim(&piece, &bytes, end, file) > 0)
        found = within ? strstr(piece, what) != NULL : strcmp(piece, what) == 0;
    free(piece);
    fclose(file);
    return found;
}

static bool is_stranger(const char *pid, const char *job)
{
    char own_fd[32], own_job[128];
    int fd = reads_from(pid);

    if (fd < 0)
        return false;
    snprintf(own_fd, sizeof(own_fd), "PMI_FD=%d", fd);
    snprintf(own_job, sizeof(own_job), "PMI_JOBID=%s", job);
    /* Every process has mapped something: no line at all is no answer. */
    return has(pid, "environ", '\0', own_fd, false) &&
           has(pid, "environ", '\0', own_job, false) &&
           has(pid, "maps", '\n', "/", true) &&
           !has(pid, "maps", '\n', "/libaspen.so", true);
}

/* The pidfd is opened before the look, so that the number cannot have become
 * another's. */
static bool look_at(const char *pid, const char *job, bool end)
{
    int pidfd = (int) syscall(SYS_pidfd_open, atoi(pid), 0);
    bool found = pidfd >= 0 && is_stranger(pid, job);

    if (found && end) {
        fprintf(stderr,
                "aspen-ghost: process %s is in MPI_Init without Aspen's "
                "library and would wait for the ghosts for ever, so it is "
                "ended: add to LD_PRELOAD where something replaces it, or "
                "run without ghosts (--async-progress=off), as a program that "
                "is linked statically must\n",
                pid);
        syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
    }
    if (pidfd >= 0)
        close(pidfd);
    return found;
}

bool aspx_ghost_strangers(bool end)
{
    const char *job = getenv("PMI_JOBID");
    DIR *dir = job ? opendir("/proc") : NULL;
    struct dirent *entry;
    bool found = false;

    if (!dir)
        return false;
    while ((entry = readdir(dir)) != NULL)
        if (isdigit((unsigned char) entry->d_name[0]) &&
            look_at(entry->d_name, job, end))
            found = true;
    closedir(dir);
    return found;
}
