/* SPDX-License-Identifier: BSD-3-Clause */
/* The road to mpiexec of MPICH. */
#include "config.h"

#include "job.h"

#include "hydra.h"

#include "tools/base/command.h"
#include "tools/base/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Users of each part: -n, or without one for each core of the hosts. */
static uint32_t count_users(const struct aspt_hydra *hydra,
                            const struct aspt_hosts *hosts, uint32_t *users)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < hydra->nparts; i++) {
        users[i] = hydra->parts[i].count ? hydra->parts[i].count
                                         : aspt_hosts_cores(hosts);
        sum += users[i];
    }
    return sum < ASP_RANKS_MAX ? (uint32_t) sum : ASP_RANKS_MAX;
}

/* Ghosts run what hydra gives every process. */
static int check_hydra(const struct aspt_hydra *hydra, uint32_t ghosts,
                       struct asp_err *err)
{
    if (ghosts > 0 && hydra->per_device)
        return asp_errf(err, ERANGE,
                        "-gpus-per-proc would give ghosts devices, too, which "
                        "they have no use for: let the program choose one by "
                        "MPI_LOCALRANKID, or use --async-progress=offload");
    for (uint32_t i = 0; i < hydra->nparts; i++)
        if (aspt_check_program(hydra->parts[i].program[0], err) < 0)
            return -1;
    return 0;
}

/* The first program that cannot take our library decides for all. */
static const char *telling_program(const struct aspt_hydra *hydra)
{
    for (uint32_t i = 0; i < hydra->nparts; i++) {
        const char *program = hydra->parts[i].program[0];

        if (aspt_program_has_mpich(program) ||
            aspt_program_gains_rights(program))
            return program;
    }
    return hydra->parts[0].program[0];
}

static int ask_for_hydra(struct aspt_job *job, const struct aspt_hydra *hydra,
                         const struct aspt_hosts *hosts, uint32_t users,
                         struct asp_request_spec *spec, struct asp_err *err)
{
    struct aspt_assignment plain;
    struct asp_facts facts = {.program = telling_program(hydra)};
    int rc = aspt_hosts_deal(hosts, users, 0, &plain, err);

    facts.nodes = plain.nnodes;
    facts.tasks_per_node = plain.users_most;
    aspt_assignment_clear(&plain);
    if (rc < 0 ||
        aspt_settled_ask(&job->settled, &facts, &job->answer, err) < 0)
        return -1;
    if (asp_request_spec_parse(job->answer.spec, spec) < 0)
        return asp_errf(err, EINVAL,
                        "the request is too long: put it into a policy file "
                        "(--async-policy)");
    return check_hydra(hydra, spec->ghosts, err);
}

/* Has hydra to be told the hosts? */
static bool names_hosts(const struct aspt_hydra *hydra,
                        const struct aspt_hosts *hosts)
{
    return hydra->hosts || hydra->file || hosts->n > 1;
}

/* Why nothing is to be bound, as far as it is known here. A host with two
 * proxies has two nodes for us: each would plan for all its CPUs. */
static const char *why_unbound(const struct aspt_hydra *hydra,
                               const struct aspt_hosts *hosts)
{
    const char *binding = aspt_hydra_binding(hydra);

    if (*binding || !aspt_hosts_twice(hosts))
        return binding;
    return "a host is named twice";
}

/* The command with ghosts in it. NULL with errno and err. */
static char **make_hydra(struct aspt_job *job, const struct aspt_hydra *hydra,
                         const struct aspt_hosts *hosts,
                         const struct aspt_assignment *assignment,
                         uint32_t ghosts, const uint32_t *users,
                         struct asp_err *err)
{
    uint32_t *ranks = calloc(hydra->nparts, sizeof(*ranks));
    char name[ASP_NAME_MAX], **argv = NULL, **before;
    bool named = names_hosts(hydra, hosts);

    snprintf(name, sizeof(name), "%d.0", (int) getpid());
    job->arguments.launcher = "mpiexec";
    job->arguments.job = name;
    job->arguments.tasks_per_node = assignment->counts;
    job->arguments.distribution = assignment->distribution;
    job->arguments.names = assignment->names;
    job->arguments.unbound = why_unbound(hydra, hosts);
    before = aspt_task_words(&job->arguments);
    if (!ranks || !before)
        asp_errf(err, ENOMEM, "out of memory");
    else if (aspt_assignment_split(assignment, ghosts, users, hydra->nparts,
                                   ranks, err) == 0)
        argv = aspt_hydra_make(hydra, ranks, named ? assignment->hosts : NULL,
                               before);
    free(ranks);
    return argv;
}

static int start_hydra(struct aspt_job *job, const struct aspt_hydra *hydra,
                       const struct aspt_hosts *hosts, uint32_t *users,
                       struct asp_err *err)
{
    uint32_t nusers = count_users(hydra, hosts, users);
    struct aspt_assignment assignment;
    struct asp_request_spec spec;
    char **argv;

    if (ask_for_hydra(job, hydra, hosts, nusers, &spec, err) < 0)
        return aspt_job_refuse(err);
    aspt_answer_remark(&job->answer);
    if (aspt_job_is_plain(job))
        return aspt_job_start(job, job->options.command);
    if (aspt_hosts_deal(hosts, nusers, spec.ghosts, &assignment, err) < 0)
        return aspt_job_refuse(err);
    if (assignment.users_most + spec.ghosts > ASP_TASKS_MAX) {
        asp_errf(err, ERANGE,
                 "%u ranks and ghosts on one host, but %d are the most: use "
                 "more hosts",
                 (unsigned) (assignment.users_most + spec.ghosts),
                 ASP_TASKS_MAX);
        return aspt_job_refuse(err);
    }
    if (assignment.moved)
        fprintf(stderr, "aspen: user ranks come to each host one after the "
                        "other, and not in turns: ghosts leave no other way\n");
    job->arguments.spec = job->answer.spec;
    job->arguments.report = job->settled.report;
    argv = make_hydra(job, hydra, hosts, &assignment, spec.ghosts, users, err);
    return argv ? aspt_job_start(job, argv) : aspt_job_refuse(err);
}

/* What the user asked for holds; without users' counts. */
static int plan_hydra(struct aspt_job *job, const struct aspt_hydra *hydra,
                      struct asp_err *err)
{
    uint32_t *users = calloc(hydra->nparts, sizeof(*users));
    struct aspt_hosts hosts;

    if (!users) {
        asp_errf(err, ENOMEM, "out of memory");
        return aspt_job_refuse(err);
    }
    if (aspt_hydra_hosts(hydra, &hosts, err) < 0 ||
        aspt_check_report(job->settled.report, hydra->dir,
                          !names_hosts(hydra, &hosts), err) < 0)
        return aspt_job_refuse(err);
    return start_hydra(job, hydra, &hosts, users, err);
}

/* This process becomes mpiexec, or ends: what is left is not freed. */
int aspt_run_hydra(struct aspt_job *job, struct asp_err *err)
{
    struct aspt_hydra hydra;
    int rc;

    if (aspt_job_is_asked_plain(job))
        return aspt_job_start(job, job->options.command);
    rc = aspt_hydra_parse(job->options.command, &hydra, err);
    if (rc == 0 && hydra.informs)
        return aspt_job_start(job, job->options.command);
    if (aspt_check_installation(err) < 0 || aspt_hydra_check_files(err) < 0 ||
        rc < 0)
        return aspt_job_refuse(err);
    return plan_hydra(job, &hydra, err);
}
