/* SPDX-License-Identifier: BSD-3-Clause */
/* Slurm calls the callbacks while it reads the command line, in srun, sbatch
 * and salloc (and again in slurmstepd, where they do nothing: nodes take the
 * request that srun checked, not the raw option). It may call one more than
 * once for the same option.
 *
 * sbatch and salloc hand an option down as SLURM_SPANK_<name below>; Slurm then
 * calls the callback in srun as if it had been on srun's command line. Only
 * the equal value tells the two apart, and it matters: ASPEN_PROGRESS=off in a
 * batch script must win over what sbatch was given. An off handed down wins
 * over the environment too, and so does everything over a twin that sbatch saw
 * already: the shell's, which lost against sbatch's own command line. */
#include "config.h"

#include "options.h"

#include "filter.h"
#include "release.h"

#include "common/base/child.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HELP_TIMEOUT_MS = 10000, HELP_MAX = 64 * 1024 };
enum { OPT_PROGRESS, OPT_POLICY, OPT_REPORT, OPT_COUNT };

static struct asps_options given;
static const char *aspen_command, *site_policy, *slurm_release = "";

/* How an option is called and where its value goes. */
struct row {
    const char *option;
    const char *twin;
    const char *inherited; /* set by sbatch and salloc, see allocator.c */
    const char *seen;      /* the twin as they found it; likewise */
    const char *bare;      /* value of the option without argument */
    size_t offset;
    size_t bytes;
};

#define FIELD(member)                                                          \
    offsetof(struct asps_options, member),                                     \
        sizeof(((struct asps_options *) NULL)->member)

static const struct row rows[OPT_COUNT] = {
    [OPT_PROGRESS] = {"async-progress", "ASPEN_PROGRESS",
                      "SLURM_SPANK__SLURM_SPANK_OPTION_aspen_async_progress",
                      "SLURM_SPANK_" ASPS_SEEN_PROGRESS, "on", FIELD(progress)},
    [OPT_POLICY] = {"async-policy", "ASPEN_POLICY",
                    "SLURM_SPANK__SLURM_SPANK_OPTION_aspen_async_policy",
                    "SLURM_SPANK_" ASPS_SEEN_POLICY, "", FIELD(policy)},
    [OPT_REPORT] = {"async-report", "ASPEN_REPORT",
                    "SLURM_SPANK__SLURM_SPANK_OPTION_aspen_async_report",
                    "SLURM_SPANK_" ASPS_SEEN_REPORT, "1", FIELD(report)},
};

static char *value_of(struct asps_options *options, int opt)
{
    return (char *) options + rows[opt].offset;
}

/* Slurm writes an absent argument as NULL, "" or, between processes,
 * "(null)". */
static const char *argument(int opt, const char *said)
{
    if (said == NULL || *said == '\0' || strcmp(said, "(null)") == 0)
        return rows[opt].bare;
    return said;
}

/* --async-progress=help: print what `aspen` prints, and leave srun. */
static void print_help(void)
{
    char command[ASPS_PATH_MAX];
    char request[] = "request";
    char knobs[] = "--help-knobs";
    char *argv[] = {command, request, knobs, NULL};
    static char text[HELP_MAX];
    char why[512];
    int status = 0;

    snprintf(command, sizeof(command), "%s", aspen_command);
    if (asp_child_run(argv, HELP_TIMEOUT_MS, text, sizeof(text), why,
                      sizeof(why), &status) < 0 ||
        !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        slurm_error("aspen: cannot list the knobs: %s request --help-knobs "
                    "failed: %s",
                    command, why);
        exit(EXIT_FAILURE);
    }
    fputs(text, stdout);
    exit(EXIT_SUCCESS);
}

