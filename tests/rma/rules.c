/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows of all kinds, with names, on several communicators; every epoch on
 * each, and what becomes of it. Rules for windows change what it prints.
 *
 * usage: rules           the windows
 *        rules loop N    make and free N windows of one kind
 *        rules names N   make N windows, ten of a kind, the others not, then
 *                        name them "odd" and "even" in turn, then "all"
 *        rules move R    puts to another node, through a window that only rank
 *                        R gives a name (-1: all do)
 *        rules sites     one window, made by two calls in the program
 *        rules lone      accumulates to a window with all memory in rank 0 */
#include "rma.h"

enum { UNITS = 8 };

static int error_class(int code)
{
    int errclass;

    MPI_Error_class(code, &errclass);
    return errclass;
}

/* Everybody adds 1 to rank 0. Returns the first code that is an error. */
static int add(enum rma_epoch epoch, MPI_Win win)
{
    static const long one = 1;
    MPI_Group group;
    int code = MPI_SUCCESS;

    switch (epoch) {
    case LOCK_ALL:
        code = MPI_Win_lock_all(0, win);
        break;
    case LOCK:
        code = MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        break;
    case LOCK_EXCLUSIVE:
        code = MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        break;
    case FENCE:
        code = MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
        break;
    case PSCW:
        MPI_Win_get_group(win, &group);
        code = MPI_Win_post(group, 0, win);
        if (code == MPI_SUCCESS)
            code = MPI_Win_start(group, 0, win);
        MPI_Group_free(&group);
        break;
    case EPOCHS:
        break;
    }
    if (code != MPI_SUCCESS)
        return code;
    code = MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win);
    rma_close(epoch, 0, win);
    return code;
}

/* Run all epochs; the window's rank 0 prints a line. */
static void use(const char *name, MPI_Win win, const long *base, MPI_Comm comm)
{
    int rank, size;
    long want = 0;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    for (enum rma_epoch epoch = 0; epoch < EPOCHS; epoch++) {
        int code = add(epoch, win);

        MPI_Barrier(comm);
        if (code == MPI_SUCCESS)
            want += size;
        if (rank == 0 && code != MPI_SUCCESS)
            printf("%s: %s: %s\n", name, rma_epoch_name(epoch),
                   error_class(code) == MPI_ERR_RMA_SYNC ? "MPI_ERR_RMA_SYNC"
                                                         : "another error");
        else if (rank == 0)
            printf("%s: %s: ok\n", name, rma_epoch_name(epoch));
    }
    EXPECT(rank != 0 || *base == want, "%s: sum %ld, not %ld", name, *base,
           want);
}

/* A window from MPI_Win_allocate, used and freed. */
static void allocate(const char *name, MPI_Comm comm)
{
    MPI_Win win;
    long *base;

    MPI_Win_allocate(UNITS * sizeof(long), sizeof(long), MPI_INFO_NULL, comm,
                     &base, &win);
    MPI_Win_set_name(win, name);
    memset(base, 0, UNITS * sizeof(long));
    MPI_Barrier(comm);
    use(name, win, base, comm);
    MPI_Win_free(&win);
}

