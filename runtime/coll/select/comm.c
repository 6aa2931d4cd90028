/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator is seen when it is first used, gets its own memory and
 * communicator when it has called often enough, and is forgotten when the
 * program frees it. A table leads from MPI's handle to what is known. */
#include "config.h"

#include "comm.h"

#include "candidates.h"
#include "report.h"

#include "runtime/coll/call/call.h"
#include "runtime/coll/comm/global.h"
#include "runtime/coll/comm/own.h"
#include "runtime/coll/machine/join.h"
#include "runtime/coll/comm/tuning_cache.h"
#include "runtime/coll/machine/machine.h"
#include "runtime/coll/machine/settings.h"
#include "runtime/coll/nonblocking/context.h"
#include "runtime/coll/comm/straight.h"
#include "runtime/coll/comm/trace.h"
#include "runtime/base/log.h"
#include "runtime/base/table.h"
#include "runtime/mpi/handle.h"

#include "common/base/hash.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct aspx_table table = ASPX_TABLE_INITIALIZER;
static struct aspx_coll_comm *all; /* newest first */
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;

/* Stands for what the program has freed, until its handle is given to another
 * communicator. Nobody changes it. */
static struct aspx_coll_comm gone = {.state = ASPX_COLL_COMM_LEFT_TO_MPI};

/* ---- seen first ------------------------------------------------------------- */

/* Whether all its processes are this job's users; the same on all of them. An
 * intercommunicator's other side is another group. */
static bool is_ours(MPI_Comm comm, uint64_t *group_p)
{
    MPI_Group group, world;
    int inter = 1, n = 0, result = 0, *ranks, *found;

    if (aspx_coll_behind.MPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS ||
        inter)
        return false;
    aspx_coll_behind.MPI_Comm_group(comm, &group);
    aspx_coll_behind.MPI_Comm_group(MPI_COMM_WORLD, &world);
    aspx_coll_behind.MPI_Group_size(group, &n);
    ranks = calloc((size_t) n + 1, sizeof(*ranks));
    found = calloc((size_t) n + 1, sizeof(*found));
    if (ranks && found) {
        for (int i = 0; i < n; i++)
            ranks[i] = i;
        aspx_coll_behind.MPI_Group_translate_ranks(group, n, ranks, world,
                                                   found);
        result = 1;
        for (int i = 0; i < n; i++)
            result = result && found[i] != MPI_UNDEFINED;
        *group_p = asp_hash(ASP_HASH_START, found, (size_t) n * sizeof(*found));
    }
    free(ranks);
    free(found);
    aspx_coll_behind.MPI_Group_free(&group);
    aspx_coll_behind.MPI_Group_free(&world);
    return result && n > 1;
}

static struct aspx_coll_comm *see(MPI_Comm handle)
{
    struct aspx_coll_comm *comm = calloc(1, sizeof(*comm));
    int rank = 0, size = 1;

    if (!comm)
        return NULL;
    comm->comm = handle;
    comm->own = MPI_COMM_NULL;
    if (!is_ours(handle, &comm->group))
        comm->state = ASPX_COLL_COMM_LEFT_TO_MPI;
    aspx_coll_behind.MPI_Comm_rank(handle, &rank);
    aspx_coll_behind.MPI_Comm_size(handle, &size);
    comm->rank = (uint32_t) rank;
    comm->size = (uint32_t) size;
    if (aspx_table_insert(&table, handle, comm) != 0) {
        free(comm);
        return NULL;
    }
    pthread_mutex_lock(&all_lock);
    comm->next = all;
    all = comm;
    pthread_mutex_unlock(&all_lock);
    return comm;
}

struct aspx_coll_comm *aspx_coll_comm_of(MPI_Comm comm)
{
    struct aspx_coll_comm *known = aspx_table_find(&table, comm);

    if (known)
        return known;
    return aspx_handle_is(comm, ASPX_HANDLE_COMM) ? see(comm) : NULL;
}

/* ---- activation ------------------------------------------------------------- */

/* leader[r]: the lowest rank of r's node. */
static void number_nodes(struct aspx_coll_comm *comm, const int *leader)
{
    uint32_t mine = (uint32_t) leader[comm->rank];

    for (uint32_t r = 0; r < comm->size; r++) {
        if ((uint32_t) leader[r] == r) {
            comm->leaders[comm->nnodes] = (int) r;
            comm->node[r] = comm->nnodes++;
        } else {
            comm->node[r] = comm->node[leader[r]];
        }
        if ((uint32_t) leader[r] == mine) {
            if (r == comm->rank)
                comm->index = comm->nmembers;
            comm->members[comm->nmembers++] = (int) r;
        }
    }
    comm->regular = comm->size % comm->nnodes == 0;
    for (uint32_t r = 0; r < comm->size && comm->regular; r++)
        comm->regular = comm->node[r] == r / (comm->size / comm->nnodes);
}

