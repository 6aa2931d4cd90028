/* SPDX-License-Identifier: BSD-3-Clause */
/* aspen check-policy: would this file be accepted, and what would it mean? */
#include "config.h"

#include "explain.h"

#include "tools/base/command.h"
#include "tools/base/options.h"

#include "common/policy/policy.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: aspen check-policy [--site|--job] FILE\n"
    "       aspen check-policy --list-knobs [--man]\n\n"
    "Checks a policy file and prints the value that every setting would have\n"
    "and where it comes from. --site (the default) reads it as a site policy,\n"
    "with the demands on owner and mode; rules apply to no job in particular.\n"
    "--list-knobs prints the schema; with --man, as in aspen-policy(5).\n";

static void print_settings(const struct asp_policy *policy)
{
    printf("%-18s %-12s %s\n", "setting", "value", "from");
    for (enum asp_knob_id id = 0; id < ASP_KNOB_COUNT; id++) {
        const struct asp_setting *s = asp_policy_setting(policy, id);

        printf("%-18s %-12s %s%s%s\n", asp_knobs[id].name, s->value, s->origin,
               s->note[0] ? "; " : "", s->note);
    }
    aspt_print_policy_rules(stdout, policy);
}

static int check(const char *path, bool job)
{
    struct asp_policy *policy = asp_policy_create();
    struct asp_err err;
    int rc = ASPT_REFUSED;

    if (!policy)
        return ASPT_REFUSED;
    if ((job ? asp_policy_add_job(policy, path, &err)
             : asp_policy_add_site(policy, path, getuid(), &err)) < 0 ||
        asp_policy_resolve(policy, NULL, &err) < 0) {
        aspt_complain(&err);
    } else {
        print_settings(policy);
        rc = ASPT_OK;
    }
    asp_policy_destroy(policy);
    return rc;
}

struct given {
    bool job, list, man;
};

static int take_option(int option, const char *value, void *data,
                       struct asp_err *err)
{
    struct given *given = data;

    (void) value, (void) err;
    given->job = option == 'j' || (given->job && option != 's');
    given->list |= option == 'l';
    given->man |= option == 'm';
    return 0;
}

int aspt_check_policy(int argc, char **argv)
{
    static const struct option table[] = {
        {"site", no_argument, NULL, 's'},
        {"job", no_argument, NULL, 'j'},
        {"list-knobs", no_argument, NULL, 'l'},
        {"man", no_argument, NULL, 'm'},
        {"help", no_argument, NULL, ASPT_OPTION_HELP},
        {NULL, 0, NULL, 0},
    };
    static const struct aspt_options options = {"aspen check-policy", ":",
                                                table, usage, take_option};
    struct given given = {false, false, false};
    int status = aspt_options_read(&options, argc, argv, &given);

    if (status >= 0)
        return status;
    if (given.list && optind == argc) {
        (given.man ? aspt_print_knobs_man : aspt_print_knobs)(stdout);
        return ASPT_OK;
    }
    if (optind != argc - 1) {
        fputs(usage, stderr);
        return ASPT_REFUSED;
    }
    return check(argv[optind], given.job);
}
