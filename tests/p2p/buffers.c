/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes that must not be written: of buffers that the program uses again as
 * soon as MPI has given them back, after a receive was cancelled or ended in an
 * error, after a fork, after a jump out of an error handler.
 *
 *   p2p_buffers [STORY]    one of those below; without, all
 *
 * Each rank sends to the next and receives from the one before. */
#define _DEFAULT_SOURCE
#include "../expect.h"
#include "bytes.h"

#include <mpi.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TAG = 11,
    ROUNDS = 10,
    RACES = 50,
    LATE_MS = 20, /* in which a late byte would come */
    LONGEST = 1 << 20,
};

/* Around what may be copied at the post, and far above. */
static const size_t lengths[] = {8, 4096, 4097, 64 << 10, LONGEST};
enum { LENGTHS = sizeof(lengths) / sizeof(lengths[0]) };

static int size, next, before;

static uint32_t number_of(int from, int i)
{
    return (uint32_t) (from * 1000 + i);
}

static MPI_Request send(unsigned char *at, size_t bytes, int i, MPI_Comm comm)
{
    MPI_Request request;

    buffer_fill(at, bytes, number_of(rank, i));
    MPI_Isend(at, (int) bytes, MPI_BYTE, next, TAG, comm, &request);
    return request;
}

static MPI_Request receive(unsigned char *at, size_t bytes, MPI_Comm comm)
{
    MPI_Request request;

    MPI_Irecv(at, (int) bytes, MPI_BYTE, before, TAG, comm, &request);
    return request;
}

static void end_send(MPI_Request *request, unsigned char *at, size_t bytes)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
    memset(at, OVERWRITTEN, bytes);
}

static bool came(const unsigned char *at, size_t bytes, int i)
{
    return buffer_wrong(at, bytes, bytes, number_of(before, i)) == 0;
}

static bool untouched(const unsigned char *at, size_t bytes)
{
    return buffer_wrong(at, bytes, 0, 0) == 0;
}

/* A whole exchange, in buffers of its own. */
static void exchange(size_t bytes, int i, MPI_Comm comm)
{
    unsigned char *out = buffer_new(bytes), *in = buffer_new(bytes);
    MPI_Request from = receive(in, bytes, comm);
    MPI_Request to = send(out, bytes, i, comm);

    end_send(&to, out, bytes);
    MPI_Wait(&from, MPI_STATUS_IGNORE);
    EXPECT(came(in, bytes, i));
    buffer_free(in);
    buffer_free(out);
}

/* ---- used again ------------------------------------------------------------- */

/* The same two buffers for all messages. */
static void reuse_one(size_t bytes)
{
    unsigned char *out = buffer_new(bytes), *in = buffer_new(bytes);

    for (int i = 0; i < ROUNDS; i++) {
        MPI_Request to, from;

        if (i % 2)
            MPI_Barrier(MPI_COMM_WORLD);
        to = send(out, bytes, i, MPI_COMM_WORLD);
        from = receive(in, bytes, MPI_COMM_WORLD);
        MPI_Wait(&from, MPI_STATUS_IGNORE);
        EXPECT(came(in, bytes, i));
        memset(in, GUARD_BYTE, bytes);
        end_send(&to, out, bytes);
        EXPECT(untouched(in, bytes));
    }
    pause_ms(LATE_MS);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(untouched(in, bytes));
    buffer_free(in);
    buffer_free(out);
}

static void reuse(void)
{
    for (int l = 0; l < LENGTHS; l++)
        reuse_one(lengths[l]);
}

/* ---- cancelled -------------------------------------------------------------- */

