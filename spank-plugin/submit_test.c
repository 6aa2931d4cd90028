/* SPDX-License-Identifier: BSD-3-Clause */
/* srun, sbatch and salloc: running `aspen request`, refusing, sending the
 * request along, and what an allocation hands down. */
#include "config.h"

#include "allocator.h"
#include "filter.h"
#include "local.h"
#include "options.h"
#include "spank_host.h"

#include "common/base/child.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static char dir[64], command_arg[160];
static char *args[] = {command_arg};

static void run_text(const char *script, int timeout_ms, int want_rc, char *out,
                     size_t out_bytes, int *status_p)
{
    char shell[] = "/bin/sh", option[] = "-c", text[512], err[64];
    char *argv[] = {shell, option, text, NULL};

    snprintf(text, sizeof(text), "%s", script);
    assert_int_equal(asp_child_run(argv, timeout_ms, out, out_bytes, err,
                                   sizeof(err), status_p),
                     want_rc);
}

static void test_run(void **state)
{
    char missing[] = "/nowhere/aspen", out[16], err[16];
    int status;

    (void) state;
    run_text("cat; echo hello", 5000, 0, out, sizeof(out), &status);
    assert_string_equal(out, "hello\n");
    assert_int_equal(status, 0);
    run_text("yes | head -c 300000; exit 7", 5000, 0, out, sizeof(out),
             &status);
    assert_int_equal(strlen(out), sizeof(out) - 1);
    assert_int_equal(WEXITSTATUS(status), 7);
    run_text("exec sleep 60", 200, -1, out, sizeof(out), &status);
    assert_int_equal(errno, ETIMEDOUT);
    run_text("exec >&- 2>&-; exec sleep 60", 200, -1, out, sizeof(out),
             &status);
    assert_int_equal(errno, ETIMEDOUT);
    signal(SIGCHLD, SIG_IGN); /* as a shell may leave it to srun */
    run_text("exit 7", 5000, 0, out, sizeof(out), &status);
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_true(signal(SIGCHLD, SIG_DFL) == SIG_IGN);
    assert_int_equal(asp_child_run((char *[]){missing, NULL}, 1000, out,
                                   sizeof(out), err, sizeof(err), &status),
                     0);
    assert_int_equal(WEXITSTATUS(status), 127);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* Install a script as the `aspen` command. */
static void command(const char *script)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof(path), "%s/aspen", dir);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", script);
    fclose(file);
    assert_int_equal(chmod(path, 0755), 0);
    snprintf(command_arg, sizeof(command_arg), "command=%s", path);
}

static int setup(void **state)
{
    (void) state;
    host_reset();
    asps_options_reset();
    unsetenv("ASPEN_PROGRESS");
    unsetenv("ASPEN_POLICY");
    unsetenv("SLURM_EXIT_ERROR");
    unsetenv(ASPS_GROWN_ENV);
    unsetenv(ASPS_REQUEST_ENV);
    host.context = S_CTX_LOCAL;
    return 0;
}

static char *shared_log;
static int components = 1; /* of a heterogeneous step */

static void copy_log(void)
{
    strcpy(shared_log, host.log);
}

/* Run srun's hooks as a child would; returns its exit status, and what it
 * logged. */
static int srun_exit(const char *progress, char *log)
{
    int status;
    pid_t pid;

    shared_log = mmap(NULL, HOST_LOG_MAX, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(shared_log, MAP_FAILED);
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        atexit(copy_log);
        asps_local_init(NULL, 1, args);
        if (progress != NULL)
            host_option("async-progress", progress, 0);
        for (int i = 0; i < components; i++)
            asps_local_init_post_opt(NULL, 0, NULL);
        asps_local_user_init(NULL, 0, NULL);
        exit(0);
    }
    waitpid(pid, &status, 0);
    strcpy(log, shared_log);
    munmap(shared_log, HOST_LOG_MAX);
    return WEXITSTATUS(status);
}

