/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI's collectives, as symbols (MPI 4.0, chapter 6). */
#include "tests/coll/verify/expect.h"

#include <stdlib.h>

static uint64_t bit(uint32_t rank)
{
    return UINT64_C(1) << rank;
}

/* Ranks 0 to rank. */
static uint64_t up_to(uint32_t rank)
{
    return bit(rank) | (bit(rank) - 1);
}

static bool put(struct asp_coll_symbols *to, size_t at, size_t bytes,
                size_t offset, uint64_t ranks)
{
    return !bytes ||
           asp_coll_symbols_add(to, (struct asp_coll_symbol){
                                        at, at + bytes, offset, ranks, ranks});
}

/* The same over what is there; empty blocks may be anywhere. */
static bool put_block(struct asp_coll_symbols *to, size_t at, size_t bytes,
                      size_t offset, uint64_t ranks)
{
    struct asp_coll_symbols one = {0};
    bool good = put(&one, at, bytes, offset, ranks) &&
                (!bytes || asp_coll_symbols_write(to, at, at + bytes, &one));

    free(one.list);
    return good;
}

/* Blocks of a buffer, one for each rank. */
struct blocks {
    const size_t *counts, *displs; /* NULL: as bytes; one after the other */
    size_t bytes;
};

static struct blocks sent(const struct asp_coll_problem *p)
{
    return (struct blocks){p->counts, p->displs, p->bytes};
}

/* Of alltoall(v). */
static struct blocks received(const struct asp_coll_problem *p)
{
    return (struct blocks){p->recv_counts, p->recv_displs, p->bytes};
}

static size_t count_of(struct blocks b, uint32_t i)
{
    return b.counts ? b.counts[i] : b.bytes;
}

static size_t place_of(struct blocks b, uint32_t i)
{
    size_t at = 0;

    if (b.counts && b.displs)
        return b.displs[i];
    for (uint32_t before = 0; before < i; before++)
        at += count_of(b, before);
    return at;
}

/* All blocks of this rank's input; symbols are named for their place there. */
static bool put_blocks(const struct asp_coll_problem *p, struct blocks b,
                       uint32_t rank, struct asp_coll_symbols *to)
{
    bool good = true;

    for (uint32_t i = 0; i < p->ranks && good; i++)
        good = put_block(to, place_of(b, i), count_of(b, i), place_of(b, i),
                         bit(rank));
    return good;
}

bool asp_coll_expect_before(const struct asp_coll_problem *p, uint32_t rank,
                            struct asp_coll_symbols *in,
                            struct asp_coll_symbols *out)
{
    struct asp_coll_symbols *to = p->in_place ? out : in;
    struct blocks b = sent(p); /* or gathered */
    bool root = rank == p->root;
    uint64_t own = bit(rank);

    switch (p->op) {
    case ASP_COLL_BARRIER:
    case ASP_COLL_OPS:
        return true;
    case ASP_COLL_BCAST:
        return !root || put(out, 0, p->bytes, 0, own);
    case ASP_COLL_REDUCE:
        return put(root ? to : in, 0, p->bytes, 0, own);
    case ASP_COLL_ALLREDUCE:
    case ASP_COLL_SCAN:
    case ASP_COLL_EXSCAN:
        return put(to, 0, p->bytes, 0, own);
    case ASP_COLL_GATHER:
    case ASP_COLL_GATHERV:
        if (root && p->in_place)
            return put(out, place_of(b, rank), count_of(b, rank), 0, own);
        return put(in, 0, count_of(b, rank), 0, own);
    case ASP_COLL_ALLGATHER:
    case ASP_COLL_ALLGATHERV:
        return put(to, p->in_place ? place_of(b, rank) : 0, count_of(b, rank),
                   0, own);
    case ASP_COLL_SCATTER:
    case ASP_COLL_SCATTERV:
        return !root || put_blocks(p, b, rank, in);
    case ASP_COLL_REDUCE_SCATTER:
    case ASP_COLL_REDUCE_SCATTER_BLOCK:
        return put_blocks(p, b, rank, to);
    case ASP_COLL_ALLTOALL:
    case ASP_COLL_ALLTOALLV:
        return p->in_place ? put_blocks(p, received(p), rank, out)
                           : put_blocks(p, b, rank, in);
    }
    return true;
}

/* The blocks of all ranks in OUT. */
static bool gathered(const struct asp_coll_problem *p,
                     struct asp_coll_symbols *out)
{
    struct blocks b = sent(p);
    bool good = true;

    for (uint32_t i = 0; i < p->ranks && good; i++)
        good = put_block(out, place_of(b, i), count_of(b, i), 0, bit(i));
    return good;
}

/* Block rank of each rank's input. */
static bool exchanged(const struct asp_coll_problem *problems,
                      uint32_t nproblems, uint32_t rank,
                      struct asp_coll_symbols *out)
{
    const struct asp_coll_problem *own = asp_coll_problem_of(problems,
                                                             nproblems, rank);
    struct blocks b = received(own);
    bool good = true;

    for (uint32_t i = 0; i < own->ranks && good; i++) {
        const struct asp_coll_problem *from = asp_coll_problem_of(problems,
                                                                  nproblems, i);
        struct blocks theirs = own->in_place ? received(from) : sent(from);

        good = put_block(out, place_of(b, i), count_of(b, i),
                         place_of(theirs, rank), bit(i));
    }
    return good;
}

bool asp_coll_expect_after(const struct asp_coll_problem *problems,
                           uint32_t nproblems, uint32_t rank,
                           struct asp_coll_symbols *out)
{
    const struct asp_coll_problem *p = asp_coll_problem_of(problems, nproblems,
                                                           rank);
    struct blocks b = sent(p);
    uint64_t all = up_to(p->ranks - 1);
    bool root = rank == p->root;

    switch (p->op) {
    case ASP_COLL_BARRIER:
    case ASP_COLL_OPS:
        return true;
    case ASP_COLL_BCAST:
        return put(out, 0, p->bytes, 0, bit(p->root));
    case ASP_COLL_REDUCE:
        return !root || put(out, 0, p->bytes, 0, all);
    case ASP_COLL_ALLREDUCE:
        return put(out, 0, p->bytes, 0, all);
    case ASP_COLL_SCAN:
        return put(out, 0, p->bytes, 0, up_to(rank));
    case ASP_COLL_EXSCAN:
        return !rank || put(out, 0, p->bytes, 0, up_to(rank - 1));
    case ASP_COLL_GATHER:
    case ASP_COLL_GATHERV:
        return !root || gathered(p, out);
    case ASP_COLL_ALLGATHER:
    case ASP_COLL_ALLGATHERV:
        return gathered(p, out);
    case ASP_COLL_SCATTER:
    case ASP_COLL_SCATTERV:
        if (root && p->in_place)
            return true;
        return put(
            out, 0, count_of(b, rank),
            place_of(sent(asp_coll_problem_of(problems, nproblems, p->root)),
                     rank),
            bit(p->root));
    case ASP_COLL_REDUCE_SCATTER:
    case ASP_COLL_REDUCE_SCATTER_BLOCK:
        return put(out, 0, count_of(b, rank), place_of(b, rank), all);
    case ASP_COLL_ALLTOALL:
    case ASP_COLL_ALLTOALLV:
        return exchanged(problems, nproblems, rank, out);
    }
    return true;
}
