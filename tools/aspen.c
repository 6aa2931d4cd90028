/* SPDX-License-Identifier: BSD-3-Clause */
/* aspen: the command for users and administrators; aspen(1). */
#include "config.h"

#include "tools/base/command.h"
#include "tools/compare/compare.h"
#include "tools/explain/coll_table.h"
#include "tools/explain/explain.h"
#include "tools/report/report.h"
#include "tools/run/run.h"
#include "tools/status/status.h"
#include "tools/tune/tune.h"

#include <stdio.h>
#include <string.h>

static const struct subcommand {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} subcommands[] = {
    {"check-policy", aspt_check_policy, "check a policy file"},
    {"compare", aspt_compare, "run a job with and without, say if it helps"},
    {"explain", aspt_explain, "show which task sits on which core, and why"},
    {"pmix", aspt_pmix, "run a PMIx tool as a client of Aspen's server"},
    {"report", aspt_report, "show what a job did, from its record"},
    {"request", aspt_request, "what srun asks: check and complete a request"},
    {"run", aspt_run_job, "start a job without the site's plugin"},
    {"status", aspt_status, "show what a job does on this node, now"},
    {"tune", aspt_tune, "measure algorithms of collective operations"},
};

enum { SUBCOMMANDS = sizeof(subcommands) / sizeof(subcommands[0]) };

static void usage(FILE *out)
{
    fprintf(out, "usage: aspen SUBCOMMAND [OPTION...]\n\n");
    for (size_t i = 0; i < SUBCOMMANDS; i++)
        fprintf(out, "  %-14s %s\n", subcommands[i].name, subcommands[i].help);
    fprintf(out, "\naspen SUBCOMMAND --help says more; see aspen(1).\n");
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        usage(stderr);
        return ASPT_REFUSED;
    }
    if (strcmp(argv[1], "--help") == 0) {
        usage(stdout);
        return ASPT_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("aspen %s\n", PACKAGE_VERSION);
        return ASPT_OK;
    }
    if (argc > 2 && strcmp(argv[1], "explain") == 0 &&
        strcmp(argv[2], "--extra") == 0)
        return aspt_extra(argc - 3, argv + 3);
    if (argc > 2 && strcmp(argv[1], "explain") == 0 &&
        strcmp(argv[2], "table") == 0)
        return aspt_coll_table(argc - 2, argv + 2);
    for (size_t i = 0; i < SUBCOMMANDS; i++)
        if (strcmp(argv[1], subcommands[i].name) == 0)
            return subcommands[i].run(argc - 1, argv + 1);
    fprintf(stderr, "aspen: unknown subcommand \"%s\"; see aspen --help\n",
            argv[1]);
    return ASPT_REFUSED;
}