static void test_srun_sends_request(void **state)
{
    FILE *file;

    (void) state;
    command("case \"$*\" in \"request --site-policy=\"*\" --progress=ghost:2 "
            "--partition=main\") "
            "echo ghost:2,seen=yes;; *) echo \"$*\" >&2; exit 1;; esac");
    setenv(ASPS_REQUEST_ENV, "stale", 1);
    assert_int_equal(asps_local_init(NULL, 1, args), 0);
    assert_int_equal(host_option("async-progress", "ghost:2", 0), 0);
    assert_int_equal(host_option("async-report", "/r.json", 0), 0);
    file = fopen(getenv(ASPS_FILTER_ENV), "w");
    fputs("fact --partition=main\n", file);
    fclose(file);
    assert_int_equal(asps_local_init_post_opt(NULL, 0, NULL), 0);
    assert_string_equal(getenv(ASPS_REQUEST_ENV), "ghost:2,seen=yes");
    assert_string_equal(getenv(ASPS_REPORT_ENV), "/r.json");
    assert_string_equal(host.log, "");
    /* Ghosts come out of -n, and srun says so. */
    host.nnodes = 2;
    host.ntasks = 10;
    asps_local_user_init(NULL, 0, NULL);
    assert_non_null(strstr(host.log, "10 tasks on 2 nodes: 6 user + 4 ghost"));
}

/* "srun ... : ..." calls us once per component. */
static void test_srun_het(void **state)
{
    static char log[HOST_LOG_MAX];

    (void) state;
    command("echo ghost:1");
    components = 2;
    assert_int_equal(srun_exit("ghost:1", log), 1);
    assert_non_null(strstr(log, "heterogeneous"));
    command("echo off");
    assert_int_equal(srun_exit("ghost:1", log), 0);
    components = 1;
}

static void test_srun_off(void **state)
{
    (void) state;
    command("echo called >&2; exit 1");
    setenv(ASPS_REQUEST_ENV, "stale", 1);
    setenv("ASPEN_PROGRESS", "ghost:1", 1);
    assert_int_equal(asps_local_init(NULL, 1, args), 0);
    assert_int_equal(host_option("async-progress", "off", 0), 0);
    assert_null(getenv(ASPS_FILTER_ENV));
    assert_int_equal(asps_local_init_post_opt(NULL, 0, NULL), 0);
    assert_null(getenv(ASPS_REQUEST_ENV));
    assert_string_equal(host.log, "");
    /* A report can be had all the same, by the options alone. */
    assert_int_equal(host_option("async-report", "/r.json", 0), 0);
    assert_null(getenv(ASPS_FILTER_ENV));
    assert_int_equal(asps_local_init_post_opt(NULL, 0, NULL), 0);
    assert_string_equal(getenv(ASPS_REQUEST_ENV), "off");
    assert_string_equal(getenv(ASPS_REPORT_ENV), "/r.json");
    assert_int_equal(asps_local_user_init(NULL, 0, NULL), 0);
    /* Not of a heterogeneous step, but it is no reason to refuse it. */
    assert_int_equal(asps_local_init_post_opt(NULL, 0, NULL), 0);
    assert_null(getenv(ASPS_REQUEST_ENV));
    assert_string_equal(host.log, "");
}

static void test_srun_refuses(void **state)
{
    static char log[HOST_LOG_MAX];

    (void) state;
    command("echo 'job.yaml:7:12: unknown key' >&2; exit 1");
    assert_int_equal(srun_exit("ghost:1", log), 1);
    assert_string_equal(log, "error: aspen: job.yaml:7:12: unknown key\n");
    setenv("SLURM_EXIT_ERROR", "77", 1);
    assert_int_equal(srun_exit("ghost:1", log), 77);
    command("printf 'ghost:1\\001\\n'");
    assert_int_equal(srun_exit("ghost:1", log), 77);
    assert_non_null(strstr(log, "different installations"));
    command("printf ghost:1,; head -c 9000 /dev/zero | tr '\\0' x; echo");
    assert_int_equal(srun_exit("ghost:1", log), 77);
    assert_non_null(strstr(log, "too long"));
    unlink(strchr(command_arg, '=') + 1);
    assert_int_equal(srun_exit("ghost:1", log), 77);
    assert_non_null(strstr(log, "cannot run"));
    command("echo off");
    assert_int_equal(srun_exit("ghost:1", log), 0);
    assert_string_equal(log, "");
    command("echo off; echo not on this partition >&2");
    assert_int_equal(srun_exit("auto", log), 0);
    assert_string_equal(log, "aspen: not on this partition\n");
}

