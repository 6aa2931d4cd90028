/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the program that MPI calls: they may use what the program's
 * threads use, so they run only while one of these is in MPI, and with less
 * than MPI_THREAD_MULTIPLE in that thread. What it prints plain MPI prints,
 * too. usage: callbacks LEVEL ; 2 ranks on one node */
#include "tests/shared_int.h"

#include <fenv.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N 4096

static int level, rank, size;
static pthread_t main_thread;
static int elsewhere; /* calls in another thread, where that is wrong */

static void note_thread(void)
{
    elsewhere += level != MPI_THREAD_MULTIPLE &&
                 !pthread_equal(pthread_self(), main_thread);
}

static void say(const char *story, int wrong)
{
    int own[2] = {wrong, elsewhere}, all[2];

    MPI_Allreduce(own, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s: %d wrong, %d calls elsewhere\n", story, all[0], all[1]);
    fflush(stdout);
    elsewhere = 0;
}

static double now(void)
{
    return MPI_Wtime();
}

/* ---- reductions with data that the program computes with -------------------- */

static double work[N];
static volatile int working; /* nobody else may be in add() */
static int clashes;

static void add(const double *from, double *to, int n)
{
    clashes += working;
    working = 1;
    for (int i = 0; i < n; i++)
        work[i] = from[i];
    for (int k = 0; k < 20; k++)
        for (int i = 0; i < n; i++)
            work[i] = work[i] + 0.0;
    for (int i = 0; i < n; i++)
        to[i] += work[i];
    working = 0;
}

static void reduce(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void) type;
    note_thread();
    add(in, inout, *n);
}

static void reduce_c(void *in, void *inout, MPI_Count *n, MPI_Datatype *type)
{
    (void) type;
    note_thread();
    add(in, inout, (int) *n);
}

static double in[2 * N], out[2 * N];
static MPI_Op op, op_c;

enum kind { ALL, ALL_C, TO_ONE, SCAN, EXSCAN, BLOCK, PERSISTENT, KINDS };

static MPI_Request begin(enum kind kind)
{
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Comm world = MPI_COMM_WORLD;

    if (kind == ALL)
        MPI_Iallreduce(in, out, N, MPI_DOUBLE, op, world, &r);
    else if (kind == ALL_C)
        MPI_Iallreduce_c(in, out, N, MPI_DOUBLE, op_c, world, &r);
    else if (kind == TO_ONE)
        MPI_Ireduce(in, out, N, MPI_DOUBLE, op, 0, world, &r);
    else if (kind == SCAN)
        MPI_Iscan(in, out, N, MPI_DOUBLE, op, world, &r);
    else if (kind == EXSCAN)
        MPI_Iexscan(in, out, N, MPI_DOUBLE, op, world, &r);
    else if (kind == BLOCK)
        MPI_Ireduce_scatter_block(in, out, N, MPI_DOUBLE, op, world, &r);
    else
        MPI_Allreduce_init(in, out, N, MPI_DOUBLE, op, world, MPI_INFO_NULL,
                           &r);
    if (kind == PERSISTENT)
        MPI_Start(&r);
    return r;
}

static double expected(enum kind kind)
{
    double sum = size * (size + 1) / 2.0;

    switch (kind) {
    case TO_ONE:
        return rank == 0 ? sum : 0;
    case SCAN:
        return (rank + 1) * (rank + 2) / 2.0;
    case EXSCAN:
        return rank * (rank + 1) / 2.0;
    default:
        return sum;
    }
}

static int compute_beside(enum kind kind)
{
    static double mine[N], sum[N];
    MPI_Request request;
    int wrong = 0;

    for (int i = 0; i < 2 * N; i++) {
        in[i] = rank + 1;
        out[i] = 0;
    }
    for (int i = 0; i < N; i++) {
        mine[i] = 3;
        sum[i] = 0;
    }
    request = begin(kind);
    for (int k = 0; k < 40; k++)
        add(mine, sum, N);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (kind == PERSISTENT)
        MPI_Request_free(&request);
    for (int i = 0; i < N; i++)
        wrong += out[i] != expected(kind) || sum[i] != 120;
    return wrong;
}

