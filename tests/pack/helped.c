/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking calls with data that idle OpenMP threads pack and unpack: prints
 * what the program sees of them, which is the same with and without Aspen.
 * Three ranks. */
#include "tests/world/say.h"

#include <omp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if __GNUC__ >= 16 /* programs say "master", which newer standards deprecate   \
                    */
#pragma GCC diagnostic ignored "-Wdeprecated-openmp"
#endif

enum { THREADS = 3, PAIRS = 30000, MORE = 50000, TAG = 5 };

struct pair {
    int number;
    double value;
};

static int size, next, before;
static struct pair data[MORE];
static MPI_Datatype pairs, pairs_and_int;
static MPI_Comm world = MPI_COMM_WORLD;

/* ---- data ------------------------------------------------------------------- */

static void fill(int first)
{
    memset(data, 0x55, sizeof(data)); /* the gaps, too */
    for (int i = 0; i < MORE; i++)
        data[i] = (struct pair){first + i, 0.25 * (first + i)};
}

static unsigned sum_of(const void *from, size_t bytes)
{
    const unsigned char *at = from;
    unsigned all = 0;

    for (size_t i = 0; i < bytes; i++)
        all = 31 * all + at[i];
    return all;
}

static unsigned sum(void)
{
    unsigned all = 0;

    for (int i = 0; i < MORE; i++)
        all = 31 * all + sum_of(&data[i].number, sizeof(int)) +
              7 * sum_of(&data[i].value, sizeof(double));
    return all;
}

static void make_types(void)
{
    int lengths[] = {1, 1}, with_int[] = {PAIRS, 1};
    MPI_Aint at[] = {offsetof(struct pair, number),
                     offsetof(struct pair, value)};
    MPI_Aint behind[] = {0, PAIRS * sizeof(struct pair)};
    MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE}, pair;

    MPI_Type_create_struct(2, lengths, at, types, &pair);
    MPI_Type_create_resized(pair, 0, sizeof(struct pair), &pairs);
    MPI_Type_commit(&pairs);
    types[0] = pairs;
    types[1] = MPI_INT;
    MPI_Type_create_struct(2, with_int, behind, types, &pairs_and_int);
    MPI_Type_commit(&pairs_and_int);
    MPI_Type_free(&pair);
}

/* A region, so that the threads are there. */
static void start_threads(void)
{
    omp_set_num_threads(THREADS);
#pragma omp parallel
    usleep(1000);
}

static void tell(const char *what, int rc, const MPI_Status *status,
                 MPI_Datatype type)
{
    int count, elements, cancelled;

    MPI_Get_count(status, type, &count);
    MPI_Get_elements(status, type, &elements);
    MPI_Test_cancelled(status, &cancelled);
    say("%s: class %d from %d, tag %d, error %d, count %d, elements %d, "
        "cancelled %d, data %u",
        what, error_class(rc), status->MPI_SOURCE, status->MPI_TAG,
        status->MPI_ERROR, count == MPI_UNDEFINED ? -1 : count, elements,
        cancelled, sum());
}

/* ---- lengths ------------------------------------------------------------------ */

/* Receive MORE pairs; the status holds what nobody sets. */
static void receive(const char *what, int source, int tag, MPI_Comm comm)
{
    MPI_Status status = {.MPI_ERROR = 77};
    int rc;

    fill(-1000000);
    rc = MPI_Recv(data, MORE, pairs, source, tag, comm, &status);
    tell(what, rc, &status, pairs);
}

static void send(int n, MPI_Datatype type, int tag)
{
    if (say_rank != 0)
        return;
    fill(tag);
    MPI_Send(data, n, type, 1, tag, world);
}