/* No user task left. */
static void test_srun_counts(void **state)
{
    static char log[HOST_LOG_MAX];

    (void) state;
    command("echo ghost:2");
    host.nnodes = 2;
    host.ntasks = 4;
    assert_int_equal(srun_exit("ghost:2", log), 1);
    assert_non_null(strstr(log, "4 task(s) leave no user task"));
    host.ntasks = 5;
    assert_int_equal(srun_exit("ghost:2", log), 0);
    assert_non_null(strstr(log, "5 tasks on 2 nodes: 1 user + 4 ghost"));
}

/* The same where auto chose ghosts: the nodes do without them. */
static void test_srun_auto(void **state)
{
    static char log[HOST_LOG_MAX];

    (void) state;
    command("echo ghost:1,adapt=auto");
    host.nnodes = 2;
    host.ntasks = 2;
    assert_int_equal(srun_exit("auto", log), 0);
    assert_string_equal(log, "");
    command("echo ghost:1,adapt=auto,require=yes");
    assert_int_equal(srun_exit("auto", log), 1);
    assert_non_null(strstr(log, "leave no user task"));
}

/* Without the filter: programs by task id, and containers. */
static void test_srun_no_place(void **state)
{
    static char log[HOST_LOG_MAX], text[] = "0-3 hostname\n";
    char file[160];
    FILE *out;

    (void) state;
    snprintf(file, sizeof(file), "%s/programs", dir);
    command("echo ghost:1");
    host.nnodes = 2;
    host.ntasks = 4;
    host.argv[0] = file;
    host.argv[1] = text;
    assert_int_equal(srun_exit("ghost:1", log), 0); /* an argument like one */
    assert_non_null(strstr(log, "2 user + 2 ghost"));
    out = fopen(file, "w");
    fputs(text, out);
    fclose(out);
    assert_int_equal(srun_exit("ghost:1", log), 1);
    assert_non_null(strstr(log, "--multi-prog"));
    command("echo ghost:1,adapt=auto");
    assert_int_equal(asps_local_init(NULL, 1, args), 0);
    assert_int_equal(host_option("async-progress", "auto", 0), 0);
    assert_int_equal(asps_local_init_post_opt(NULL, 0, NULL), 0);
    assert_int_equal(asps_local_user_init(NULL, 0, NULL), 0);
    assert_non_null(strstr(host.log, "running without ghosts: --multi-prog"));
    assert_string_equal(getenv(ASPS_REQUEST_ENV), "off");
    setenv("SLURM_CONTAINER", "/image", 1);
    command("case \"$*\" in *--no-ghosts=*) echo off;; *) echo ghost:1;; esac");
    assert_int_equal(srun_exit("auto", log), 0);
    command("echo ghost:1");
    assert_int_equal(srun_exit("ghost:1", log), 1);
    assert_non_null(strstr(log, "--container"));
    unsetenv("SLURM_CONTAINER");
    unlink(file);
}

/* What Lua wrote: a growth that Slurm did not follow, a refusal. */
static void test_srun_filter(void **state)
{
    static const struct {
        const char *answer, *line;
        uint32_t nnodes, ntasks;
        int status; /* 99: goes on, with a remark */
    } rows[] = {
        {"ghost:1", "grown users=6 ghosts=1 nodes=2 tasks=8 per_node=4\n", 2, 8,
         0},
        {"ghost:1", "grown users=6 ghosts=1 nodes=2 tasks=8 per_node=4\n", 3, 8,
         1},
        {"ghost:1", "refuse no room\n", 2, 8, 1},
        {"off", "refuse no room\n", 2, 8, 99}, /* auto had chosen ghosts */
    };

    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char script[256];
        int status;

        snprintf(script, sizeof(script),
                 "case \"$*\" in *--no-ghosts=*) echo %s; "
                 "echo \"${*##*--no-ghosts=}?\" >&2;; *) echo ghost:1;; esac",
                 rows[i].answer);
        command(script);
        fflush(stdout);
        if (fork() == 0) {
            FILE *file;

            setup(NULL);
            host.nnodes = rows[i].nnodes;
            host.ntasks = rows[i].ntasks;
            asps_local_init(NULL, 1, args);
            host_option("async-progress", "ghost:1", 0);
            file = fopen(getenv(ASPS_FILTER_ENV), "w");
            fputs(rows[i].line, file);
            fclose(file);
            asps_local_init_post_opt(NULL, 0, NULL);
            if (!getenv(ASPS_ADDED_ENV) != !strstr(rows[i].line, "grown"))
                _exit(98);
            asps_local_user_init(NULL, 0, NULL);
            _exit(host.log[0] == '\0' ? 0 : 99);
        }
        wait(&status);
        assert_int_equal(WEXITSTATUS(status), rows[i].status);
    }
}

