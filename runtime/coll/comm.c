/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "comm.h"

#include "call.h"
#include "candidates.h"
#include "global.h"
#include "join.h"
#include "learnt.h"
#include "report.h"
#include "settings.h"
#include "space.h"
#include "straight.h"

#include "runtime/base/table.h"
#include "runtime/mpi/handle.h"

#include "common/base/hash.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct aspx_table table = ASPX_TABLE_INITIALIZER;
static struct aspx_coll_comm *all; /* newest first */
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;

void *aspx_coll_room(struct aspx_coll_room *room, size_t bytes)
{
    if (bytes > room->bytes || !room->memory) {
        free(room->memory);
        /* As aligned as any element may want it. */
        room->bytes = (bytes / 4096 + 1) * 4096;
        room->memory = aligned_alloc(64, room->bytes);
        if (!room->memory)
            room->bytes = 0;
    }
    return room->memory;
}

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
        comm->state = ASPX_COLL_COMM_OFF;
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

/* ---- earned ----------------------------------------------------------------- */

/* Without the program's attributes, whose copy functions it would notice. There
 * may be no room for one more communicator: that is no error of the program's,
 * so its handler must not be called. */
static bool make_own(struct aspx_coll_comm *comm)
{
    MPI_Errhandler handler;
    MPI_Group group;
    int rc;

    aspx_coll_behind.MPI_Comm_get_errhandler(comm->comm, &handler);
    aspx_coll_behind.MPI_Comm_set_errhandler(comm->comm, MPI_ERRORS_RETURN);
    aspx_coll_behind.MPI_Comm_group(comm->comm, &group);
    rc = aspx_coll_behind.MPI_Comm_create(comm->comm, group, &comm->own);
    aspx_coll_behind.MPI_Group_free(&group);
    aspx_coll_behind.MPI_Comm_set_errhandler(comm->comm, handler);
    aspx_coll_behind.MPI_Errhandler_free(&handler);
    if (rc != MPI_SUCCESS)
        comm->own = MPI_COMM_NULL;
    if (comm->own == MPI_COMM_NULL)
        return false;
    aspx_coll_behind.MPI_Comm_set_errhandler(comm->own, MPI_ERRORS_RETURN);
    return true;
}

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

/* Returns false, on all ranks, when there is no room for the communicators that
 * this takes. */
static bool find_nodes(struct aspx_coll_comm *comm, int *leader)
{
    int own = (int) comm->rank;
    MPI_Comm node = MPI_COMM_NULL;

    if (!aspx_coll_all_have(comm->own,
                            aspx_coll_behind.MPI_Comm_split_type(
                                comm->own, MPI_COMM_TYPE_SHARED, 0,
                                MPI_INFO_NULL, &node) == MPI_SUCCESS))
        return false;
    aspx_coll_behind.MPI_Bcast(&own, 1, MPI_INT, 0, node);
    aspx_coll_behind.MPI_Comm_free(&node);
    aspx_coll_behind.MPI_Allgather(&own, 1, MPI_INT, leader, 1, MPI_INT,
                                   comm->own);
    number_nodes(comm, leader);
    return true;
}

static bool take_memory(struct aspx_coll_comm *comm)
{
    comm->node = calloc(comm->size, sizeof(*comm->node));
    comm->leaders = calloc(comm->size, sizeof(*comm->leaders));
    comm->members = calloc(comm->size, sizeof(*comm->members));
    comm->memory = calloc(1, asp_decide_bytes());
    comm->ways = calloc(ASPX_COLL_WAYS, sizeof(*comm->ways));
    comm->kept = calloc(ASPX_COLL_PLANS, sizeof(*comm->kept));
    comm->counts = calloc(3 * (size_t) comm->size, sizeof(*comm->counts));
    comm->offsets = comm->counts ? comm->counts + comm->size : NULL;
    comm->shares = comm->counts ? comm->offsets + comm->size : NULL;
    return comm->node && comm->leaders && comm->members && comm->memory &&
           comm->ways && comm->kept && comm->counts;
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
    aspx_coll_learnt_use(comm);
}

/* ---- the end ---------------------------------------------------------------- */

/* The state is then as before it was earned, but OFF. */
static void let_go(struct aspx_coll_comm *comm)
{
    struct aspx_coll_comm bare = {
        .state = ASPX_COLL_COMM_OFF,
        .comm = comm->comm,
        .own = MPI_COMM_NULL,
        .rank = comm->rank,
        .size = comm->size,
        .next = comm->next,
    };

    aspx_straight_forget(comm->comm);
    if (comm->state == ASPX_COLL_COMM_TUNED) {
        aspx_coll_count_comm(comm);
        aspx_coll_learnt_keep(comm);
    }
    if (comm->space)
        comm->space->comm = MPI_COMM_NULL; /* errors go elsewhere now */
    aspx_coll_space_leave(comm->space);
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
    free(comm->ways);
    free(comm->in.memory);
    free(comm->out.memory);
    free(comm->levels.memory);
    if (comm->own != MPI_COMM_NULL)
        aspx_coll_behind.MPI_Comm_free(&comm->own);
    *comm = bare;
}

/* The program was promised something that then does not hold. */
static void say_left(const struct aspx_coll_comm *comm)
{
    static bool said;

    if (aspx_coll_settings.reproducible && comm->rank == 0 && !said)
        fprintf(stderr, "aspen: no room for a communicator: coll.reproducible "
                        "does not hold on it, its reductions are MPI's\n");
    said = true;
}

void aspx_coll_comm_earn(struct aspx_coll_comm *comm)
{
    int *leader;
    bool have;

    comm->state = ASPX_COLL_COMM_OFF;
    if (!make_own(comm)) {
        say_left(comm);
        return;
    }
    leader = calloc(comm->size, sizeof(*leader));
    have = take_memory(comm) && leader;
    if (aspx_coll_all_have(comm->own, have) && find_nodes(comm, leader)) {
        make_area(comm);
        start_decisions(comm, (uint32_t *) leader);
        comm->state = ASPX_COLL_COMM_TUNED;
    } else {
        say_left(comm);
        let_go(comm);
    }
    free(leader);
}

void aspx_coll_comm_veto(struct aspx_coll_comm *comm)
{
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

void aspx_coll_comm_forget(MPI_Comm handle)
{
    struct aspx_coll_comm *comm = aspx_table_find(&table, handle);

    if (!comm || handle == MPI_COMM_WORLD || handle == MPI_COMM_SELF)
        return;
    aspx_table_remove(&table, handle, comm);
    unlink_comm(comm);
    let_go(comm);
    free(comm);
    if (aspx_coll_settings.explicit_effort)
        aspx_coll_save(); /* a sweep that is interrupted begins behind it */
}

/* What the program still calls is MPI's. */
void aspx_coll_comm_stop(void)
{
    for (struct aspx_coll_comm *comm = all; comm; comm = comm->next)
        let_go(comm);
}