static void test_lengths(void)
{
    const int numbers[] = {MORE, PAIRS, 10, 0};

    for (int i = 0; i < 4; i++) {
        send(numbers[i], pairs, TAG + i);
        if (say_rank == 1)
            receive("length", 0, TAG + i, world);
    }
    send(1, pairs_and_int, TAG);
    if (say_rank == 1)
        receive("a part", 0, TAG, world);
    if (say_rank == 1) {
        fill(0);
        MPI_Send(data, PAIRS, pairs, MPI_PROC_NULL, TAG, world);
        MPI_Recv(data, PAIRS, pairs, MPI_PROC_NULL, TAG, world,
                 MPI_STATUS_IGNORE);
        say("nobody: %u", sum());
    }
    send(PAIRS, pairs, TAG);
    if (say_rank == 1) {
        fill(5);
        MPI_Recv(data, MORE, pairs, 0, TAG, world, MPI_STATUS_IGNORE);
        say("no status: %u", sum());
    }
}

/* Longer than the receive: an error, and the next message is whole. */
static void test_truncation(void)
{
    MPI_Status status;
    int rc;

    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    send(MORE, pairs, TAG);
    send(PAIRS, pairs, TAG);
    if (say_rank == 1) {
        rc = MPI_Recv(data, PAIRS, pairs, 0, TAG, world, &status);
        say("longer: %s",
            error_class(rc) == MPI_ERR_TRUNCATE ? "truncated" : "?");
        receive("after that", 0, MPI_ANY_TAG, world);
    }
    MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
}

/* ---- matching ------------------------------------------------------------------ */

/* Messages of one sender come in order, whatever they are received as. */
static void test_order(void)
{
    MPI_Request request;
    MPI_Status status;
    static int small[PAIRS];

    for (int i = 0; i < 4; i++) {
        send(PAIRS + i, pairs, TAG);
        if (say_rank == 0)
            MPI_Send(&i, 1, MPI_INT, 1, TAG, world);
    }
    for (int i = 0; say_rank == 1 && i < 4; i++) {
        MPI_Irecv(data, MORE, pairs, MPI_ANY_SOURCE, TAG, world, &request);
        MPI_Recv(small, PAIRS, MPI_INT, 0, TAG, world, MPI_STATUS_IGNORE);
        MPI_Wait(&request, &status);
        say("order: %d, then %d, %u", i, small[0], sum());
    }
    if (say_rank != 1)
        MPI_Ssend(data, PAIRS, pairs, 1, TAG + say_rank, world);
    for (int i = 0; say_rank == 1 && i < size - 1; i++)
        receive("from any", MPI_ANY_SOURCE, TAG + 2 * i, world);
}

static void test_exchange(void)
{
    MPI_Status status = {.MPI_ERROR = 78};
    struct pair *other = malloc(MORE * sizeof(*other));
    int rc;

    fill(say_rank);
    memcpy(other, data, sizeof(data));
    rc = MPI_Sendrecv(other, PAIRS, pairs, next, TAG, data, MORE, pairs, before,
                      TAG, world, &status);
    tell("both", rc, &status, pairs);
    rc = MPI_Sendrecv(other, PAIRS, pairs, next, TAG, data, 2 * MORE, MPI_INT,
                      before, TAG, world, &status);
    say("one: class %d", error_class(rc));
    rc = MPI_Sendrecv(other, PAIRS, pairs, say_rank, TAG, data, PAIRS, pairs,
                      say_rank, TAG, world, &status);
    tell("to itself", rc, &status, pairs);
    rc = MPI_Sendrecv(other, 1, pairs, next, TAG, data, PAIRS, pairs, before,
                      TAG, world, &status);
    tell("a small one", rc, &status, pairs);
    free(other);
}

/* ---- communicators -------------------------------------------------------------- */

static void over(const char *what, MPI_Comm comm)
{
    MPI_Status status = {.MPI_ERROR = 79};
    int rank, n, rc;
    struct pair *other = malloc(MORE * sizeof(*other));

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n);
    fill(10 * say_rank);
    memcpy(other, data, sizeof(data));
    rc = MPI_Sendrecv(other, PAIRS, pairs, (rank + 1) % n, TAG, data, MORE,
                      pairs, (rank + n - 1) % n, TAG, comm, &status);
    tell(what, rc, &status, pairs);
    free(other);
}

