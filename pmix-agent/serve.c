/* SPDX-License-Identifier: BSD-3-Clause */
/* The PMIx server. main.c starts it after the plan, asks for each task's
 * environment, and stops it when the plugin's pipe closes.
 *
 * Caveats, all seen with OpenPMIx 4.2.2:
 * - without node map, proc map and local peers every client logs errors;
 * - the shared-memory data store crashes clients, so "hash" is chosen for
 *   the server and, through their environment, for the clients;
 * - with neither tool support nor a shared topology the server makes no file
 *   at all, so its directory can go as soon as it runs;
 * - it believes whatever uid a client states, and reads the first message of a
 *   connection without a limit in time: peer.c lets nobody else connect.
 * Callbacks run in PMIx's progress thread and only read what was set up
 * before PMIx_server_init(). */
#include "config.h"

#include "serve.h"

#include "jobdata.h"
#include "peer.h"
#include "psets.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pmix.h>
#include <pmix_server.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CALL_TIMEOUT_S = 5 };

/* What a client may send at once. A layout has at most 96 KiB; the library
 * counts in MiB, so this is the least, and by itself it would set no limit. */
#define MESSAGE_MIB_MAX "1"

static struct {
    const struct asp_layout *layout;
    pmix_nspace_t nspace;
    bool started;
} server;

/* Completion of one asynchronous PMIx call. Never freed while a call that
 * timed out could still complete it: it is static, and after a time-out no
 * further call is made. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool done;
    pmix_status_t status;
} call = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0};

static void call_done(pmix_status_t status, void *arg)
{
    (void) arg;
    pthread_mutex_lock(&call.mutex);
    call.status = status;
    call.done = true;
    pthread_cond_signal(&call.cond);
    pthread_mutex_unlock(&call.mutex);
}

/* Finish a call that returned status: wait for call_done() if it is to come.
 * Returns 0, or -1 with errno EIO. */
static int call_wait(pmix_status_t status, const char *what,
                     struct asp_err *err)
{
    struct timespec until;
    int rc = 0;

    if (status == PMIX_OPERATION_SUCCEEDED)
        return 0;
    if (status != PMIX_SUCCESS)
        return asp_errf(err, EIO, "%s: %s", what, PMIx_Error_string(status));
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += CALL_TIMEOUT_S;
    pthread_mutex_lock(&call.mutex);
    while (!call.done && rc == 0)
        rc = pthread_cond_timedwait(&call.cond, &call.mutex, &until);
    status = call.done ? call.status : PMIX_ERR_TIMEOUT;
    call.done = false;
    pthread_mutex_unlock(&call.mutex);
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED)
        return asp_errf(err, EIO, "%s: %s", what, PMIx_Error_string(status));
    return 0;
}

static pmix_status_t on_connected(const pmix_proc_t *proc, void *object,
                                  pmix_info_t info[], size_t ninfo,
                                  pmix_op_cbfunc_t done, void *arg)
{
    (void) proc;
    (void) object;
    (void) info;
    (void) ninfo;
    (void) done;
    (void) arg;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_finalized(const pmix_proc_t *proc, void *object,
                                  pmix_op_cbfunc_t done, void *arg)
{
    (void) proc;
    (void) object;
    (void) done;
    (void) arg;
    return PMIX_OPERATION_SUCCEEDED;
}

/* PMIx_Abort() of a client: ending the step is Slurm's business, not ours. */
static pmix_status_t on_abort(const pmix_proc_t *proc, void *object, int status,
                              const char msg[], pmix_proc_t procs[],
                              size_t nprocs, pmix_op_cbfunc_t done, void *arg)
{
    (void) proc;
    (void) object;
    (void) status;
    (void) msg;
    (void) procs;
    (void) nprocs;
    (void) done;
    (void) arg;
    return PMIX_ERR_NOT_SUPPORTED;
}

/* The library calls this only once every local participant has come. Servers
 * of different nodes do not know each other, so a fence works within a node.
 */
static pmix_status_t on_fence(const pmix_proc_t procs[], size_t nprocs,
                              const pmix_info_t info[], size_t ninfo,
                              char *data, size_t ndata,
                              pmix_modex_cbfunc_t done, void *arg)
{
    (void) procs;
    (void) nprocs;
    (void) info;
    (void) ninfo;
    if (server.layout->nnodes > 1)
        return PMIX_ERR_NOT_SUPPORTED;
    if (done != NULL)
        done(PMIX_SUCCESS, data, ndata, arg, NULL, NULL);
    return PMIX_SUCCESS;
}

static pmix_status_t on_query(pmix_proc_t *proc, pmix_query_t *queries,
                              size_t nqueries, pmix_info_cbfunc_t done,
                              void *arg)
{
    (void) proc;
    return aspa_psets_answer(server.layout, server.nspace, queries, nqueries,
                             done, arg);
}

static pmix_server_module_t module = {
    .client_connected2 = on_connected,
    .client_finalized = on_finalized,
    .abort = on_abort,
    .fence_nb = on_fence,
    .query = on_query,
};

/* What the server and its clients must agree on, told by MCA variables: the
 * library reads them from the environment only. The agent's environment is
 * its own, so this disturbs nobody. The topology is for the library alone: it
 * is not shared, the plan is made, and a real one takes 8 ms to discover here
 * and far more on a large node. */
static int set_mca(struct asp_err *err)
{
    static const char *const vars[][2] = {
        {"PMIX_MCA_gds", "hash"},
        {"PMIX_MCA_psec", "native"},
        {"PMIX_MCA_prm", "default"},
        {"PMIX_MCA_ptl_base_max_msg_size", MESSAGE_MIB_MAX},
        {"HWLOC_SYNTHETIC", "numa:1 pu:1"},
    };

    unsetenv("HWLOC_XMLFILE");
    for (size_t i = 0; i < sizeof(vars) / sizeof(vars[0]); i++)
        if (setenv(vars[i][0], vars[i][1], 1) < 0)
            return asp_errf(err, errno, "cannot set %s: %m", vars[i][0]);
    return 0;
}

/* The listening socket, the only one there is. -1 when there is none. */
static int find_listener(void)
{
    DIR *dir = opendir("/proc/self/fd");
    struct dirent *entry;
    int found = -1;

    while (found < 0 && dir != NULL && (entry = readdir(dir)) != NULL) {
        int fd = atoi(entry->d_name);
        int listens = 0;
        socklen_t size = sizeof(listens);

        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 &&
            listens)
            found = fd;
    }
    if (dir != NULL)
        closedir(dir);
    return found;
}

