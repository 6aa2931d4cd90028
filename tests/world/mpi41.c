/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPI 4.1 brought, and MPICH's own functions of 4.1 and 4.2.
 *
 * Streams need MPIR_CVAR_CH4_RESERVE_VCIS=1 in all processes of a job, ghosts
 * as well: set here, as a program would that is to run anywhere.
 *
 * usage: mpi41 [threadcomm]
 *   threadcomm  only a thread communicator, which not all modes can have
 */
#include "say.h"

#include <stdlib.h>
#include <string.h>

#if MPICH_NUMVERSION >= 40200000

static int size;

static int next(void)
{
    return (say_rank + 1) % size;
}

static int previous(void)
{
    return (say_rank + size - 1) % size;
}

/* ---- buffers of communicators, sessions, the process (3.6) ---------------- */

/* Send one round the ring, and receive it when the buffer was flushed: all ends
 * though nobody has posted a receive when MPI_Bsend returns. */
static void send_round(const char *what, MPI_Comm comm, int flush(void *),
                       void *context)
{
    int number = 100 + say_rank, got = -1;

    MPI_Bsend(&number, 1, MPI_INT, next(), 3, comm);
    number = -1;
    if (flush)
        say("%s: flushed with %d", what, flush(context));
    MPI_Recv(&got, 1, MPI_INT, previous(), 3, comm, MPI_STATUS_IGNORE);
    say("%s: got %d", what, got);
}

static int flush_comm(void *comm)
{
    return MPI_Comm_flush_buffer(*(MPI_Comm *) comm);
}

static int iflush_comm(void *comm)
{
    MPI_Request request;
    int rc = MPI_Comm_iflush_buffer(*(MPI_Comm *) comm, &request);

    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return rc;
}

static int flush_session(void *session)
{
    MPI_Request request;
    int rc = MPI_Session_flush_buffer(*(MPI_Session *) session);

    MPI_Session_iflush_buffer(*(MPI_Session *) session, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return rc;
}

static int flush_process(void *unused)
{
    MPI_Request request;
    int rc = MPI_Buffer_flush();

    (void) unused;
    MPI_Buffer_iflush(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return rc;
}

static void test_comm_buffer(MPI_Comm comm)
{
    static char buffer[10000];
    void *back;
    int bytes;

    MPI_Comm_attach_buffer(comm, buffer, sizeof(buffer));
    send_round("buffer of a communicator", comm, flush_comm, &comm);
    send_round("buffer of a communicator, iflush", comm, iflush_comm, &comm);
    MPI_Comm_detach_buffer(comm, &back, &bytes);
    say("detached: %d bytes, %s", bytes, back == buffer ? "the same" : "other");
    MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0);
    send_round("automatic", comm, flush_comm, &comm);
    MPI_Comm_detach_buffer(comm, &back, &bytes);
    say("detached: %s", back == MPI_BUFFER_AUTOMATIC ? "automatic" : "other");
}

static void test_process_buffer(void)
{
    static char buffer[10000];
    void *back;
    int bytes;

    MPI_Buffer_attach(buffer, sizeof(buffer));
    send_round("buffer of the process", MPI_COMM_WORLD, flush_process, NULL);
    MPI_Buffer_detach(&back, &bytes);
}

static void test_session_buffer(void)
{
    static char buffer[10000];
    MPI_Session session;
    MPI_Count bytes;
    MPI_Group group;
    MPI_Comm comm;
    void *back;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_attach_buffer_c(session, buffer, sizeof(buffer));
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "mpi41", MPI_INFO_NULL,
                               MPI_ERRORS_ARE_FATAL, &comm);
    send_round("buffer of a session", comm, flush_session, &session);
    MPI_Session_detach_buffer_c(session, &back, &bytes);
    say("detached: %d bytes", (int) bytes);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
}

/* ---- several requests, and none is given back (3.7.7) --------------------- */

enum { FIRST, SECOND, NONE, ASLEEP, REQUESTS };

struct requests {
    MPI_Request all[REQUESTS];
    int got[2];
};

