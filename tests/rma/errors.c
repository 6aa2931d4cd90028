/* SPDX-License-Identifier: BSD-3-Clause */
/* Misuse, and the class of the error that MPI reports for it; and the info that
 * MPI shows of windows: one line per case, to be compared with what plain MPICH
 * prints. */
#include "rma.h"

static MPI_Win win;
static int target;
static int handled;

static void show(const char *what, int code)
{
    int class = MPI_SUCCESS, length;
    char text[MPI_MAX_ERROR_STRING];

    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    MPI_Error_string(class, text, &length);
    if (rma_rank == 0)
        printf("%-48s %s\n", what, code == MPI_SUCCESS ? "ok" : text);
}

static int put(int rank, MPI_Aint disp, int count, MPI_Datatype type)
{
    static const long value[4];

    return MPI_Put(value, count, type, rank, disp, count, type, win);
}

/* The arguments of an operation. */
struct use {
    int rank;
    MPI_Aint disp;
    int origin_count, count;
    MPI_Datatype origin_type, type;
    MPI_Op op;
    MPI_Win win;
};

/* Each call with them; what it has no parameter for is left out. A request that
 * was made is waited for, and its error is that of the call. */
enum call {
    PUT,
    RPUT,
    GET,
    RGET,
    ACCUMULATE,
    RACCUMULATE,
    GET_ACCUMULATE,
    RGET_ACCUMULATE,
    FETCH_AND_OP,
    COMPARE_AND_SWAP,
    CALLS
};

static const char *const call_names[CALLS] = {"put",
                                              "rput",
                                              "get",
                                              "rget",
                                              "accumulate",
                                              "raccumulate",
                                              "get_accumulate",
                                              "rget_accumulate",
                                              "fetch_and_op",
                                              "compare_and_swap"};

static long here[4], there[4];

static int issue(enum call call, const struct use *u, MPI_Request *request)
{
    switch (call) {
    case PUT:
        return MPI_Put(here, u->origin_count, u->origin_type, u->rank, u->disp,
                       u->count, u->type, u->win);
    case RPUT:
        return MPI_Rput(here, u->origin_count, u->origin_type, u->rank, u->disp,
                        u->count, u->type, u->win, request);
    case GET:
        return MPI_Get(here, u->origin_count, u->origin_type, u->rank, u->disp,
                       u->count, u->type, u->win);
    case RGET:
        return MPI_Rget(here, u->origin_count, u->origin_type, u->rank, u->disp,
                        u->count, u->type, u->win, request);
    case ACCUMULATE:
        return MPI_Accumulate(here, u->origin_count, u->origin_type, u->rank,
                              u->disp, u->count, u->type, u->op, u->win);
    case RACCUMULATE:
        return MPI_Raccumulate(here, u->origin_count, u->origin_type, u->rank,
                               u->disp, u->count, u->type, u->op, u->win,
                               request);
    case GET_ACCUMULATE:
        return MPI_Get_accumulate(here, u->origin_count, u->origin_type, there,
                                  u->origin_count, u->origin_type, u->rank,
                                  u->disp, u->count, u->type, u->op, u->win);
    case RGET_ACCUMULATE:
        return MPI_Rget_accumulate(here, u->origin_count, u->origin_type, there,
                                   u->origin_count, u->origin_type, u->rank,
                                   u->disp, u->count, u->type, u->op, u->win,
                                   request);
    case FETCH_AND_OP:
        return MPI_Fetch_and_op(here, there, u->type, u->rank, u->disp, u->op,
                                u->win);
    case COMPARE_AND_SWAP:
        return MPI_Compare_and_swap(here, here + 1, there, u->type, u->rank,
                                    u->disp, u->win);
    case CALLS:
        break;
    }
    return MPI_SUCCESS;
}

