/* SPDX-License-Identifier: BSD-3-Clause */
/* aspen request: what the plugin asks in srun, sbatch and salloc, as the
 * caller. Reads option, environment and policies, and prints the canonical
 * request, which is all that travels to the nodes. */
#include "config.h"

#include "request.h"

#include "advice.h"
#include "explain.h"

#include "tools/base/command.h"
#include "tools/base/options.h"
#include "tools/base/library.h"
#include "tools/base/program.h"

#include "common/base/words.h"
#include "common/policy/policy.h"

#include <errno.h>
#include <pwd.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: aspen request [--progress=SPEC] [--policy=FILE]\n"
    "                     [--site-policy=FILE] [--partition=NAME]\n"
    "                     [--account=NAME] [--qos=NAME] [--program=NAME]\n"
    "                     [--nodes=N] [--tasks-per-node=N]\n"
    "                     [--no-more-ghosts] [--no-ghosts=WHY] [--counting]\n"
    "       aspen request --help-knobs\n\n"
    "Prints the canonical request. ASPEN_PROGRESS and ASPEN_POLICY stand in\n"
    "for options that are not given. --counting: with the site's knobs that\n"
    "change what Slurm is asked for, as aspen explain --extra needs them.\n";

enum { WHY_MAX = 480 };

struct command {
    bool counting; /* first: no option has offset 0 below */
    struct aspt_request request;
};

enum {
    PROGRESS = 1,
    POLICY,
    SITE,
    PARTITION,
    ACCOUNT,
    QOS,
    PROGRAM,
    NODES,
    TASKS,
    NO_MORE,
    NO_GHOSTS,
    COUNTING,
    KNOBS,
    OPTIONS
};

static const struct option table[] = {
    {"progress", required_argument, NULL, PROGRESS},
    {"policy", required_argument, NULL, POLICY},
    {"site-policy", required_argument, NULL, SITE},
    {"partition", required_argument, NULL, PARTITION},
    {"account", required_argument, NULL, ACCOUNT},
    {"qos", required_argument, NULL, QOS},
    {"program", required_argument, NULL, PROGRAM},
    {"nodes", required_argument, NULL, NODES},
    {"tasks-per-node", required_argument, NULL, TASKS},
    {"no-more-ghosts", no_argument, NULL, NO_MORE},
    {"no-ghosts", required_argument, NULL, NO_GHOSTS},
    {"counting", no_argument, NULL, COUNTING},
    {"help-knobs", no_argument, NULL, KNOBS},
    {"help", no_argument, NULL, ASPT_OPTION_HELP},
    {NULL, 0, NULL, 0},
};

/* Options that are a text, and where it goes. */
static const size_t text_options[OPTIONS] = {
    [PROGRESS] = offsetof(struct command, request.progress),
    [POLICY] = offsetof(struct command, request.policy),
    [SITE] = offsetof(struct command, request.site),
    [PARTITION] = offsetof(struct command, request.facts.partition),
    [ACCOUNT] = offsetof(struct command, request.facts.account),
    [QOS] = offsetof(struct command, request.facts.qos),
    [PROGRAM] = offsetof(struct command, request.facts.program),
    [NO_GHOSTS] = offsetof(struct command, request.facts.no_ghosts),
};

static int take_option(int option, const char *value, void *data,
                       struct asp_err *err)
{
    struct command *command = data;
    struct asp_facts *facts = &command->request.facts;

    (void) err; /* a number that is none: the usage says enough */
    if (option == KNOBS) {
        aspt_print_knobs(stdout);
        return 1;
    }
    if (option == NODES)
        return asp_parse_number(value, UINT32_MAX, &facts->nodes);
    if (option == TASKS)
        return asp_parse_number(value, UINT32_MAX, &facts->tasks_per_node);
    if (text_options[option])
        *(const char **) (void *) ((char *) command +
                                   text_options[option]) = value;
    facts->no_more_ghosts |= option == NO_MORE;
    command->counting |= option == COUNTING;
    return 0;
}

static int add_sources(struct asp_policy *policy,
                       const struct aspt_request *request, struct asp_err *err)
{
    const char *env_progress = getenv("ASPEN_PROGRESS");
    const char *job = request->policy ? request->policy
                                      : getenv("ASPEN_POLICY");

    if (asp_policy_add_default_site(policy, request->site, err) < 0)
        return -1;
    if (job && job[0] && asp_policy_add_job(policy, job, err) < 0)
        return -1;
    if (env_progress && env_progress[0] &&
        asp_policy_add_spec(policy, env_progress, ASP_LAYER_ENV,
                            "ASPEN_PROGRESS", err) < 0)
        return -1;
    if (request->progress &&
        asp_policy_add_spec(policy, request->progress, ASP_LAYER_LINE,
                            "--async-progress", err) < 0)
        return -1;
    return 0;
}

