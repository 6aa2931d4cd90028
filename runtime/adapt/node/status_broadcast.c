/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "status_broadcast.h"

#include "leaders.h"

#include "runtime/mpi/real.h"

#include <stdlib.h>

enum {
    NEIGHBOURS = ASPX_CHILDREN + 1,
    ENTRIES = 32, /* in a message, which MPI sends at once then */
    WORD = 64,
};

struct message {
    uint32_t n, unused;
    struct entry {
        uint64_t value;
        uint32_t key, unused;
    } entry[ENTRIES];
};

struct neighbour {
    int rank;
    MPI_Request receive, send;
    struct message in, out;
    uint64_t *news; /* a bit by key: has to be told */
    uint32_t nnews;
    uint32_t from; /* where to go on looking for it, in words */
};

struct aspx_spread {
    MPI_Comm comm;
    aspx_spread_heard *heard;
    void *context;
    uint32_t first[ASPX_SPREAD_KINDS + 1]; /* key of a kind's index 0 */
    uint32_t nwords;
    uint64_t *value; /* by key */
    uint32_t nneighbours;
    struct neighbour neighbour[NEIGHBOURS];
};

static void lay_out(struct aspx_spread *spread,
                    const struct aspx_engine *engine)
{
    const uint32_t length[ASPX_SPREAD_KINDS] = {
        [ASPX_SPREAD_VIEW] = (uint32_t) engine->world->size_all,
    };
    uint32_t sum = 0;

    for (unsigned k = 0; k < ASPX_SPREAD_KINDS; k++) {
        spread->first[k] = sum;
        sum += length[k];
    }
    spread->first[ASPX_SPREAD_KINDS] = sum;
    spread->nwords = (sum + WORD - 1) / WORD;
}

static void add(struct aspx_spread *spread, int leader)
{
    struct neighbour *new = &spread->neighbour[spread->nneighbours++];

    new->rank = leader;
    new->receive = new->send = MPI_REQUEST_NULL;
}

static int find_neighbours(struct aspx_spread *spread,
                           const struct aspx_engine *engine)
{
    struct aspx_tree tree;

    if (aspx_leaders_tree(engine, 0, &tree) != 0)
        return -1;
    if (tree.parent >= 0)
        add(spread, tree.parent);
    for (uint32_t c = 0; c < tree.nchildren; c++)
        add(spread, tree.child[c]);
    return 0;
}

static int open_ear(const struct aspx_spread *spread, struct neighbour *to)
{
    to->news = calloc(spread->nwords, sizeof(*to->news));
    if (!to->news ||
        aspx_real.MPI_Recv_init(&to->in, sizeof(to->in), MPI_BYTE, to->rank,
                                ASPX_SPREAD_TAG, spread->comm,
                                &to->receive) != MPI_SUCCESS)
        return -1;
    return aspx_real.MPI_Start(&to->receive) == MPI_SUCCESS ? 0 : -1;
}

struct aspx_spread *aspx_spread_create(const struct aspx_engine *engine,
                                       aspx_spread_heard *heard, void *context)
{
    struct aspx_spread *spread = calloc(1, sizeof(*spread));
    bool good;

    if (!spread)
        return NULL;
    spread->comm = engine->locks;
    spread->heard = heard;
    spread->context = context;
    lay_out(spread, engine);
    spread->value = calloc(spread->first[ASPX_SPREAD_KINDS],
                           sizeof(*spread->value));
    good = spread->value && find_neighbours(spread, engine) == 0;
    for (uint32_t i = 0; good && i < spread->nneighbours; i++)
        good = open_ear(spread, &spread->neighbour[i]) == 0;
    if (good)
        return spread;
    aspx_spread_destroy(spread);
    return NULL;
}

/* Remember a number, and that all neighbours but one have to hear of it. */
static void keep(struct aspx_spread *spread, uint32_t key, uint64_t value,
                 const struct neighbour *but)
{
    uint64_t bit = UINT64_C(1) << key % WORD;

    spread->value[key] = value;
    for (uint32_t i = 0; i < spread->nneighbours; i++) {
        struct neighbour *to = &spread->neighbour[i];

        if (to == but || to->news[key / WORD] & bit)
            continue;
        to->news[key / WORD] |= bit;
        to->nnews++;
    }
}