/* All calls in turn with the same arguments. */
static void all_calls(const char *mistake, const struct use *use)
{
    char what[64];

    for (enum call call = 0; call < CALLS; call++) {
        MPI_Request request = MPI_REQUEST_NULL;
        int code = issue(call, use, &request);

        if (code == MPI_SUCCESS && request != MPI_REQUEST_NULL)
            code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        snprintf(what, sizeof(what), "%s: %s", call_names[call], mistake);
        show(what, code);
    }
}

static void ignore(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void) in;
    (void) inout;
    (void) count;
    (void) type;
}

/* One mistake each, and some pairs, which tell what is looked at first. */
static void mistakes(void)
{
    const struct use right = {target,   0,        1,           1,
                              MPI_LONG, MPI_LONG, MPI_REPLACE, win};
    MPI_Datatype pair;
    MPI_Op own;
    struct use use;

    MPI_Type_contiguous(2, MPI_LONG, &pair);
    MPI_Op_create(ignore, 1, &own);
#define TRY(MISTAKE, ...)                                                      \
    use = right;                                                               \
    __VA_ARGS__;                                                               \
    all_calls(MISTAKE, &use)

    TRY("none", (void) use);
    TRY("rank -5", use.rank = -5);
    TRY("rank 1000", use.rank = 1000);
    TRY("MPI_PROC_NULL", use.rank = MPI_PROC_NULL);
    TRY("displacement -1", use.disp = -1);
    TRY("displacement -1, rank 1000", use.disp = -1, use.rank = 1000);
    TRY("displacement -1, MPI_PROC_NULL", use.disp = -1,
        use.rank = MPI_PROC_NULL);
    TRY("displacement -1, no elements", use.disp = -1, use.count = 0,
        use.origin_count = 0);
    TRY("least displacement", use.disp = (MPI_Aint) 1 << 63);
    TRY("origin count -1", use.origin_count = -1);
    TRY("target count -1", use.count = -1);
    TRY("origin count -1, displacement -1", use.origin_count = -1,
        use.disp = -1);
    TRY("no origin type", use.origin_type = MPI_DATATYPE_NULL);
    TRY("no target type", use.type = MPI_DATATYPE_NULL);
    TRY("no target type, displacement -1", use.type = MPI_DATATYPE_NULL,
        use.disp = -1);
    TRY("a type not committed", use.type = use.origin_type = pair);
    TRY("no operation", use.op = MPI_OP_NULL);
    TRY("an operation of its own", use.op = own);
    TRY("no elements", use.count = use.origin_count = 0);
#undef TRY
    MPI_Op_free(&own);
    MPI_Type_free(&pair);
}

static void outside(void)
{
    const struct use right = {target,   0,        1,           1,
                              MPI_LONG, MPI_LONG, MPI_REPLACE, win};
    struct use wrong = right;

    all_calls("outside an epoch", &right);
    wrong.disp = -1;
    all_calls("outside an epoch, displacement -1", &wrong);
    show("flush outside", MPI_Win_flush(target, win));
    show("flush_all outside", MPI_Win_flush_all(win));
    show("flush_local outside", MPI_Win_flush_local(target, win));
    show("sync outside", MPI_Win_sync(win));
    show("unlock outside", MPI_Win_unlock(target, win));
    show("unlock_all outside", MPI_Win_unlock_all(win));
    show("complete outside", MPI_Win_complete(win));
    show("wait outside", MPI_Win_wait(win));
}

