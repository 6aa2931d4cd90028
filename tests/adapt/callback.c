/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the program that MPI calls, and large messages.
 *   delete  all of them in a function that deletes an attribute, inside
 *           MPI_Comm_delete_attr; no other call of this program takes long
 *   op      reductions that do not block, by a function of the program that
 *           belongs to its thread
 *   type    datatypes that are freed while a message is under way have an attribute
 *           that a function of the program deletes when it has gone
 *   error   a call that fails is told to the communicator's handler, once
 * usage: callback KIND [seconds] */
#include "tests/expect.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 20, LONGS = 1 << 16 };

static char out[BYTES], in[BYTES];
static double seconds = 1;
static int size, errors;
static pthread_t owner;

static int goes_on(double until)
{
    int more = MPI_Wtime() < until;

    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return more;
}

static void exchange(double until)
{
    MPI_Status statuses[2];
    MPI_Request both[2];

    do {
        MPI_Irecv(in, BYTES, MPI_BYTE, (rank + size - 1) % size, 0,
                  MPI_COMM_WORLD, &both[0]);
        MPI_Isend(out, BYTES, MPI_BYTE, (rank + 1) % size, 0, MPI_COMM_WORLD,
                  &both[1]);
        pause_ms(2);
        MPI_Waitall(2, both, statuses);
    } while (goes_on(until));
}

static int work(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void) comm;
    (void) keyval;
    (void) value;
    (void) extra;
    exchange(MPI_Wtime() + seconds);
    return MPI_SUCCESS;
}

static void delete (void)
{
    int keyval;

    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, work, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, NULL);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
    MPI_Comm_free_keyval(&keyval);
}

static void add(void *from, void *into, int *n, MPI_Datatype *type)
{
    (void) type;
    EXPECT(pthread_equal(pthread_self(), owner));
    for (int i = 0; i < *n; i++)
        ((long *) into)[i] += ((long *) from)[i];
}

static void op(void)
{
    static long mine[LONGS], sum[LONGS];
    double until = MPI_Wtime() + seconds;
    MPI_Request request;
    MPI_Op adds;

    owner = pthread_self();
    exchange(MPI_Wtime() + seconds / 2); /* there is a thread, if any */
    MPI_Op_create(add, 1, &adds);
    for (int i = 0; i < LONGS; i++)
        mine[i] = i;
    do {
        MPI_Iallreduce(mine, sum, LONGS, MPI_LONG, adds, MPI_COMM_WORLD,
                       &request);
        pause_ms(2);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        EXPECT(sum[7] == 7L * size);
    } while (goes_on(until));
    MPI_Op_free(&adds);
}

static int forget(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void) type;
    (void) keyval;
    (void) value;
    (void) extra;
    EXPECT(pthread_equal(pthread_self(), owner));
    return MPI_SUCCESS;
}

static void type(void)
{
    static char gaps[2 * BYTES];
    double until;
    int keyval;

    owner = pthread_self();
    exchange(MPI_Wtime() + seconds / 2);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget, &keyval, NULL);
    until = MPI_Wtime() + seconds;
    do {
        MPI_Status statuses[2];
        MPI_Request both[2];
        MPI_Datatype strided;

        MPI_Type_vector(BYTES / 64, 64, 128, MPI_BYTE, &strided);
        MPI_Type_commit(&strided);
        MPI_Type_set_attr(strided, keyval, NULL);
        MPI_Irecv(in, BYTES, MPI_BYTE, (rank + size - 1) % size, 0,
                  MPI_COMM_WORLD, &both[0]);
        MPI_Isend(gaps, 1, strided, (rank + 1) % size, 0, MPI_COMM_WORLD,
                  &both[1]);
        MPI_Type_free(&strided);
        pause_ms(2);
        MPI_Waitall(2, both, statuses);
    } while (goes_on(until));
    MPI_Type_free_keyval(&keyval);
}

static void count(MPI_Comm *comm, int *code, ...)
{
    (void) comm;
    (void) code;
    errors++;
}

static void error(void)
{
    MPI_Errhandler handler;
    MPI_Request request;
    MPI_Comm comm;

    exchange(MPI_Wtime() + seconds);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(count, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    EXPECT(MPI_Isend(out, 1, MPI_DATATYPE_NULL, rank, 0, comm, &request) !=
           MPI_SUCCESS);
    EXPECT(errors == 1);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "";

    if (argc > 2)
        seconds = atof(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(kind, "delete") == 0)
        delete ();
    else if (strcmp(kind, "op") == 0)
        op();
    else if (strcmp(kind, "type") == 0)
        type();
    else
        error();
    if (wrong == 0)
        printf("ok %s\n", kind);
    return MPI_Finalize() || wrong;
}