/* PMIx writes a message in pieces and leaves Nagle's algorithm on, so that now
 * and then a piece waits 40 ms for a delayed acknowledgement, in the middle
 * of a client's PMIx_Init(). Accepted sockets inherit TCP_NODELAY. */
static int prepare_listener(struct asp_err *err)
{
    int fd = find_listener();
    int yes = 1;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    return aspa_peer_check(fd, err);
}

/* The host is named as in the node map, so that "this node" in a client's
 * request finds its tasks: Slurm's node name need not be the host's. */
static int server_init(const char *tmpdir, const char *host,
                       struct asp_err *err)
{
    pmix_info_t info[5];
    bool no = false;
    pmix_status_t status;

    if (set_mca(err) < 0)
        return -1;
    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_TMPDIR, tmpdir, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_SYSTEM_TMPDIR, tmpdir, PMIX_STRING);
    PMIX_INFO_LOAD(&info[2], PMIX_SERVER_TOOL_SUPPORT, &no, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[3], PMIX_SERVER_SHARE_TOPOLOGY, &no, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[4], PMIX_HOSTNAME, host, PMIX_STRING);
    status = PMIx_server_init(&module, info, 5);
    for (size_t i = 0; i < 5; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
    if (status != PMIX_SUCCESS)
        return asp_errf(err, EIO, "PMIx server does not start: %s",
                        PMIx_Error_string(status));
    server.started = true;
    return prepare_listener(err);
}

/* Let the tasks of this node connect. */
static int register_clients(const struct asp_layout *layout,
                            struct asp_err *err)
{
    for (uint32_t p = 0; p < layout->ntasks; p++) {
        pmix_proc_t proc;
        pmix_status_t status;

        PMIX_LOAD_PROCID(&proc, server.nspace, layout->tasks[p].rank_world);
        status = PMIx_server_register_client(&proc, getuid(), getgid(), NULL,
                                             call_done, NULL);
        if (call_wait(status, "PMIx does not take a task", err) < 0)
            return -1;
    }
    return 0;
}

/* With a part that nobody can guess: who may read the environment of a task
 * knows it, and nobody else can claim to be this step's server or client. */
static int make_nspace(const struct asp_layout *layout, struct asp_err *err)
{
    uint64_t secret;

    if (getrandom(&secret, sizeof(secret), 0) != sizeof(secret))
        return asp_errf(err, errno, "no random number: %m");
    snprintf(server.nspace, sizeof(server.nspace), "aspen.%s.%016" PRIx64,
             layout->job, secret);
    return 0;
}

int aspa_serve_start(const struct asp_layout *layout, const char *text,
                     const char *tmpdir, struct asp_err *err)
{
    char host[ASP_NAME_MAX + 16];
    pmix_info_t *info = NULL;
    size_t ninfo = 0;
    pmix_status_t status;
    int rc;

    server.layout = layout;
    aspa_jobdata_node(layout, layout->node, host, sizeof(host));
    if (make_nspace(layout, err) < 0 || server_init(tmpdir, host, err) < 0)
        return -1;
    if (aspa_jobdata_make(layout, text, server.nspace, &info, &ninfo, err) < 0)
        return -1;
    status = PMIx_server_register_nspace(server.nspace, (int) layout->ntasks,
                                         info, ninfo, call_done, NULL);
    rc = call_wait(status, "PMIx does not take the step", err);
    /* After a time-out the library may still read it: leak it then. */
    if (rc == 0)
        PMIX_INFO_FREE(info, ninfo);
    if (rc < 0 || register_clients(layout, err) < 0)
        return -1;
    return aspa_psets_define(layout, server.nspace, err);
}

int aspa_serve_env(uint32_t local_p, struct aspa_env *env, struct asp_err *err)
{
    char **vars = NULL;
    pmix_status_t status;
    pmix_proc_t proc;
    int rc = 0;

    PMIX_LOAD_PROCID(&proc, server.nspace,
                     server.layout->tasks[local_p].rank_world);
    status = PMIx_server_setup_fork(&proc, &vars);
    if (status != PMIX_SUCCESS)
        return asp_errf(err, EIO, "PMIx gives a task no environment: %s",
                        PMIx_Error_string(status));
    for (size_t i = 0; vars != NULL && vars[i] != NULL; i++) {
        char *value = strchr(vars[i], '='), name[128];

        if (value != NULL && rc == 0) {
            *value++ = '\0';
            snprintf(name, sizeof(name), ASPA_ENV_PREFIX "%s", vars[i]);
            rc = aspa_env_add(env, name, value, err);
        }
        free(vars[i]);
    }
    free(vars);
    return rc;
}

void aspa_serve_stop(void)
{
    if (server.started)
        PMIx_server_finalize();
    server.started = false;
}
