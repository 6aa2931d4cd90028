/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs in slurmstepd: real uid 0, effective uid the user's, many threads. So
 * the child does nothing between fork and exec but plain system calls, and
 * sets its ids with the calls themselves: glibc's wrappers signal the other
 * threads, which the child does not have.
 *
 * slurmstepd reaps any child of its with wait3(), so the agent's exit may be
 * seen there first; the pidfd tells us all the same, and cannot name another
 * process. */
#include "config.h"

#include "agent.h"

#include "fds.h"

#include "common/agent_wire.h"
#include "common/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KILL_WAIT_MS = 1000, AGENT_FILES = 4096 };

/* What the agent gets from slurmstepd's own environment, which the
 * administrator made: hwloc's pretended topologies, for test clusters. */
static const char *const from_slurmd[] = {"HWLOC_XMLFILE", "HWLOC_SYNTHETIC",
                                          "HWLOC_THISSYSTEM"};

enum { ENV_FIXED = 3, ENV_EXTRA = 3, ENV_BYTES = 4608 };

struct environment {
    char *vars[ENV_FIXED + ENV_EXTRA + 1];
    char text[ENV_EXTRA][ENV_BYTES];
};

static void close_fd(int *fd_p)
{
    int saved = errno;

    if (*fd_p >= 0)
        close(*fd_p);
    *fd_p = -1;
    errno = saved;
}

static void make_environment(struct environment *env)
{
    static char path[] = "PATH=/usr/bin:/bin", lang[] = "LANG=C.UTF-8",
                home[] = "HOME=/";
    int n = 0;

    env->vars[n++] = path;
    env->vars[n++] = lang;
    env->vars[n++] = home;
    for (int i = 0; i < ENV_EXTRA; i++) {
        const char *value = getenv(from_slurmd[i]);

        if (value == NULL || strlen(value) > ENV_BYTES - 64)
            continue;
        snprintf(env->text[i], ENV_BYTES, "%s=%s", from_slurmd[i], value);
        env->vars[n++] = env->text[i];
    }
    env->vars[n] = NULL;
}

/* slurmstepd may be exempt from the OOM killer; its user's agent is not. */
static void lose_oom_privilege(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (fd >= 0 && write(fd, "0", 1) == 1)
        close(fd);
}

