/* SPDX-License-Identifier: BSD-3-Clause */
/* srun, running as the user: refuse early, send the checked request along,
 * and see that the numbers are as asked.
 *
 * Order in srun: init; the environment and the command line are read (option
 * callbacks); cli_filter; init_post_opt; the allocation; local_user_init; the
 * launch. */
#include "config.h"

#include "local.h"

#include "filter.h"
#include "release.h"
#include "special.h"
#include "submit.h"

#include "common/base/slurm_rules.h"
#include "common/base/tres.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    struct asps_settings settings;
    struct asps_submit submit;
    bool active;
    bool again; /* init_post_opt was called: the step is heterogeneous */
} srun;

/* Replace a variable that holds the number `from`. */
static void renumber(const char *name, uint32_t from, uint32_t to)
{
    const char *value = getenv(name);
    char text[16];

    snprintf(text, sizeof(text), "%" PRIu32, from);
    if (value == NULL || strcmp(value, text) != 0)
        return;
    snprintf(text, sizeof(text), "%" PRIu32, to);
    setenv(name, text, 1);
}

/* Take out a -c that is ours alone. */
static void forget_cpus(uint32_t total)
{
    static const char cpus[] = "SLURM_CPUS_PER_TASK",
                      tres[] = "SLURM_TRES_PER_TASK";
    const char *value = getenv(cpus);
    char text[1024];
    bool others;

    if (value != NULL && strtoul(value, NULL, 10) == total)
        unsetenv(cpus);
    value = getenv(tres);
    if (value == NULL || asp_tres_cpus(value, &others) != total ||
        asp_tres_set_cpus(value, 0, text, sizeof(text)) < 0)
        return;
    if (others)
        setenv(tres, text, 1);
    else
        unsetenv(tres);
}

/* As the user gave it; where he did not there is none. A srun that reads it as
 * its -c finds what salloc's shell shows, for it would warn of a -c that is
 * larger, as one from that shell would be; cpus.c knows both numbers. */
static void restore_cpus(uint32_t release)
{
    const char *text = getenv(ASPS_HAD_CPUS_ENV);
    struct asps_cpus cpus;

    if (text == NULL || asps_cpus_parse(text, &cpus) < 0)
        return;
    if (cpus.user == 0)
        forget_cpus(cpus.total);
    else if (!asp_slurm_has(release, ASP_SLURM_STEP_READS_CPUS))
        renumber("SLURM_CPUS_PER_TASK", cpus.total, cpus.user);
}

/* In an allocation that was grown, the environment holds the grown counts
 * (salloc gives us no hook to change that). srun is about to read them as
 * defaults of -n: it must find what the user asked for. */
static void restore_counts(uint32_t release)
{
    const char *text = getenv(ASPS_GROWN_ENV);
    struct asps_grown grown;

    restore_cpus(release);
    if (text == NULL || asps_grown_parse(text, &grown) < 0)
        return;
    renumber("SLURM_NTASKS", grown.tasks, grown.users);
    renumber("SLURM_NPROCS", grown.tasks, grown.users);
    if (grown.per_node)
        renumber("SLURM_NTASKS_PER_NODE", grown.per_node,
                 grown.per_node - grown.ghosts);
    if (grown.plane)
        renumber("SLURM_DIST_PLANESIZE", grown.plane + grown.ghosts,
                 grown.plane);
}

/* When srun is called in a task of another step, take that step's layout and
 * PMIx server out of what the new step inherits. */
static void leave_outer_step(void)
{
    static const char *const names[] = {"ASPEN_LAYOUT", "ASPEN_ROLE",
                                        "ASPEN_LOCAL", "ASPEN_BOARD_FD"};
    static const char server[] = "ASPEN_PMIX_";
    char name[128];

    if (getenv("ASPEN_LAYOUT") == NULL)
        return;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
    for (char **var = environ; *var != NULL;) {
        size_t len = strcspn(*var, "=");

        if (strncmp(*var, server, sizeof(server) - 1) != 0 ||
            len >= sizeof(name)) {
            var++;
            continue;
        }
        memcpy(name, *var, len);
        name[len] = '\0';
        unsetenv(name); /* moves the rest of environ down to var */
    }
}

int asps_local_init(spank_t spank, int argc, char **argv)
{
    char why[512];
    int rc;

    if (asps_settings_read(argc, argv, &srun.settings, why, sizeof(why)) < 0)
        slurm_error("aspen: %s", why);
    srun.again = false;
    restore_counts(asps_release(spank));
    leave_outer_step();
    rc = asps_options_register(spank, srun.settings.command,
                               srun.settings.policy);
    asps_options_publish();
    return rc;
}