static int on_option(int opt, const char *said, int remote)
{
    const char *value;

    if (remote || opt < 0 || opt >= OPT_COUNT)
        return 0;
    value = argument(opt, said);
    if (opt == OPT_PROGRESS && strcmp(value, "help") == 0)
        print_help();
    if (*value == '\0') {
        slurm_error("aspen: --%s needs a value", rows[opt].option);
        return -1;
    }
    if (strlen(value) >= rows[opt].bytes) {
        slurm_error("aspen: --%s is longer than %zu bytes", rows[opt].option,
                    rows[opt].bytes - 1);
        return -1;
    }
    strcpy(value_of(&given, opt), value);
    asps_options_publish();
    return 0;
}

int asps_options_register(spank_t spank, const char *command,
                          const char *policy)
{
    static char names[OPT_COUNT][32];
    static char spec[] = "SPEC", file[] = "FILE";
    static char usage[OPT_COUNT][320] = {
        ("asynchronous progress for MPI: off, auto, ghost[:N], offload, "
         "thread, "
         "and key=value items, separated by commas. Without SPEC: what "
         "policies "
         "say, else auto. --async-progress=help lists the keys"),
        "job policy (YAML) for asynchronous progress",
        ("at the end, say what asynchronous progress did, or write also "
         "JSON to FILE. --async-report=trace says each decision when it is "
         "made, too")};
    int rc = 0;

    aspen_command = command;
    site_policy = policy;
    slurm_release = asps_release_text(spank);
    for (int i = 0; i < OPT_COUNT; i++) {
        struct spank_option option = {
            .name = names[i],
            .arginfo = i == OPT_PROGRESS ? spec : file,
            .usage = usage[i],
            .has_arg = i == OPT_POLICY ? 1 : 2,
            .val = i,
            .cb = on_option,
        };

        snprintf(names[i], sizeof(names[i]), "%s", rows[i].option);
        if (spank_option_register(spank, &option) != ESPANK_SUCCESS)
            rc = -1;
    }
    return rc;
}

/* The value in force: NULL or a string that fits its field. */
static const char *effective(int opt)
{
    const char *option = value_of(&given, opt);
    const char *twin = getenv(rows[opt].twin);
    const char *inherited = getenv(rows[opt].inherited);
    const char *seen = getenv(rows[opt].seen);

    if (twin != NULL && (*twin == '\0' || strlen(twin) >= rows[opt].bytes))
        twin = NULL;
    if (*option == '\0')
        return twin;
    if (twin != NULL && inherited != NULL && strcmp(option, "off") != 0 &&
        strcmp(argument(opt, inherited), option) == 0 &&
        (seen == NULL || strcmp(seen, twin) != 0))
        return twin;
    return option;
}

/* As the runtime reads ASPEN_REPORT (frame.c). */
bool asps_report_wanted(const char *value)
{
    return *value != '\0' && strcmp(value, "0") != 0 &&
           strcmp(value, "no") != 0;
}

static bool is_off(const struct asps_options *options)
{
    return strcmp(options->progress, "off") == 0;
}

bool asps_options_effective(struct asps_options *out_p)
{
    memset(out_p, 0, sizeof(*out_p));
    for (int i = 0; i < OPT_COUNT; i++) {
        const char *value = effective(i);

        if (value != NULL)
            strcpy(value_of(out_p, i), value);
    }
    /* --async-report alone: of plain MPI. Its twin alone asks for nothing, or
     * all that its owner starts would be measured. */
    if (out_p->progress[0] == '\0' && out_p->policy[0] == '\0' &&
        asps_report_wanted(given.report))
        strcpy(out_p->progress, "off");
    if (is_off(out_p))
        return asps_report_wanted(out_p->report);
    return out_p->progress[0] != '\0' || out_p->policy[0] != '\0';
}

void asps_options_publish(void)
{
    static struct asps_options now;
    struct asps_filter_request request = {.command = aspen_command,
                                          .site_policy = site_policy,
                                          .progress = now.progress,
                                          .policy = now.policy,
                                          .release = slurm_release};

    asps_filter_publish(asps_options_effective(&now) && !is_off(&now) ? &request
                                                                      : NULL);
}

void asps_options_reset(void)
{
    memset(&given, 0, sizeof(given));
}
