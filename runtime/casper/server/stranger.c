/* SPDX-License-Identifier: BSD-3-Clause */
/* Users that enter MPI without our library: somebody replaced LD_PRELOAD, or
 * the program is linked statically. Their MPI_Init waits at the process manager
 * for all tasks of the step, ghosts too; and ghosts wait to be told that users
 * enter MPI: neither would ever come. Were the ghosts to come, the program
 * would find ranks that nobody asked for. So such processes are ended, with a
 * word why.
 *
 * What tells them under Slurm: they sit in a read from the descriptor that
 * Slurm's PMI gave the task (PMI_FD), are of this step, and have not mapped our
 * library. Where the kernel does not show that, or PMI is another, nothing is
 * done.
 *
 * Of a program with other rights (setuid) it never shows that, and the dynamic
 * linker gives such a one no library of LD_PRELOAD, nor what it starts. It may
 * be in MPI, or `sudo` in a script: so nothing is ended, but the ghost goes to
 * MPI, too. There it waits for all ranks, and whoever comes without the library
 * is found (aspx_ghost_count_lost).
 */
#include "config.h"

#include "ghost.h"

#include "runtime/base/log.h"

#include "common/base/mpi_file.h"
#include "common/base/words.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static FILE *open_of(const char *pid, const char *name)
{
    char path[80];

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

/* A ghost of root's may see, and end, what others run. */
static bool is_ours(const char *pid)
{
    char path[64];
    struct stat st;

    snprintf(path, sizeof(path), "/proc/%.20s", pid);
    return stat(path, &st) == 0 && st.st_uid == geteuid();
}

static bool is_stranger(const char *pid, const char *job)
{
    char own_fd[32], own_job[128];
    int fd = is_ours(pid) ? reads_from(pid) : -1;

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
        aspx_log(ASPX_LOG_ERROR,
                 "process %s is in MPI_Init without Aspen's "
                 "library and would wait for the ghosts for ever, so it is "
                 "ended: add to LD_PRELOAD where something replaces it, or "
                 "run without ghosts (--async-progress=off), as a program that "
                 "is linked statically must",
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

/* ---- tasks and what they started -------------------------------------------- */

/* A wrapper starts the program as its child, seldom as a child's child. */
enum { DEPTH_MAX = 4, CHILDREN_MAX = 64, RIGHTS_MAX = 512 };

/* Users, groups and capabilities of a process, as the kernel writes them. */
static void read_rights(const char *pid, char rights[RIGHTS_MAX])
{
    FILE *file = open_of(pid, "status");
    char line[256];
    size_t used = 0;

    rights[0] = '\0';
    while (file && fgets(line, sizeof(line), file) && used < RIGHTS_MAX - 1)
        if (asp_after(line, "Uid:") || asp_after(line, "Gid:") ||
            asp_after(line, "CapPrm:"))
            used += (size_t) snprintf(rights + used, RIGHTS_MAX - used, "%s",
                                      line);
    if (file)
        fclose(file);
}

void aspx_ghost_say_hidden(pid_t pid)
{
    char theirs[RIGHTS_MAX], own[RIGHTS_MAX], text[17];

    snprintf(text, sizeof(text), "%d", (int) pid);
    read_rights(text, theirs);
    read_rights("self", own);
    if (theirs[0] && strcmp(theirs, own) != 0)
        aspx_log(ASPX_LOG_WARNING,
                 "process %d has other rights than its user "
                 "(setuid, setgid, capabilities), so LD_PRELOAD does not count "
                 "for it: if it is the program, the job ends in MPI_Init; run "
                 "it without those rights, or without ghosts "
                 "(--async-progress=off)",
                 (int) pid);
}

/* Of a process that has ended there is nothing to hide. */
static bool is_hidden(const char *pid, FILE *maps)
{
    int why = errno;

    if (maps || why == ESRCH)
        return false;
    return kill(atoi(pid), 0) == 0 || errno == EPERM;
}

/* The file of a line of /proc/PID/maps, if it has code in it: "BEGIN-END r-xp
 * OFFSET DEVICE INODE PATH", and a word behind the path when that file is no
 * longer there. */
static char *code_of(char *line)
{
    static const char gone[] = " (deleted)\n";
    char *path = strchr(line, '/'), *word = strstr(line, gone);

    *(word ? word : line + strcspn(line, "\n")) = '\0';
    return path && strstr(line, " r-xp ") ? path : NULL;
}

/* Where the library was replaced while the job ran, the new one has to tell, as
 * the old one cannot be read; where there is none, its usual name. */
static bool is_mpich(const char *path)
{
    const char *name = strrchr(path, '/') + 1;

    if (access(path, F_OK) == 0)
        return asp_mpi_of_file(path) == ASP_MPI_MPICH;
    return asp_after(name, "libmpi") && strstr(name, ".so.12");
}

/* Has it MPICH mapped, and our library not? A table of symbols is read for each
 * library, once in seconds at most, and only while users are missing. */
static bool is_lost(FILE *maps)
{
    char line[PATH_MAX + 128], *path;
    bool mpi = false;

    while (fgets(line, sizeof(line), maps)) {
        path = code_of(line);
        if (path && strstr(path, "/libaspen.so"))
            return false;
        if (path && !mpi)
            mpi = is_mpich(path);
    }
    return mpi;
}

static enum aspx_ghost_sight look(const char *pid, bool mapped)
{
    FILE *maps = open_of(pid, "maps");
    bool lost;

    if (is_hidden(pid, maps))
        return ASPX_SIGHT_HIDDEN;
    lost = maps && mapped && is_lost(maps);
    if (maps)
        fclose(maps);
    return lost ? ASPX_SIGHT_LOST : ASPX_SIGHT_CLEAR;
}

/* The process, and below it. Kernels without the list of children tell of the
 * process alone. */
static enum aspx_ghost_sight look_below(const char *pid, bool mapped, int depth,
                                        pid_t *pid_p)
{
    enum aspx_ghost_sight sight = look(pid, mapped);
    char name[48], child[17];
    FILE *children;

    *pid_p = atoi(pid);
    if (sight != ASPX_SIGHT_CLEAR || depth == DEPTH_MAX)
        return sight;
    snprintf(name, sizeof(name), "task/%.16s/children", pid);
    children = open_of(pid, name);
    for (int i = 0; children && sight == ASPX_SIGHT_CLEAR && i < CHILDREN_MAX &&
                    fscanf(children, "%16s", child) == 1;
         i++)
        sight = look_below(child, mapped, depth + 1, pid_p);
    if (children)
        fclose(children);
    return sight;
}

enum aspx_ghost_sight aspx_ghost_look(pid_t task, bool mapped, pid_t *pid_p)
{
    char text[17];

    snprintf(text, sizeof(text), "%d", (int) task);
    return look_below(text, mapped, 0, pid_p);
}
