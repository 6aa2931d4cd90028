/* SPDX-License-Identifier: BSD-3-Clause */
/* Members of a node map one file of shared memory. On several nodes it is made
 * in the arena of the ghosts, and a member of each node tells its ghost to
 * serve it; all ranks agree on each step, so all have it or none. */
#include "config.h"

#include "context.h"

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
enum { UNDER_CONFIG = 256 };

/* Of each rank, for what it has posted and others have not taken: no more than
 * that; in the ghosts' arena, where windows are, what they give, but not less
 * than makes sense. */
#define REGION_MOST  (UNDER_CONFIG * ENTRY_MOST)
#define REGION_LEAST (UINT64_C(16) << 20)

struct aspx_coll_posted_counts aspx_coll_posted_counts;

static bool is_wanted;

void aspx_coll_context_start(const struct asp_layout *layout)
{
    is_wanted = !asp_layout_offloads(layout);
}

bool aspx_coll_context_wanted(void)
{
    return is_wanted;
}

/* Mailboxes that the ghost has not let go of yet; this process made them. */
static struct aspx_coll_context *parting;
static pthread_mutex_t parting_lock = PTHREAD_MUTEX_INITIALIZER;

static int reduce(void *inout, const void *in,
                  const struct aspx_mailbox_descriptor *descriptor,
                  uint64_t bytes)
{
    return aspx_coll_behind.MPI_Reduce_local(
        in, inout, (int) (bytes / descriptor->element_size), descriptor->type,
        descriptor->reduction);
}

/* Nodes and members as comm.h numbers them. */
static bool describe(struct aspx_coll_context *context,
                     const struct aspx_coll_comm *comm)
{
    struct aspx_posts *posts = &context->posts;
    uint32_t *members = calloc(comm->nnodes, sizeof(*members));

    context->node_of = calloc(comm->size, sizeof(*context->node_of));
    context->member_of = calloc(comm->size, sizeof(*context->member_of));
    if (!members || !context->node_of || !context->member_of) {
        free(members);
        return false;
    }
    *posts = (struct aspx_posts){
        .rank = comm->rank,
        .ranks = comm->size,
        .members = comm->nmembers,
        .nodes = comm->nnodes,
        .node = comm->node[comm->rank],
        .node_of = context->node_of,
        .member_of = context->member_of,
        .reduce = reduce,
    };
    memcpy(context->node_of, comm->node, comm->size * sizeof(*comm->node));
    for (uint32_t r = 0; r < comm->size; r++) {
        context->member_of[r] = members[comm->node[r]]++;
        if (members[comm->node[r]] > posts->fullest)
            posts->fullest = members[comm->node[r]];
    }
    free(members);
    return true;
}

/* By all ranks alike. Returns false where there is too little. */
static bool find_region(struct aspx_coll_context *context,
                        const struct aspx_coll_comm *comm)
{
    uint64_t region = REGION_MOST, least = 0;

    if (context->by_ghosts) {
        region = aspx_ghosts && aspx_ghosts->can()
                     ? aspx_ghosts->most() / (context->posts.fullest + 1)
                     : 0;
        region -= region % ASPX_MAILBOX_UNIT;
    }
    aspx_coll_behind.MPI_Allreduce(&region, &least, 1, MPI_UINT64_T, MPI_MIN,
                                   comm->own);
    context->region = least < REGION_MOST ? least : REGION_MOST;
    context->posts.most = context->region / UNDER_CONFIG < ENTRY_MOST
                              ? context->region / UNDER_CONFIG
                              : ENTRY_MOST;
    return context->region >= REGION_LEAST;
}

static struct aspx_mailbox_shape shape_of(
    const struct aspx_coll_context *context)
{
    const struct aspx_posts *posts = &context->posts;

    if (!context->by_ghosts)
        return (struct aspx_mailbox_shape){.participants = posts->members,
                                           .region = context->region};
    return (struct aspx_mailbox_shape){
        .participants = posts->members + 1,
        .ranks = posts->ranks,
        .nodes = posts->nodes,
        .region = context->region,
    };
}

/* ---- one node ----------------------------------------------------------------- */