/* What comes then is for the next receive. */
static void cancel_one(size_t bytes)
{
    unsigned char *old = buffer_new(bytes), *out = buffer_new(bytes);
    unsigned char *in = buffer_new(bytes);
    MPI_Request from = receive(old, bytes, MPI_COMM_WORLD), to;
    MPI_Status status;
    int cancelled = 0;

    MPI_Cancel(&from);
    MPI_Wait(&from, &status);
    MPI_Test_cancelled(&status, &cancelled);
    EXPECT(cancelled);
    MPI_Barrier(MPI_COMM_WORLD);
    to = send(out, bytes, 1, MPI_COMM_WORLD);
    MPI_Probe(before, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pause_ms(LATE_MS);
    EXPECT(untouched(old, bytes));
    from = receive(in, bytes, MPI_COMM_WORLD);
    MPI_Wait(&from, MPI_STATUS_IGNORE);
    EXPECT(came(in, bytes, 1));
    end_send(&to, out, bytes);
    EXPECT(untouched(old, bytes));
    buffer_free(in);
    buffer_free(out);
    buffer_free(old);
}

static void cancelled(void)
{
    for (int l = 0; l < LENGTHS; l++)
        cancel_one(lengths[l]);
}

/* The receive is cancelled while its message comes: it gets all of it or
 * nothing, and then the next receive gets it. */
static void race_one(size_t bytes, int i)
{
    unsigned char *old = buffer_new(bytes), *out = buffer_new(bytes);
    unsigned char *in = buffer_new(bytes);
    MPI_Request from = receive(old, bytes, MPI_COMM_WORLD), to;
    MPI_Status status;
    int gone = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    to = send(out, bytes, i, MPI_COMM_WORLD);
    for (int look = 0, flag; look < i; look++)
        MPI_Iprobe(before, TAG + 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Cancel(&from);
    MPI_Wait(&from, &status);
    MPI_Test_cancelled(&status, &gone);
    if (gone)
        MPI_Recv(in, (int) bytes, MPI_BYTE, before, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    end_send(&to, out, bytes);
    EXPECT(came(gone ? in : old, bytes, i));
    EXPECT(untouched(gone ? old : in, bytes));
    buffer_free(in);
    buffer_free(out);
    buffer_free(old);
}

static void raced(void)
{
    for (int i = 0; i < RACES; i++)
        race_one(lengths[i % LENGTHS], i);
}

/* ---- truncated -------------------------------------------------------------- */

static int class_of(int code)
{
    int class = -1;

    MPI_Error_class(code, &class);
    return class;
}

/* There is room for half of it. What lies behind that is not written, now or
 * later; and the next message comes as if nothing had been. */
static void truncate_one(size_t bytes, bool posted, MPI_Comm comm)
{
    unsigned char *out = buffer_new(bytes), *in = buffer_new(bytes);
    MPI_Request to, from = MPI_REQUEST_NULL;
    size_t half = bytes / 2;

    if (posted)
        from = receive(in, half, comm);
    MPI_Barrier(MPI_COMM_WORLD);
    to = send(out, bytes, 1, comm);
    if (posted)
        EXPECT(class_of(MPI_Wait(&from, MPI_STATUS_IGNORE)) ==
               MPI_ERR_TRUNCATE);
    else
        EXPECT(class_of(MPI_Recv(in, (int) half, MPI_BYTE, before, TAG, comm,
                                 MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE);
    memset(in, GUARD_BYTE, half);
    EXPECT(untouched(in, bytes));
    end_send(&to, out, bytes);
    pause_ms(LATE_MS);
    exchange(bytes, 2, comm);
    EXPECT(untouched(in, bytes));
    buffer_free(in);
    buffer_free(out);
}

/* MPICH raises what happens in MPI_Wait on the world. */
static void handle_errors(MPI_Comm comm, MPI_Errhandler handler)
{
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
}

/* The last number of a message is not whole, which MPICH tells where there are
 * gaps. What lies in them is not written. */
static void end_within(size_t bytes)
{
    unsigned char *out = buffer_new(bytes), *in = buffer_new(bytes);
    MPI_Datatype every_other;
    MPI_Request to;

    MPI_Type_vector((int) bytes / 8 + 1, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    to = send(out, bytes / 4 + 1, 1, MPI_COMM_WORLD);
    EXPECT(class_of(MPI_Recv(in, 1, every_other, before, TAG, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE);
    end_send(&to, out, bytes / 4 + 1);
    for (size_t i = 0; i < bytes; i++)
        EXPECT(i % 8 < 4 || in[i] == GUARD_BYTE);
    MPI_Type_free(&every_other);
    buffer_free(in);
    buffer_free(out);
}

static void truncated(void)
{
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    handle_errors(comm, MPI_ERRORS_RETURN);
    for (int l = 0; l < LENGTHS; l++) {
        for (int posted = 0; posted < 2; posted++)
            truncate_one(lengths[l], posted, comm);
        end_within(lengths[l]);
    }
    handle_errors(comm, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_free(&comm);
}

/* ---- forked ----------------------------------------------------------------- */

/* Both buffers are the child's, too: it writes into its own, and ends, or
 * becomes another program. */
static pid_t spoil_copies(unsigned char *out, unsigned char *in, size_t bytes,
                          bool becomes_another, const int *until)
{
    pid_t child = fork();
    char byte;

    if (child != 0)
        return child;
    memset(out, 0, bytes);
    memset(in, 0, bytes);
    close(until[1]);
    while (read(until[0], &byte, 1) > 0)
        continue;
    if (becomes_another)
        execl("/bin/true", "true", (char *) NULL);
    _exit(0);
}

/* The child lives until the messages have come. */
static void fork_one(size_t bytes, bool posted, bool becomes_another)
{
    unsigned char *out = buffer_new(bytes), *in = buffer_new(bytes);
    MPI_Request from = MPI_REQUEST_NULL, to;
    int until[2], status = -1;
    pid_t child;

    if (posted)
        from = receive(in, bytes, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    to = send(out, bytes, 3, MPI_COMM_WORLD);
    EXPECT(pipe(until) == 0);
    child = spoil_copies(out, in, bytes, becomes_another, until);
    close(until[0]);
    pause_ms(LATE_MS); /* it has written */
    MPI_Barrier(MPI_COMM_WORLD);
    if (!posted)
        from = receive(in, bytes, MPI_COMM_WORLD);
    MPI_Wait(&from, MPI_STATUS_IGNORE);
    EXPECT(came(in, bytes, 3));
    end_send(&to, out, bytes);
    close(until[1]);
    EXPECT(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    exchange(bytes, 4, MPI_COMM_WORLD);
    EXPECT(came(in, bytes, 3));
    buffer_free(in);
    buffer_free(out);
}

static void forked(void)
{
    for (int l = 0; l < LENGTHS; l++)
        for (int i = 0; i < 4; i++)
            fork_one(lengths[l], i % 2, i / 2);
}

/* ---- a jump out of a handler -------------------------------------------------- */

static jmp_buf back;
static int raised; /* the class that the handler got */

/* MPI_Comm_errhandler_function */
static void jump(MPI_Comm *comm, int *code, ...)
{
    (void) comm;
    raised = class_of(*code);
    longjmp(back, 1);
}

/* What has ended so is over: its request is not waited for again. */
static void jump_one(size_t bytes, bool waits, MPI_Comm comm)
{
    unsigned char *out = buffer_new(bytes), *in = buffer_new(bytes);
    MPI_Request to = MPI_REQUEST_NULL, from = MPI_REQUEST_NULL;
    size_t half = bytes / 2;

    raised = MPI_SUCCESS;
    if (waits)
        from = receive(in, half, comm);
    MPI_Barrier(MPI_COMM_WORLD);
    to = send(out, bytes, 5, comm);
    if (setjmp(back) == 0) {
        if (waits)
            MPI_Wait(&from, MPI_STATUS_IGNORE);
        else
            MPI_Recv(in, (int) half, MPI_BYTE, before, TAG, comm,
                     MPI_STATUS_IGNORE);
    }
    EXPECT(raised == MPI_ERR_TRUNCATE);
    memset(in, GUARD_BYTE, half);
    EXPECT(untouched(in, bytes));
    end_send(&to, out, bytes);
    for (int i = 0; i < ROUNDS; i++)
        exchange(bytes, 6 + i, comm);
    EXPECT(untouched(in, bytes));
    buffer_free(in);
    buffer_free(out);
}

static void jumped(void)
{
    MPI_Errhandler handler;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(jump, &handler);
    handle_errors(comm, handler);
    for (int l = 0; l < LENGTHS; l++)
        for (int waits = 0; waits < 2; waits++)
            jump_one(lengths[l], waits, comm);
    handle_errors(comm, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
}

static const struct {
    const char *name;
    void (*run)(void);
} stories[] = {
    {"raced", raced},         {"reuse", reuse},   {"cancelled", cancelled},
    {"truncated", truncated}, {"forked", forked}, {"jumped", jumped},
};

int main(int argc, char **argv)
{
    int all = 0, played = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    before = (rank + size - 1) % size;
    for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++)
        if (argc < 2 || strcmp(stories[i].name, argv[1]) == 0) {
            stories[i].run();
            played++;
        }
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0)
        printf("buffers: %d stories, %d wrong\n", played, all);
    return all != 0 || played == 0;
}
