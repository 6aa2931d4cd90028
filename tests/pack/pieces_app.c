/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of a vector and of a struct of each type that MPI has itself, both
 * ways between two ranks, packed and unpacked in pieces that pieces.so cuts:
 * short messages before each of their bytes, longer ones in pieces of odd
 * sizes. One side, or both, has the type; the other may have its packed stream
 * as MPI_PACKED (MPI 4.0, 5.2), as bytes, or as a row of the basic type.
 *
 * usage: pack_pieces [--most BYTES] [--few] [--uncut]
 *   --most   of a message (4 MiB)
 *   --few    of longer messages one combination of the two sides for each type
 *   --uncut  leave pieces as UCX makes them
 *
 * Prints how many messages were wrong, and how many cuts were made. */
#include "config.h"

#include "basics.h"
#include "options.h"
#include "pieces.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EMPTY = 0xa5,
    TAG = 9,
    SHORT_ELEMENTS = 3,
    LONGER_BYTES = 60000, /* --few counts from here on */
    CALLS_MAX = 4000,     /* pieces of a message: smaller ones are for others */
    COMPLAINTS = 8,
};

static const long sizes[] = {1000, 6000, 48001, 300001, 1 << 20, 4 << 20};
static const size_t steps[] = {1, 3, 7, 13, 61, 255, 1021, 4099, 8191, 65537};

enum form { TYPED, PACKED, BYTES, ROW, FORMS };

static const char *const form_names[FORMS] = {"typed", "packed", "bytes",
                                              "row"};

static struct {
    long most;
    bool few, uncut;
} options = {.most = 4 << 20};

static int rank;
static long wrong, messages;
static pieces_cut_f *cut;

/* Elements `step` bytes apart, as count of a type, and what is in them. */
struct data {
    const struct basic *basic;
    const char *shape;
    MPI_Datatype type;
    int count;
    long n, step;
    struct map element;
    size_t span, bytes; /* of the elements; of their stream */
    unsigned char *from, *to, *expected;
    unsigned char *stream, *to_stream;
    bool has_row; /* a row of the basic type is the stream, too */
};

/* ---- the types ------------------------------------------------------------- */

static long extent_of(MPI_Datatype type)
{
    MPI_Aint lb, extent;

    MPI_Type_get_extent(type, &lb, &extent);
    return (long) extent;
}

/* Every other number of a row. */
static void make_vector(struct data *d)
{
    long extent = extent_of(d->basic->type);

    d->shape = "vector";
    d->step = 2 * extent;
    d->element = basic_map(d->basic);
    d->has_row = (long) d->element.n == extent;
    d->count = 1;
    MPI_Type_vector((int) d->n, 1, 2, d->basic->type, &d->type);
}

/* struct { int; basic; char }, of an odd extent. */
static void make_struct(struct data *d)
{
    const int lengths[] = {1, 1, 1};
    const long extent = extent_of(d->basic->type);
    const MPI_Aint at[] = {0, 5, 5 + extent};
    const MPI_Datatype types[] = {MPI_INT, d->basic->type, MPI_CHAR};
    MPI_Datatype members;

    d->shape = "struct";
    d->step = extent + 11;
    d->count = (int) d->n;
    for (int i = 0; i < 3; i++) {
        const struct basic basic = {"", types[i], 0, 0};
        struct map map = basic_map(i == 1 ? d->basic : &basic);

        map_add(&d->element, &map, (long) at[i]);
        map_free(&map);
    }
    MPI_Type_create_struct(3, lengths, at, types, &members);
    MPI_Type_create_resized(members, 0, d->step, &d->type);
    MPI_Type_free(&members);
}

/* ---- the bytes ------------------------------------------------------------- */

static void fill(unsigned char *memory, size_t bytes)
{
    struct prng prng = {bytes};

    for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
        uint64_t value = prng_next(&prng);

        memcpy(memory + i, &value,
               bytes - i < sizeof(value) ? bytes - i : sizeof(value));
    }
}

static void set_up(struct data *d)
{
    unsigned char *byte;

    MPI_Type_commit(&d->type);
    d->span = (size_t) (d->n * d->step);
    d->bytes = (size_t) d->n * d->element.n;
    d->from = filled(d->span, 0);
    d->to = filled(d->span, EMPTY);
    d->expected = filled(d->span, EMPTY);
    byte = d->stream = filled(d->bytes, 0);
    d->to_stream = filled(d->bytes, EMPTY);
    fill(d->from, d->span);
    for (long i = 0; i < d->n; i++)
        for (size_t k = 0; k < d->element.n; k++) {
            long at = i * d->step + d->element.at[k];

            d->expected[at] = *byte++ = d->from[at];
        }
}

static void tear_down(struct data *d)
{
    MPI_Type_free(&d->type);
    map_free(&d->element);
    free(d->from);
    free(d->to);
    free(d->expected);
    free(d->stream);
    free(d->to_stream);
}

/* ---- a message ------------------------------------------------------------- */

struct side {
    void *buffer;
    int count;
    MPI_Datatype type;
};