static bool is_of_arguments(int rc)
{
    static const int classes[] = {MPI_ERR_BUFFER, MPI_ERR_COUNT,  MPI_ERR_TYPE,
                                  MPI_ERR_ROOT,   MPI_ERR_OP,     MPI_ERR_ARG,
                                  MPI_ERR_COMM,   MPI_ERR_REQUEST};
    int class = MPI_SUCCESS;

    aspx_coll_behind.MPI_Error_class(rc, &class);
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
        if (class == classes[i])
            return true;
    return false;
}

int aspx_coll_comm_returned(MPI_Comm handle, int rc)
{
    struct aspx_coll_comm *comm;

    if (rc == MPI_SUCCESS || !is_of_arguments(rc))
        return rc;
    comm = aspx_table_find(&table, handle);
    if (comm && comm->calls > 0)
        comm->calls--;
    return rc;
}

int aspx_coll_comm_called(struct aspx_coll_comm *comm,
                          const struct aspx_coll_call *call)
{
    MPI_Comm handle = comm->comm;

    comm->calls++;
    return aspx_coll_comm_returned(handle, call->mpi(call));
}

/* Which node a rank is on is known since MPI_Init: no communication. Returns
 * false when there is no memory here. */
static bool find_leaders(struct aspx_coll_comm *comm, int *leader)
{
    int n = (int) comm->size, most = 1, *ranks, *found, *first;
    MPI_Group group, world;

    aspx_coll_behind.MPI_Comm_size(MPI_COMM_WORLD, &most);
    ranks = calloc(2 * (size_t) n + (size_t) most, sizeof(*ranks));
    if (!ranks)
        return false;
    found = ranks + n;
    first = found + n;
    for (int r = 0; r < n; r++)
        ranks[r] = r;
    aspx_coll_behind.MPI_Comm_group(comm->comm, &group);
    aspx_coll_behind.MPI_Comm_group(MPI_COMM_WORLD, &world);
    aspx_coll_behind.MPI_Group_translate_ranks(group, n, ranks, world, found);
    aspx_coll_behind.MPI_Group_free(&group);
    aspx_coll_behind.MPI_Group_free(&world);
    for (int r = 0; r < n; r++) {
        int *seen = &first[aspx_coll_leaders()[found[r]]];

        if (*seen == 0)
            *seen = r + 1;
        leader[r] = *seen - 1;
    }
    free(ranks);
    return true;
}

static bool take_memory(struct aspx_coll_comm *comm)
{
    comm->node = calloc(comm->size, sizeof(*comm->node));
    comm->leaders = calloc(comm->size, sizeof(*comm->leaders));
    comm->members = calloc(comm->size, sizeof(*comm->members));
    comm->memory = calloc(1, asp_decide_bytes());
    comm->configs = calloc(ASPX_COLL_CONFIGS, sizeof(*comm->configs));
    comm->kept = calloc(ASPX_COLL_PLANS, sizeof(*comm->kept));
    comm->counts = calloc(3 * (size_t) comm->size, sizeof(*comm->counts));
    comm->offsets = comm->counts ? comm->counts + comm->size : NULL;
    comm->shares = comm->counts ? comm->offsets + comm->size : NULL;
    return comm->node && comm->leaders && comm->members && comm->memory &&
           comm->configs && comm->kept && comm->counts;
}

/* In a mode whose calls another thread carries out, that thread makes
 * progress; in the others this call does. */
static void poll_mpi(void *arg)
{
    const struct aspx_coll_comm *comm = arg;
    int flag;

    aspx_coll_behind.MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm->own, &flag,
                                MPI_STATUS_IGNORE);
}

static void make_area(struct aspx_coll_comm *comm)
{
    struct aspx_node_place place = aspx_coll_place(comm);
    struct asp_err err;

    if (comm->nnodes == comm->size)
        return;
    comm->area = aspx_node_area_make(&place, ASPX_NODE_SLOT_BYTES, &err);
    if (comm->area)
        aspx_node_area_set_poll(comm->area, poll_mpi, comm);
    else if (comm->rank == 0)
        aspx_coll_say_once(&err);
}

static void start_decisions(struct aspx_coll_comm *comm, uint32_t *work)
{
    struct asp_decide_config config = {
        .table = aspx_coll_table(),
        .effort = *aspx_coll_effort(),
        .order = aspx_coll_order,
        .data = comm,
        .seed = aspx_coll_seed(),
    };

    asp_tune_shape_of(comm->node, comm->size, work, &comm->shape);
    config.shape = comm->shape;
    /* A sweep agrees on each trial, whatever that costs. */
    if (!aspx_coll_settings.explicit_effort && config.effort.budget_us > 0)
        config.effort.agree_us = aspx_coll_agree_us(comm);
    comm->decide = asp_decide_start(comm->memory, &config);
    aspx_coll_tuning_cache_use(comm);
}

/* ---- the end ---------------------------------------------------------------- */

/* The state is then as before it was activated, but LEFT_TO_MPI. The handle may
 * be another communicator's by now. */
