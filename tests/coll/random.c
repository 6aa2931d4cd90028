/* SPDX-License-Identifier: BSD-3-Clause */
/* Random operations against what they must give. What all ranks have in common
 * comes from one generator, when each comes from its own. */
#include "coll.h"

#include "runtime/coll/node/mpi_reduce.h"

#include <stdlib.h>
#include <string.h>

enum { TOTAL_MAX = 8 << 20 };

/* x -> a x + b modulo 2^32; one after the other, which is not commutative. */
struct affine {
    uint32_t a, b;
};

static char *in, *out;
static long counts[8];

static int reduce_affine(void *inout, const void *in_, size_t count, void *arg)
{
    const struct affine *left = in_;
    struct affine *right = inout;

    (void) arg;
    for (size_t i = 0; i < count; i++)
        right[i] = (struct affine){
            left[i].a * right[i].a,
            left[i].a * right[i].b + left[i].b,
        };
    return MPI_SUCCESS;
}

/* What rank r has at a place in operation n. */
static uint32_t number(long n, int r, size_t at)
{
    uint64_t z = ((uint64_t) n << 40) ^ ((uint64_t) r << 32) ^ at;

    z = (z ^ (z >> 29)) * 0xbf58476d1ce4e5b9u;
    return (uint32_t) (z >> 32);
}

static char byte(long n, int r, size_t at)
{
    return (char) number(n, r, at);
}

static void fill(char *to, size_t bytes, long n, int r)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = byte(n, r, i);
}

static bool is_filled(const char *at, size_t bytes, long n, int r)
{
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != byte(n, r, i))
            return false;
    return true;
}

/* Often small, sometimes as large as may be, around limits of segments, none.
 */
static size_t any_size(struct prng *all, size_t max)
{
    static const size_t limits[] = {4096, 8192, 65536, 131072, 1048576};
    size_t size;

    switch (prng_below(all, 10)) {
    case 0:
        return 0;
    case 1:
        size = limits[prng_below(all, 5)] + (size_t) prng_below(all, 3) - 1;
        break;
    case 2:
        size = (size_t) prng_below(all,
                                   prng_chance(all, 20) ? TOTAL_MAX : 1 << 18);
        break;
    default:
        size = (size_t) prng_below(all, 3000);
    }
    return size < max ? size : max;
}

static void bcast(struct prng *all, long n,
                  const struct aspx_node_config *config)
{
    size_t bytes = any_size(all, TOTAL_MAX);
    int root = prng_below(all, coll_size);

    if (coll_rank == root)
        fill(out, bytes, n, root);
    EXPECT(!aspx_node_bcast(coll_area, config, out, bytes, (uint32_t) root),
           "%ld", n);
    EXPECT(is_filled(out, bytes, n, root), "bcast %ld, %zu bytes", n, bytes);
    /* The buffer is mine again. */
    memset(out, 0x55, bytes);
}

/* Blocks of sizes that differ or not, with gaps then. Returns their span. */
static struct aspx_node_blocks any_blocks(struct prng *all, size_t *sizes,
                                          size_t *offsets, size_t max)
{
    struct aspx_node_blocks blocks = {.size = any_size(all, max)};
    size_t at = 0;

    if (prng_chance(all, 50))
        return blocks;
    for (int r = 0; r < coll_size; r++) {
        sizes[r] = any_size(all, max);
        offsets[r] = at;
        at += sizes[r] + (size_t) prng_below(all, 9);
    }
    blocks.sizes = sizes;
    blocks.offsets = offsets;
    return blocks;
}

static size_t size_of(const struct aspx_node_blocks *blocks, int r)
{
    return blocks->sizes ? blocks->sizes[r] : blocks->size;
}

static size_t offset_of(const struct aspx_node_blocks *blocks, int r)
{
    return blocks->sizes ? blocks->offsets[r] : (size_t) r * blocks->size;
}

static void expect_blocks(const struct aspx_node_blocks *blocks, long n)
{
    for (int r = 0; r < coll_size; r++)
        EXPECT(is_filled(out + offset_of(blocks, r), size_of(blocks, r), n, r),
               "%ld, block %d of %zu bytes", n, r, size_of(blocks, r));
}

static void blocks_moved(struct prng *all, long n,
                         const struct aspx_node_config *config, int kind)
{
    size_t sizes[64], offsets[64];
    struct aspx_node_blocks blocks = any_blocks(
        all, sizes, offsets, (size_t) TOTAL_MAX / (size_t) coll_size - 16);
    uint32_t root = (uint32_t) prng_below(all, coll_size);
    bool am_root = coll_rank == (int) root, in_place = prng_chance(all, 30);
    size_t bytes = size_of(&blocks, coll_rank);
    const struct aspx_node_blocks *mine = am_root ? &blocks : NULL;
    char *own = out + offset_of(&blocks, coll_rank);

    if (kind == 0) {
        for (int r = 0; am_root && r < coll_size; r++)
            fill(in + offset_of(&blocks, r), size_of(&blocks, r), n, r);
        in_place &= am_root;
        EXPECT(!aspx_node_scatter(coll_area, config, in, mine,
                                  in_place ? NULL : out, bytes, root),
               "%ld", n);
        EXPECT(in_place || is_filled(out, bytes, n, coll_rank), "scatter %ld",
               n);
        memset(in, 0x55, 4096);
        return;
    }
    in_place &= kind == 2 || am_root;
    fill(in_place ? own : in, bytes, n, coll_rank);
    if (kind == 1)
        EXPECT(!aspx_node_gather(coll_area, config, in_place ? NULL : in, bytes,
                                 out, mine, root),
               "%ld", n);
    else
        EXPECT(!aspx_node_allgather(coll_area, config, in_place ? NULL : in,
                                    bytes, out, &blocks),
               "%ld", n);
    if (kind == 2 || am_root)
        expect_blocks(&blocks, n);
    memset(in, 0x55, bytes);
}