/* In a grown allocation srun must find the user's counts as its defaults. */
static void test_srun_in_grown(void **state)
{
    (void) state;
    command("exit 1");
    setenv(ASPS_GROWN_ENV, "users=6 ghosts=1 nodes=2 tasks=8 per_node=4", 1);
    setenv("SLURM_NTASKS", "8", 1);
    setenv("SLURM_NPROCS", "8", 1);
    setenv("SLURM_NTASKS_PER_NODE", "4", 1);
    assert_int_equal(asps_local_init(NULL, 1, args), 0);
    assert_string_equal(getenv("SLURM_NTASKS"), "6");
    assert_string_equal(getenv("SLURM_NPROCS"), "6");
    assert_string_equal(getenv("SLURM_NTASKS_PER_NODE"), "3");
    setenv("SLURM_NTASKS", "5", 1); /* the user's own */
    host_reset();
    assert_int_equal(asps_local_init(NULL, 1, args), 0);
    assert_string_equal(getenv("SLURM_NTASKS"), "5");
}

/* A variable that srun's start leaves with that value; NULL: with none. */
static void left_with(const char *name, const char *value)
{
    const char *now = getenv(name);

    if (value == NULL)
        assert_null(now);
    else
        assert_string_equal(now != NULL ? now : "(none)", value);
}

/* The same of CPUs, which may be the user's or only ours. */
static void test_srun_has_cpus(void **state)
{
    static const struct {
        const char *release, *had, *cpus, *tres; /* what srun finds */
        const char *cpus_then, *tres_then;
    } rows[] = {
        {"22.05.8", "user=4 total=5", "5", NULL, "4", NULL},
        {"22.05.8", "user=4 total=5", "4", NULL, "4", NULL},
        {"22.05.8", "user=0 total=4", "4", NULL, NULL, NULL},
        {"22.05.8", "user=0 total=4", "3", NULL, "3", NULL},
        {"23.02.7", "user=4 total=5", "5", NULL, "4", NULL},
        {"23.11.1", "user=4 total=5", "5", "cpu:5", "5", "cpu:5"},
        {"23.11.1", "user=0 total=2", "2", "cpu:2", NULL, NULL},
        {"24.11.5", "user=4 total=5", "5", "cpu=5", "5", "cpu=5"},
        {"24.11.5", "user=0 total=2", "2", "cpu=2", NULL, NULL},
        {"24.11.5", "user=0 total=2", "3", "cpu=3", "3", "cpu=3"},
        {"24.11.5", "user=0 total=2", "2", "cpu=2,gres/gpu=1", NULL,
         "gres/gpu=1"},
    };

    (void) state;
    command("exit 1");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        host_reset();
        strcpy(host.release, rows[i].release);
        setenv(ASPS_HAD_CPUS_ENV, rows[i].had, 1);
        setenv("SLURM_CPUS_PER_TASK", rows[i].cpus, 1);
        if (rows[i].tres != NULL)
            setenv("SLURM_TRES_PER_TASK", rows[i].tres, 1);
        assert_int_equal(asps_local_init(NULL, 1, args), 0);
        left_with("SLURM_CPUS_PER_TASK", rows[i].cpus_then);
        left_with("SLURM_TRES_PER_TASK", rows[i].tres_then);
        unsetenv("SLURM_CPUS_PER_TASK");
        unsetenv("SLURM_TRES_PER_TASK");
    }
    unsetenv(ASPS_HAD_CPUS_ENV);
}

/* What Lua added goes to the nodes. */
static void test_srun_sends_cpus(void **state)
{
    FILE *file;

    (void) state;
    command("echo offload");
    setenv(ASPS_CPUS_ENV, "user=1 total=9", 1); /* of an outer step */
    assert_int_equal(asps_local_init(NULL, 1, args), 0);
    assert_int_equal(host_option("async-progress", "offload", 0), 0);
    file = fopen(getenv(ASPS_FILTER_ENV), "w");
    fputs("cpus user=4 total=5\n", file);
    fclose(file);
    assert_int_equal(asps_local_init_post_opt(NULL, 0, NULL), 0);
    assert_string_equal(getenv(ASPS_CPUS_ENV), "user=4 total=5");
    unsetenv(ASPS_CPUS_ENV);
}

