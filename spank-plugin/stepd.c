/* SPDX-License-Identifier: BSD-3-Clause */
/* slurmstepd. user_init decides what the node does and asks the agent; tasks
 * only apply that (task.c). What goes wrong is said once per node, here, where
 * slurmstepd's log is the stderr of the node's first task.
 *
 * Roles never depend on the agent: the last `ghosts` tasks of each node are
 * ghosts whatever happens, because a ghost task that ran the user's program
 * would change the program's answer. */
#include "config.h"

#include "stepd.h"

#include "options.h"
#include "request.h"
#include "special.h"
#include "step.h"
#include "task.h"

#include "common/agent_wire.h"
#include "common/board.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    AGENT_GRACE_MS = 2000,
    COUNTS_TEXT_MAX = 16384,
    NODENAME_MAX = sizeof(((struct asps_step *) NULL)->nodename) - 1,
};

static struct asps_step step = {.board_fd = -1, .agent = ASPS_AGENT_NONE};

int asps_stepd_init(spank_t spank, int argc, char **argv)
{
    char why[512];

    if (asps_settings_read(argc, argv, &step.settings, why, sizeof(why)) < 0)
        slurm_error("aspen: %s", why);
    asps_options_register(spank, step.settings.command, step.settings.policy);
    return 0;
}

static bool is_off(void)
{
    return strcmp(step.spec.mode, "off") == 0;
}

/* Say once, on the user's stderr, that this node runs degraded. */
static void degrade(const char *what, const char *why)
{
    snprintf(step.reason, sizeof(step.reason), "%s%s", what, why);
    slurm_spank_log("aspen: %s: %s; %s", step.nodename, step.reason,
                    is_off() ? "the program runs as plain MPI, without a report"
                    : step.spec.require ? "the request says require, so the "
                                          "step fails"
                    : step.spec.ghosts
                        ? "the ghosts run, but without placement and PMIx keys"
                        : "the program runs without asynchronous progress");
    if (step.spec.require)
        step.kind = ASPS_STEP_FAIL;
    else if (step.spec.ghosts == 0)
        step.kind = ASPS_STEP_NONE;
}

/* As slurmstepd itself was told by slurmd. The job's variable of this name is
 * the user's: in a batch script it names the node of the script, for steps on
 * any node. It goes to logs, so only what a name can have is let through. */
static void find_nodename(void)
{
    const char *name = getenv("SLURMD_NODENAME");
    struct utsname host;

    if (name == NULL && uname(&host) == 0) {
        host.nodename[strcspn(host.nodename, ".")] = '\0';
        name = host.nodename;
    }
    snprintf(step.nodename, sizeof(step.nodename), "%.*s", NODENAME_MAX,
             name != NULL ? name : "?");
    for (char *c = step.nodename; *c; c++)
        if (*c <= ' ' || *c > '~')
            *c = '?';
}

/* What no task can do without. With ghosts the step fails: in their place the
 * program would run, as ranks that nobody asked for. Without ghosts nothing
 * depends on us. */
static void give_up(const char *what, const char *why)
{
    if (step.spec.ghosts == 0) {
        degrade(what, why);
        return;
    }
    slurm_spank_log("aspen: %s: %s%s; the step fails", step.nodename, what,
                    why);
    step.kind = ASPS_STEP_FAIL;
}

/* The step as Slurm itself describes it. */
static int read_numbers(spank_t spank)
{
    if (spank_get_item(spank, S_JOB_ID, &step.job) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_NNODES, &step.nnodes) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_NODEID, &step.node) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_TOTAL_TASK_COUNT, &step.ntasks) !=
            ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_LOCAL_TASK_COUNT, &step.nlocal) !=
            ESPANK_SUCCESS)
        return -1;
    return step.nlocal == 0 || step.node >= step.nnodes ? -1 : 0;
}

static int read_ranks(spank_t spank)
{
    if (step.nlocal > ASP_TASKS_MAX)
        return -1;
    for (uint32_t i = 0; i < step.nlocal; i++)
        if (spank_get_item(spank, S_JOB_LOCAL_TO_GLOBAL_ID, i,
                           &step.ranks_world[i]) != ESPANK_SUCCESS)
            return -1;
    return 0;
}

/* How many tasks each node has; the caller frees it. NULL where the step's
 * environment does not say, or not what Slurm itself says of this node and of
 * the sum. */
