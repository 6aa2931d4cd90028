/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows of MPI's own that begin anywhere: on private memory, at each of 16
 * places, alone and on a part of another window's memory; and where MPI itself
 * puts them, when lengths are no multiples of 16. Units differ. All of each
 * process's memory is compared after each operation. MPICH 4.0.2 over UCX gets
 * most of these wrong by itself: see docs/design/rma.md. */
#include "rma.h"

enum {
    SIZE = 512,  /* bytes around a window */
    AHEAD = 64,  /* of them before it, and its place of the 16 */
    BYTES = 240, /* of the window */
    AT = 48,     /* in the window, where operations go: all units divide it */
    PLACES = 16,
};

static const int units[] = {1, 4, 24, 3, 8, 2, 12, 16};

enum { UNITS = sizeof(units) / sizeof(units[0]) };

/* What is tried. */
enum kind {
    PUT,
    RPUT,
    PUT_LARGE,
    GET,
    RGET_LARGE,
    ADD,
    RADD_LARGE,
    GET_ADD,
    RGET_ADD_LARGE,
    FETCH_ADD,
    SWAP,
    KINDS
};

static _Alignas(64) char private[SIZE], expected[SIZE];

/* This process's part of the window, and what it lies in. */
static struct {
    int round;
    char *base;
    MPI_Aint bytes;
    char *memory;
    size_t size, ahead; /* bytes; ahead of the window */
    int allocated;      /* by MPI, where ints can be */
} here;

static int place(int rank, int round)
{
    return here.allocated ? 0 : (5 * rank + round) % PLACES;
}

static int unit(int rank, int round)
{
    return units[(rank + round) % UNITS];
}

/* Elements are aligned as C wants them. */
static MPI_Datatype type_at(int where)
{
    return where % 4 ? MPI_SIGNED_CHAR : MPI_INT;
}

/* One operation with the value *in, where *there is; *out is fetched. */
static void operate(enum kind kind, const void *in, const void *there,
                    void *out, MPI_Datatype type, int target, MPI_Aint disp,
                    MPI_Win win)
{
    MPI_Request request = MPI_REQUEST_NULL;

    switch (kind) {
    case PUT:
        MPI_Put(in, 1, type, target, disp, 1, type, win);
        break;
    case RPUT:
        MPI_Rput(in, 1, type, target, disp, 1, type, win, &request);
        break;
    case PUT_LARGE:
        MPI_Put_c(in, 1, type, target, disp, 1, type, win);
        break;
    case GET:
        MPI_Get(out, 1, type, target, disp, 1, type, win);
        break;
    case RGET_LARGE:
        MPI_Rget_c(out, 1, type, target, disp, 1, type, win, &request);
        break;
    case ADD:
        MPI_Accumulate(in, 1, type, target, disp, 1, type, MPI_SUM, win);
        break;
    case RADD_LARGE:
        MPI_Raccumulate_c(in, 1, type, target, disp, 1, type, MPI_SUM, win,
                          &request);
        break;
    case GET_ADD:
        MPI_Get_accumulate(in, 1, type, out, 1, type, target, disp, 1, type,
                           MPI_SUM, win);
        break;
    case RGET_ADD_LARGE:
        MPI_Rget_accumulate_c(in, 1, type, out, 1, type, target, disp, 1, type,
                              MPI_SUM, win, &request);
        break;
    case FETCH_ADD:
        MPI_Fetch_and_op(in, out, type, target, disp, MPI_SUM, win);
        break;
    case SWAP:
        MPI_Compare_and_swap(in, there, out, type, target, disp, win);
        break;
    case KINDS:
        break;
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The element at a place, and the same changed. */
static int load(const char *from, MPI_Datatype type)
{
    int value;

    if (type == MPI_SIGNED_CHAR)
        return *(const signed char *) from;
    memcpy(&value, from, sizeof(value));
    return value;
}

static void store(char *to, MPI_Datatype type, int value)
{
    signed char small = (signed char) value;

    if (type == MPI_SIGNED_CHAR)
        memcpy(to, &small, sizeof(small));
    else
        memcpy(to, &value, sizeof(value));
}

static int was(int target)
{
    return 7 + target;
}

static int given(int origin)
{
    return 20 + 3 * origin;
}

static int becomes(enum kind kind, int target, int origin)
{
    switch (kind) {
    case GET:
    case RGET_LARGE:
        return was(target);
    case PUT:
    case RPUT:
    case PUT_LARGE:
    case SWAP:
        return given(origin);
    default:
        return was(target) + given(origin);
    }
}

static int fetches(enum kind kind)
{
    return kind != PUT && kind != RPUT && kind != PUT_LARGE && kind != ADD &&
           kind != RADD_LARGE;
}

/* Operations with requests are for passive epochs. */
static enum rma_epoch epoch_for(enum kind kind, int step)
{
    int passive = kind == RPUT || kind == RGET_LARGE || kind == RADD_LARGE ||
                  kind == RGET_ADD_LARGE;

    return (enum rma_epoch)(((int) kind + step) % (passive ? FENCE : EPOCHS));
}

/* Everybody operates on the process `step` further on. */
static void try(enum kind kind, int round, int step, MPI_Win win)
{
    enum rma_epoch epoch = epoch_for(kind, step);
    int target = (rma_rank + step) % rma_size;
    int origin = (rma_rank + rma_size - step) % rma_size;
    MPI_Datatype type = type_at(place(target, round));
    MPI_Datatype mine = type_at(place(rma_rank, round));
    _Alignas(8) char in[8], there[8], out[8] = {0};

    for (size_t i = 0; i < here.size; i++)
        here.memory[i] = (char) (i * 11 + (size_t) rma_rank);
    store(here.memory + here.ahead + AT, mine, was(rma_rank));
    memcpy(expected, here.memory, here.size);
    store(expected + here.ahead + AT, mine, becomes(kind, rma_rank, origin));
    store(in, type, given(rma_rank));
    store(there, type, was(target));
    MPI_Barrier(MPI_COMM_WORLD);
    rma_open(epoch, target, win);
    operate(kind, in, there, out, type, target, AT / unit(target, round), win);
    rma_close(epoch, target, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (fetches(kind))
        EXPECT(load(out, type) == was(target),
               "kind %d, %s, place %d, unit "
               "%d: fetched %d, not %d",
               (int) kind, rma_epoch_name(epoch), place(target, round),
               unit(target, round), load(out, type), was(target));
    for (size_t i = 0; i < here.size; i++)
        EXPECT(here.memory[i] == expected[i],
               "kind %d, %s, place %d, unit %d: "
               "byte %d of the window is %d, not %d",
               (int) kind, rma_epoch_name(epoch), place(rma_rank, round),
               unit(rma_rank, round), (int) i - (int) here.ahead,
               here.memory[i], expected[i]);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_attributes(MPI_Win win)
{
    int flavor = here.allocated ? MPI_WIN_FLAVOR_ALLOCATE
                                : MPI_WIN_FLAVOR_CREATE;
    void *value;
    int flag;

    MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag);
    EXPECT(flag && value == here.base, "base %p, not %p", value,
           (void *) here.base);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag);
    EXPECT(flag && *(MPI_Aint *) value == here.bytes, "size %ld",
           (long) *(MPI_Aint *) value);
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &value, &flag);
    EXPECT(flag && *(int *) value == unit(rma_rank, here.round),
           "unit %d, not %d", *(int *) value, unit(rma_rank, here.round));
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &flag);
    EXPECT(flag && *(int *) value == flavor, "flavor %d", *(int *) value);
}

