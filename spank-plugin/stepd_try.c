/* SPDX-License-Identifier: BSD-3-Clause */
/* The step that tests of slurmstepd's hooks start; see stepd_try.h. */
#include "config.h"

#include "filter.h"
#include "spank_host.h"
#include "stepd.h"
#include "stepd_try.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

char dir[64];

int setup(void **state)
{
    (void) state;
    host_reset();
    host.context = S_CTX_REMOTE;
    host.uid = getuid() == 0 ? USER_ID : getuid();
    host.gid = getuid() == 0 ? GROUP_ID : getgid();
    host.gids[0] = host.gid;
    host.gids[1] = 4711;
    host.ngids = 2;
    host.job = 12;
    host.nnodes = 2;
    host.node = 1;
    host.ntasks = 6;
    host.nlocal = 3;
    for (uint32_t i = 0; i < host.nlocal; i++)
        host.ranks[i] = 3 + i;
    setenv("SLURMD_NODENAME", "n2", 1);
    host_setenv("SLURMD_NODENAME", "batch\nslurmd: forged");
    host_setenv("SLURM_STEP_TASKS_PER_NODE", "3(x2)");
    host_setenv("SLURM_TASKS_PER_NODE", "3(x2)");
    host_setenv("SLURM_NTASKS", "6");
    host_setenv("SLURM_NPROCS", "6");
    host_setenv("SLURM_STEP_NUM_TASKS", "6");
    host_setenv("SLURM_NTASKS_PER_NODE", "3");
    host_setenv("SLURM_GTIDS", "3,4,5");
    host_setenv("SLURM_PROCID", "4");
    host_setenv("SLURM_LOCALID", "1");
    host_setenv("PMI_RANK", "4");
    host_setenv("PMI_SIZE", "6");
    host_setenv("LD_PRELOAD", "/opt/user.so");
    host_setenv("SECRET", "x");
    host_setenv(ASPS_REQUEST_ENV, "ghost:1");
    return 0;
}

void start(const char *agent, const char *request)
{
    static char args[5][128];
    char *argv[5];

    snprintf(args[0], sizeof(args[0]), "agent=%s/fake_agent-%s", dir, agent);
    snprintf(args[1], sizeof(args[1]), "ghost=%s/ghost", dir);
    snprintf(args[2], sizeof(args[2]), "runtime=%s/runtime", dir);
    snprintf(args[3], sizeof(args[3]), "agent_timeout=1");
    snprintf(args[4], sizeof(args[4]), "heap=%s/libaspenheap.so", dir);
    for (int i = 0; i < 5; i++)
        argv[i] = args[i];
    if (request != NULL)
        host_setenv(ASPS_REQUEST_ENV, request);
    asps_stepd_init(NULL, 5, argv);
    assert_int_equal(asps_stepd_user_init(NULL), 0);
}

static void print_task(void)
{
    for (char **var = host.env; *var != NULL; var++)
        dprintf(STDOUT_FILENO, "%s\n", *var);
    dprintf(STDOUT_FILENO, "fd %d\n",
            fcntl(atoi(host_getenv("ASPEN_BOARD_FD") ?: "-1"), F_GETFD));
}

int task(int slot, char *text)
{
    int pipe_fd[2], status = -1;
    size_t used = 0;
    ssize_t got;
    pid_t pid;

    assert_int_equal(pipe(pipe_fd), 0);
    pid = fork();
    if (pid == 0) {
        dup2(pipe_fd[1], STDOUT_FILENO);
        close(pipe_fd[0]);
        close(pipe_fd[1]);
        host.task = slot;
        asps_stepd_task_init(NULL);
        host_exec();
        print_task();
        _exit(0);
    }
    close(pipe_fd[1]);
    while ((got = read(pipe_fd[0], text + used, OUTPUT_MAX - 1 - used)) > 0)
        used += (size_t) got;
    text[used] = '\0';
    close(pipe_fd[0]);
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool has_line(const char *text, const char *line)
{
    size_t len = strlen(line);

    for (const char *at = text; (at = strstr(at, line)) != NULL; at += len)
        if ((at == text || at[-1] == '\n') && at[len] == '\n')
            return true;
    return false;
}

const char *line_of(const char *text, const char *start_of)
{
    static char line[4096];
    const char *at = strstr(text, start_of);

    if (at == NULL)
        return "(none)";
    snprintf(line, sizeof(line), "%.*s", (int) strcspn(at, "\n"), at);
    return line;
}

static void link_agent(const char *mode)
{
    char from[128], to[128];

    snprintf(from, sizeof(from), "%s/fake_agent", dir);
    snprintf(to, sizeof(to), "%s/fake_agent-%s", dir, mode);
    if (symlink(from, to) < 0)
        abort();
}

static void write_file(const char *name, const char *text)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    file = fopen(path, "w");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0 ||
        chmod(path, 0755) < 0)
        abort();
}

/* The user must be able to reach the programs, wherever the build tree is. */
int setup_group(void **state)
{
    static const char *const modes[] = {
        "good",     "short",  "magic", "version", "garbage",
        "oversize", "longer", "lying", "role",    "preload",
        "endless",  "hang",   "deaf",  "die",     "plain",
        "refuse",   "stay",   "brief", "heap"};
    char command[256];

    (void) state;
    strcpy(dir, "/tmp/aspen-stepd-test-XXXXXX");
    if (mkdtemp(dir) == NULL || chmod(dir, 0755) < 0)
        return -1;
    snprintf(command, sizeof(command), "cp fake_agent %s/", dir);
    if (system(command) != 0)
        return -1;
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
        link_agent(modes[i]);
    write_file("runtime", "");
    write_file("ghost", "#!/bin/sh\necho never seen\n"
                        "exec >&$ASPEN_STDOUT_FD\n"
                        "echo I am a ghost, $# arguments\nenv\nexit 42\n");
    return 0;
}

int teardown_group(void **state)
{
    char command[256];

    (void) state;
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    return system(command);
}