/* Two receives, of which nothing has come; MPI_REQUEST_NULL; a persistent one
 * that was not started. */
static void post(struct requests *r)
{
    for (int i = FIRST; i <= SECOND; i++)
        MPI_Irecv(&r->got[i], 1, MPI_INT, previous(), i, MPI_COMM_WORLD,
                  &r->all[i]);
    r->all[NONE] = MPI_REQUEST_NULL;
    MPI_Recv_init(&r->got[0], 1, MPI_INT, previous(), 9, MPI_COMM_WORLD,
                  &r->all[ASLEEP]);
}

static void tell_any(const char *when, const struct requests *r)
{
    int index = -7, flag = -7;
    MPI_Status status = {.MPI_TAG = -7};

    MPI_Request_get_status_any(REQUESTS, (MPI_Request *) r->all, &index, &flag,
                               &status);
    say("any, %s: flag %d, index %d, tag %d", when, flag,
        index == MPI_UNDEFINED ? -1 : index, flag ? status.MPI_TAG : -7);
}

static void tell_some(const char *when, const struct requests *r)
{
    int indices[REQUESTS], n = -7;
    MPI_Status statuses[REQUESTS];

    MPI_Request_get_status_some(REQUESTS, (MPI_Request *) r->all, &n, indices,
                                statuses);
    say("some, %s: %d", when, n == MPI_UNDEFINED ? -1 : n);
    for (int i = 0; n != MPI_UNDEFINED && i < n; i++)
        say("some, %s: index %d, tag %d", when, indices[i],
            statuses[i].MPI_TAG);
}

static void tell_all(const char *when, const struct requests *r)
{
    MPI_Status statuses[REQUESTS];
    int flag = -7;

    MPI_Request_get_status_all(REQUESTS, (MPI_Request *) r->all, &flag,
                               statuses);
    say("all, %s: flag %d", when, flag);
    for (int i = 0; flag && i < REQUESTS; i++)
        say("all, %s: tag %d", when, statuses[i].MPI_TAG);
}

static void tell(const char *when, const struct requests *r)
{
    tell_any(when, r);
    tell_some(when, r);
    tell_all(when, r);
}

static void await(MPI_Request request)
{
    int flag = 0;

    while (!flag)
        MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
}

static void test_requests(void)
{
    struct requests r;

    post(&r);
    MPI_Barrier(MPI_COMM_WORLD);
    tell("nothing sent", &r);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&say_rank, 1, MPI_INT, next(), SECOND, MPI_COMM_WORLD);
    await(r.all[SECOND]);
    tell("one sent", &r);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&say_rank, 1, MPI_INT, next(), FIRST, MPI_COMM_WORLD);
    await(r.all[FIRST]);
    tell_some("both sent", &r);
    tell_all("both sent", &r);
    MPI_Waitall(2, r.all, MPI_STATUSES_IGNORE);
    say("both are here still: %d %d", r.got[0], r.got[1]);
    tell("all given back", &r);
    MPI_Request_free(&r.all[ASLEEP]);
}

/* ---- what does not talk --------------------------------------------------- */

static void test_handles(void)
{
    MPI_Request request;
    MPI_Comm comm = MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD));
    MPI_Fint number;
    int n, got;

    MPI_Comm_size(comm, &n);
    say("the world by way of Fortran: %s, %d", comm_word(comm), n);
    MPI_Irecv(&got, 1, MPI_INT, previous(), 5, comm, &request);
    number = MPI_Request_c2f(request);
    MPI_Send(&say_rank, 1, MPI_INT, next(), 5, comm);
    request = MPI_Request_f2c(number);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("a request by way of Fortran: got %d", got);
    say("handles: %d %d %d %d", MPI_Type_f2c(MPI_Type_c2f(MPI_INT)) == MPI_INT,
        MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)) == MPI_SUM,
        MPI_Info_f2c(MPI_Info_c2f(MPI_INFO_NULL)) == MPI_INFO_NULL,
        MPI_Group_f2c(MPI_Group_c2f(MPI_GROUP_EMPTY)) == MPI_GROUP_EMPTY);
}

