/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows as objects: attributes, info, names, groups, keyvals, error
 * handlers, sub-communicators, windows of no bytes, several at once, freed in
 * any order, and many created and freed without a leak.
 * usage: windows [cycles] */
#include "rma.h"

static void attributes(void)
{
    MPI_Win win;
    void *base, *attr_base, *first;
    MPI_Aint *size;
    int *unit, *flavor, *model, flag, bytes = 64 * (rma_rank + 1);

    MPI_Win_allocate(bytes, rma_rank + 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                     &win);
    MPI_Win_get_attr(win, MPI_WIN_BASE, &attr_base, &flag);
    EXPECT(flag && attr_base == base, "MPI_WIN_BASE");
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag);
    EXPECT(flag && *size == bytes, "MPI_WIN_SIZE");
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &unit, &flag);
    EXPECT(flag && *unit == rma_rank + 1, "MPI_WIN_DISP_UNIT");
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
    EXPECT(flag && *flavor == MPI_WIN_FLAVOR_ALLOCATE, "flavor");
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag);
    EXPECT(flag && *model == MPI_WIN_UNIFIED, "model");
    /* the memory is zero when it comes, writable, and 64-byte aligned */
    first = base;
    EXPECT((size_t) first % 64 == 0, "alignment of %p", first);
    memset(base, 1, (size_t) bytes);
    MPI_Win_free(&win);
    EXPECT(win == MPI_WIN_NULL, "handle after free");
}

static int deleted;

static int count_delete(MPI_Win win, int keyval, void *value, void *extra)
{
    int *flavor, flag;

    (void) keyval;
    (void) value;
    (void) extra;
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
    EXPECT(flag && *flavor == MPI_WIN_FLAVOR_ALLOCATE, "flavor in callback");
    deleted++;
    return MPI_SUCCESS;
}

static void objects(void)
{
    MPI_Win win;
    MPI_Group group, world;
    MPI_Info info;
    void *base;
    char name[MPI_MAX_OBJECT_NAME];
    int length, keyval, same, value = 7, *found, flag;

    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, count_delete, &keyval, NULL);
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_name(win, "results");
    MPI_Win_get_name(win, name, &length);
    EXPECT(strcmp(name, "results") == 0, "name %s", name);
    MPI_Win_get_group(win, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &same);
    EXPECT(same == MPI_IDENT, "group");
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    MPI_Win_set_attr(win, keyval, &value);
    MPI_Win_get_attr(win, keyval, &found, &flag);
    EXPECT(flag && found == &value, "attribute");
    MPI_Win_get_info(win, &info);
    EXPECT(info != MPI_INFO_NULL, "info");
    MPI_Win_set_info(win, info);
    MPI_Info_free(&info);
    MPI_Win_free(&win);
    EXPECT(deleted == 1, "delete callback ran %d times", deleted);
    MPI_Win_free_keyval(&keyval);
}

/* Every rank adds its rank + 1 to word 0 of every rank; all must agree. */
static void use(MPI_Win win, MPI_Comm comm, long *base)
{
    int rank, size;
    long mine;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    mine = rank + 1;
    *base = 0;
    MPI_Barrier(comm);
    MPI_Win_lock_all(0, win);
    for (int t = 0; t < size; t++)
        MPI_Accumulate(&mine, 1, MPI_LONG, t, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(comm);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    EXPECT(*base == (long) size * (size + 1) / 2, "sum %ld of %d", *base, size);
    MPI_Win_unlock(rank, win);
}

static void communicators(void)
{
    MPI_Comm comms[4];
    MPI_Win win;
    long *base;

    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, rma_rank % 2, -rma_rank, &comms[1]);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &comms[2]);
    comms[3] = MPI_COMM_SELF;
    for (int i = 0; i < 4; i++) {
        MPI_Win_allocate(64, 8, MPI_INFO_NULL, comms[i], &base, &win);
        use(win, comms[i], base);
        MPI_Win_free(&win);
    }
    for (int i = 0; i < 3; i++)
        MPI_Comm_free(&comms[i]);
}

/* Several windows, some ranks without bytes, freed out of order; then another
 * window on memory of the first. */
static void several(void)
{
    enum { WINDOWS = 20 };
    MPI_Win win[WINDOWS], again;
    long *base[WINDOWS];

    for (int i = 0; i < WINDOWS; i++)
        MPI_Win_allocate(64 + 4096 * i, 8, MPI_INFO_NULL, MPI_COMM_WORLD,
                         &base[i], &win[i]);
    for (int i = 0; i < WINDOWS; i++)
        use(win[i], MPI_COMM_WORLD, base[i]);
    MPI_Win_create(base[0], 64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &again);
    use(again, MPI_COMM_WORLD, base[0]);
    MPI_Win_free(&again);
    for (int i = 0; i < WINDOWS; i++)
        MPI_Win_free(&win[i * 7 % WINDOWS]);
}

static void empty(void)
{
    int holder = rma_size - 1;
    MPI_Aint bytes = rma_rank == holder ? 64 : 0;
    long *base, one = 1;
    MPI_Win win;

    MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    EXPECT(!base == (rma_rank != holder), "base %p", (void *) base);
    if (rma_rank == holder)
        *base = 0;
    MPI_Win_fence(0, win);
    MPI_Accumulate(&one, 1, MPI_LONG, holder, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Put(NULL, 0, MPI_LONG, 0, 0, 0, MPI_LONG, win);
    MPI_Put(&one, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    if (rma_rank == holder)
        EXPECT(*base == rma_size, "holder has %ld", *base);
    MPI_Win_free(&win);
}

static void cycles(int n)
{
    long before = 0, after;

    for (int i = 0; i < n; i++) {
        char *base;
        MPI_Win win;

        MPI_Win_allocate(1 << 16, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                         &win);
        memset(base, i, 1 << 16);
        MPI_Win_free(&win);
        if (i == n / 10)
            before = rma_resident_kb();
    }
    after = rma_resident_kb();
    EXPECT(after - before < 2048, "%d windows left %ld KiB", n, after - before);
}

int main(int argc, char **argv)
{
    rma_begin(&argc, &argv);
    attributes();
    objects();
    communicators();
    several();
    empty();
    cycles(argc > 1 ? atoi(argv[1]) : 300);
    return rma_end("windows");
}
