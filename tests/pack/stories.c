/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs do with types that have gaps, beside sending them: prints the
 * same lines plain and with Aspen. Three ranks. */
#include "tests/world/say.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 300, COLUMNS = 40, TAG = 3 };

static int size;
static int matrix[ROWS][COLUMNS];

/* A column of the matrix, with the extent of an element. */
static MPI_Datatype make_column(void)
{
    MPI_Datatype vector, column;

    MPI_Type_vector(ROWS, 1, COLUMNS, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, sizeof(int), &column);
    MPI_Type_commit(&column);
    MPI_Type_free(&vector);
    return column;
}

static void fill(int first)
{
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++)
            matrix[r][c] = first + r * COLUMNS + c;
}

static long sum(void)
{
    long all = 0;

    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++)
            all = (all * 31 + matrix[r][c]) % 1000003;
    return all;
}

/* MPI says how much of a message came, and whether it was too long. */
static void test_lengths(MPI_Datatype column)
{
    MPI_Status status;
    int count, elements, rc, class = -1;

    fill(say_rank);
    if (say_rank == 0)
        MPI_Send(matrix, 2, column, 1, TAG, MPI_COMM_WORLD);
    if (say_rank == 1) {
        MPI_Recv(matrix, 5, column, 0, TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, column, &count);
        MPI_Get_elements(&status, column, &elements);
        say("shorter: count %d, elements %d, %ld", count, elements, sum());
    }
    if (say_rank == 0)
        MPI_Send(matrix, 100, MPI_INT, 1, TAG, MPI_COMM_WORLD);
    if (say_rank == 1) {
        MPI_Recv(matrix, 1, column, 0, TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, column, &count);
        MPI_Get_elements(&status, column, &elements);
        say("a part: count %d, elements %d, %ld",
            count == MPI_UNDEFINED ? -1 : count, elements, sum());
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int n = 2; n <= 40; n += 38) {
        if (say_rank == 0)
            MPI_Send(matrix, n, column, 1, TAG, MPI_COMM_WORLD);
        if (say_rank == 1) {
            rc = MPI_Recv(matrix, 1, column, 0, TAG, MPI_COMM_WORLD, &status);
            MPI_Error_class(rc, &class);
            say("longer: %s", class == MPI_ERR_TRUNCATE ? "truncated" : "?");
        }
    }
    /* a number and a half: an error of the program, that MPICH finds */
    for (int bytes = 3; bytes <= 12; bytes += 3) {
        if (say_rank == 0)
            MPI_Send(matrix, bytes, MPI_CHAR, 1, TAG, MPI_COMM_WORLD);
        if (say_rank == 1)
            say("%d bytes of numbers: %s", bytes,
                MPI_Recv(matrix, 4, column, 0, TAG, MPI_COMM_WORLD, &status) ==
                        MPI_SUCCESS
                    ? "taken"
                    : "refused");
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Barrier(MPI_COMM_WORLD);
}

static MPI_Status statuses[2];

static void test_persistent(MPI_Datatype column)
{
    MPI_Request requests[2];

    fill(1000 * say_rank);
    MPI_Send_init(&matrix[0][0], 3, column, (say_rank + 1) % size, TAG,
                  MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(&matrix[0][10], 3, column, (say_rank + size - 1) % size, TAG,
                  MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, statuses);
        matrix[0][0]++;
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    say("persistent: %ld", sum());
}

static void test_collectives(MPI_Datatype column)
{
    MPI_Request request;

    fill(say_rank);
    MPI_Bcast(matrix, 7, column, 1, MPI_COMM_WORLD);
    say("bcast: %ld", sum());
    fill(say_rank);
    MPI_Gather(&matrix[0][say_rank], 1, column, &matrix[0][20], 1, column, 2,
               MPI_COMM_WORLD);
    say("gather: %ld", sum());
    fill(say_rank);
    MPI_Alltoall(matrix, 3, column, &matrix[0][20], 3, column, MPI_COMM_WORLD);
    say("alltoall: %ld", sum());
    fill(say_rank);
    MPI_Iallgather(&matrix[0][say_rank], 1, column, &matrix[0][20], 1, column,
                   MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("allgather: %ld", sum());
}

/* Addresses in place of displacements, and MPI_BOTTOM. */
static void test_bottom(void)
{
    static double numbers[3000];
    static char text[5000];
    MPI_Datatype types[] = {MPI_DOUBLE, MPI_CHAR}, both;
    int lengths[] = {3000, 5000};
    MPI_Aint places[2];

    MPI_Get_address(numbers, &places[0]);
    MPI_Get_address(text, &places[1]);
    MPI_Type_create_struct(2, lengths, places, types, &both);
    MPI_Type_commit(&both);
    if (say_rank == 0) {
        memset(text, 'x', sizeof(text));
        numbers[2999] = 0.5;
        MPI_Send(MPI_BOTTOM, 1, both, 2, TAG, MPI_COMM_WORLD);
    }
    if (say_rank == 2) {
        MPI_Recv(MPI_BOTTOM, 1, both, 0, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        say("bottom: %g %c", numbers[2999], text[4999]);
    }
    MPI_Type_free(&both);
}

/* A type is gone for the program, and its handle another one's, while its
 * message is under way. */
static void test_freed(void)
{
    MPI_Request requests[2];
    MPI_Datatype column = make_column(), other;
    int from = (say_rank + size - 1) % size;

    fill(say_rank);
    MPI_Irecv(&matrix[0][20], 8, column, from, TAG, MPI_COMM_WORLD,
              &requests[0]);
    MPI_Isend(matrix, 8, column, (say_rank + 1) % size, TAG, MPI_COMM_WORLD,
              &requests[1]);
    MPI_Type_free(&column);
    for (int i = 0; i < 50; i++) {
        MPI_Type_vector(3, 1, 2 + i, MPI_CHAR, &other);
        MPI_Type_commit(&other);
        MPI_Type_free(&other);
    }
    MPI_Waitall(2, requests, statuses);
    say("freed: %ld", sum());
}

/* More blocks than Aspen describes: MPICH packs, and unpacks what has come. */
enum { BLOCKS = (1 << 20) + 100 };

static void test_refused(void)
{
    static short numbers[3 * BLOCKS];
    int *at = malloc(BLOCKS * sizeof(*at));
    MPI_Datatype type;
    long all = 0;

    for (int i = 0; i < BLOCKS; i++)
        at[i] = 3 * i + i % 2;
    for (int i = 0; i < 3 * BLOCKS; i++)
        numbers[i] = (short) (say_rank == 0 ? i : 0);
    MPI_Type_create_indexed_block(BLOCKS, 1, at, MPI_SHORT, &type);
    MPI_Type_commit(&type);
    if (say_rank == 0)
        MPI_Send(numbers, 1, type, 1, TAG, MPI_COMM_WORLD);
    if (say_rank == 1)
        MPI_Recv(numbers, 1, type, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
    for (int i = 0; i < 3 * BLOCKS; i++)
        all = (all * 31 + numbers[i]) % 1000003;
    say("refused: %ld", all);
    free(at);
}

/* The attributes of a type are the program's; a copy has none of Aspen's. */
static int copied, deleted;

static int copy_attr(MPI_Datatype type, int keyval, void *extra, void *in,
                     void *out, int *flag)
{
    (void) type;
    (void) keyval;
    (void) extra;
    *(void **) out = in;
    *flag = 1;
    copied++;
    return MPI_SUCCESS;
}

static int delete_attr(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void) type;
    (void) keyval;
    (void) value;
    (void) extra;
    deleted++;
    return MPI_SUCCESS;
}

static void test_attributes(void)
{
    MPI_Datatype column = make_column(), copy;
    int keyval;

    MPI_Type_create_keyval(copy_attr, delete_attr, &keyval, NULL);
    MPI_Type_set_attr(column, keyval, &keyval);
    MPI_Type_dup(column, &copy);
    MPI_Type_free(&column);
    fill(say_rank);
    MPI_Sendrecv(matrix, 2, copy, (say_rank + 1) % size, TAG, &matrix[0][5], 2,
                 copy, (say_rank + size - 1) % size, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Type_free(&copy);
    MPI_Type_free_keyval(&keyval);
    say("attributes: copied %d, deleted %d, %ld", copied, deleted, sum());
}

int main(int argc, char **argv)
{
    MPI_Datatype column;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &say_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    column = make_column();
    test_lengths(column);
    test_persistent(column);
    test_collectives(column);
    MPI_Type_free(&column);
    test_bottom();
    test_freed();
    test_refused();
    test_attributes();
    MPI_Finalize();
    return 0;
}