int asps_local_init_post_opt(spank_t spank, int argc, char **argv)
{
    char cpus[64];

    (void) spank, (void) argc, (void) argv;
    unsetenv(ASPS_REQUEST_ENV);
    unsetenv(ASPS_REPORT_ENV);
    unsetenv(ASPS_CPUS_ENV);
    unsetenv(ASPS_ADDED_ENV);
    srun.active = asps_submit_check(&srun.settings, &srun.submit);
    if (!srun.active)
        return 0;
    if (srun.again && asps_submit_is_off(&srun.submit)) {
        srun.active = false; /* off is off, without a report */
        return 0;
    }
    if (srun.again)
        asps_submit_refuse("heterogeneous steps (\"srun ... : ...\") are not "
                           "supported: use one srun per component, or "
                           "--async-progress=off");
    srun.again = true;
    setenv(ASPS_REQUEST_ENV, srun.submit.text, 1);
    if (srun.submit.options.report[0] != '\0')
        setenv(ASPS_REPORT_ENV, srun.submit.options.report, 1);
    if (srun.submit.filter.cpus.total &&
        asps_cpus_print(&srun.submit.filter.cpus, cpus, sizeof(cpus)) > 0)
        setenv(ASPS_CPUS_ENV, cpus, 1);
    if (srun.submit.filter.is_grown)
        setenv(ASPS_ADDED_ENV, "1", 1);
    return 0;
}

/* Slurm has laid the step out. Ghosts are the last tasks of each node, so all
 * counts follow from these three. */
static void check_counts(uint32_t ntasks, uint32_t nnodes, uint32_t ghosts)
{
    const struct asps_grown *grown = &srun.submit.filter.grown;
    bool is_grown = srun.submit.filter.is_grown;
    uint64_t ghosts_all = (uint64_t) ghosts * nnodes;
    char text[512];

    if (ntasks <= ghosts_all && srun.submit.spec.optional)
        return; /* the nodes do without, and say so */
    if (ntasks <= ghosts_all) {
        snprintf(text, sizeof(text),
                 "%" PRIu32 " ghost(s) on each of %" PRIu32 " node(s) and "
                 "%" PRIu32 " task(s) leave no user task: ask for more than "
                 "%" PRIu64 " tasks (-n) or fewer ghosts",
                 ghosts, nnodes, ntasks, ghosts_all);
        asps_submit_refuse(text);
    }
    if (is_grown && grown->users != ntasks - ghosts_all) {
        snprintf(text, sizeof(text),
                 "asked for %" PRIu32 " user tasks and %" PRIu32
                 " ghost(s) on each of %" PRIu32 " node(s), but Slurm laid "
                 "out %" PRIu32 " tasks on %" PRIu32 " node(s): give -N and "
                 "-n so that both are fixed",
                 grown->users, grown->ghosts, grown->nodes, ntasks, nnodes);
        asps_submit_refuse(text);
    }
    if (!is_grown)
        slurm_spank_log("aspen: %" PRIu32 " tasks on %" PRIu32 " nodes: "
                        "%" PRIu64 " user + %" PRIu64 " ghost (cli_filter.lua "
                        "did not add the ghosts, so they come out of -n)",
                        ntasks, nnodes, ntasks - ghosts_all, ghosts_all);
}

/* srun sends the file that --multi-prog names as the word behind its name. No
 * item of SPANK tells, but nothing else has that form. */
static bool is_multi_prog(spank_t spank)
{
    char **argv = NULL, *text = NULL;
    bool same = false;
    int argc = 0, fd;
    ssize_t len;

    if (spank_get_item(spank, S_JOB_ARGV, &argc, &argv) != ESPANK_SUCCESS ||
        argc < 2 || argv == NULL || argv[0] == NULL || argv[1] == NULL)
        return false;
    fd = open(argv[0], O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return false;
    len = (ssize_t) strlen(argv[1]);
    text = malloc((size_t) len + 1);
    if (len > 0 && text != NULL && read(fd, text, (size_t) len + 1) == len)
        same = memcmp(text, argv[1], (size_t) len) == 0;
    free(text);
    close(fd);
    return same;
}

/* cli_filter.lua refuses it before anything is launched, where there is one. */
static void refuse_multi_prog(void)
{
    if (!srun.submit.spec.optional || srun.submit.filter.is_grown)
        asps_submit_refuse(ASPS_NO_MULTI_PROG);
    slurm_spank_log("aspen: running without ghosts: " ASPS_NO_MULTI_PROG);
    setenv(ASPS_REQUEST_ENV, "off", 1); /* the environment is sent after us */
}

int asps_local_user_init(spank_t spank, int argc, char **argv)
{
    uint32_t ntasks, nnodes, step;

    (void) argc, (void) argv;
    if (!srun.active || srun.submit.spec.ghosts == 0)
        return 0;
    if (spank_get_item(spank, S_JOB_STEPID, &step) == ESPANK_SUCCESS &&
        step >= ASPS_STEP_SPECIAL)
        return 0; /* the shell of salloc */
    if (spank_get_item(spank, S_JOB_NNODES, &nnodes) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_TOTAL_TASK_COUNT, &ntasks) !=
            ESPANK_SUCCESS)
        return 0;
    if (is_multi_prog(spank))
        refuse_multi_prog();
    else
        check_counts(ntasks, nnodes, srun.submit.spec.ghosts);
    return 0;
}