/* Become the user in a way that cannot be undone. Returns -1 if not. */
static int drop_privileges(const struct asps_user *user)
{
    uid_t real, effective, saved;

    if (getuid() != 0 && geteuid() != 0)
        return 0; /* slurmd of an ordinary user: there is nothing to drop */
    if (syscall(SYS_setresuid, 0, 0, 0) < 0)
        return -1;
    lose_oom_privilege();
    if (syscall(SYS_setgroups, (size_t) user->ngids, user->gids) < 0 ||
        syscall(SYS_setresgid, user->gid, user->gid, user->gid) < 0 ||
        syscall(SYS_setresuid, user->uid, user->uid, user->uid) < 0)
        return -1;
    if (getresuid(&real, &effective, &saved) < 0 || real != user->uid ||
        effective != user->uid || saved != user->uid)
        return -1;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* Some ways of tracking processes send the step's signals to the agent too;
 * it leaves when its pipe closes, and not before. */
static void reset_signals(void)
{
    static const int of_step[] = {SIGTERM, SIGINT,  SIGHUP,  SIGQUIT, SIGUSR1,
                                  SIGUSR2, SIGALRM, SIGTSTP, SIGXCPU};
    struct sigaction plain = {.sa_handler = SIG_DFL};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigset_t none;

    for (int sig = 1; sig < NSIG; sig++)
        sigaction(sig, &plain, NULL);
    for (size_t i = 0; i < sizeof(of_step) / sizeof(of_step[0]); i++)
        sigaction(of_step[i], &ignore, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* slurmd's limits are not the step's, and often none at all. Processes are left
 * alone: what counts there is all that the user runs on the node. */
static void lower_limits(void)
{
    static const struct {
        int what;
        rlim_t most;
    } limits[] = {
        {RLIMIT_CORE, 0}, {RLIMIT_MEMLOCK, 0}, {RLIMIT_NOFILE, AGENT_FILES}};
    struct rlimit now;

    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        rlim_t most = limits[i].most;

        if (getrlimit(limits[i].what, &now) < 0)
            continue;
        now.rlim_cur = now.rlim_cur < most ? now.rlim_cur : most;
        now.rlim_max = now.rlim_max < most ? now.rlim_max : most;
        setrlimit(limits[i].what, &now);
    }
}

static void child(const char *path, const struct asps_user *user, int in,
                  int out, char **env)
{
    char *argv[] = {(char *) (uintptr_t) path, NULL};
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    /* Its stderr must not be the step's: srun waits until that is closed. */
    if (null < 0 || dup2(in, STDIN_FILENO) < 0 ||
        dup2(out, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0)
        _exit(126);
    asps_close_from(STDERR_FILENO + 1);
    if (drop_privileges(user) < 0)
        _exit(126);
    reset_signals();
    setsid();
    umask(077);
    lower_limits();
    if (chdir("/") < 0)
        _exit(126);
    execve(path, argv, env);
    _exit(127);
}

int asps_agent_start(const char *path, const struct asps_user *user,
                     struct asps_agent *agent_p)
{
    struct asps_agent agent = ASPS_AGENT_NONE;
    struct environment *env = malloc(sizeof(*env));
    int ask[2] = {-1, -1}, answer[2] = {-1, -1};

    if (env == NULL)
        return -1;
    if (pipe2(ask, O_CLOEXEC) < 0 || pipe2(answer, O_CLOEXEC) < 0)
        goto err;
    make_environment(env);
    agent.pid = fork();
    if (agent.pid < 0)
        goto err;
    if (agent.pid == 0)
        child(path, user, ask[0], answer[1], env->vars);
#ifdef SYS_pidfd_open
    agent.pid_fd = (int) syscall(SYS_pidfd_open, agent.pid, 0);
#endif
    close_fd(&answer[1]);
    agent.life_fd = ask[1];
    agent.hold_fd = ask[0];
    agent.answer_fd = answer[0];
    fcntl(agent.life_fd, F_SETFL, O_NONBLOCK);
    fcntl(agent.answer_fd, F_SETFL, O_NONBLOCK);
    free(env);
    *agent_p = agent;
    return 0;
err:
    for (int i = 0; i < 2; i++) {
        close_fd(&ask[i]);
        close_fd(&answer[i]);
    }
    free(env);
    return -1;
}

/* One exchange. */
struct exchange {
    const char *request;
    size_t to_write;
    unsigned char *answer; /* grows to what the header announces */
    size_t got;
    size_t wanted;
    const char *problem; /* static text; NULL: none */
};

static void write_some(struct asps_agent *agent, struct exchange *ex)
{
    ssize_t put = write(agent->life_fd, ex->request, ex->to_write);

    if (put < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (put < 0) {
        ex->problem = "its pipe failed";
        return;
    }
    ex->request += put;
    ex->to_write -= (size_t) put;
}

/* The header is here: how long is the answer? */
static void read_header(struct exchange *ex)
{
    struct asp_answer header;
    unsigned char *longer;

    memcpy(&header, ex->answer, sizeof(header));
    if (header.magic != ASP_ANSWER_MAGIC)
        ex->problem = "its answer is garbage";
    else if (header.version != ASP_WIRE_VERSION)
        ex->problem = "it is of another version";
    else if (header.total_bytes < sizeof(header) ||
             header.total_bytes > ASP_ANSWER_MAX)
        ex->problem = "its answer has an absurd length";
    if (ex->problem != NULL)
        return;
    longer = realloc(ex->answer, header.total_bytes);
    if (longer == NULL) {
        ex->problem = "there is no memory for its answer";
        return;
    }
    ex->answer = longer;
    ex->wanted = header.total_bytes;
}

static void read_some(struct asps_agent *agent, struct exchange *ex)
{
    ssize_t got = read(agent->answer_fd, ex->answer + ex->got,
                       ex->wanted - ex->got);

    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (got <= 0) {
        ex->problem = ex->got == 0 ? "it ended without an answer"
                                   : "its answer is incomplete";
        return;
    }
    ex->got += (size_t) got;
    if (ex->got == ex->wanted && ex->wanted == sizeof(struct asp_answer))
        read_header(ex);
}

static void run_exchange(struct asps_agent *agent, struct exchange *ex,
                         long long deadline_ms)
{
    while (ex->problem == NULL && ex->got < ex->wanted) {
        struct pollfd wait[2] = {
            {.fd = agent->answer_fd, .events = POLLIN},
            {.fd = ex->to_write ? agent->life_fd : -1, .events = POLLOUT}};
        long long left = deadline_ms - asp_now_ms();
        int ready = left > 0 ? poll(wait, 2, (int) left) : 0;

        if (ready < 0 && errno == EINTR)
            continue;
        if (ready < 0)
            ex->problem = "poll failed";
        else if (ready == 0)
            ex->problem = "it did not answer in time";
        if (ready <= 0)
            continue;
        if (wait[1].revents)
            write_some(agent, ex);
        if (wait[0].revents && ex->problem == NULL)
            read_some(agent, ex);
    }
}

int asps_agent_ask(struct asps_agent *agent, const char *request,
                   size_t request_bytes, int timeout_ms, void **answer_p,
                   size_t *answer_bytes_p, char *why, size_t why_bytes)
{
    struct exchange ex = {.request = request,
                          .to_write = request_bytes,
                          .wanted = sizeof(struct asp_answer)};

    ex.answer = malloc(ex.wanted);
    if (ex.answer == NULL)
        ex.problem = "there is no memory for its answer";
    else
        run_exchange(agent, &ex, asp_now_ms() + timeout_ms);
    close_fd(&agent->answer_fd);
    close_fd(&agent->hold_fd);
    if (ex.problem != NULL) {
        snprintf(why, why_bytes, "%s", ex.problem);
        free(ex.answer);
        return -1;
    }
    *answer_p = ex.answer;
    *answer_bytes_p = ex.got;
    return 0;
}

/* Wait until it has ended; 0 only looks. */
static bool ends_within(struct asps_agent *agent, int timeout_ms)
{
    long long deadline_ms = asp_now_ms() + timeout_ms;
    struct timespec pause = {.tv_nsec = 5000000};

    if (agent->pid_fd >= 0) {
        struct pollfd wait = {.fd = agent->pid_fd, .events = POLLIN};
        int ready;

        do
            ready = poll(&wait, 1, timeout_ms);
        while (ready < 0 && errno == EINTR);
        return ready > 0;
    }
    for (;;) {
        pid_t got = waitpid(agent->pid, NULL, WNOHANG);

        if (got == agent->pid || (got < 0 && errno == ECHILD))
            return true;
        if (asp_now_ms() >= deadline_ms)
            return false;
        nanosleep(&pause, NULL);
    }
}

bool asps_agent_gone(struct asps_agent *agent)
{
    return agent->pid == 0 || ends_within(agent, 0);
}

static void kill_agent(struct asps_agent *agent)
{
#ifdef SYS_pidfd_send_signal
    if (agent->pid_fd >= 0) {
        syscall(SYS_pidfd_send_signal, agent->pid_fd, SIGKILL, NULL, 0);
        return;
    }
#endif
    /* Only while it is our unreaped child can the number not be another's. */
    if (waitpid(agent->pid, NULL, WNOHANG) == 0)
        kill(agent->pid, SIGKILL);
}

void asps_agent_stop(struct asps_agent *agent, int grace_ms)
{
    if (agent->pid == 0)
        return;
    close_fd(&agent->answer_fd);
    close_fd(&agent->hold_fd);
    close_fd(&agent->life_fd);
    if (!ends_within(agent, grace_ms)) {
        kill_agent(agent);
        ends_within(agent, KILL_WAIT_MS);
    }
    if (agent->pid_fd >= 0)
        waitpid(agent->pid, NULL, WNOHANG); /* else ends_within() reaped it */
    close_fd(&agent->pid_fd);
    agent->pid = 0;
}

void asps_agent_forget(struct asps_agent *agent)
{
    close_fd(&agent->answer_fd);
    close_fd(&agent->hold_fd);
    close_fd(&agent->life_fd);
    close_fd(&agent->pid_fd);
    agent->pid = 0;
}
