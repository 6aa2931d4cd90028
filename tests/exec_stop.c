/* SPDX-License-Identifier: BSD-3-Clause */
/* What can a user do to a program of his before its first instruction?
 *
 *   exec_stop PROGRAM    trace it, let it exec, and look at it there
 *
 * Prints "memory open" or "memory closed: REASON" and "owner UID", that of
 * /proc/PID: root's where the process is not dumpable. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void look(pid_t pid)
{
    char path[64];
    struct stat st = {0};
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/mem", (int) pid);
    fd = open(path, O_RDWR);
    if (fd >= 0)
        puts("memory open");
    else
        printf("memory closed: %s\n", strerror(errno));
    if (fd >= 0)
        close(fd);
    if (stat(path, &st) == 0)
        printf("owner %u\n", (unsigned) st.st_uid);
}

int main(int argc, char **argv)
{
    int status = 0;
    pid_t pid;

    if (argc != 2)
        return 2;
    pid = fork();
    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execl(argv[1], argv[1], "--version", (char *) NULL);
        _exit(127);
    }
    if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) {
        puts("no exec");
        return 1;
    }
    look(pid);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return 0;
}