static void beside(void)
{
    int wrong = 0;

    MPI_Op_create(reduce, 1, &op);
    MPI_Op_create_c(reduce_c, 1, &op_c);
    for (int round = 0; round < 5; round++)
        for (enum kind kind = ALL; kind < KINDS; kind++)
            wrong += compute_beside(kind);
    say("beside", wrong + clashes);
}

/* A program that only tests ends its reduction, too, and not while it is away.
 */
static void tested(void)
{
    static double mine[N], sum[N];
    int flag = 0, wrong = 0;
    MPI_Request request;

    memset(out, 0, sizeof(out));
    request = begin(ALL);
    while (!flag) {
        add(mine, sum, N);
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < N; i++)
        wrong += out[i] != size * (size + 1) / 2.0;
    say("tested", wrong + clashes);
}

/* What is posted beside a reduction that waits for the program goes out without
 * the program's next call: rank 0 waits outside MPI until it has arrived. */
static void posted(void)
{
    int got = 0, token = 7, wrong = 0, *there = shared_int();
    MPI_Request reduction, message;
    double until;

    reduction = begin(ALL);
    if (rank == 0) {
        nanosleep(&(struct timespec){0, 20000000}, NULL);
        MPI_Isend(&token, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, &message);
        for (until = now() + 10;
             !__atomic_load_n(there, __ATOMIC_ACQUIRE) && now() < until;) {
        }
        wrong = !__atomic_load_n(there, __ATOMIC_ACQUIRE);
        MPI_Wait(&message, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(&got, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        wrong = got != token;
        __atomic_store_n(there, 1, __ATOMIC_RELEASE);
    }
    MPI_Wait(&reduction, MPI_STATUS_IGNORE);
    say("posted", wrong);
}

/* A thread that went to sleep in MPI before there was any reduction runs them
 * while the one that posted them is away. */
static _Atomic double received;

static void *receive(void *unused)
{
    int token;

    MPI_Recv(&token, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    received = now();
    return unused;
}

static void asleep(void)
{
    enum { REDUCTIONS = 20 };
    static const double LIMIT_S = 1; /* a sleep takes 0.1 for each of them */
    static double sums[REDUCTIONS][N];
    MPI_Request requests[REDUCTIONS];
    MPI_Status statuses[REDUCTIONS];
    double began;
    int token = 0, wrong = 0;
    pthread_t receiver;

    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        pthread_create(&receiver, NULL, receive, NULL);
        nanosleep(&(struct timespec){0, 50000000}, NULL);
    }
    if (rank == 1) /* its part comes when rank 0 has left MPI */
        nanosleep(&(struct timespec){0, 200000000}, NULL);
    began = now();
    for (int i = 0; i < REDUCTIONS; i++)
        MPI_Iallreduce(in, sums[i], N, MPI_DOUBLE, op, MPI_COMM_WORLD,
                       &requests[i]);
    while (rank == 0 && received == 0 && now() < began + 10)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    wrong = rank == 0 && !(received != 0 && received < began + LIMIT_S);
    MPI_Waitall(REDUCTIONS, requests, statuses);
    if (rank == 1)
        MPI_Send(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    if (rank == 0)
        pthread_join(receiver, NULL);
    say("asleep", wrong);
}

/* ---- locks and variables of a thread ---------------------------------------- */

static pthread_mutex_t mutex;
static _Thread_local int its_own;

static void reduce_locked(void *from, void *to, int *n, MPI_Datatype *type)
{
    (void) type;
    note_thread();
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < *n; i++)
        ((int *) to)[i] += ((int *) from)[i] * its_own;
    pthread_mutex_unlock(&mutex);
}

static void own(void)
{
    int one = 1, sum = 0, blocking = 0, local = 0, flag;
    pthread_mutexattr_t attr;
    MPI_Request request;
    MPI_Op locked;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&mutex, &attr);
    its_own = 3;
    MPI_Op_create(reduce_locked, 1, &locked);
    pthread_mutex_lock(&mutex);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, locked, MPI_COMM_WORLD, &request);
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allreduce(&one, &blocking, 1, MPI_INT, locked, MPI_COMM_WORLD);
    MPI_Reduce_local(&one, &local, 1, MPI_INT, locked);
    pthread_mutex_unlock(&mutex);
    MPI_Op_free(&locked);
    say("own", (sum != 4) + (blocking != 4) + (local != 3));
}

