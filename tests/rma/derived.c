/* SPDX-License-Identifier: BSD-3-Clause */
/* Random derived types on both sides, with windows whose displacement units
 * differ by rank. The type maps are known element by element, so the model
 * needs no help from MPI. usage: derived [rounds] [seed] */
#include "rma.h"

enum { ELEMENTS = 256, PIECES = 24 };

struct map {
    MPI_Datatype type;
    int n;              /* elements of one instance */
    int at[PIECES * 4]; /* their places, in elements of long */
};

static unsigned seed;

static int pick(int below)
{
    return (int) (rma_random(&seed) % (unsigned) below);
}

/* n distinct places below `space`, ascending or shuffled. */
static void places(int *at, int n, int space, int shuffled)
{
    char taken[ELEMENTS] = {0};

    for (int i = 0; i < n; i++) {
        int p = pick(space);

        while (taken[p])
            p = (p + 1) % space;
        taken[p] = 1;
        at[i] = p;
    }
    for (int i = 0; !shuffled && i < n; i++)
        for (int j = i + 1; j < n; j++)
            if (at[j] < at[i]) {
                int swap = at[i];

                at[i] = at[j];
                at[j] = swap;
            }
}

static void make_contiguous(struct map *map, int n)
{
    MPI_Type_contiguous(n, MPI_LONG, &map->type);
    for (int i = 0; i < n; i++)
        map->at[i] = i;
}

static void make_vector(struct map *map, int n)
{
    MPI_Type_vector(n, 1, 3, MPI_LONG, &map->type);
    for (int i = 0; i < n; i++)
        map->at[i] = 3 * i;
}

static void make_indexed(struct map *map, int n)
{
    places(map->at, n, ELEMENTS / 2, 1);
    MPI_Type_create_indexed_block(n, 1, map->at, MPI_LONG, &map->type);
}

static void make_struct(struct map *map, int n)
{
    int lengths[PIECES];
    MPI_Aint offsets[PIECES];
    MPI_Datatype kinds[PIECES];

    places(map->at, n, ELEMENTS / 2, 0);
    for (int i = 0; i < n; i++) {
        lengths[i] = 1;
        offsets[i] = (MPI_Aint) (map->at[i] * (int) sizeof(long));
        kinds[i] = MPI_LONG;
    }
    MPI_Type_create_struct(n, lengths, offsets, kinds, &map->type);
}

/* By a creator with large counts. */
static void make_large(struct map *map, int n)
{
    MPI_Count at[PIECES];

    places(map->at, n, ELEMENTS / 2, 1);
    for (int i = 0; i < n; i++)
        at[i] = map->at[i] * (MPI_Count) sizeof(long);
    MPI_Type_create_hindexed_block_c(n, 1, at, MPI_LONG, &map->type);
}

/* It names a type of which it has no element. */
static void make_partly_empty(struct map *map, int n)
{
    const int lengths[] = {0, n};
    const MPI_Aint offsets[] = {0, 2 * (MPI_Aint) sizeof(long)};
    const MPI_Datatype kinds[] = {MPI_CHAR, MPI_LONG};

    MPI_Type_create_struct(2, lengths, offsets, kinds, &map->type);
    for (int i = 0; i < n; i++)
        map->at[i] = 2 + i;
}

static void make_subarray(struct map *map, int n)
{
    int sizes[2] = {n + 2, 4}, sub[2] = {n, 1}, start[2] = {1, 2};

    MPI_Type_create_subarray(2, sizes, sub, start, MPI_ORDER_C, MPI_LONG,
                             &map->type);
    for (int i = 0; i < n; i++)
        map->at[i] = (i + 1) * 4 + 2;
}

/* A type of types: pairs of elements, far apart. */
static void make_nested(struct map *map, int n)
{
    MPI_Datatype pair, spaced;

    n = n / 2 * 2;
    MPI_Type_vector(2, 1, 2, MPI_LONG, &pair);
    MPI_Type_create_resized(pair, 0, 5 * (MPI_Aint) sizeof(long), &spaced);
    MPI_Type_contiguous(n / 2, spaced, &map->type);
    MPI_Type_free(&pair);
    MPI_Type_free(&spaced);
    for (int i = 0; i < n; i++)
        map->at[i] = i / 2 * 5 + i % 2 * 2;
}