static void test_local(void)
{
    MPI_Status status;
    MPI_Datatype pair;
    MPI_Info info;
    int class, code, value, keys;

    MPI_Status_set_source(&status, 3);
    MPI_Status_set_tag(&status, 4);
    MPI_Status_set_error(&status, MPI_SUCCESS);
    MPI_Status_set_elements_c(&status, MPI_INT, 5);
    MPI_Status_get_source(&status, &value);
    say("status: source %d", value);
    MPI_Status_get_tag(&status, &value);
    say("status: tag %d", value);
    MPI_Get_count(&status, MPI_INT, &value);
    say("status: count %d", value);
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "ours");
    say("removed: %d", MPI_Remove_error_string(code));
    say("removed: %d", MPI_Remove_error_code(code));
    say("removed: %d", MPI_Remove_error_class(class));
    MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair);
    say("pair: %d", pair == MPI_DOUBLE_INT);
    MPI_Get_hw_resource_info(&info);
    MPI_Info_get_nkeys(info, &keys);
    say("hardware: %s", keys >= 0 ? "told" : "not");
    MPI_Info_free(&info);
}

/* ---- MPICH's own ---------------------------------------------------------- */

enum { ROUNDS = 1000 }; /* so that two threads in one stream would meet */

/* Who asks a stream for progress must not do so beside another thread. */
static int go_round(MPIX_Stream stream, MPI_Comm comm)
{
    MPI_Request requests[2];
    int got, wrong = 0;

    for (int i = 0; i < ROUNDS; i++) {
        int number = say_rank + i;

        MPI_Irecv(&got, 1, MPI_INT, previous(), 2, comm, &requests[0]);
        MPI_Isend(&number, 1, MPI_INT, next(), 2, comm, &requests[1]);
        MPIX_Stream_progress(stream);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        wrong += got != previous() + i;
    }
    return wrong;
}