static void let_go(struct aspx_coll_comm *comm)
{
    struct aspx_coll_comm bare = {
        .state = ASPX_COLL_COMM_LEFT_TO_MPI,
        .comm = comm->comm,
        .own = MPI_COMM_NULL,
        .rank = comm->rank,
        .size = comm->size,
        .next = comm->next,
    };

    if (comm->state == ASPX_COLL_COMM_TUNED) {
        aspx_coll_count_comm(comm);
        aspx_coll_tuning_cache_keep(comm);
    }
    aspx_coll_context_let_go(comm->context);
    aspx_node_area_free(comm->area);
    for (uint32_t i = 0; comm->kept && i < ASPX_COLL_PLANS; i++) {
        aspx_coll_plan_free(&comm->kept[i].plan);
        asp_coll_destroy(&comm->kept[i].schedule);
        free(comm->kept[i].counts);
    }
    free(comm->kept);
    free(comm->counts);
    free(comm->node);
    free(comm->leaders);
    free(comm->members);
    free(comm->memory);
    free(comm->configs);
    free(comm->in.memory);
    free(comm->out.memory);
    free(comm->levels.memory);
    free(comm->told);
    if (comm->own != MPI_COMM_NULL)
        aspx_coll_behind.MPI_Comm_free(&comm->own);
    *comm = bare;
}

/* The program was promised something that then does not hold. */
static void say_left(const struct aspx_coll_comm *comm)
{
    static bool said;

    if (aspx_coll_settings.reproducible && comm->rank == 0 && !said)
        aspx_log(ASPX_LOG_WARNING,
                 "no room for a communicator: coll.reproducible "
                 "does not hold on it, its reductions are MPI's");
    said = true;
}

void aspx_coll_comm_activate(struct aspx_coll_comm *comm)
{
    int *leader;
    bool have;

    comm->state = ASPX_COLL_COMM_LEFT_TO_MPI;
    if (!aspx_coll_own_make(comm)) {
        say_left(comm);
        return;
    }
    leader = calloc(comm->size, sizeof(*leader));
    have = take_memory(comm) && leader && find_leaders(comm, leader);
    if (aspx_coll_all_have(comm->own, have)) {
        number_nodes(comm, leader);
        make_area(comm);
        start_decisions(comm, (uint32_t *) leader);
        comm->state = ASPX_COLL_COMM_TUNED;
        aspx_coll_trace_start(comm);
    } else {
        say_left(comm);
        let_go(comm);
    }
    free(leader);
}

void aspx_coll_comm_veto(struct aspx_coll_comm *comm)
{
    aspx_straight_forget(comm->comm);
    let_go(comm);
}

static void unlink_comm(struct aspx_coll_comm *comm)
{
    pthread_mutex_lock(&all_lock);
    for (struct aspx_coll_comm **at = &all; *at; at = &(*at)->next)
        if (*at == comm) {
            *at = comm->next;
            break;
        }
    pthread_mutex_unlock(&all_lock);
}

/* MPI has let go of it. */
static void forget(struct aspx_coll_comm *comm)
{
    unlink_comm(comm);
    let_go(comm);
    free(comm);
    if (aspx_coll_settings.explicit_effort)
        aspx_coll_save(); /* a sweep that is interrupted begins behind it */
}

/* Once MPI has freed it another thread may be given the handle, and forget what
 * it stood for: the table is not touched then. */
int aspx_coll_comm_free(MPI_Comm *handle, int (*mpi)(MPI_Comm *handle))
{
    MPI_Comm freed = handle ? *handle : MPI_COMM_NULL;
    struct aspx_coll_comm *comm;
    int rc;

    if (!aspx_handle_is(freed, ASPX_HANDLE_COMM) || freed == MPI_COMM_WORLD ||
        freed == MPI_COMM_SELF)
        return mpi(handle);
    comm = aspx_table_find(&table, freed);
    if (comm == &gone || aspx_table_insert(&table, freed, &gone) != 0)
        return mpi(handle);
    aspx_straight_forget(freed); /* nor do its calls go straight */
    rc = mpi(handle);
    if (rc == MPI_SUCCESS && comm)
        forget(comm);
    else if (rc != MPI_SUCCESS && comm)
        (void) aspx_table_insert(&table, freed, comm); /* it has its slot */
    else if (rc != MPI_SUCCESS)
        aspx_table_remove(&table, freed, &gone);
    return rc;
}

int aspx_coll_comm_created(int rc, const MPI_Comm *handle)
{
    const struct aspx_coll_comm *known = rc == MPI_SUCCESS
                                             ? aspx_table_find(&table, *handle)
                                             : NULL;

    if (known)
        aspx_table_remove(&table, *handle, known);
    return rc;
}

/* What the program still calls is MPI's. */
void aspx_coll_comm_stop(void)
{
    for (struct aspx_coll_comm *comm = all; comm; comm = comm->next) {
        aspx_straight_forget(comm->comm);
        let_go(comm);
    }
    aspx_coll_own_stop();
}
