/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps what the searches of a communicator chose as a set of entries, by group
 * and shape. Ranks that have a set for a new communicator compare hashes of it
 * by one reduction before they take it over. */
#include "config.h"

#include "tuning_cache.h"

#include "runtime/coll/call/call.h"
#include "runtime/coll/machine/settings.h"

#include "common/base/hash.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 64 }; /* the one that was kept first makes room */

struct cached {
    struct asp_decide_known known;
    struct aspx_coll_config config; /* unless it is the default */
};

/* Of a group in a shape. */
struct set {
    struct asp_tune_shape shape;
    uint64_t group;
    uint64_t kept; /* the latest is the largest; 0: free */
    uint32_t n;
    struct cached *cached; /* ASP_DECIDE_KEYS */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct set sets[SETS];
static uint64_t times_kept;

/* Sweeps measure everything anew, and what is forced is not decided. */
static bool is_left_out(void)
{
    return aspx_coll_settings.explicit_effort || aspx_coll_settings.force;
}

static bool is_shape(const struct set *set, const struct asp_tune_shape *shape)
{
    return set->kept && set->shape.ranks == shape->ranks &&
           set->shape.nodes == shape->nodes && set->shape.ppn == shape->ppn &&
           set->shape.map == shape->map;
}

/* ---- kept ------------------------------------------------------------------- */

/* That of the communicator, or one that is free for it. NULL: no memory. */
static struct set *set_for(const struct aspx_coll_comm *comm)
{
    struct set *oldest = sets;

    for (uint32_t i = 0; i < SETS; i++) {
        if (is_shape(&sets[i], &comm->shape) && sets[i].group == comm->group)
            return &sets[i];
        if (sets[i].kept < oldest->kept)
            oldest = &sets[i];
    }
    if (!oldest->cached)
        oldest->cached = calloc(ASP_DECIDE_KEYS, sizeof(*oldest->cached));
    if (!oldest->cached)
        return NULL;
    oldest->shape = comm->shape;
    oldest->group = comm->group;
    oldest->n = 0;
    return oldest;
}

static void keep(struct set *set, const struct aspx_coll_comm *comm,
                 const struct asp_decide_known *known)
{
    uint32_t i = 0, config = known->search.config;

    while (i < set->n && set->cached[i].known.word != known->word)
        i++;
    if (i == ASP_DECIDE_KEYS)
        return;
    if (i == set->n)
        set->n++;
    set->cached[i].known = *known;
    if (config != ASP_DECIDE_DEFAULT)
        set->cached[i].config = comm->configs[config];
}

void aspx_coll_tuning_cache_keep(const struct aspx_coll_comm *comm)
{
    struct asp_decide_known known;
    struct set *set = NULL;

    if (is_left_out() || asp_decide_broken(comm->decide))
        return;
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; asp_decide_known(comm->decide, i, &known); i++) {
        if (known.word && !set)
            set = set_for(comm);
        if (known.word && set)
            keep(set, comm, &known);
    }
    if (set)
        set->kept = ++times_kept;
    pthread_mutex_unlock(&lock);
}

/* ---- used ------------------------------------------------------------------- */

static uint64_t hash_of_cached(const struct cached *one)
{
    const struct asp_search_known *search = &one->known.search;
    const uint64_t numbers[] = {one->known.word,
                                search->rank,
                                search->bytes,
                                search->proving,
                                search->proof.windows,
                                (uint64_t) search->proof.lead,
                                (uint64_t) search->proof.spread};
    const double times[] = {search->best_us, search->default_us,
                            search->promised_us};
    char text[ASPX_COLL_CONFIG_TEXT] = "default";
    uint64_t hash = ASP_HASH_START;

    if (search->config != ASP_DECIDE_DEFAULT)
        aspx_coll_config_text(&one->config, text);
    hash = asp_hash(hash, numbers, sizeof(numbers));
    hash = asp_hash(hash, times, sizeof(times));
    return asp_hash(hash, text, strlen(text));
}

/* A copy of a set, which other threads go on with. */
struct copy {
    struct cached *cached; /* ASP_DECIDE_KEYS; NULL: there is nothing */
    uint32_t n;
};

/* 0: there is nothing. */
static uint64_t hash_copy(const struct copy *copy)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < copy->n; i++)
        sum += hash_of_cached(&copy->cached[i]);
    return sum;
}

/* The order of entries may differ between ranks, and with it the numbers of
 * configurations, which go into the stamp of agreements. */
static int by_word(const void *a, const void *b)
{
    const struct cached *one = a, *other = b;

    return (one->known.word > other->known.word) -
           (one->known.word < other->known.word);
}

/* Of the set of the same group, or of the latest one of any. */
static struct copy copy_of(const struct aspx_coll_comm *comm, bool same)
{
    const struct set *latest = NULL;
    struct copy copy = {0};

    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < SETS; i++)
        if (is_shape(&sets[i], &comm->shape) &&
            (!same || sets[i].group == comm->group) &&
            (!latest || sets[i].kept > latest->kept))
            latest = &sets[i];
    if (latest)
        copy.cached = calloc(ASP_DECIDE_KEYS, sizeof(*copy.cached));
    if (copy.cached) {
        copy.n = latest->n;
        memcpy(copy.cached, latest->cached, copy.n * sizeof(*copy.cached));
        qsort(copy.cached, copy.n, sizeof(*copy.cached), by_word);
    }
    pthread_mutex_unlock(&lock);
    return copy;
}

static void take(struct aspx_coll_comm *comm, const struct copy *copy)
{
    for (uint32_t i = 0; i < copy->n; i++) {
        struct asp_decide_known known = copy->cached[i].known;

        if (known.search.config != ASP_DECIDE_DEFAULT) {
            comm->configs[comm->nconfigs] = copy->cached[i].config;
            known.search.config = comm->nconfigs++;
        }
        asp_decide_resume(comm->decide, &known);
    }
}

enum { SAME, SAME_OPPOSITE, LIKE, LIKE_OPPOSITE, VALUES };

/* Which of two all ranks have alike; NULL: neither. */
static const struct copy *agree(const struct aspx_coll_comm *comm,
                                const struct copy *same,
                                const struct copy *like)
{
    uint64_t own[VALUES] = {[SAME] = hash_copy(same), [LIKE] = hash_copy(like)};
    uint64_t most[VALUES] = {0};

    own[SAME_OPPOSITE] = ~own[SAME];
    own[LIKE_OPPOSITE] = ~own[LIKE];
    if (aspx_coll_behind.MPI_Allreduce(own, most, VALUES, MPI_UINT64_T, MPI_MAX,
                                       comm->own) != MPI_SUCCESS)
        return NULL;
    if (most[SAME] && most[SAME] == ~most[SAME_OPPOSITE])
        return same;
    return most[LIKE] && most[LIKE] == ~most[LIKE_OPPOSITE] ? like : NULL;
}

void aspx_coll_tuning_cache_use(struct aspx_coll_comm *comm)
{
    struct copy same, like;
    const struct copy *chosen;

    if (is_left_out())
        return;
    same = copy_of(comm, true);
    like = copy_of(comm, false);
    chosen = agree(comm, &same, &like);
    if (chosen)
        take(comm, chosen);
    free(same.cached);
    free(like.cached);
}