static void test_copy_of_stream_comm(MPIX_Stream stream, MPI_Comm comm)
{
    MPIX_Stream found;
    MPI_Comm copy;
    int sum;

    /* MPI_Iallreduce never ends there, in plain MPICH 4.2, too. */
    MPI_Allreduce(&say_rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Comm_dup(comm, &copy);
    MPIX_Comm_get_stream(copy, 0, &found);
    say("copy: %s stream, sum %d", found == stream ? "the same" : "another",
        sum);
    say("copy: %d wrong", go_round(stream, copy));
    MPI_Comm_free(&copy);
}

/* Two messages, the second of which is received first by its stream. */
static void test_blocking(MPI_Comm comm)
{
    int got[2] = {-1, -1};

    if (say_rank == 0) {
        for (int stream = 0; stream < 2; stream++)
            MPIX_Stream_send(&stream, 1, MPI_INT, 1, 1, comm, 0, stream);
    } else if (say_rank == 1) {
        for (int stream = 1; stream >= 0; stream--)
            MPIX_Stream_recv(&got[stream], 1, MPI_INT, 0, 1, comm, 0, stream,
                             MPI_STATUS_IGNORE);
    }
    say("two streams: got %d %d", got[0], got[1]);
}

static void test_two_streams(MPIX_Stream first)
{
    MPIX_Stream streams[] = {first, MPIX_STREAM_NULL};
    MPI_Comm comm;

    MPIX_Stream_comm_create_multiplex(MPI_COMM_WORLD, 2, streams, &comm);
    test_blocking(comm);
    MPI_Comm_free(&comm);
}

/* On such a communicator MPIX_Comm_get_stream of MPICH 4.2 reads behind its
 * list, on all ranks but the first: with three entries, the size that malloc()
 * keeps of the next piece. Only a program that calls it shall find that. */
static void test_three_streams(MPIX_Stream first)
{
    MPIX_Stream streams[] = {first, MPIX_STREAM_NULL, MPIX_STREAM_NULL};
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm comm;
    int length;

    MPIX_Stream_comm_create_multiplex(MPI_COMM_WORLD, 3, streams, &comm);
    MPI_Comm_set_name(comm, "three streams");
    MPI_Comm_get_name(comm, name, &length);
    say("named %s", name);
    MPI_Comm_free(&comm);
}

static void test_multiplex(MPIX_Stream stream)
{
    MPI_Request requests[2];
    MPI_Comm comm;
    int got = -1;

    test_two_streams(stream);
    test_three_streams(stream);
    MPIX_Stream_comm_create_multiplex(MPI_COMM_WORLD, 1, &stream, &comm);
    MPIX_Stream_irecv(&got, 1, MPI_INT, next(), 1, comm, 0, 0, &requests[0]);
    MPIX_Stream_isend(&say_rank, 1, MPI_INT, previous(), 1, comm, 0, 0,
                      &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    say("several streams: got %d", got);
    MPI_Comm_free(&comm);
}

static void test_streams(void)
{
    MPI_Request requests[2];
    MPIX_Stream stream, found;
    MPI_Comm comm;
    int got = -1;

    MPIX_Stream_create(MPI_INFO_NULL, &stream);
    MPIX_Stream_comm_create(MPI_COMM_WORLD, stream, &comm);
    MPIX_Comm_get_stream(comm, 0, &found);
    say("stream: %s", found == stream ? "the same" : "other");
    MPI_Irecv(&got, 1, MPI_INT, previous(), 1, comm, &requests[0]);
    MPI_Isend(&say_rank, 1, MPI_INT, next(), 1, comm, &requests[1]);
    MPIX_Stream_progress(stream);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    say("stream: got %d", got);
    say("stream: %d wrong", go_round(stream, comm));
    test_copy_of_stream_comm(stream, comm);
    MPI_Comm_free(&comm);
    if (MPICH_NUMVERSION < 50000000) /* 5.0.2 itself aborts over UCX */
        test_multiplex(stream);
    say("progress thread: %d", MPIX_Start_progress_thread(stream));
    MPI_Barrier(MPI_COMM_WORLD);
    say("progress thread: %d", MPIX_Stop_progress_thread(stream));
    MPIX_Stream_free(&stream);
}

static void test_pieces(void)
{
    MPI_Datatype type;
    MPI_Count pieces, bytes;
    MPIX_Iov list[4];

    MPI_Type_vector(3, 2, 4, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPIX_Type_iov_len(type, 1000, &pieces, &bytes);
    say("pieces: %d of %d bytes", (int) pieces, (int) bytes);
    MPIX_Type_iov(type, 0, list, 4, &pieces);
    say("pieces: %d, the second at %d", (int) pieces,
        (int) (MPI_Aint) list[1].iov_base);
    MPI_Type_free(&type);
}

/* One thread in each rank: the threads' ranks are those of the world. */
static void test_threadcomm(void)
{
    MPI_Comm comm;
    int rank, n;

    MPIX_Threadcomm_init(MPI_COMM_WORLD, 1, &comm);
    MPIX_Threadcomm_start(comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n);
    say("thread communicator: rank %d of %d", rank, n);
    MPI_Barrier(comm);
    MPIX_Threadcomm_finish(comm);
    MPIX_Threadcomm_free(&comm);
}

static void test(void)
{
    MPI_Comm comm;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    test_comm_buffer(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    test_comm_buffer(comm);
    MPI_Comm_free(&comm);
    test_process_buffer();
    test_session_buffer();
    test_requests();
    test_handles();
    test_local();
    test_streams();
    test_pieces();
}

#else

static void test(void)
{
    say("this MPICH is older");
}

static void test_threadcomm(void)
{
    test();
}

#endif

int main(int argc, char **argv)
{
    int level;

    setenv("MPIR_CVAR_CH4_RESERVE_VCIS", "1", 1);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &say_rank);
    if (argc > 1 && strcmp(argv[1], "threadcomm") == 0)
        test_threadcomm();
    else
        test();
    MPI_Finalize();
    return 0;
}
