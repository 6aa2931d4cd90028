/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of numbers that leaders keep alike: see status_broadcast.h. */
#include "config.h"

#include "status_broadcast.h"

#include "leaders.h"

#include "runtime/mpi/real.h"

#include <stdlib.h>

enum {
    NEIGHBOURS = ASPX_LEADER_CHILDREN + 1,
    ENTRIES = 32, /* in a message: 520 bytes, which MPI sends eagerly */
    WORD = 64,
};

struct message {
    uint32_t n, unused;
    struct entry {
        uint64_t value;
        uint32_t rank, unused;
    } entry[ENTRIES];
};

struct neighbour {
    int rank;
    MPI_Request receive, send;
    struct message in, out;
    uint64_t *unsent; /* a bit by rank: this neighbour has to hear of it */
    uint32_t nunsent;
    uint32_t from; /* word of these bits where the next message begins */
};

struct aspx_status_broadcast {
    MPI_Comm comm;
    aspx_status_heard *heard;
    void *context;
    uint32_t size, nwords; /* of the table: numbers, and words of their bits */
    uint64_t *value;       /* by world rank */
    uint32_t nneighbours;
    struct neighbour neighbour[NEIGHBOURS];
};

static void add(struct aspx_status_broadcast *broadcast, int leader)
{
    struct neighbour *new = &broadcast->neighbour[broadcast->nneighbours++];

    new->rank = leader;
    new->receive = new->send = MPI_REQUEST_NULL;
}

static int find_neighbours(struct aspx_status_broadcast *broadcast,
                           const struct aspx_engine *engine)
{
    struct aspx_leader_tree leaders;

    if (aspx_leader_tree_build(engine, 0, &leaders) != 0)
        return -1;
    if (leaders.parent >= 0)
        add(broadcast, leaders.parent);
    for (uint32_t c = 0; c < leaders.nchildren; c++)
        add(broadcast, leaders.child[c]);
    return 0;
}

static int open_line(const struct aspx_status_broadcast *broadcast,
                     struct neighbour *to)
{
    to->unsent = calloc(broadcast->nwords, sizeof(*to->unsent));
    if (!to->unsent ||
        aspx_real.MPI_Recv_init(&to->in, sizeof(to->in), MPI_BYTE, to->rank,
                                ASPX_STATUS_TAG, broadcast->comm,
                                &to->receive) != MPI_SUCCESS)
        return -1;
    return aspx_real.MPI_Start(&to->receive) == MPI_SUCCESS ? 0 : -1;
}

struct aspx_status_broadcast *aspx_status_broadcast_create(
    const struct aspx_engine *engine, aspx_status_heard *heard, void *context)
{
    struct aspx_status_broadcast *broadcast = calloc(1, sizeof(*broadcast));
    bool good;

    if (!broadcast)
        return NULL;
    broadcast->comm = engine->locks;
    broadcast->heard = heard;
    broadcast->context = context;
    broadcast->size = (uint32_t) engine->world->size_all;
    broadcast->nwords = (broadcast->size + WORD - 1) / WORD;
    broadcast->value = calloc(broadcast->size, sizeof(*broadcast->value));
    good = broadcast->value && find_neighbours(broadcast, engine) == 0;
    for (uint32_t i = 0; good && i < broadcast->nneighbours; i++)
        good = open_line(broadcast, &broadcast->neighbour[i]) == 0;
    if (good)
        return broadcast;
    aspx_status_broadcast_destroy(broadcast);
    return NULL;
}

/* Store a number, unsent to all neighbours but the one it came from. */
static void store(struct aspx_status_broadcast *broadcast, uint32_t rank,
                  uint64_t value, const struct neighbour *but)
{
    uint64_t bit = UINT64_C(1) << rank % WORD;

    broadcast->value[rank] = value;
    for (uint32_t i = 0; i < broadcast->nneighbours; i++) {
        struct neighbour *to = &broadcast->neighbour[i];

        if (to == but || to->unsent[rank / WORD] & bit)
            continue;
        to->unsent[rank / WORD] |= bit;
        to->nunsent++;
    }
}

void aspx_status_broadcast_set(struct aspx_status_broadcast *broadcast,
                               uint32_t rank, uint64_t value)
{
    if (broadcast->value[rank] != value)
        store(broadcast, rank, value, NULL);
}

static void take_message(struct aspx_status_broadcast *broadcast,
                         const struct neighbour *from)
{
    uint32_t n = from->in.n < ENTRIES ? from->in.n : ENTRIES;

    for (const struct entry *e = from->in.entry; e < from->in.entry + n; e++) {
        if (e->rank >= broadcast->size || broadcast->value[e->rank] == e->value)
            continue;
        store(broadcast, e->rank, e->value, from);
        broadcast->heard(broadcast->context, e->rank, e->value);
    }
}

/* Fill a message with what is unsent, from where the last one ended. */
static void collect(const struct aspx_status_broadcast *broadcast,
                    struct neighbour *to)
{
    to->out.n = 0;
    while (to->nunsent > 0 && to->out.n < ENTRIES) {
        uint64_t *word = &to->unsent[to->from];

        if (!*word) {
            to->from = (to->from + 1) % broadcast->nwords;
            continue;
        }
        to->out.entry[to->out.n].rank = to->from * WORD +
                                        (uint32_t) __builtin_ctzll(*word);
        to->out.entry[to->out.n].value =
            broadcast->value[to->out.entry[to->out.n].rank];
        to->out.n++;
        to->nunsent--;
        *word &= *word - 1;
    }
}

static int send_unsent(const struct aspx_status_broadcast *broadcast,
                       struct neighbour *to)
{
    int sent = 1;

    if (to->nunsent == 0)
        return 0;
    if (to->send != MPI_REQUEST_NULL &&
        aspx_real.MPI_Test(&to->send, &sent, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return -1;
    if (!sent)
        return 0;
    collect(broadcast, to);
    return aspx_real.MPI_Isend(&to->out,
                               (int) (offsetof(struct message, entry) +
                                      to->out.n * sizeof(struct entry)),
                               MPI_BYTE, to->rank, ASPX_STATUS_TAG,
                               broadcast->comm, &to->send) == MPI_SUCCESS
               ? 0
               : -1;
}

int aspx_status_broadcast_step(struct aspx_status_broadcast *broadcast)
{
    int all = 0;

    for (uint32_t i = 0; i < broadcast->nneighbours; i++) {
        struct neighbour *from = &broadcast->neighbour[i];
        int came = 0;

        if (aspx_real.MPI_Test(&from->receive, &came, MPI_STATUS_IGNORE) !=
            MPI_SUCCESS)
            return -1;
        if (!came)
            continue;
        all++;
        take_message(broadcast, from);
        if (aspx_real.MPI_Start(&from->receive) != MPI_SUCCESS)
            return -1;
    }
    for (uint32_t i = 0; i < broadcast->nneighbours; i++)
        if (send_unsent(broadcast, &broadcast->neighbour[i]) != 0)
            return -1;
    return all;
}

/* Without the memory: a message that is still under way is read from it. */
void aspx_status_broadcast_destroy(struct aspx_status_broadcast *broadcast)
{
    bool sent = true;

    if (!broadcast)
        return;
    for (uint32_t i = 0; i < broadcast->nneighbours; i++) {
        struct neighbour *to = &broadcast->neighbour[i];

        free(to->unsent);
        sent &= aspx_leader_hang_up(&to->receive, &to->send);
    }
    free(broadcast->value);
    if (sent)
        free(broadcast);
}