static uint32_t *read_node_counts(spank_t spank)
{
    char *text = malloc(COUNTS_TEXT_MAX);
    uint32_t *counts = calloc(step.nnodes, sizeof(*counts));
    uint64_t sum = 0;
    bool known = text != NULL && counts != NULL &&
                 asps_request_tasks_per_node(spank, &step, text,
                                             COUNTS_TEXT_MAX) == 0 &&
                 asp_counts_parse(text, 1, ASP_RANKS_MAX, counts,
                                  step.nnodes) == (int) step.nnodes &&
                 counts[step.node] == step.nlocal;

    for (uint32_t i = 0; known && i < step.nnodes; i++)
        sum += counts[i];
    free(text);
    if (known && sum == step.ntasks)
        return counts;
    free(counts);
    return NULL;
}

/* User ranks of this node, for the SLURM_* variables. */
static void find_user_ranks(spank_t spank)
{
    uint32_t *counts = read_node_counts(spank);
    char distribution[64] = "", plane[16] = "";
    struct asps_step_map map = {.counts = counts,
                                .ntasks = step.ntasks,
                                .nnodes = step.nnodes,
                                .node = step.node,
                                .ghosts = step.spec.ghosts,
                                .distribution = distribution};

    if (counts == NULL)
        return;
    spank_getenv(spank, "SLURM_DISTRIBUTION", distribution,
                 sizeof(distribution));
    if (spank_getenv(spank, "SLURM_DIST_PLANESIZE", plane, sizeof(plane)) ==
        ESPANK_SUCCESS)
        map.plane_size = (uint32_t) strtoul(plane, NULL, 10);
    step.has_ranks_user = asps_user_ranks(&map, step.ranks_world,
                                          step.ranks_user) == 0;
    free(counts);
}

/* Take the answer apart. Returns 0, or -1 with why. */
static int take_answer(size_t len, char *why, size_t why_bytes)
{
    if (asps_answer_parse(step.answer_bytes, len, step.nlocal, step.spec.ghosts,
                          &step.answer, why, why_bytes) < 0) {
        free(step.answer_bytes);
        step.answer_bytes = NULL;
        return -1;
    }
    return 0;
}

static int ask_agent(spank_t spank, const struct asps_user *user, char *why,
                     size_t why_bytes)
{
    char *request = malloc(ASP_REQUEST_MAX);
    size_t len = 0;
    int request_len, rc = -1;

    if (request == NULL) {
        snprintf(why, why_bytes, "there is no memory for the request");
        return -1;
    }
    request_len = asps_request_write(spank, &step, user->uid, request,
                                     ASP_REQUEST_MAX);
    if (request_len < 0)
        snprintf(why, why_bytes, "the step's description is too long for it");
    else if (asps_agent_start(step.settings.agent, user, &step.agent) < 0)
        snprintf(why, why_bytes, "it cannot be started: %m");
    else if (asps_agent_ask(&step.agent, request, (size_t) request_len,
                            step.settings.agent_timeout_ms, &step.answer_bytes,
                            &len, why, why_bytes) == 0)
        rc = take_answer(len, why, why_bytes);
    if (rc < 0)
        asps_agent_stop(&step.agent, 0);
    free(request);
    return rc;
}

static void run_agent(spank_t spank)
{
    struct asps_user user = {.ngids = 0};
    gid_t *gids = NULL;
    char why[ASPS_REASON_MAX];

    if (spank_get_item(spank, S_JOB_UID, &user.uid) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_GID, &user.gid) != ESPANK_SUCCESS ||
        spank_get_item(spank, S_JOB_SUPPLEMENTARY_GIDS, &gids, &user.ngids) !=
            ESPANK_SUCCESS) {
        degrade("Slurm does not name the user", "");
        return;
    }
    user.gids = gids;
    if (ask_agent(spank, &user, why, sizeof(why)) < 0) {
        degrade("lost aspen-agent: ", why);
        return;
    }
    if (step.answer.status == ASP_ANSWER_OK) {
        if (step.answer.message[0] != '\0' && step.node == 0)
            slurm_spank_log("aspen: %s", step.answer.message);
        return;
    }
    if (step.answer.status == ASP_ANSWER_REFUSE)
        step.spec.require = true;
    degrade(step.answer.message, "");
    asps_agent_stop(&step.agent, AGENT_GRACE_MS);
}

static bool wants_report(spank_t spank)
{
    char value[4];
    spank_err_t rc = spank_getenv(spank, ASPS_REPORT_ENV, value, sizeof(value));

    return rc == ESPANK_NOSPACE ||
           (rc == ESPANK_SUCCESS && asps_report_wanted(value));
}