/* A delete callback. It sees the window as it was, and may refuse. */
static int leaving(MPI_Win win, int keyval, void *value, void *refuse)
{
    (void) keyval;
    (void) value;
    check_attributes(win);
    return *(int *) refuse ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void use(MPI_Win *win)
{
    int refuse = here.round % 4 == 1, keyval;

    check_attributes(*win);
    for (int kind = 0; kind < KINDS; kind++)
        for (int step = 0; step < rma_size; step++)
            try((enum kind) kind, here.round, step, *win);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, leaving, &keyval, &refuse);
    MPI_Win_set_attr(*win, keyval, NULL);
    MPI_Win_set_errhandler(*win, MPI_ERRORS_RETURN);
    if (refuse) {
        EXPECT(MPI_Win_free(win) != MPI_SUCCESS && *win != MPI_WIN_NULL,
               "freed though the callback refused");
        check_attributes(*win);
        try(GET_ADD, here.round, rma_size - 1, *win);
    }
    refuse = 0;
    MPI_Win_free(win);
    MPI_Win_free_keyval(&keyval);
}

/* MPICH changes the values of some keys when it reads them. */
static void check_info(MPI_Win win)
{
    char value[MPI_MAX_INFO_VAL + 1] = "";
    MPI_Info info;
    int flag;

    MPI_Win_get_info(win, &info);
    MPI_Info_get(info, "accumulate_ordering", MPI_MAX_INFO_VAL, value, &flag);
    MPI_Info_free(&info);
    EXPECT(flag && strcmp(value, "war,waw") == 0, "accumulate_ordering=%s",
           value);
}

static void create(int round)
{
    char *base = private + AHEAD + (5 * rma_rank + round) % PLACES;
    MPI_Info info;
    MPI_Win win;

    here.round = round;
    here.base = base;
    here.bytes = BYTES;
    here.memory = private;
    here.size = SIZE;
    here.ahead = (size_t) (base - private);
    here.allocated = 0;
    MPI_Info_create(&info);
    MPI_Info_set(info, "accumulate_ordering", "war,waw");
    if (round % 2)
        MPI_Win_create(base, BYTES, unit(rma_rank, round), info, MPI_COMM_WORLD,
                       &win);
    else
        MPI_Win_create_c(base, BYTES, unit(rma_rank, round), info,
                         MPI_COMM_WORLD, &win);
    MPI_Info_free(&info);
    check_info(win);
    use(&win);
}

static void allocate(int round, MPI_Info native)
{
    MPI_Aint bytes = BYTES + 4 * ((rma_rank + round) % 4);
    MPI_Win win;

    if (round % 2)
        MPI_Win_allocate(bytes, unit(rma_rank, round), native, MPI_COMM_WORLD,
                         &here.base, &win);
    else
        MPI_Win_allocate_c(bytes, unit(rma_rank, round), native, MPI_COMM_WORLD,
                           &here.base, &win);
    here.round = round;
    here.bytes = bytes;
    here.memory = here.base;
    here.size = (size_t) bytes;
    here.ahead = 0;
    here.allocated = 1;
    use(&win);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : PLACES;
    MPI_Info native;
    MPI_Win around;

    rma_begin(&argc, &argv);
    for (int round = 0; round < rounds; round++)
        create(round);
    MPI_Win_create(private, SIZE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &around);
    for (int round = 0; round < rounds; round++)
        create(round);
    MPI_Win_free(&around);
    MPI_Info_create(&native);
    MPI_Info_set(native, "async_config", "native");
    for (int round = 0; round < rounds; round++)
        allocate(round, native);
    MPI_Info_free(&native);
    return rma_end("anywhere");
}