/* A step inside a step's task inherits no layout. */
static void test_srun_in_task(void **state)
{
    (void) state;
    command("exit 1");
    setenv("ASPEN_LAYOUT", "aspen-layout/1", 1);
    setenv("ASPEN_ROLE", "user", 1);
    setenv("ASPEN_PMIX_NAMESPACE", "aspen.1.0", 1);
    setenv("ASPEN_PMIX_RANK", "0", 1);
    setenv("PMI_RANK", "0", 1);
    assert_int_equal(asps_local_init(NULL, 1, args), 0);
    assert_null(getenv("ASPEN_LAYOUT"));
    assert_null(getenv("ASPEN_ROLE"));
    assert_null(getenv("ASPEN_PMIX_NAMESPACE"));
    assert_null(getenv("ASPEN_PMIX_RANK"));
    assert_string_equal(getenv("PMI_RANK"), "0");
    unsetenv("PMI_RANK");
}

static void test_allocator(void **state)
{
    char path[128], *full;
    FILE *file;

    (void) state;
    host.context = S_CTX_ALLOCATOR;
    command("echo ghost:1,bound=yes");
    snprintf(path, sizeof(path), "%s/../%s/job.yaml", dir,
             strrchr(dir, '/') + 1);
    file = fopen(path, "w");
    fclose(file);
    setenv("ASPEN_PROGRESS", "ghost:1", 1);
    setenv(ASPS_GROWN_ENV, "users=4 ghosts=1 nodes=2 tasks=6 per_node=3", 1);
    setenv(ASPS_HAD_CPUS_ENV, "user=4 total=5", 1);
    assert_int_equal(asps_allocator_init(NULL, 1, args), 0);
    assert_null(getenv(ASPS_GROWN_ENV)); /* of an outer job */
    assert_null(getenv(ASPS_HAD_CPUS_ENV));
    assert_int_equal(host_option("async-policy", path, 0), 0);
    file = fopen(getenv(ASPS_FILTER_ENV), "w");
    fputs("grown users=6 ghosts=1 nodes=2 tasks=8 per_node=4\n"
          "cpus user=0 total=2\n",
          file);
    fclose(file);
    assert_int_equal(asps_allocator_init_post_opt(NULL, 0, NULL), 0);
    assert_string_equal(
        host_control("_SLURM_SPANK_OPTION_aspen_async_progress"), "ghost:1");
    full = realpath(path, NULL);
    assert_string_equal(host_control("_SLURM_SPANK_OPTION_aspen_async_policy"),
                        full);
    assert_string_equal(host_control(ASPS_GROWN_CONTROL),
                        "users=6 ghosts=1 nodes=2 tasks=8 per_node=4");
    assert_string_equal(host_control(ASPS_CPUS_CONTROL), "user=0 total=2");
    assert_string_equal(host_control(ASPS_SEEN_PROGRESS), "ghost:1");
    assert_null(host_control(ASPS_SEEN_REPORT));
    assert_null(getenv(ASPS_REQUEST_ENV));
    assert_null(getenv(ASPS_FILTER_ENV));
    free(full);
}

static int setup_group(void **state)
{
    (void) state;
    strcpy(dir, "/tmp/aspen-submit-test-XXXXXX");
    return mkdtemp(dir) != NULL ? 0 : -1;
}

static int teardown_group(void **state)
{
    char text[128];

    (void) state;
    snprintf(text, sizeof(text), "rm -rf %s", dir);
    return system(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_run, setup),
        cmocka_unit_test_setup(test_srun_sends_request, setup),
        cmocka_unit_test_setup(test_srun_het, setup),
        cmocka_unit_test_setup(test_srun_off, setup),
        cmocka_unit_test_setup(test_srun_refuses, setup),
        cmocka_unit_test_setup(test_srun_counts, setup),
        cmocka_unit_test_setup(test_srun_auto, setup),
        cmocka_unit_test_setup(test_srun_no_place, setup),
        cmocka_unit_test_setup(test_srun_filter, setup),
        cmocka_unit_test_setup(test_srun_in_grown, setup),
        cmocka_unit_test_setup(test_srun_has_cpus, setup),
        cmocka_unit_test_setup(test_srun_sends_cpus, setup),
        cmocka_unit_test_setup(test_srun_in_task, setup),
        cmocka_unit_test_setup(test_allocator, setup),
    };

    alarm(60);
    return cmocka_run_group_tests(tests, setup_group, teardown_group);
}