/* Why a program cannot take our library, and what to do. Returns whether it is
 * so. */
static bool find_plain(const char *program, char why[WHY_MAX],
                       const char **remedy_p)
{
    enum asp_mpi_kind kind;
    char path[PATH_MAX];

    if (aspt_program_has_mpich(program)) {
        snprintf(why, WHY_MAX, "MPI is linked into %.200s (libmpich.a)",
                 program);
        *remedy_p = "link it with libmpich.so";
        return true;
    }
    kind = aspt_library_find_mpi(program, path);
    if (kind != ASP_MPI_NONE && kind != ASP_MPI_MPICH) {
        snprintf(why, WHY_MAX, "the MPI of %.200s is %s (%.200s)", program,
                 asp_mpi_kind_name(kind), path);
        *remedy_p = "build it with MPICH";
        return true;
    }
    snprintf(why, WHY_MAX,
             "%.200s is setuid, setgid or has capabilities (LD_PRELOAD does "
             "not count)",
             program);
    *remedy_p = "start it without those rights";
    return aspt_program_gains_rights(program);
}

/* Such a program runs as without Aspen: nothing stands between it and MPI, and
 * of ghosts it would see ranks. Returns 1 if it is one, 0 if not, -1 with err
 * if helpers are required. */
static int runs_plain(const struct asp_policy *policy, const char *program,
                      struct asp_err *err)
{
    char why[WHY_MAX];
    const char *remedy;

    if (asp_policy_mode(policy) == ASP_MODE_OFF || !program ||
        !find_plain(program, why, &remedy))
        return 0;
    if (asp_policy_bool(policy, ASP_KNOB_REQUIRE))
        return asp_errf(err, ENOTSUP, "%s, and the request says require: %s",
                        why, remedy);
    asp_errf(err, 0, "%s, so it runs without Aspen: %s", why, remedy);
    return 1;
}

/* Sources -> resolved policy -> the two texts, and off in place of both for a
 * program that runs plain. */
static int resolve(const struct aspt_request *request,
                   struct asp_policy *policy, struct aspt_answer *out,
                   FILE *remarks, struct asp_err *err)
{
    char notes[2048];
    int plain;

    if (add_sources(policy, request, err) < 0 ||
        asp_policy_resolve(policy, &request->facts, err) < 0 ||
        aspt_advice_take(policy, &request->facts, remarks, err) < 0 ||
        (plain = runs_plain(policy, request->facts.program, err)) < 0)
        return -1;
    if (plain) {
        fprintf(remarks, "%s\n", err->text);
        strcpy(out->spec, asp_mode_name(ASP_MODE_OFF));
        strcpy(out->counting, out->spec);
        return 0;
    }
    if (asp_policy_canonical(policy, out->spec, sizeof(out->spec), err) < 0 ||
        asp_policy_counting(policy, out->counting, sizeof(out->counting), err) <
            0)
        return -1;
    if (asp_policy_notes(policy, notes, sizeof(notes))[0])
        fprintf(remarks, "%s\n", notes);
    return 0;
}

int aspt_request_answer(const struct aspt_request *request,
                        struct aspt_answer *out_p, struct asp_err *err)
{
    struct asp_policy *policy = asp_policy_create();
    FILE *remarks = fmemopen(out_p->remarks, sizeof(out_p->remarks), "w");
    int rc, saved;

    out_p->remarks[0] = out_p->spec[0] = out_p->counting[0] = '\0';
    if (policy && remarks)
        rc = resolve(request, policy, out_p, remarks, err);
    else
        rc = asp_errf(err, ENOMEM, "out of memory");
    saved = errno;
    if (remarks)
        fclose(remarks);
    asp_policy_destroy(policy);
    errno = saved;
    return rc;
}

static int print_answer(const struct command *command)
{
    struct aspt_answer answer;
    struct asp_err err;
    int rc = aspt_request_answer(&command->request, &answer, &err);

    fputs(answer.remarks, stderr);
    if (rc < 0)
        return aspt_complain(&err);
    puts(command->counting ? answer.counting : answer.spec);
    return ASPT_OK;
}

int aspt_request(int argc, char **argv)
{
    static const struct aspt_options options = {"aspen request", ":", table,
                                                usage, take_option};
    struct command command = {0};
    struct passwd *user = getpwuid(getuid());
    int status;

    command.request.facts.user = user ? user->pw_name : NULL;
    status = aspt_options_read(&options, argc, argv, &command);
    if (status >= 0)
        return status;
    if (optind < argc) {
        fputs(usage, stderr);
        return ASPT_REFUSED;
    }
    return print_answer(&command);
}