static void expect_affine(const struct affine *result, size_t count, long n)
{
    for (size_t i = 0; i < count; i++) {
        struct affine want = {number(n, coll_size - 1, 2 * i),
                              number(n, coll_size - 1, 2 * i + 1)};

        for (int r = coll_size - 1; r-- > 0;)
            reduce_affine(
                &want,
                &(struct affine){number(n, r, 2 * i), number(n, r, 2 * i + 1)},
                1, NULL);
        if (want.a == result[i].a && want.b == result[i].b)
            continue;
        EXPECT(false, "reduction %ld of %zu at %zu", n, count, i);
        return;
    }
}

/* An operation whose order shows; in place now and then. */
static void ordered(struct prng *all, long n,
                    const struct aspx_node_config *config, bool to_all)
{
    const struct aspx_node_operator operator= {
        .reduce = reduce_affine,
        .element = sizeof(struct affine),
        .reproducible = prng_chance(all, 20),
    };
    size_t count = any_size(all, TOTAL_MAX) / sizeof(struct affine);
    uint32_t root = (uint32_t) prng_below(all, coll_size);
    bool in_place = prng_chance(all, 30);
    struct affine *mine = (void *) (in_place ? out : in);
    int rc;

    for (size_t i = 0; i < count; i++)
        mine[i] = (struct affine){number(n, coll_rank, 2 * i),
                                  number(n, coll_rank, 2 * i + 1)};
    if (to_all)
        rc = aspx_node_allreduce(coll_area, config, &operator, mine, out,
                                 count);
    else
        rc = aspx_node_reduce(coll_area, config, &operator, mine, out, count,
                              root);
    EXPECT(rc == MPI_SUCCESS, "%ld: %d", n, rc);
    if (to_all || coll_rank == (int) root)
        expect_affine((void *) out, count, n);
    memset(in, 0x55, count * sizeof(struct affine));
}

/* Doubles, whose sum depends on the order: the same on all ranks; and, if asked
 * for, what a reduction from the last to the first gives, whatever the
 * configuration. */
static void rounded(struct prng *all, long n,
                    const struct aspx_node_config *config)
{
    struct aspx_node_mpi_op sum = {.op = MPI_SUM, .type = MPI_DOUBLE};
    const struct aspx_node_operator operator= {
        .reduce = aspx_node_mpi_reduce,
        .arg = &sum,
        .element = sizeof(double),
        .is_commutative = true,
        .reproducible = prng_chance(all, 50),
    };
    size_t count = any_size(all, TOTAL_MAX / 16) / sizeof(double);
    double *mine = (void *) in, *result = (void *) out, *first;
    bool same = true;

    for (size_t i = 0; i < count; i++)
        mine[i] = 1.0 / (1 + number(n, coll_rank, i));
    EXPECT(
        !aspx_node_allreduce(coll_area, config, &operator, mine, result, count),
        "%ld", n);
    for (size_t i = 0; operator.reproducible && i<count; i++) {
        double want = 1.0 / (1 + number(n, coll_size - 1, i));

        for (int r = coll_size - 1; r-- > 0;)
            want = 1.0 / (1 + number(n, r, i)) + want;
        same &= want == result[i];
    }
    EXPECT(same, "reproducible %ld", n);
    first = mine;
    if (coll_rank == 0)
        memcpy(first, result, count * sizeof(double));
    aspx_node_bcast(coll_area, config, first, count * sizeof(double), 0);
    EXPECT(memcmp(first, result, count * sizeof(double)) == 0,
           "not the bits of rank 0: %ld", n);
}

static void one(struct prng *all, long n)
{
    struct aspx_node_config config = coll_any_config(all);
    int kind = prng_below(all, 8);

    counts[kind]++;
    if (kind < 3)
        blocks_moved(all, n, &config, kind);
    else if (kind == 3)
        bcast(all, n, &config);
    else if (kind == 4)
        EXPECT(!aspx_node_barrier(coll_area, &config), "%ld", n);
    else if (kind == 5)
        rounded(all, n, &config);
    else
        ordered(all, n, &config, kind == 7);
}

void coll_random(struct prng *all, long n)
{
    static const char *const names[] = {"scatter", "gather",   "allgather",
                                        "bcast",   "barrier",  "rounded",
                                        "reduce",  "allreduce"};
    struct prng own = {.state = (uint64_t) coll_rank + 99};

    in = malloc(TOTAL_MAX + 4096);
    out = malloc(TOTAL_MAX + 4096);
    for (long i = 0; i < n; i++) {
        coll_dawdle(&own);
        one(all, i);
    }
    for (int kind = 0; coll_rank == 0 && kind < 8; kind++)
        printf("%s: %ld\n", names[kind], counts[kind]);
    free(in);
    free(out);
}