static void test_communicators(void)
{
    MPI_Comm comm, halves, inter;
    int remote;

    MPI_Comm_dup(world, &comm);
    over("dup", comm);
    MPI_Comm_free(&comm);
    MPI_Comm_split(world, 0, -say_rank, &comm);
    over("split", comm);
    MPI_Comm_free(&comm);
    over("self", MPI_COMM_SELF);
    MPI_Comm_split(world, say_rank == 0, say_rank, &halves);
    MPI_Intercomm_create(halves, 0, world, say_rank == 0, 1, &inter);
    MPI_Comm_remote_size(inter, &remote);
    fill(say_rank);
    if (say_rank == 0)
        MPI_Send(data, PAIRS, pairs, remote - 1, TAG, inter);
    if (say_rank == 2)
        receive("another group", 0, TAG, inter);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&halves);
}

/* ---- types ------------------------------------------------------------------------ */

/* Addresses in place of displacements. */
static void test_bottom(void)
{
    MPI_Datatype absolute;
    MPI_Aint at;
    int length = PAIRS;

    MPI_Get_address(data, &at);
    MPI_Type_create_struct(1, &length, &at, &pairs, &absolute);
    MPI_Type_commit(&absolute);
    fill(say_rank);
    if (say_rank == 0)
        MPI_Send(MPI_BOTTOM, 1, absolute, 1, TAG, world);
    if (say_rank == 1)
        MPI_Recv(MPI_BOTTOM, 1, absolute, 0, TAG, world, MPI_STATUS_IGNORE);
    say("bottom: %u", sum());
    MPI_Type_free(&absolute);
}

/* A handle that was a type's with gaps becomes that of one without, and of one
 * that is not committed; and a type is freed that has another reference. */
static void test_handles(void)
{
    MPI_Datatype type, inner, copy;
    int n[3], rc;

    MPI_Type_vector(PAIRS, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_contiguous(1, type, &copy);
    MPI_Type_commit(&copy);
    MPI_Type_get_contents(copy, 1, 0, 1, n, NULL, &inner);
    MPI_Type_free(&inner);
    fill(say_rank);
    MPI_Sendrecv_replace(data, 1, type, next, TAG, before, TAG, world,
                         MPI_STATUS_IGNORE);
    say("another reference: %u", sum());
    MPI_Type_free(&type);
    MPI_Type_free(&copy);
    MPI_Type_contiguous(PAIRS, MPI_INT, &type);
    MPI_Type_commit(&type);
    fill(say_rank);
    if (say_rank == 0)
        MPI_Send(data, 1, type, 1, TAG, world);
    if (say_rank == 1)
        MPI_Recv(data, 1, type, 0, TAG, world, MPI_STATUS_IGNORE);
    say("no gaps any more: %u", sum());
    MPI_Type_free(&type);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Type_vector(PAIRS, 1, 3, MPI_INT, &type);
    rc = MPI_Send(data, 1, type, next, TAG, world);
    say("not committed: class %d", error_class(rc));
    rc = MPI_Recv(data, 1, type, before, TAG, world, MPI_STATUS_IGNORE);
    say("not committed: class %d", error_class(rc));
    MPI_Type_free(&type);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
}

/* Another thread frees the type of a receive that waits, and makes others. */
static void *free_type(void *type)
{
    MPI_Datatype others[20];

    MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG + 1, world, MPI_STATUS_IGNORE);
    MPI_Type_free(type);
    for (int i = 0; i < 20; i++) {
        MPI_Type_vector(3, 1, 2 + i, MPI_CHAR, &others[i]);
        MPI_Type_commit(&others[i]);
    }
    for (int i = 0; i < 20; i++)
        MPI_Type_free(&others[i]);
    return NULL;
}

static void test_freed(void)
{
    MPI_Datatype own;
    MPI_Status status;

    MPI_Type_vector(PAIRS, 1, 2, MPI_INT, &own);
    MPI_Type_commit(&own);
    fill(say_rank);
    if (say_rank == 0) {
        MPI_Send(NULL, 0, MPI_BYTE, 1, TAG + 1, world);
        usleep(50000);
        MPI_Send(data, 1, own, 1, TAG, world);
    }
    if (say_rank == 1) {
#pragma omp parallel num_threads(2)
        if (omp_get_thread_num() == 0)
            MPI_Recv(data, 1, own, 0, TAG, world, &status);
        else
            usleep(20000), free_type(&(MPI_Datatype){own});
        say("freed meanwhile: %u", sum());
    } else {
        MPI_Type_free(&own);
    }
}