/* Parts of different sizes and units, on private memory. */
static void uneven(const char *name)
{
    static _Alignas(64) long memory[64];
    MPI_Win win;
    int code;

    memset(memory, 0, sizeof(memory));
    code = MPI_Win_create(memory, 64 * (rma_rank + 1), 8 << rma_rank % 2,
                          MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (code != MPI_SUCCESS) {
        code = error_class(code);
        if (rma_rank == 0)
            printf("%s: %s\n", name,
                   code == MPI_ERR_SIZE   ? "MPI_ERR_SIZE"
                   : code == MPI_ERR_DISP ? "MPI_ERR_DISP"
                                          : "another error");
        return;
    }
    MPI_Win_set_name(win, name);
    MPI_Barrier(MPI_COMM_WORLD);
    use(name, win, memory, MPI_COMM_WORLD);
    MPI_Win_free(&win);
}

/* The program asks for no ghosts; no epoch, only the way counts. */
static void plain(const char *name)
{
    MPI_Info info;
    MPI_Win win;
    long *base;

    MPI_Info_create(&info);
    MPI_Info_set(info, "async_config", "off");
    MPI_Win_allocate(64, 8, info, MPI_COMM_WORLD, &base, &win);
    MPI_Info_free(&info);
    MPI_Win_set_name(win, name);
    MPI_Win_free(&win);
}

static void loop(int times)
{
    MPI_Win win;
    long *base;

    for (int i = 0; i < times; i++) {
        MPI_Win_allocate(128, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
        MPI_Win_set_name(win, "loop");
        MPI_Win_free(&win);
    }
}

static void name_all(int n)
{
    MPI_Win *win = malloc((size_t) n * sizeof(*win));
    long *base;

    for (int i = 0; i < n; i++)
        MPI_Win_allocate(i < 10 ? 8 : 8 * i, 8, MPI_INFO_NULL, MPI_COMM_WORLD,
                         &base, &win[i]);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < n; i++) {
            MPI_Win_set_name(win[i], i % 2 ? "odd" : "even");
            MPI_Win_set_name(win[i], "all");
        }
    for (int i = 0; i < n; i++)
        MPI_Win_free(&win[i]);
    free(win);
}

static void move(int names)
{
    const long value = rma_rank + 1;
    MPI_Win win;
    long *base;

    MPI_Win_allocate(UNITS * sizeof(long), sizeof(long), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &base, &win);
    if (names == rma_rank || names < 0)
        MPI_Win_set_name(win, "move");
    MPI_Win_lock_all(0, win);
    for (int i = 0; rma_rank == 0 && i < 100; i++)
        MPI_Put(&value, 1, MPI_LONG, 1, i % UNITS, 1, MPI_LONG, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rma_rank == 1 && i < UNITS; i++)
        EXPECT(base[i] == 1, "word %d is %ld", i, base[i]);
    MPI_Win_free(&win);
}

static void sites(void)
{
    MPI_Win win;
    long *base;

    if (rma_rank == 0)
        MPI_Win_allocate_shared(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                                &win);
    else
        MPI_Win_allocate_shared(128, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                                &win);
    MPI_Win_set_name(win, "sites");
    MPI_Win_free(&win);
}

static void lone(void)
{
    static const long one = 1;
    MPI_Win win;
    long *base;

    MPI_Win_allocate(rma_rank ? 0 : 128, 8, MPI_INFO_NULL, MPI_COMM_WORLD,
                     &base, &win);
    if (rma_rank == 0)
        memset(base, 0, 128);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 16; i++)
        MPI_Accumulate(&one, 1, MPI_LONG, 0, i, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rma_rank == 0 && i < 16; i++)
        EXPECT(base[i] == rma_size, "word %d is %ld", i, base[i]);
    MPI_Win_free(&win);
}

static void all_kinds(void)
{
    char own[16];
    MPI_Comm half;
    MPI_Win win;

    MPI_Comm_split(MPI_COMM_WORLD, rma_rank % 2, rma_rank, &half);
    allocate("first", MPI_COMM_WORLD);
    allocate(rma_rank % 2 ? "odd" : "even", half);
    if (rma_rank % 2 == 0)
        allocate("even only", half);
    snprintf(own, sizeof(own), "own %d", rma_rank);
    allocate(own, MPI_COMM_WORLD);
    uneven("uneven");
    plain("plain");
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_free(&win);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int number = argc > 2 ? atoi(argv[2]) : -1;

    rma_begin(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (strcmp(what, "loop") == 0)
        loop(number);
    else if (strcmp(what, "names") == 0)
        name_all(number);
    else if (strcmp(what, "move") == 0)
        move(number);
    else if (strcmp(what, "sites") == 0)
        sites();
    else if (strcmp(what, "lone") == 0)
        lone();
    else
        all_kinds();
    return rma_end("rules");
}