static void make(struct map *map, int n)
{
    static void (*const makers[])(struct map *, int) = {
        make_contiguous, make_vector, make_indexed,      make_struct,
        make_subarray,   make_nested, make_partly_empty, make_large};

    map->n = n;
    makers[pick((int) (sizeof(makers) / sizeof(makers[0])))](map, n);
    MPI_Type_commit(&map->type);
}

/* One operation; the model holds this origin's part of the target. */
static void round_trip(long *mirror, int target, int unit, MPI_Win win,
                       enum rma_epoch epoch)
{
    long source[ELEMENTS], result[ELEMENTS], before[ELEMENTS];
    int n = 2 * (1 + pick(PIECES / 2 - 1)), kind = pick(4);
    MPI_Aint disp = (MPI_Aint) rma_rank * ELEMENTS * (8 / unit);
    struct map from, to, back;

    make(&from, n);
    make(&to, n);
    make(&back, n);
    for (int i = 0; i < ELEMENTS; i++) {
        source[i] = pick(1000);
        result[i] = -1;
        before[i] = mirror[i];
    }
    rma_open(epoch, target, win);
    if (kind == 0) {
        MPI_Put(source, 1, from.type, target, disp, 1, to.type, win);
    } else if (kind == 1) {
        MPI_Accumulate(source, 1, from.type, target, disp, 1, to.type, MPI_SUM,
                       win);
    } else if (kind == 2) {
        MPI_Get_accumulate(source, 1, from.type, result, 1, back.type, target,
                           disp, 1, to.type, MPI_SUM, win);
    } else {
        MPI_Get(result, 1, back.type, target, disp, 1, to.type, win);
    }
    rma_close(epoch, target, win);
    for (int i = 0; i < n; i++) {
        if (kind == 0)
            mirror[to.at[i]] = source[from.at[i]];
        else if (kind < 3)
            mirror[to.at[i]] += source[from.at[i]];
        if (kind >= 2)
            EXPECT(result[back.at[i]] == before[to.at[i]],
                   "kind %d, %s: element %d is %ld instead of %ld", kind,
                   rma_epoch_name(epoch), i, result[back.at[i]],
                   before[to.at[i]]);
    }
    MPI_Type_free(&from.type);
    MPI_Type_free(&to.type);
    MPI_Type_free(&back.type);
}

int main(int argc, char **argv)
{
    static const int units[] = {1, 8, 4, 2};
    long *base, *mirror;
    int rounds;
    MPI_Win win;

    rma_begin(&argc, &argv);
    rounds = argc > 1 ? atoi(argv[1]) : 200;
    seed = (argc > 2 ? (unsigned) atoi(argv[2]) : 1) * 1000 +
           (unsigned) rma_rank;
    mirror = calloc((size_t) rma_size * ELEMENTS, sizeof(long));
    MPI_Win_allocate((MPI_Aint) rma_size * ELEMENTS * (MPI_Aint) sizeof(long),
                     units[rma_rank % 4], MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                     &win);
    memset(base, 0, (size_t) rma_size * ELEMENTS * sizeof(long));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < rounds; i++) {
        int target = pick(rma_size);

        round_trip(mirror + target * ELEMENTS, target, units[target % 4], win,
                   (enum rma_epoch)(i % EPOCHS));
    }
    for (int t = 0; t < rma_size; t++) {
        long got[ELEMENTS];

        MPI_Win_lock(MPI_LOCK_SHARED, t, 0, win);
        MPI_Get(got, ELEMENTS, MPI_LONG, t,
                (MPI_Aint) rma_rank * ELEMENTS * (8 / units[t % 4]), ELEMENTS,
                MPI_LONG, win);
        MPI_Win_unlock(t, win);
        EXPECT(memcmp(got, mirror + t * ELEMENTS, sizeof(got)) == 0,
               "window of rank %d differs from the model", t);
    }
    MPI_Win_free(&win);
    free(mirror);
    return rma_end("derived");
}
