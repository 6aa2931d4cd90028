/* SPDX-License-Identifier: BSD-3-Clause */
/* aspen status: what a job does on this node, now. */
#include "config.h"

#include "status.h"

#include "tools/base/command.h"
#include "tools/base/options.h"

#include "common/base/words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { APART_MS = 250, WATCH_MAX_S = 3600, HOST_BYTES = 256 };

static const char usage[] =
    "usage: aspen status [--watch SECONDS] JOBID[.STEP]\n\n"
    "Shows what the tasks of a job of yours do on this node: which are ranks "
    "and\n"
    "which ghosts, how far they are with MPI, and their CPU time. Reads /proc\n"
    "and disturbs nothing. On another node of the job:\n"
    "    srun --jobid=JOBID --overlap -w NODE aspen status JOBID\n";

struct target {
    uint32_t job;
    const char *step; /* NULL: all */
};

/* "1234" or "1234.0". Returns 0 or -1. */
static int parse_target(char *text, struct target *target)
{
    unsigned long job;
    char *end;

    errno = 0;
    job = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || errno || !job || job >= UINT32_MAX ||
        (*end && *end != '.') || (*end == '.' && !end[1]))
        return -1;
    target->job = (uint32_t) job;
    target->step = *end ? end + 1 : NULL;
    return 0;
}

static int nothing(const struct target *target, const char *text)
{
    fprintf(stderr, "aspen: job %" PRIu32 "%s%s %s\n", target->job,
            target->step ? "." : "", target->step ? target->step : "", text);
    return ASPT_NO;
}

/* Why there is nothing to show. */
static int explain(const struct aspt_found *found, const struct target *target,
                   size_t named)
{
    char text[HOST_BYTES + 128], host[HOST_BYTES] = "?";

    (void) gethostname(host, sizeof(host) - 1);
    if (found->nsteps && !named) {
        snprintf(text, sizeof(text),
                 "is not here (%s), but other steps of "
                 "that job are",
                 host);
        return nothing(target, text);
    }
    for (size_t s = 0; s < found->nsteps; s++)
        if (found->steps[s].broken)
            return nothing(target, "has a layout that this aspen cannot read");
    if (found->nsteps)
        return nothing(target, "runs here, but without Aspen");
    snprintf(
        text, sizeof(text),
        found->foreign
            ? "is on this node (%s), but no process of it is yours: only its "
              "user can look"
            : "has no process on this node (%s); is it over, or elsewhere?",
        host);
    return nothing(target, text);
}

static int show(const struct target *target)
{
    struct asp_err err = {.text = ""};
    struct aspt_found found;
    size_t shown = 0, named = 0;
    int rc = ASPT_OK;

    if (aspt_find(target->job, &found, &err) < 0) {
        aspt_found_clear(&found);
        return aspt_complain(&err);
    }
    for (size_t s = 0; s < found.nsteps; s++) {
        const struct aspt_step *step = &found.steps[s];

        if (target->step && strcmp(target->step, step->name) != 0)
            continue;
        named++;
        if (!step->layout)
            continue;
        if (shown++)
            putchar('\n');
        aspt_status_show(stdout, target->job, step, APART_MS);
    }
    if (!shown)
        rc = explain(&found, target, named);
    aspt_found_clear(&found);
    return rc;
}

/* Until there is nothing more to see. */
static int watch(const struct target *target, unsigned seconds)
{
    int rc = show(target), first = rc;

    while (rc == ASPT_OK) {
        fflush(stdout);
        sleep(seconds);
        fputs(isatty(STDOUT_FILENO) ? "\033[H\033[2J" : "\n", stdout);
        rc = show(target);
    }
    return first;
}

/* --watch: a number that is none has the usage for its message. */
static int take_option(int option, const char *value, void *data,
                       struct asp_err *err)
{
    uint32_t *seconds = data;

    (void) option, (void) err;
    return asp_parse_number(value, WATCH_MAX_S, seconds) == 0 && *seconds ? 0
                                                                          : -1;
}

int aspt_status(int argc, char **argv)
{
    static const struct option table[] = {
        {"watch", required_argument, NULL, 'w'},
        {"help", no_argument, NULL, ASPT_OPTION_HELP},
        {NULL, 0, NULL, 0},
    };
    static const struct aspt_options options = {"aspen status", ":w:", table,
                                                usage, take_option};
    struct target target;
    uint32_t seconds = 0;
    int status = aspt_options_read(&options, argc, argv, &seconds);

    if (status >= 0)
        return status;
    if (optind != argc - 1) {
        fputs(usage, stderr);
        return ASPT_REFUSED;
    }
    if (parse_target(argv[optind], &target) < 0) {
        fprintf(stderr,
                "aspen: \"%.40s\" is no number of a job or step, such "
                "as 1234 or 1234.0\n",
                argv[optind]);
        return ASPT_REFUSED;
    }
    return seconds ? watch(&target, seconds) : show(&target);
}
