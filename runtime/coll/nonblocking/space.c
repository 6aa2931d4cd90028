/* SPDX-License-Identifier: BSD-3-Clause */
/* Members of a node map one file of shared memory. On several nodes it is made
 * in the arena of the ghosts, and a member of each node tells its ghost to
 * serve it; all ranks agree on each step, so all have it or none. */
#include "config.h"

#include "space.h"

#include "runtime/coll/call/call.h"
#include "runtime/coll/comm/global.h"
#include "runtime/coll/machine/join.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of an entry: larger operations take longer to move than a rank is late,
 * and MPI copies them once where this copies twice. And so many operations may
 * be under way that nobody has taken, until what is posted is copied once more
 * (publisher.h). */
#define ENTRY_MOST (UINT64_C(1) << 20)
enum { UNDER_WAY = 256 };

/* Of each rank, for what it has posted and others have not taken: no more than
 * that; in the ghosts' arena, where windows are, what they give, but not less
 * than makes sense. */
#define REGION_MOST  (UNDER_WAY * ENTRY_MOST)
#define REGION_LEAST (UINT64_C(16) << 20)

const struct aspx_coll_ghosts *aspx_coll_ghosts;

struct aspx_coll_posted_counts aspx_coll_posted_counts;

static bool is_wanted;

void aspx_coll_space_start(const struct asp_layout *layout)
{
    is_wanted = !asp_layout_offloads(layout);
}

bool aspx_coll_space_wanted(void)
{
    return is_wanted;
}

/* Mailboxes that the ghost has not let go of yet; this process made them. */
static struct aspx_coll_space *parting;
static pthread_mutex_t parting_lock = PTHREAD_MUTEX_INITIALIZER;

static int fold(void *inout, const void *in,
                const struct aspx_mailbox_what *what, uint64_t bytes)
{
    return aspx_coll_behind.MPI_Reduce_local(
        in, inout, (int) (bytes / what->grain), what->type, what->fold);
}

/* Nodes and members as comm.h numbers them. */
static bool describe(struct aspx_coll_space *space,
                     const struct aspx_coll_comm *comm)
{
    struct aspx_posts *posts = &space->posts;
    uint32_t *members = calloc(comm->nnodes, sizeof(*members));

    space->node_of = calloc(comm->size, sizeof(*space->node_of));
    space->member_of = calloc(comm->size, sizeof(*space->member_of));
    if (!members || !space->node_of || !space->member_of) {
        free(members);
        return false;
    }
    *posts = (struct aspx_posts){
        .rank = comm->rank,
        .ranks = comm->size,
        .members = comm->nmembers,
        .nodes = comm->nnodes,
        .node = comm->node[comm->rank],
        .node_of = space->node_of,
        .member_of = space->member_of,
        .fold = fold,
    };
    memcpy(space->node_of, comm->node, comm->size * sizeof(*comm->node));
    for (uint32_t r = 0; r < comm->size; r++) {
        space->member_of[r] = members[comm->node[r]]++;
        if (members[comm->node[r]] > posts->fullest)
            posts->fullest = members[comm->node[r]];
    }
    free(members);
    return true;
}

/* By all ranks alike. Returns false where there is too little. */
static bool find_region(struct aspx_coll_space *space,
                        const struct aspx_coll_comm *comm)
{
    uint64_t region = REGION_MOST, least = 0;

    if (space->by_ghosts) {
        region = aspx_coll_ghosts && aspx_coll_ghosts->can()
                     ? aspx_coll_ghosts->most() / (space->posts.fullest + 1)
                     : 0;
        region -= region % ASPX_MAILBOX_UNIT;
    }
    aspx_coll_behind.MPI_Allreduce(&region, &least, 1, MPI_UINT64_T, MPI_MIN,
                                   comm->own);
    space->region = least < REGION_MOST ? least : REGION_MOST;
    space->posts.most = space->region / UNDER_WAY < ENTRY_MOST
                            ? space->region / UNDER_WAY
                            : ENTRY_MOST;
    return space->region >= REGION_LEAST;
}

static struct aspx_mailbox_shape shape_of(const struct aspx_coll_space *space)
{
    const struct aspx_posts *posts = &space->posts;

    if (!space->by_ghosts)
        return (struct aspx_mailbox_shape){.participants = posts->members,
                                           .region = space->region};
    return (struct aspx_mailbox_shape){
        .participants = posts->members + 1,
        .ranks = posts->ranks,
        .nodes = posts->nodes,
        .region = space->region,
    };
}

