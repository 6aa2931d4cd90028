/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages beside what else MPI is doing: rank 0 waits for a receive together
 * with a collective write, of which it has to do its part before rank 1 sends,
 * in one call and in a loop that tests; one of MPI's fails beside a receive
 * that is open; and in MPI_Finalize a callback of MPI_COMM_SELF sends around,
 * while what MPI_Bsend was given last is not received yet.
 *
 *   p2p_beside FILE      is written, and removed
 *
 * For two ranks and more. It ends, and prints "beside: 0 wrong". */
#include "../expect.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    TAG = 5,
    LAST = 6,
    BLOCK = 512, /* each rank writes every size-th one, so that they exchange */
    BLOCKS = 1024,
    LARGE = 1 << 20, /* too much to be sent at once */
    LATE_MS = 300,
};

static int size;
static MPI_Comm around;

/* ---- a receive and a collective write ------------------------------------------ */

static MPI_File open_striped(const char *name)
{
    MPI_Datatype mine;
    MPI_File file;

    MPI_File_open(MPI_COMM_WORLD, name,
                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    MPI_Type_vector(BLOCKS, BLOCK, BLOCK * size, MPI_BYTE, &mine);
    MPI_Type_commit(&mine);
    MPI_File_set_view(file, (MPI_Offset) rank * BLOCK, MPI_BYTE, mine, "native",
                      MPI_INFO_NULL);
    MPI_Type_free(&mine);
    return file;
}

static void wait_in_a_loop(MPI_Request *requests, MPI_Status *statuses)
{
    int done = 0;

    while (!done)
        MPI_Testall(2, requests, &done, statuses);
}

static void write_and_receive(const char *name, bool tests)
{
    static char blocks[BLOCKS * BLOCK];
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_File file = open_striped(name);
    int told = 0;

    MPI_File_iwrite_all(file, blocks, sizeof(blocks), MPI_BYTE, &requests[0]);
    if (rank == 0) {
        MPI_Irecv(&told, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, &requests[1]);
        if (tests)
            wait_in_a_loop(requests, statuses);
        else
            MPI_Waitall(2, requests, statuses);
        EXPECT(told == 1);
    } else {
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(&rank, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
    }
    MPI_File_close(&file);
}

/* ---- a receive, and what fails ------------------------------------------------ */

/* MPI's two are on a communicator of its own. What MPI hands out it tells of.
 */
static void test_beside(MPI_Comm comm)
{
    int first = -1, second = -1, told = -1, done = 0, rc = MPI_SUCCESS;
    MPI_Request requests[3];
    MPI_Status statuses[3];

    MPI_Irecv(&told, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&first, 1, MPI_INT, 1, TAG, comm, &requests[1]);
    MPI_Irecv(&second, 1, MPI_INT, 1, LAST, comm, &requests[2]); /* too short */
    MPI_Barrier(comm);
    for (double end = MPI_Wtime() + 1;
         rc == MPI_SUCCESS && !done && MPI_Wtime() < end;)
        rc = MPI_Testall(3, requests, &done, statuses);
    EXPECT(!done && requests[0] != MPI_REQUEST_NULL);
    EXPECT(requests[1] != MPI_REQUEST_NULL || statuses[1].MPI_TAG == TAG);
    EXPECT(requests[2] != MPI_REQUEST_NULL ||
           statuses[2].MPI_ERROR != MPI_SUCCESS);
    MPI_Send(&rank, 1, MPI_INT, 1, LAST, MPI_COMM_WORLD);
    MPI_Waitall(3, requests, statuses);
    EXPECT(told == LAST);
}

static void fail_beside(void)
{
    const int told[] = {LAST, LAST};
    MPI_Info info;
    MPI_Comm comm;
    int in;

    MPI_Info_create(&info);
    MPI_Info_set(info, "aspen_p2p", "off");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Info_free(&info);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (rank == 0)
        test_beside(comm);
    else
        MPI_Barrier(comm);
    if (rank == 1) {
        MPI_Send(told, 1, MPI_INT, 0, TAG, comm);
        MPI_Send(told, 2, MPI_INT, 0, LAST, comm);
        MPI_Recv(&in, 1, MPI_INT, 0, LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(told, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_free(&comm);
}

/* ---- in MPI_Finalize ------------------------------------------------------------ */

static int send_around(MPI_Comm comm, int keyval, void *value, void *extra)
{
    int got = -1, before = (rank + size - 1) % size;

    (void) comm;
    (void) keyval;
    (void) value;
    (void) extra;
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, TAG, &got, 1, MPI_INT,
                 before, TAG, around, MPI_STATUS_IGNORE);
    EXPECT(got == before);
    return MPI_SUCCESS;
}

static void call_back_at_end(void)
{
    int keyval;

    MPI_Comm_dup(MPI_COMM_WORLD, &around);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, send_around, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
}

static void send_last(void)
{
    static char buffer[LARGE + MPI_BSEND_OVERHEAD], data[LARGE];

    if (rank == 0) {
        memset(data, TAG, sizeof(data));
        MPI_Buffer_attach(buffer, sizeof(buffer));
        MPI_Bsend(data, LARGE, MPI_BYTE, 1, LAST, MPI_COMM_WORLD);
    } else if (rank == 1) {
        pause_ms(LATE_MS);
        MPI_Recv(data, LARGE, MPI_BYTE, 0, LAST, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        EXPECT(data[0] == TAG && data[LARGE - 1] == TAG);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc == 2) {
        write_and_receive(argv[1], false);
        write_and_receive(argv[1], true);
    }
    fail_beside();
    call_back_at_end();
    send_last();
    MPI_Finalize();
    if (rank < 2)
        printf("beside: %d wrong\n", wrong);
    return wrong != 0 || argc != 2;
}
