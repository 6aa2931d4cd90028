/* SPDX-License-Identifier: BSD-3-Clause */
/* Running a command; run.h. All signals that matter are blocked and
 * waited for, so that none falls between a test and a wait. */
#include "config.h"

#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { GRACE_S = 15, EXEC_FAILED = 127 };

static sigset_t before, waited;

void aspt_run_prepare(void)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP};

    signal(SIGCHLD, SIG_DFL); /* if ignored, children would vanish */
    sigemptyset(&waited);
    sigaddset(&waited, SIGCHLD);
    for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++) {
        struct sigaction old;

        /* What is ignored, as by nohup, would come to one who waits for it. */
        if (sigaction(ending[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaddset(&waited, ending[i]);
    }
    sigprocmask(SIG_BLOCK, &waited, &before);
}

int aspt_run_pause(int ms)
{
    const struct timespec length = {ms / 1000, ms % 1000 * 1000000L};
    int sig;

    do
        sig = sigtimedwait(&waited, NULL, &length);
    while (sig == SIGCHLD || (sig < 0 && errno == EINTR));
    return sig < 0 ? 0 : sig;
}

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

/* Have a file at a descriptor, which may be closed until now. */
static int redirect(const char *path, int flags, int fd)
{
    int file = open(path, flags | O_CLOEXEC, 0666);

    if (file == fd)
        return fcntl(fd, F_SETFD, 0);
    return file < 0 || dup2(file, fd) < 0 ? -1 : 0;
}

/* A terminal would stop the run, which is in the background; what comes
 * through a pipe would come in the first run only. */
static int choose_stdin(void)
{
    if (lseek(STDIN_FILENO, 0, SEEK_SET) == 0)
        return 0;
    return redirect("/dev/null", O_RDONLY, STDIN_FILENO);
}

static void become(const struct aspt_run *run) __attribute__((noreturn));

static void become(const struct aspt_run *run)
{
    const int anew = O_WRONLY | O_CREAT | O_TRUNC;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    for (int i = 0; i < ASPT_RUN_ENV && run->env[i].name; i++)
        if (run->env[i].value)
            setenv(run->env[i].name, run->env[i].value, 1);
        else
            unsetenv(run->env[i].name);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (choose_stdin() == 0 && redirect(run->out, anew, STDOUT_FILENO) == 0 &&
        redirect(run->err, anew, STDERR_FILENO) == 0)
        execvp(run->argv[0], run->argv);
    fprintf(stderr, "aspen: cannot run %s: %s\n", run->argv[0],
            strerror(errno));
    _exit(EXEC_FAILED);
}

/* Wait for the end of the group's leader, and pass interruptions on. */
static void wait_for(pid_t pid, struct aspt_run_end *end)
{
    const struct timespec forever = {3600, 0}, grace = {GRACE_S, 0};

    while (waitpid(pid, &end->status, WNOHANG) == 0) {
        int sig = sigtimedwait(&waited, NULL,
                               end->interrupted ? &grace : &forever);

        if (sig == SIGCHLD ||
            (sig < 0 && (errno == EINTR || !end->interrupted)))
            continue;
        kill(-pid, end->interrupted ? SIGKILL : SIGTERM);
        if (!end->interrupted)
            end->interrupted = sig;
    }
}

int aspt_run(const struct aspt_run *run, struct aspt_run_end *out_p,
             struct asp_err *err)
{
    struct aspt_run_end end = {0};
    double begin;
    pid_t pid;

    fflush(NULL);
    begin = seconds_now();
    pid = fork();
    if (pid < 0)
        return asp_errf(err, errno, "cannot run %s: %s", run->argv[0],
                        strerror(errno));
    if (pid == 0)
        become(run);
    setpgid(pid, pid);
    wait_for(pid, &end);
    end.seconds = seconds_now() - begin;
    *out_p = end;
    return 0;
}