static struct side side_of(const struct data *d, enum form form,
                           unsigned char *elements, unsigned char *stream)
{
    switch (form) {
    case TYPED:
        return (struct side){elements, d->count, d->type};
    case PACKED:
        return (struct side){stream, (int) d->bytes, MPI_PACKED};
    case BYTES:
        return (struct side){stream, (int) d->bytes, MPI_BYTE};
    default:
        return (struct side){stream, (int) d->n, d->basic->type};
    }
}

static void complain(const struct data *d, enum form from, enum form to,
                     size_t first, size_t every)
{
    if (wrong++ < COMPLAINTS)
        fprintf(stderr,
                "pack_pieces: rank %d: %s of %s, %zu bytes, %s to %s, cut at "
                "%zu and every %zu: wrong\n",
                rank, d->shape, d->basic->name, d->bytes, form_names[from],
                form_names[to], first, every);
}

/* Both ranks send the same. */
static void exchange(struct data *d, enum form from, enum form to, size_t first,
                     size_t every)
{
    struct side out = side_of(d, from, d->from, d->stream);
    struct side in = side_of(d, to, d->to, d->to_stream);
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int got;

    memset(d->to, EMPTY, d->span);
    memset(d->to_stream, EMPTY, d->bytes);
    if (!options.uncut)
        cut(first, every);
    MPI_Irecv(in.buffer, in.count, in.type, 1 - rank, TAG, MPI_COMM_WORLD,
              &requests[0]);
    MPI_Isend(out.buffer, out.count, out.type, 1 - rank, TAG, MPI_COMM_WORLD,
              &requests[1]);
    MPI_Waitall(2, requests, statuses);
    MPI_Get_count(&statuses[0], MPI_BYTE, &got);
    if (got != (int) d->bytes ||
        (to == TYPED ? memcmp(d->to, d->expected, d->span)
                     : memcmp(d->to_stream, d->stream, d->bytes)) != 0)
        complain(d, from, to, first, every);
    messages++;
}

/* ---- all of them ----------------------------------------------------------- */

static bool is_possible(const struct data *d, int from, int to)
{
    return (from == TYPED || to == TYPED) &&
           ((from != ROW && to != ROW) || d->has_row);
}

static void try_cuts(struct data *d, enum form from, enum form to)
{
    for (size_t at = 1; at < d->bytes; at++)
        exchange(d, from, to, at, 0);
}

/* With each a place and a step of its own. */
static void try_steps(struct data *d, enum form from, enum form to)
{
    const size_t nsteps = sizeof(steps) / sizeof(steps[0]);
    static size_t turn;
    size_t step;

    do {
        step = steps[turn++ % nsteps];
    } while (d->bytes / step > CALLS_MAX);
    exchange(d, from, to, 1 + turn % 97, step);
}

/* every: cut before each byte. */
static void check(void (*make)(struct data *), const struct basic *basic,
                  long n, bool every)
{
    static int turn;
    struct data d = {.basic = basic, .n = n};
    bool few;

    make(&d);
    set_up(&d);
    few = options.few && d.bytes >= LONGER_BYTES;
    for (int i = 0, done = 0; i < FORMS * FORMS && !(few && done); i++) {
        int pair = (i + turn) % (FORMS * FORMS);
        int from = pair / FORMS, to = pair % FORMS;

        if (!is_possible(&d, from, to))
            continue;
        if (every)
            try_cuts(&d, (enum form) from, (enum form) to);
        else
            try_steps(&d, (enum form) from, (enum form) to);
        done++;
    }
    turn += FORMS + 1;
    tear_down(&d);
}

static void check_basic(const struct basic *basic)
{
    struct map map = basic_map(basic);
    long size = (long) map.n;

    map_free(&map);
    if (size == 0)
        return;
    check(make_vector, basic, SHORT_ELEMENTS, true);
    check(make_vector, basic, PIECES_FIRST_MIN / size + SHORT_ELEMENTS, true);
    check(make_struct, basic, SHORT_ELEMENTS, true);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (sizes[i] > options.most)
            break;
        check(make_vector, basic, sizes[i] / size, false);
        check(make_struct, basic, sizes[i] / (size + 5), false);
    }
}

static unsigned long count_cuts(void)
{
    pieces_count_f *count;

    *(void **) &count = dlsym(RTLD_DEFAULT, "pieces_count");
    return count ? count() : 0;
}

int main(int argc, char **argv)
{
    static const struct option known[] = {
        {.name = "most", .number = &options.most},
        {.name = "few", .flag = &options.few},
        {.name = "uncut", .flag = &options.uncut},
        {.name = NULL},
    };
    long all;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    *(void **) &cut = dlsym(RTLD_DEFAULT, "pieces_cut");
    if (!options_read(known, argv + 1) || (!cut && !options.uncut))
        return 2;
    for (const struct basic *basic = basics; basic->name; basic++)
        check_basic(basic);
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld messages, %lu cuts, %ld wrong\n", messages, count_cuts(),
               all);
    MPI_Finalize();
    return all > 0;
}