/* ---- errors ------------------------------------------------------------------------ */

static void refused(const char *what, int rc)
{
    say("%s: class %d", what, error_class(rc));
}

static void test_errors(void)
{
    MPI_Status status;

    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    refused("rank", MPI_Send(data, PAIRS, pairs, size, TAG, world));
    refused("rank -5", MPI_Send(data, PAIRS, pairs, -5, TAG, world));
    refused("tag", MPI_Send(data, PAIRS, pairs, next, -3, world));
    refused("count", MPI_Send(data, -1, pairs, next, TAG, world));
    refused("type", MPI_Send(data, PAIRS, MPI_DATATYPE_NULL, next, TAG, world));
    refused("buffer", MPI_Send(NULL, PAIRS, pairs, next, TAG, world));
    refused("from", MPI_Recv(data, PAIRS, pairs, size, TAG, world, &status));
    refused("tag", MPI_Recv(data, PAIRS, pairs, before, -9, world, &status));
    refused("no comm", MPI_Send(data, PAIRS, pairs, 0, TAG, MPI_COMM_NULL));
    MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
}

/* ---- packing ------------------------------------------------------------------------ */

static void test_pack(void)
{
    int bytes = PAIRS * 12 + 7, position = 3, rc;
    char *packed = malloc((size_t) bytes);

    fill(say_rank);
    memset(packed, 0, (size_t) bytes);
    rc = MPI_Pack(data, PAIRS, pairs, packed, bytes, &position, world);
    say("pack: class %d, position %d, %u", error_class(rc), position,
        sum_of(packed, (size_t) bytes));
    fill(0);
    position = 3;
    rc = MPI_Unpack(packed, bytes, &position, data, PAIRS, pairs, world);
    say("unpack: class %d, position %d, %u", error_class(rc), position, sum());
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    position = 8;
    rc = MPI_Pack(data, PAIRS, pairs, packed, bytes, &position, world);
    say("pack too much: class %d", error_class(rc));
    position = 8;
    rc = MPI_Unpack(packed, bytes, &position, data, PAIRS, pairs, world);
    say("unpack too much: class %d", error_class(rc));
    MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
    free(packed);
}

/* ---- regions ------------------------------------------------------------------------ */

static void exchange_quietly(int first)
{
    static struct pair other[MORE];

    for (int i = 0; i < MORE; i++)
        other[i] = (struct pair){first + i, first - i};
    MPI_Sendrecv(other, PAIRS, pairs, next, TAG, data, MORE, pairs, before, TAG,
                 world, MPI_STATUS_IGNORE);
}

static void test_regions(void)
{
    fill(say_rank);
#pragma omp parallel
    {
        for (int i = 0; i < 10; i++) {
#pragma omp single
            exchange_quietly(100 * i + say_rank);
#pragma omp master
            exchange_quietly(200 * i + say_rank);
            if (omp_get_thread_num() == 1)
                usleep(1000);
#pragma omp barrier
        }
#pragma omp critical
        exchange_quietly(say_rank);
    }
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 8; i++) {
#pragma omp task
        usleep(300);
#pragma omp task if (0)
        exchange_quietly(300 * i + say_rank);
#pragma omp taskwait
    }
    say("regions: %u", sum());
}

int main(int argc, char **argv)
{
    int level;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(world, &say_rank);
    MPI_Comm_size(world, &size);
    next = (say_rank + 1) % size;
    before = (say_rank + size - 1) % size;
    make_types();
    start_threads();
    test_lengths();
    test_truncation();
    test_order();
    test_exchange();
    test_communicators();
    test_bottom();
    test_handles();
    test_errors();
    test_pack();
    test_regions();
    if (level == MPI_THREAD_MULTIPLE)
        test_freed();
    MPI_Finalize();
    return 0;
}