static void arguments(void)
{
    MPI_Win_lock_all(0, win);
    show("put to rank -5", put(-5, 0, 1, MPI_LONG));
    show("put to rank 1000", put(1000, 0, 1, MPI_LONG));
    show("put of -1 elements", put(target, 0, -1, MPI_LONG));
    show("put of null type", put(target, 0, 1, MPI_DATATYPE_NULL));
    show("put to MPI_PROC_NULL", put(MPI_PROC_NULL, 0, 1, MPI_LONG));
    show("put of nothing", put(target, 0, 0, MPI_LONG));
    show("accumulate with a bad op",
         MPI_Accumulate(NULL, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_OP_NULL,
                        win));
    mistakes();
    show("lock under lock_all", MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
    show("lock_all under lock_all", MPI_Win_lock_all(0, win));
    show("fence under lock_all", MPI_Win_fence(0, win));
    show("flush of rank 1000", MPI_Win_flush(1000, win));
    show("free under lock_all", MPI_Win_free(&win));
    MPI_Win_unlock_all(win);
    show("lock of rank 1000", MPI_Win_lock(MPI_LOCK_SHARED, 1000, 0, win));
    show("lock of unknown type", MPI_Win_lock(99, target, 0, win));
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    show("lock twice", MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
    show("unlock another", MPI_Win_unlock_all(win));
    MPI_Win_unlock(target, win);
}

static void handler(MPI_Win *which, int *code, ...)
{
    (void) code;
    if (*which == win)
        handled++;
}

static void handlers(void)
{
    MPI_Errhandler errhandler;

    MPI_Win_create_errhandler(handler, &errhandler);
    MPI_Win_set_errhandler(win, errhandler);
    put(target, 0, 1, MPI_LONG);
    MPI_Win_lock_all(0, win);
    put(1000, 0, 1, MPI_LONG);
    MPI_Win_lock_all(0, win);
    MPI_Win_unlock_all(win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&errhandler);
    if (rma_rank == 0)
        printf("the window's handler was called %d times\n", handled);
}

static void print_info(const char *what, MPI_Win which)
{
    char key[MPI_MAX_INFO_KEY + 1], value[256];
    MPI_Info info;
    int n, flag;

    MPI_Win_get_info(which, &info);
    MPI_Info_get_nkeys(info, &n);
    for (int i = 0; rma_rank == 0 && i < n; i++) {
        MPI_Info_get_nthkey(info, i, key);
        MPI_Info_get(info, key, sizeof(value) - 1, value, &flag);
        printf("%s: %s=%s\n", what, key, flag ? value : "");
    }
    MPI_Info_free(&info);
}

static void infos(void)
{
    MPI_Win other;
    MPI_Comm node;
    MPI_Info info;
    void *base;

    print_info("allocate", win);
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shm", "false");
    MPI_Info_set(info, "same_size", "true");
    MPI_Win_allocate(64, 8, info, MPI_COMM_WORLD, &base, &other);
    print_info("allocate, alloc_shm=false", other);
    MPI_Info_set(info, "alloc_shm", "true");
    MPI_Win_set_info(other, info);
    print_info("set to alloc_shm=true", other);
    MPI_Win_free(&other);
    MPI_Info_free(&info);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &node);
    MPI_Win_allocate_shared(64, 8, MPI_INFO_NULL, node, &base, &other);
    MPI_Comm_free(&node);
    print_info("allocate_shared", other);
    MPI_Win_free(&other);
    MPI_Alloc_mem(64, MPI_INFO_NULL, &base);
    MPI_Win_create(base, 64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &other);
    print_info("create", other);
    MPI_Win_free(&other);
    MPI_Free_mem(base);
}

/* Plain MPICH does not check bounds, so this case is asked for. */
static void bounds(void)
{
    MPI_Win_lock_all(0, win);
    show("put beyond the end", put(target, 8, 1, MPI_LONG));
    show("put across the end", put(target, 6, 4, MPI_LONG));
    show("put at the end of space",
         put(target, (MPI_Aint) 1 << 62, 1, MPI_LONG));
    show("put of the last", put(target, 7, 1, MPI_LONG));
    MPI_Win_unlock_all(win);
}

int main(int argc, char **argv)
{
    void *base;

    rma_begin(&argc, &argv);
    target = rma_size - 1;
    MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    if (argc > 1) {
        bounds();
    } else {
        outside();
        MPI_Barrier(MPI_COMM_WORLD);
        arguments();
        handlers();
        infos();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    return rma_end("errors");
}