/* ---- one node ----------------------------------------------------------------- */

static bool make_here(struct aspx_coll_space *space,
                      const struct aspx_coll_comm *comm)
{
    struct aspx_node_place place = aspx_coll_place(comm);
    struct aspx_mailbox_shape shape = shape_of(space);
    struct asp_err err;

    space->bytes = aspx_mailbox_bytes(&shape);
    space->memory = aspx_node_memory_make(
        &place, space->bytes, aspx_mailbox_head_bytes(&shape), &err);
    if (!space->memory && comm->rank == 0)
        aspx_coll_say_once(&err);
    return space->memory;
}

/* ---- several nodes, by their ghosts ------------------------------------------- */

/* The first tag of a communicator that this rank is the first of: of its own
 * range, none twice, so that two that share ghosts never have the same. A
 * rank that has used up its range leaves further ones to MPI. */
static int32_t new_tag(void)
{
    static _Atomic uint32_t made;
    int world = 1, rank = 0, found = 0, *most;
    uint32_t each;

    aspx_coll_behind.MPI_Comm_size(MPI_COMM_WORLD, &world);
    aspx_coll_behind.MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    aspx_coll_behind.MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most,
                                       &found);
    each = found ? (uint32_t) *most / ASPX_MAILBOX_TAGS / (uint32_t) world : 0;
    if (atomic_load(&made) >= each)
        return -1;
    return (int32_t) (((uint32_t) rank * each + made++) * ASPX_MAILBOX_TAGS);
}

/* Rank 0's tag, and where the first member of each node has made the mailbox.
 */
static bool share(struct aspx_coll_space *space,
                  const struct aspx_coll_comm *comm, int32_t *tag)
{
    uint64_t *offsets = calloc(comm->size, sizeof(*offsets));
    bool made = false;

    if (comm->rank == 0)
        *tag = new_tag();
    aspx_coll_behind.MPI_Bcast(tag, 1, MPI_INT32_T, 0, comm->own);
    if (aspx_coll_all_have(comm->own, offsets)) {
        aspx_coll_behind.MPI_Allgather(&space->offset, 1, MPI_UINT64_T, offsets,
                                       1, MPI_UINT64_T, comm->own);
        space->offset = offsets[comm->members[0]];
        made = *tag >= 0 && space->offset;
    }
    free(offsets);
    return made;
}

/* The ghost of each rank of the communicator. */
static bool find_ghosts(const struct aspx_coll_comm *comm, uint32_t *ghost_of)
{
    MPI_Group group, world;
    int *mine = calloc(comm->size, sizeof(*mine));
    int *ranks = calloc(comm->size, sizeof(*ranks));
    bool found = mine && ranks;

    aspx_coll_behind.MPI_Comm_group(comm->own, &group);
    aspx_coll_behind.MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (uint32_t r = 0; found && r < comm->size; r++)
        mine[r] = (int) r;
    if (found)
        aspx_coll_behind.MPI_Group_translate_ranks(group, (int) comm->size,
                                                   mine, world, ranks);
    for (uint32_t r = 0; found && r < comm->size; r++)
        ghost_of[r] = aspx_coll_ghosts->of((uint32_t) ranks[r]);
    aspx_coll_behind.MPI_Group_free(&group);
    aspx_coll_behind.MPI_Group_free(&world);
    free(mine);
    free(ranks);
    return found;
}

/* In the first member, which has its ghost serve the mailbox. */
static void introduce(struct aspx_coll_space *space,
                      const struct aspx_coll_comm *comm,
                      const uint32_t *ghost_of, int32_t tag)
{
    struct aspx_mailbox_nodes *nodes = space->posts.mailbox.nodes;
    struct aspx_mailbox_shape shape = shape_of(space);

    nodes->ranks = comm->size;
    nodes->nodes = comm->nnodes;
    nodes->node = space->posts.node;
    nodes->tag = tag;
    memcpy(nodes->map, comm->node, comm->size * sizeof(*comm->node));
    for (uint32_t n = 0; n < comm->nnodes; n++)
        nodes->map[comm->size + n] = ghost_of[comm->leaders[n]];
    aspx_mailbox_introduce(space->memory, &shape);
    aspx_coll_ghosts->open(space->offset, space->posts.members);
}

static bool make_with_ghosts(struct aspx_coll_space *space,
                             const struct aspx_coll_comm *comm)
{
    struct aspx_mailbox_shape shape = shape_of(space);

    space->bytes = aspx_mailbox_bytes(&shape);
    space->is_maker = comm->index == 0;
    if (space->is_maker)
        space->memory = aspx_coll_ghosts->take(space->bytes, &space->offset);
    return aspx_coll_all_have(comm->own, space->memory || !space->is_maker);
}