static bool make_here(struct aspx_coll_context *context,
                      const struct aspx_coll_comm *comm)
{
    struct aspx_node_place place = aspx_coll_place(comm);
    struct aspx_mailbox_shape shape = shape_of(context);
    struct asp_err err;

    context->bytes = aspx_mailbox_bytes(&shape);
    context->memory = aspx_node_memory_make(
        &place, context->bytes, aspx_mailbox_head_bytes(&shape), &err);
    if (!context->memory && comm->rank == 0)
        aspx_coll_say_once(&err);
    return context->memory;
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
static bool share(struct aspx_coll_context *context,
                  const struct aspx_coll_comm *comm, int32_t *tag)
{
    uint64_t *offsets = calloc(comm->size, sizeof(*offsets));
    bool made = false;

    if (comm->rank == 0)
        *tag = new_tag();
    aspx_coll_behind.MPI_Bcast(tag, 1, MPI_INT32_T, 0, comm->own);
    if (aspx_coll_all_have(comm->own, offsets)) {
        aspx_coll_behind.MPI_Allgather(&context->offset, 1, MPI_UINT64_T,
                                       offsets, 1, MPI_UINT64_T, comm->own);
        context->offset = offsets[comm->members[0]];
        made = *tag >= 0 && context->offset;
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
        ghost_of[r] = aspx_ghosts->of((uint32_t) ranks[r]);
    aspx_coll_behind.MPI_Group_free(&group);
    aspx_coll_behind.MPI_Group_free(&world);
    free(mine);
    free(ranks);
    return found;
}

/* In the first member, which has its ghost serve the mailbox. */
static void introduce(struct aspx_coll_context *context,
                      const struct aspx_coll_comm *comm,
                      const uint32_t *ghost_of, int32_t tag)
{
    struct aspx_mailbox_nodes *nodes = context->posts.mailbox.nodes;
    struct aspx_mailbox_shape shape = shape_of(context);

    nodes->ranks = comm->size;
    nodes->nodes = comm->nnodes;
    nodes->node = context->posts.node;
    nodes->tag = tag;
    memcpy(nodes->map, comm->node, comm->size * sizeof(*comm->node));
    for (uint32_t n = 0; n < comm->nnodes; n++)
        nodes->map[comm->size + n] = ghost_of[comm->leaders[n]];
    aspx_mailbox_introduce(context->memory, &shape);
    aspx_ghosts->open(ASPX_SERVE_COLLECTIVES, context->offset,
                      context->posts.members);
}

static bool make_with_ghosts(struct aspx_coll_context *context,
                             const struct aspx_coll_comm *comm)
{
    struct aspx_mailbox_shape shape = shape_of(context);

    context->bytes = aspx_mailbox_bytes(&shape);
    context->is_maker = comm->index == 0;
    if (context->is_maker)
        context->memory = aspx_ghosts->take(context->bytes, &context->offset);
    return aspx_coll_all_have(comm->own, context->memory || !context->is_maker);
}

/* ---- made --------------------------------------------------------------------- */

static void destroy(struct aspx_coll_context *context)
{
    if (context->by_ghosts && context->is_maker && context->memory)
        aspx_ghosts->give(context->offset, context->bytes);
    else if (!context->by_ghosts)
        aspx_node_memory_free(context->memory, context->bytes);
    free(context->node_of);
    free(context->member_of);
    free(context);
}

static bool see(struct aspx_coll_context *context,
                const struct aspx_coll_comm *comm)
{
    struct aspx_mailbox_shape shape = shape_of(context);

    return aspx_mailbox_see(&context->posts.mailbox, context->memory,
                            comm->index, &shape) == 0;
}

/* The steps that only several nodes need. */
static bool join_nodes(struct aspx_coll_context *context,
                       const struct aspx_coll_comm *comm)
{
    uint32_t *ghost_of = calloc(comm->size, sizeof(*ghost_of));
    int32_t tag = -1;
    bool made = share(context, comm, &tag);

    if (made && !context->is_maker)
        context->memory = aspx_ghosts->find(context->offset, context->bytes);
    made = aspx_coll_all_have(comm->own, made && context->memory && ghost_of &&
                                             find_ghosts(comm, ghost_of) &&
                                             see(context, comm));
    if (made && context->is_maker)
        introduce(context, comm, ghost_of, tag);
    free(ghost_of);
    return made;
}

static bool fill_in(struct aspx_coll_context *context,
                    const struct aspx_coll_comm *comm)
{
    context->by_ghosts = comm->nnodes > 1;
    if (!aspx_coll_all_have(comm->own, describe(context, comm)) ||
        !find_region(context, comm))
        return false;
    if (!context->by_ghosts)
        return make_here(context, comm) &&
               aspx_coll_all_have(comm->own, see(context, comm));
    return make_with_ghosts(context, comm) && join_nodes(context, comm);
}

static void make(struct aspx_coll_comm *comm)
{
    struct aspx_coll_context *context = calloc(1, sizeof(*context));

    if (!aspx_coll_all_have(comm->own, context)) {
        free(context);
        return;
    }
    pthread_mutex_init(&context->lock, NULL);
    context->holders = 1;
    context->comm = comm->comm;
    if (fill_in(context, comm)) {
        comm->context = context;
        return;
    }
    aspx_mailbox_leave(&context->posts.mailbox);
    destroy(context);
}

void aspx_coll_context_offer(struct aspx_coll_comm *comm)
{
    if (!is_wanted || comm->posts == 0 || comm->context_was_offered)
        return;
    comm->context_was_offered = true;
    make(comm);
}

/* ---- let go of ---------------------------------------------------------------- */

/* Memory that the ghosts have let go of meanwhile. */
static void sweep(void)
{
    struct aspx_coll_context **at = &parting;

    while (*at) {
        struct aspx_coll_context *context = *at;

        if (atomic_load(&context->posts.mailbox.nodes->state) !=
            ASPX_MAILBOX_CLOSED) {
            at = &context->next;
            continue;
        }
        *at = context->next;
        destroy(context);
    }
}

/* The last of this process. Other processes of the node may still read: their
 * ghost lets go when all of them have. */
static void part(struct aspx_coll_context *context)
{
    aspx_mailbox_retire(&context->posts.mailbox);
    if (context->by_ghosts)
        atomic_fetch_add(&context->posts.mailbox.nodes->left, 1);
    aspx_mailbox_leave(&context->posts.mailbox);
    if (!context->by_ghosts || !context->is_maker) {
        destroy(context);
        return;
    }
    aspx_ghosts->ring();
    pthread_mutex_lock(&parting_lock);
    context->next = parting;
    parting = context;
    sweep();
    pthread_mutex_unlock(&parting_lock);
}

void aspx_coll_context_leave(struct aspx_coll_context *context)
{
    if (atomic_fetch_sub(&context->holders, 1) == 1)
        part(context);
}

void aspx_coll_context_let_go(struct aspx_coll_context *context)
{
    if (!context)
        return;
    pthread_mutex_lock(&context->lock);
    context->comm = MPI_COMM_NULL;
    pthread_mutex_unlock(&context->lock);
    aspx_coll_context_leave(context);
}
