/* SPDX-License-Identifier: BSD-3-Clause */
/* Random datatypes against their map of bytes: packed and unpacked by the
 * engine of runtime/pack whole and in pieces, and by MPI_Pack. One rank.
 *
 * usage: pack_random [--seed S] [--first K] [--types N] [--verbose] [--all]
 *                    [--break K]
 *
 *   --first K   begin with type K of the seed, which is always the same
 *   --all       MPI_Pack and MPI_Unpack must be right of all types, which those
 *               of MPICH are not
 *   --break K   expect a wrong byte of type K
 *   --verbose   print how each type was made */
#include "config.h"

#include "options.h"
#include "pack.h"

#include "runtime/mpi/real.h"
#include "runtime/pack/typemap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH_MAX = 5,
    SMALL_BYTES = 96, /* streams that are cut at every byte */
    LARGE_BYTES = 40000,
    CUTS = 6,           /* random ways to cut a stream that is not small */
    SPAN_MAX = 4 << 20, /* bytes from a type's first to its last; skip others */
    GUARD = 16,         /* bytes around what may be written */
    COMPLAINTS = 8,
};

static struct {
    long seed, first, types, broken;
    bool verbose, all;
} options = {.seed = 1, .types = 1000, .broken = -1};

static long wrong, overlapping, too_wide, mpi_compared,
    no_typemap[ASPX_NO_TYPEMAPS];

/* One type under test, and count elements of it. */
struct test {
    long number;
    struct prng prng;
    struct made made;
    const struct aspx_typemap *typemap;
    int count;
    struct map map;         /* of all elements */
    long lo, span;          /* the buffer has bytes lo .. lo + span - 1 */
    unsigned char *data;    /* what is packed */
    unsigned char *stream;  /* what must come out */
    unsigned char *out;     /* what comes out */
    unsigned char *inverse; /* of the data */
    unsigned char *back;    /* what is unpacked into: the inverse between */
    unsigned char *touched; /* per byte of the buffer: how often packed */
    bool overlaps;
};

static void complain(const struct test *t, const char *what, size_t from,
                     size_t to)
{
    if (wrong++ < COMPLAINTS)
        fprintf(stderr,
                "pack_random: --seed %llu --first %ld --types 1: %s, "
                "bytes %zu to %zu of %zu, count %d: %s\n",
                (unsigned long long) options.seed, t->number, what, from, to,
                t->map.n, t->count, t->made.text);
}

static void fill(struct prng *prng, unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char) prng_next(prng);
}

/* ---- setting up ----------------------------------------------------------- */

static bool set_up(struct test *t)
{
    MPI_Aint lb, extent;

    MPI_Type_get_extent(t->made.type, &lb, &extent);
    for (int i = 0; i < t->count; i++)
        map_add(&t->map, &t->made.map, i * (long) extent);
    t->span = map_span(&t->map, &t->lo) + 2 * GUARD;
    t->lo -= GUARD;
    if (t->span > SPAN_MAX) {
        too_wide++;
        return false;
    }
    t->data = filled((size_t) t->span, 0);
    t->touched = calloc((size_t) t->span + 1, 1);
    t->stream = filled(t->map.n, 0);
    t->out = filled(t->map.n + 2 * GUARD, 0);
    t->inverse = filled((size_t) t->span, 0);
    t->back = filled((size_t) t->span, 0);
    fill(&t->prng, t->data, (size_t) t->span);
    for (long i = 0; i < t->span; i++)
        t->inverse[i] = (unsigned char) ~t->data[i];
    memcpy(t->back, t->inverse, (size_t) t->span);
    for (size_t i = 0; i < t->map.n; i++) {
        long at = t->map.at[i] - t->lo;

        t->stream[i] = t->data[at];
        t->overlaps = t->overlaps || t->touched[at];
        t->touched[at] = 1;
    }
    if (t->number == options.broken && t->map.n)
        t->stream[t->map.n / 2] ^= 1;
    overlapping += t->overlaps;
    return true;
}

static void tear_down(struct test *t)
{
    free_type(&t->made);
    map_free(&t->map);
    free(t->data);
    free(t->touched);
    free(t->stream);
    free(t->out);
    free(t->inverse);
    free(t->back);
}

/* ---- pieces --------------------------------------------------------------- */

/* Pack bytes from .. to - 1: just these must be written. */
static void check_pack(struct test *t, size_t from, size_t to)
{
    unsigned char *out = t->out + GUARD;
    uint64_t n;

    memset(t->out, 0x5a, to - from + 2 * GUARD);
    n = aspx_typemap_pack(t->typemap, t->data - t->lo, (uint64_t) t->count,
                          from, out, to - from);
    if (n != to - from || memcmp(out, t->stream + from, to - from) != 0)
        complain(t, "packed", from, to);
    for (int i = 0; i < GUARD; i++)
        if (t->out[i] != 0x5a || out[to - from + (size_t) i] != 0x5a) {
            complain(t, "packed beyond", from, to);
            break;
        }
}

/* Unpack them over the inverse of all data: only they may change. */
static void check_unpack(struct test *t, size_t from, size_t to)
{
    bool ok;

    if (t->overlaps)
        return;
    ok = aspx_typemap_unpack(t->typemap, t->back - t->lo, (uint64_t) t->count,
                             from, t->stream + from, to - from) == to - from;
    for (size_t i = from; i < to; i++) {
        long at = t->map.at[i] - t->lo;

        ok = ok && t->back[at] == t->stream[i];
        t->back[at] = t->inverse[at];
    }
    if (!ok || memcmp(t->back, t->inverse, (size_t) t->span) != 0) {
        complain(t, "unpacked", from, to);
        memcpy(t->back, t->inverse, (size_t) t->span);
    }
}