/* ---- made --------------------------------------------------------------------- */

static void destroy(struct aspx_coll_space *space)
{
    if (space->by_ghosts && space->is_maker && space->memory)
        aspx_coll_ghosts->give(space->offset, space->bytes);
    else if (!space->by_ghosts)
        aspx_node_memory_free(space->memory, space->bytes);
    free(space->node_of);
    free(space->member_of);
    free(space);
}

static bool see(struct aspx_coll_space *space,
                const struct aspx_coll_comm *comm)
{
    struct aspx_mailbox_shape shape = shape_of(space);

    return aspx_mailbox_see(&space->posts.mailbox, space->memory, comm->index,
                            &shape) == 0;
}

/* The steps that only several nodes need. */
static bool join_nodes(struct aspx_coll_space *space,
                       const struct aspx_coll_comm *comm)
{
    uint32_t *ghost_of = calloc(comm->size, sizeof(*ghost_of));
    int32_t tag = -1;
    bool made = share(space, comm, &tag);

    if (made && !space->is_maker)
        space->memory = aspx_coll_ghosts->find(space->offset, space->bytes);
    made = aspx_coll_all_have(comm->own, made && space->memory && ghost_of &&
                                             find_ghosts(comm, ghost_of) &&
                                             see(space, comm));
    if (made && space->is_maker)
        introduce(space, comm, ghost_of, tag);
    free(ghost_of);
    return made;
}

static bool fill_in(struct aspx_coll_space *space,
                    const struct aspx_coll_comm *comm)
{
    space->by_ghosts = comm->nnodes > 1;
    if (!aspx_coll_all_have(comm->own, describe(space, comm)) ||
        !find_region(space, comm))
        return false;
    if (!space->by_ghosts)
        return make_here(space, comm) &&
               aspx_coll_all_have(comm->own, see(space, comm));
    return make_with_ghosts(space, comm) && join_nodes(space, comm);
}

static void make(struct aspx_coll_comm *comm)
{
    struct aspx_coll_space *space = calloc(1, sizeof(*space));

    if (!aspx_coll_all_have(comm->own, space)) {
        free(space);
        return;
    }
    pthread_mutex_init(&space->lock, NULL);
    space->holders = 1;
    space->comm = comm->comm;
    if (fill_in(space, comm)) {
        comm->space = space;
        return;
    }
    aspx_mailbox_leave(&space->posts.mailbox);
    destroy(space);
}

void aspx_coll_space_offer(struct aspx_coll_comm *comm)
{
    if (!is_wanted || comm->posts == 0 || comm->space_was_offered)
        return;
    comm->space_was_offered = true;
    make(comm);
}

/* ---- let go of ---------------------------------------------------------------- */

/* Memory that the ghosts have let go of meanwhile. */
static void sweep(void)
{
    struct aspx_coll_space **at = &parting;

    while (*at) {
        struct aspx_coll_space *space = *at;

        if (atomic_load(&space->posts.mailbox.nodes->state) !=
            ASPX_MAILBOX_CLOSED) {
            at = &space->next;
            continue;
        }
        *at = space->next;
        destroy(space);
    }
}

/* The last of this process. Other processes of the node may still read: their
 * ghost lets go when all of them have. */
static void part(struct aspx_coll_space *space)
{
    aspx_mailbox_retire(&space->posts.mailbox);
    if (space->by_ghosts)
        atomic_fetch_add(&space->posts.mailbox.nodes->left, 1);
    aspx_mailbox_leave(&space->posts.mailbox);
    if (!space->by_ghosts || !space->is_maker) {
        destroy(space);
        return;
    }
    aspx_coll_ghosts->ring();
    pthread_mutex_lock(&parting_lock);
    space->next = parting;
    parting = space;
    sweep();
    pthread_mutex_unlock(&parting_lock);
}

void aspx_coll_space_leave(struct aspx_coll_space *space)
{
    if (atomic_fetch_sub(&space->holders, 1) == 1)
        part(space);
}

void aspx_coll_space_let_go(struct aspx_coll_space *space)
{
    if (!space)
        return;
    pthread_mutex_lock(&space->lock);
    space->comm = MPI_COMM_NULL;
    pthread_mutex_unlock(&space->lock);
    aspx_coll_space_leave(space);
}