/* ---- rounding --------------------------------------------------------------- */

static void rounding(void)
{
    volatile double mine = rank == 0 ? 1.0 : 1e-17;
    double sum = 0;
    int kept = fegetround();

    fesetround(FE_UPWARD);
    MPI_Allreduce((void *) &mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    fesetround(kept);
    say("rounding", sum <= 1);
}

/* ---- attributes and generalized requests -------------------------------------- */

static int copy(MPI_Comm comm, int key, void *extra, void *from, void *to,
                int *flag)
{
    int result;

    note_thread();
    MPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
    its_own += key != *(int *) extra || result != MPI_IDENT;
    *(void **) to = from;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete (MPI_Comm comm, int key, void *value, void *extra)
{
    (void) comm;
    note_thread();
    its_own += 10 + (key != *(int *) extra || value != extra);
    return MPI_SUCCESS;
}

static int query(void *state, MPI_Status *status)
{
    note_thread();
    its_own += *(int *) state;
    MPI_Status_set_elements(status, MPI_INT, 1);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int release(void *state)
{
    (void) state;
    note_thread();
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void) complete;
    return release(state);
}

static void attributes(void)
{
    MPI_Comm dup;
    MPI_Request request;
    int key, state = 100;

    its_own = 0;
    MPI_Comm_create_keyval(copy, delete, &key, &key);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &key);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_free(&dup);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free_keyval(&key);
    MPI_Grequest_start(query, release, cancel, &state, &request);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("attributes", level != MPI_THREAD_MULTIPLE && its_own != 120);
}

/* ---- error handlers ----------------------------------------------------------- */

/* What MPICH returns when it has called a handler of the program. */
#define HANDLED_SUCCEEDS (MPICH_NUMVERSION >= 40300000)

static volatile int computing;
static MPI_Comm failing;
static int told, told_early, code_told;
static jmp_buf back;

static void on_error(MPI_Comm *comm, int *code, ...)
{
    note_thread();
    told++;
    told_early += computing || (*comm != failing && *comm != MPI_COMM_WORLD);
    code_told = *code;
}

static int class_told(void)
{
    int its;

    MPI_Error_class(code_told, &its);
    return its;
}

static void jump(MPI_Comm *comm, int *code, ...)
{
    (void) comm;
    (void) code;
    note_thread();
    longjmp(back, 1);
}

static MPI_Comm with_handler(MPI_Comm_errhandler_function *function)
{
    MPI_Errhandler handler;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(function, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    return comm;
}

/* Too much comes while the program computes: it hears of it in its MPI_Wait. */
static void errors(void)
{
    char large[100] = {0}, small[10];
    MPI_Comm comm = failing = with_handler(on_error);
    MPI_Errhandler handler;
    MPI_Request request;
    int wrong = 0, x = 0, rc;
    double until;

    /* MPICH raises some of a communicator's errors on this one */
    MPI_Comm_get_errhandler(comm, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (int round = 1; round <= 5; round++) {
        MPI_Irecv(small, sizeof(small), MPI_CHAR, rank ^ 1, 1, comm, &request);
        MPI_Send(large, sizeof(large), MPI_CHAR, rank ^ 1, 1, comm);
        computing = 1;
        for (until = now() + 0.02; now() < until;) {
        }
        computing = 0;
        wrong += told != round - 1;
        rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
        wrong += (rc == MPI_SUCCESS) != HANDLED_SUCCEEDS || told != round ||
                 class_told() != MPI_ERR_TRUNCATE;
    }
    rc = MPI_Send(&x, 1, MPI_INT, size + 3, 0, comm);
    wrong += (rc == MPI_SUCCESS) != HANDLED_SUCCEEDS || told != 6 ||
             class_told() != MPI_ERR_RANK;
    MPI_Comm_free(&comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    say("errors", wrong + told_early);
}

static int told_world;

static void on_world(MPI_Comm *comm, int *code, ...)
{
    note_thread();
    told_world += *comm == MPI_COMM_WORLD;
    code_told = *code;
}

/* Of two requests the first fails. Asked for among others its error is raised
 * in another place than alone. */
static int end_failed(int variant, MPI_Request requests[2])
{
    MPI_Status statuses[2];
    int which[2], n = 0, flag = 0, rc = MPI_SUCCESS;

    switch (variant) {
    case 0:
        return MPI_Wait(&requests[0], statuses);
    case 1:
        return MPI_Waitall(2, requests, statuses);
    case 2:
        return MPI_Waitany(1, requests, which, statuses);
    case 3:
        return MPI_Waitsome(1, requests, &n, which, statuses);
    default:
        break;
    }
    while (!flag && n == 0 && rc == MPI_SUCCESS) {
        if (variant == 4)
            rc = MPI_Test(&requests[0], &flag, statuses);
        else if (variant == 5)
            rc = MPI_Testall(2, requests, &flag, statuses);
        else if (variant == 6)
            rc = MPI_Testany(1, requests, which, &flag, statuses);
        else
            rc = MPI_Testsome(1, requests, &n, which, statuses);
    }
    return rc;
}

static void among_others(void)
{
    char large[100] = {0}, small[2][10];
    MPI_Errhandler handler;
    MPI_Request requests[2];
    MPI_Comm comm;
    int its, wrong = 0;

    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    failing = comm;
    MPI_Comm_create_errhandler(on_world, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (int variant = 0; variant < 8; variant++) {
        told = told_world = 0;
        for (int i = 0; i < 2; i++)
            MPI_Irecv(small[i], sizeof(small[i]), MPI_CHAR, 0, i, comm,
                      &requests[i]);
        MPI_Send(large, sizeof(large), MPI_CHAR, 0, 0, comm);
        MPI_Send(large, 1, MPI_CHAR, 0, 1, comm);
        MPI_Error_class(end_failed(variant, requests), &its);
        if (rank == 0)
            printf("way %d: class %d, told %d, for all %d, class %d\n", variant,
                   its, told, told_world, class_told());
        wrong += requests[0] != MPI_REQUEST_NULL;
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&comm);
    MPI_Errhandler_free(&handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    say("among others", wrong);
}

static int forgave;

static void forgive(MPI_Comm *comm, int *code, ...)
{
    (void) comm;
    forgave++;
    *code = MPI_SUCCESS;
}

static void forgive_file(MPI_File *file, int *code, ...)
{
    (void) file;
    *code = MPI_SUCCESS;
}

/* MPI's call returns what a handler makes of the error. */
static void forgiven(void)
{
    char large[100] = {0}, small[10];
    MPI_Comm comm = with_handler(forgive);
    MPI_Errhandler handler;
    MPI_Request request;
    MPI_Datatype uncommitted;
    MPI_File file;
    int wrong = 0, flag, x = 0;

    MPI_Comm_get_errhandler(comm, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    wrong += MPI_Send(&x, 1, MPI_INT, size + 3, 0, comm) != MPI_SUCCESS;
    wrong += MPI_Probe(size + 3, 0, comm, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    wrong += MPI_Iprobe(size + 3, 0, comm, &flag, MPI_STATUS_IGNORE) !=
             MPI_SUCCESS;
    wrong += MPI_Bcast(&x, 1, MPI_INT, size + 3, comm) != MPI_SUCCESS;
    wrong += MPI_Sendrecv(&x, 1, MPI_INT, size + 3, 0, &x, 1, MPI_INT,
                          MPI_PROC_NULL, 0, comm,
                          MPI_STATUS_IGNORE) != MPI_SUCCESS;
    request = MPI_REQUEST_NULL;
    wrong += MPI_Send_init(&x, 1, MPI_INT, size + 3, 0, comm, &request) !=
             MPI_SUCCESS;
    wrong += request != MPI_REQUEST_NULL;
    MPI_Type_contiguous(1, MPI_INT, &uncommitted);
    wrong += MPI_Sendrecv_replace(&x, 1, uncommitted, rank, 0, rank, 0, comm,
                                  MPI_STATUS_IGNORE) != MPI_SUCCESS;
    MPI_Type_free(&uncommitted);
    for (int test = 0; test < 2; test++) {
        MPI_Irecv(small, sizeof(small), MPI_CHAR, rank ^ 1, 1, comm, &request);
        MPI_Send(large, sizeof(large), MPI_CHAR, rank ^ 1, 1, comm);
        flag = 0;
        while (test && !flag)
            wrong += MPI_Test(&request, &flag, MPI_STATUS_IGNORE) !=
                     MPI_SUCCESS;
        wrong += MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    }
    MPI_Comm_free(&comm);
    MPI_Errhandler_free(&handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_File_create_errhandler(forgive_file, &handler);
    MPI_File_set_errhandler(MPI_FILE_NULL, handler);
    wrong += MPI_File_open(MPI_COMM_SELF, "/nowhere/file", MPI_MODE_RDONLY,
                           MPI_INFO_NULL, &file) != MPI_SUCCESS;
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
    if (rank == 0)
        printf("forgiven %d times\n", forgave);
    say("forgiven", wrong);
}

static void jumps(void)
{
    MPI_Comm comm = with_handler(jump);
    volatile int times = 0;
    int x = 0, got = -1;

    for (volatile int i = 0; i < 3; i++) {
        if (setjmp(back) == 0)
            MPI_Send(&x, 1, MPI_INT, size + 3, 0, comm);
        else
            times++;
    }
    MPI_Sendrecv(&rank, 1, MPI_INT, rank ^ 1, 0, &got, 1, MPI_INT, rank ^ 1, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    say("jumps", (times != 3) + (got != (rank ^ 1)));
}

static bool left_already;

/* MPI does not promise that it survives this, but MPICH does. */
static int jump_out(MPI_Comm comm, int key, void *value, void *extra)
{
    (void) comm;
    (void) key;
    (void) value;
    (void) extra;
    note_thread();
    if (left_already)
        return MPI_SUCCESS;
    left_already = true;
    longjmp(back, 1);
}

static void left(void)
{
    volatile int times = 0;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int key, got = -1;

    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, jump_out, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    if (setjmp(back) == 0)
        MPI_Comm_delete_attr(MPI_COMM_SELF, key);
    else
        times++;
    MPI_Irecv(&got, 1, MPI_INT, rank ^ 1, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&rank, 1, MPI_INT, rank ^ 1, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    say("left", (times != 1) + (got != (rank ^ 1)));
    MPI_Comm_delete_attr(MPI_COMM_SELF, key); /* it is there yet */
}

int main(int argc, char **argv)
{
    int given;

    level = argc > 1 ? atoi(argv[1]) : MPI_THREAD_SINGLE;
    main_thread = pthread_self();
    MPI_Init_thread(NULL, NULL, level, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    beside();
    tested();
    posted();
    own();
    rounding();
    attributes();
    errors();
    forgiven();
    among_others();
    if (level == MPI_THREAD_MULTIPLE)
        asleep();
    if (level != MPI_THREAD_MULTIPLE) { /* MPICH's locks would stay locked */
        jumps();
        left();
    }
    return MPI_Finalize();
}