static void check_piece(struct test *t, size_t from, size_t to)
{
    check_pack(t, from, to);
    check_unpack(t, from, to);
}

static void check_every_cut(struct test *t)
{
    for (size_t cut = 1; cut < t->map.n; cut++) {
        check_piece(t, 0, cut);
        check_piece(t, cut, t->map.n);
    }
}

/* In pieces of random sizes from beginning to end. */
static void check_random_cuts(struct test *t)
{
    for (int i = 0; i < CUTS; i++) {
        int most = (int) t->map.n / prng_range(&t->prng, 1, 8);

        for (size_t from = 0; from < t->map.n;) {
            size_t to = from + 1 + (size_t) prng_below(&t->prng, most);

            to = to < t->map.n ? to : t->map.n;
            check_piece(t, from, to);
            from = to;
        }
    }
}

/* ---- one type ------------------------------------------------------------- */

static void pack_with_mpi(struct test *t, bool large, MPI_Count *at)
{
    int size = (int) t->map.n + 2 * GUARD, narrow = (int) *at;

    if (large) {
        MPI_Pack_c(t->data - t->lo, t->count, t->made.type, t->out, size, at,
                   MPI_COMM_WORLD);
        return;
    }
    MPI_Pack(t->data - t->lo, t->count, t->made.type, t->out, size, &narrow,
             MPI_COMM_WORLD);
    *at = narrow;
}

static void unpack_with_mpi(struct test *t, bool large, MPI_Count *at)
{
    int size = (int) t->map.n + 2 * GUARD, narrow = (int) *at;

    if (large) {
        MPI_Unpack_c(t->out, size, at, t->back - t->lo, t->count, t->made.type,
                     MPI_COMM_WORLD);
        return;
    }
    MPI_Unpack(t->out, size, &narrow, t->back - t->lo, t->count, t->made.type,
               MPI_COMM_WORLD);
    *at = narrow;
}

/* What the program's MPI makes of it. */
static void check_mpi(struct test *t)
{
    bool large = prng_chance(&t->prng, 40);
    MPI_Count end = GUARD + (MPI_Count) t->map.n, at = GUARD;

    if (t->made.is_odd && !options.all)
        return;
    mpi_compared++;
    pack_with_mpi(t, large, &at);
    if (at != end || memcmp(t->out + GUARD, t->stream, t->map.n) != 0)
        complain(t, "MPI_Pack", 0, (size_t) (at - GUARD));
    if (t->overlaps || !t->made.map.n)
        return; /* of nothing, MPI_Unpack divides by zero in MPICH 4.0 */
    at = GUARD;
    unpack_with_mpi(t, large, &at);
    for (size_t i = 0; i < t->map.n; i++) {
        long byte = t->map.at[i] - t->lo;

        at = t->back[byte] == t->stream[i] ? at : -1;
        t->back[byte] = t->inverse[byte];
    }
    if (at != end || memcmp(t->back, t->inverse, (size_t) t->span) != 0)
        complain(t, "MPI_Unpack", 0, t->map.n);
    memcpy(t->back, t->inverse, (size_t) t->span);
}

static bool has_typemap(struct test *t)
{
    enum aspx_no_typemap why;
    struct aspx_typemap *typemap;

    t->typemap = aspx_typemap_of(t->made.type);
    if (t->typemap) {
        if (t->typemap->size == t->made.map.n)
            return true;
        complain(t, "size of the typemap", 0, t->typemap->size);
        return false;
    }
    typemap = aspx_typemap_make(t->made.type, &why);
    no_typemap[why] += !typemap;
    aspx_typemap_free(typemap);
    complain(t, aspx_no_typemap_name(why), 0, 0);
    return false;
}

static void check_type(long number)
{
    struct test t = {
        .number = number,
        .prng = {(uint64_t) options.seed * 1000003 + (uint64_t) number},
    };
    bool small = prng_chance(&t.prng, 80);

    t.made = make_type(&t.prng, prng_range(&t.prng, 1, DEPTH_MAX),
                       small ? SMALL_BYTES : LARGE_BYTES);
    t.count = prng_chance(&t.prng, 50) ? 1 : prng_range(&t.prng, 0, 9);
    if (!t.made.is_named)
        MPI_Type_commit(&t.made.type);
    if (options.verbose)
        printf("%ld: %d of %s\n", number, t.count, t.made.text);
    if (set_up(&t) && has_typemap(&t)) {
        check_piece(&t, 0, t.map.n);
        if (t.map.n <= SMALL_BYTES)
            check_every_cut(&t);
        else
            check_random_cuts(&t);
        check_mpi(&t);
    }
    tear_down(&t);
}

int main(int argc, char **argv)
{
    static const struct option known[] = {
        {.name = "seed", .number = &options.seed},
        {.name = "first", .number = &options.first},
        {.name = "types", .number = &options.types},
        {.name = "break", .number = &options.broken},
        {.name = "verbose", .flag = &options.verbose},
        {.name = "all", .flag = &options.all},
        {.name = NULL},
    };

    MPI_Init(&argc, &argv);
    if (!options_read(known, argv + 1) || aspx_real_resolve() != 0)
        return 2;
    for (long i = 0; i < options.types; i++)
        check_type(options.first + i);
    print_creators();
    for (int why = 0; why < ASPX_NO_TYPEMAPS; why++)
        if (no_typemap[why])
            printf("no typemap (%s): %ld\n",
                   aspx_no_typemap_name((enum aspx_no_typemap) why),
                   no_typemap[why]);
    printf("%ld types, %ld too wide, %ld overlapping, %ld compared with "
           "MPI_Pack, %ld "
           "wrong\n",
           options.types, too_wide, overlapping, mpi_compared, wrong);
    MPI_Finalize();
    return wrong > 0;
}