void aspx_spread_say(struct aspx_spread *spread, enum aspx_spread_kind kind,
                     uint32_t index, uint64_t value)
{
    uint32_t key = spread->first[kind] + index;

    if (key < spread->first[kind + 1] && spread->value[key] != value)
        keep(spread, key, value, NULL);
}

static void hear(struct aspx_spread *spread, const struct neighbour *from)
{
    uint32_t n = from->in.n < ENTRIES ? from->in.n : ENTRIES;

    for (const struct entry *e = from->in.entry; e < from->in.entry + n; e++) {
        unsigned kind = 0;

        if (e->key >= spread->first[ASPX_SPREAD_KINDS] ||
            spread->value[e->key] == e->value)
            continue;
        while (e->key >= spread->first[kind + 1])
            kind++;
        keep(spread, e->key, e->value, from);
        spread->heard(spread->context, (enum aspx_spread_kind) kind,
                      e->key - spread->first[kind], e->value);
    }
}

/* Fill a message with news, going round. */
static void collect(const struct aspx_spread *spread, struct neighbour *to)
{
    to->out.n = 0;
    while (to->nnews > 0 && to->out.n < ENTRIES) {
        uint64_t *word = &to->news[to->from];

        if (!*word) {
            to->from = (to->from + 1) % spread->nwords;
            continue;
        }
        to->out.entry[to->out.n].key = to->from * WORD +
                                       (uint32_t) __builtin_ctzll(*word);
        to->out.entry[to->out.n].value =
            spread->value[to->out.entry[to->out.n].key];
        to->out.n++;
        to->nnews--;
        *word &= *word - 1;
    }
}

static int tell(const struct aspx_spread *spread, struct neighbour *to)
{
    int sent = 1;

    if (to->nnews == 0)
        return 0;
    if (to->send != MPI_REQUEST_NULL &&
        aspx_real.MPI_Test(&to->send, &sent, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return -1;
    if (!sent)
        return 0;
    collect(spread, to);
    return aspx_real.MPI_Isend(&to->out,
                               (int) (offsetof(struct message, entry) +
                                      to->out.n * sizeof(struct entry)),
                               MPI_BYTE, to->rank, ASPX_SPREAD_TAG,
                               spread->comm, &to->send) == MPI_SUCCESS
               ? 0
               : -1;
}

int aspx_spread_step(struct aspx_spread *spread)
{
    int all = 0;

    for (uint32_t i = 0; i < spread->nneighbours; i++) {
        struct neighbour *from = &spread->neighbour[i];
        int came = 0;

        if (aspx_real.MPI_Test(&from->receive, &came, MPI_STATUS_IGNORE) !=
            MPI_SUCCESS)
            return -1;
        if (!came)
            continue;
        all++;
        hear(spread, from);
        if (aspx_real.MPI_Start(&from->receive) != MPI_SUCCESS)
            return -1;
    }
    for (uint32_t i = 0; i < spread->nneighbours; i++)
        if (tell(spread, &spread->neighbour[i]) != 0)
            return -1;
    return all;
}

/* A message that is still under way keeps its buffer. */
static bool hang_up(struct neighbour *from)
{
    int sent = 1;

    if (from->receive != MPI_REQUEST_NULL) {
        aspx_real.MPI_Cancel(&from->receive);
        aspx_real.MPI_Wait(&from->receive, MPI_STATUS_IGNORE);
        aspx_real.MPI_Request_free(&from->receive);
    }
    free(from->news);
    if (from->send != MPI_REQUEST_NULL)
        aspx_real.MPI_Test(&from->send, &sent, MPI_STATUS_IGNORE);
    if (!sent)
        aspx_real.MPI_Request_free(&from->send);
    return sent;
}

void aspx_spread_destroy(struct aspx_spread *spread)
{
    bool sent = true;

    if (!spread)
        return;
    for (uint32_t i = 0; i < spread->nneighbours; i++)
        sent &= hang_up(&spread->neighbour[i]);
    free(spread->value);
    if (sent)
        free(spread);
}