static bool has_variable(spank_t spank, const char *name)
{
    char value[4];

    return spank_getenv(spank, name, value, sizeof(value)) !=
           ESPANK_ENV_NOEXIST;
}

/* srun's request for this step. Returns false when there is none. */
static bool read_request(spank_t spank)
{
    if (spank_getenv(spank, ASPS_REQUEST_ENV, step.text, sizeof(step.text)) !=
        ESPANK_SUCCESS)
        return false;
    if (asp_request_spec_parse(step.text, &step.spec) < 0) {
        slurm_spank_log("aspen: " ASPS_REQUEST_ENV " does not hold a valid "
                        "request: it is for srun to set; running without "
                        "asynchronous progress");
        return false;
    }
    if (has_variable(spank, ASPS_ADDED_ENV))
        step.spec.optional = false;
    if (!is_off())
        return true;
    step.spec.require = false; /* there is nothing that could be missing */
    return wants_report(spank) || asp_spec_helps_without_helpers(step.text);
}

/* Without these two, ghosts or users would wait for each other for ever. The
 * paths are the administrator's; the user must be able to run them. */
static int check_programs(void)
{
    const char *missing = NULL;

    if (faccessat(AT_FDCWD, step.settings.runtime, R_OK, AT_EACCESS) < 0)
        missing = step.settings.runtime;
    else if (step.spec.ghosts > 0 &&
             faccessat(AT_FDCWD, step.settings.ghost, X_OK, AT_EACCESS) < 0)
        missing = step.settings.ghost;
    if (missing == NULL)
        return 0;
    give_up("Aspen must be installed on every node: no access to ", missing);
    return -1;
}

static bool fits(uint32_t count)
{
    return count > step.spec.ghosts && count <= ASP_TASKS_MAX;
}

static void log_counts(uint32_t node, uint32_t count)
{
    char why[80];

    if (count > ASP_TASKS_MAX)
        snprintf(why, sizeof(why), "%d is the most for ghosts", ASP_TASKS_MAX);
    else
        snprintf(why, sizeof(why),
                 "%" PRIu32 " ghost(s) leave no user task there",
                 step.spec.ghosts);
    slurm_spank_log("aspen: node %" PRIu32 " of %" PRIu32 " got %" PRIu32
                    " task(s), and %s: %s",
                    node + 1, step.nnodes, count, why,
                    step.spec.optional ? "running without ghosts"
                    : count > ASP_TASKS_MAX
                        ? "use more nodes (-N)"
                        : "use fewer nodes (-N), more tasks (-n, "
                          "--ntasks-per-node) or fewer ghosts");
}

/* Every node knows the counts of all, so all fail alike, or do without ghosts,
 * and one says why. Without ghosts each node is alone. */
static int check_counts(spank_t spank)
{
    uint32_t node = step.node, count = step.nlocal;
    uint32_t *counts = NULL;
    bool known;

    if (step.spec.ghosts == 0 && count > ASP_TASKS_MAX) {
        degrade("it has more tasks than Aspen can serve", "");
        return -1;
    }
    if (step.spec.ghosts == 0)
        return 0;
    counts = read_node_counts(spank);
    known = counts != NULL;
    for (uint32_t i = 0; known && i < step.nnodes && fits(count); i++) {
        count = counts[i];
        node = i;
    }
    free(counts);
    if (fits(count))
        return 0;
    if (step.node == 0 || !known)
        log_counts(node, count);
    step.kind = step.spec.optional ? ASPS_STEP_NONE : ASPS_STEP_FAIL;
    return -1;
}

/* Slurm fixes what runs in a container before it asks us: a ghost's task would
 * run the program. srun refuses it, where it is of this version. */
static int check_container(spank_t spank)
{
    if (step.spec.ghosts == 0 || (!has_variable(spank, "SLURM_CONTAINER") &&
                                  !has_variable(spank, "SLURM_CONTAINER_ID")))
        return 0;
    if (step.node == 0)
        slurm_spank_log("aspen: " ASPS_NO_CONTAINER "%s",
                        step.spec.optional ? "; running without ghosts" : "");
    step.kind = step.spec.optional ? ASPS_STEP_NONE : ASPS_STEP_FAIL;
    return -1;
}

static void start_tasks(spank_t spank)
{
    char why[80];

    step.kind = ASPS_STEP_TASKS;
    find_nodename();
    if (read_numbers(spank) < 0) {
        give_up("Slurm tells no task counts", "");
        return;
    }
    if (check_container(spank) < 0 || check_counts(spank) < 0 ||
        check_programs() < 0)
        return;
    if (read_ranks(spank) < 0) {
        give_up("Slurm tells no task ids", "");
        return;
    }
    find_user_ranks(spank);
    step.board_fd = asp_board_create(step.nlocal, step.spec.ghosts,
                                     ASP_LAUNCHER_WAITS);
    if (step.board_fd < 0) {
        snprintf(why, sizeof(why), "%m");
        give_up("cannot make the board of tasks: ", why);
        return;
    }
    run_agent(spank);
}

/* Mode off with a report, or with knobs that need no helper: the runtime takes
 * the time of MPI, or mends its messages. It needs to know no more than Slurm
 * tells, so there is neither agent nor board, and what goes wrong costs these
 * alone. */
static void start_observer(spank_t spank)
{
    step.kind = ASPS_STEP_TASKS;
    find_nodename();
    if (read_numbers(spank) < 0 || read_ranks(spank) < 0)
        degrade("Slurm tells no task counts, or too many", "");
    else if (check_programs() == 0)
        snprintf(step.reason, sizeof(step.reason),
                 "mode off leaves CPUs to Slurm");
}

/* What was added to the allocation that this is the script of. */
static bool read_growth(spank_t spank)
{
    char text[256];
    bool found = false;

    memset(&step.grown, 0, sizeof(step.grown));
    if (spank_getenv(spank, ASPS_GROWN_ENV, text, sizeof(text)) ==
        ESPANK_SUCCESS)
        found = asps_grown_parse(text, &step.grown) == 0;
    if (spank_getenv(spank, ASPS_HAD_CPUS_ENV, text, sizeof(text)) ==
        ESPANK_SUCCESS)
        found = asps_cpus_parse(text, &step.cpus) == 0 || found;
    return found;
}

int asps_stepd_user_init(spank_t spank)
{
    char text[64];

    step.kind = ASPS_STEP_NONE;
    memset(&step.cpus, 0, sizeof(step.cpus));
    if (spank_get_item(spank, S_JOB_STEPID, &step.id) != ESPANK_SUCCESS)
        return 0;
    if (step.id >= ASPS_STEP_SPECIAL) {
        if (read_growth(spank))
            step.kind = ASPS_STEP_SCRIPT;
        return 0;
    }
    if (spank_getenv(spank, ASPS_CPUS_ENV, text, sizeof(text)) ==
        ESPANK_SUCCESS)
        asps_cpus_parse(text, &step.cpus);
    if (!read_request(spank))
        return 0;
    if (is_off())
        start_observer(spank);
    else
        start_tasks(spank);
    return 0;
}

int asps_stepd_task_init(spank_t spank)
{
    switch (step.kind) {
    case ASPS_STEP_NONE:
        break;
    case ASPS_STEP_SCRIPT:
        asps_task_script(spank, &step);
        break;
    case ASPS_STEP_TASKS:
        asps_task_start(spank, &step);
        break;
    case ASPS_STEP_FAIL:
        /* A child of slurmstepd, about to exec: this is how it fails. */
        _exit(EXIT_FAILURE);
    }
    return 0;
}

/* The last hook whose messages reach the user. A task that was killed says
 * nothing about the agent: the same signal may have ended both. */
int asps_stepd_task_exit(spank_t spank)
{
    int status = 0;

    if (step.kind == ASPS_STEP_TASKS && step.agent.pid != 0 &&
        spank_get_item(spank, S_TASK_EXIT_STATUS, &status) == ESPANK_SUCCESS &&
        !WIFSIGNALED(status) && asps_agent_gone(&step.agent)) {
        slurm_spank_log("aspen: %s: aspen-agent ended before the step; PMIx "
                        "keys were lost from then on, the program was not "
                        "affected",
                        step.nodename);
        asps_agent_stop(&step.agent, 0);
    }
    return 0;
}

int asps_stepd_exit(void)
{
    asps_agent_stop(&step.agent, AGENT_GRACE_MS);
    if (step.board_fd >= 0)
        close(step.board_fd);
    step.board_fd = -1;
    if (step.answer_bytes != NULL)
        asps_answer_clear(&step.answer);
    free(step.answer_bytes);
    step.answer_bytes = NULL;
    step.kind = ASPS_STEP_NONE;
    return 0;
}
