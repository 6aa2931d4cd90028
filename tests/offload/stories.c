/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program may expect of an offload thread, or of MPI in general: each
 * story prints one line. Two processes. Knows nothing of Aspen; what plain
 * MPICH does not pass is in outside.c.
 *
 * usage: offload_stories [NAME...] */
#define _GNU_SOURCE
#include "many.h"
#include "tests/stories.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BIG = 4 << 20, WRITES = 3, WRITTEN = 20000, QUIET_MS = 500 };

static int peer;

static void *not_main(void *flag)
{
    MPI_Is_thread_main(flag);
    return NULL;
}

/* The level is the one that was asked for. */
static void level(void)
{
    int provided, main_flag = 0, other = 1;
    pthread_t thread;

    MPI_Query_thread(&provided);
    EXPECT(provided == MPI_THREAD_MULTIPLE);
    MPI_Is_thread_main(&main_flag);
    EXPECT(main_flag);
    pthread_create(&thread, NULL, not_main, &other);
    pthread_join(thread, NULL);
    EXPECT(!other);
}

/* Null, inactive and active requests in one array; a freed one. */
static void mixed(void)
{
    MPI_Request requests[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL,
                               MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[4];
    int in = -1, out = rank, idle_in, index, flag, count, which[4];

    MPI_Waitany(4, requests, &index, &statuses[0]);
    EXPECT(index == MPI_UNDEFINED);
    MPI_Recv_init(&idle_in, 1, MPI_INT, peer, 9, MPI_COMM_WORLD, &requests[1]);
    MPI_Testsome(4, requests, &count, which, statuses);
    EXPECT(count == MPI_UNDEFINED);
    MPI_Irecv(&in, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&out, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[3]);
    MPI_Request_free(&requests[3]);
    EXPECT(requests[3] == MPI_REQUEST_NULL);
    MPI_Waitall(4, requests, statuses);
    EXPECT(in == peer && statuses[2].MPI_SOURCE == peer);
    EXPECT(statuses[0].MPI_SOURCE == MPI_ANY_SOURCE);
    EXPECT(requests[1] != MPI_REQUEST_NULL && requests[2] == MPI_REQUEST_NULL);
    MPI_Request_get_status(requests[1], &flag, &statuses[1]);
    EXPECT(flag && statuses[1].MPI_TAG == MPI_ANY_TAG);
    MPI_Request_free(&requests[1]);
    MPI_Barrier(MPI_COMM_WORLD);
}

static bool is_of_nobody(const MPI_Status *status)
{
    int count = -1;

    MPI_Get_count(status, MPI_INT, &count);
    return status->MPI_SOURCE == MPI_PROC_NULL &&
           status->MPI_TAG == MPI_ANY_TAG && count == 0;
}

/* What blocking receives from MPI_PROC_NULL say of their message. */
static void nobody(void)
{
    MPI_Status status = {.MPI_SOURCE = peer};
    int in = -1, out = rank;

    MPI_Recv(&in, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
    EXPECT(is_of_nobody(&status));
    status.MPI_SOURCE = peer;
    MPI_Sendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, 3, &in, 1, MPI_INT,
                 MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
    EXPECT(is_of_nobody(&status));
    status.MPI_SOURCE = peer;
    MPI_Sendrecv_replace(&out, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_PROC_NULL, 3,
                         MPI_COMM_WORLD, &status);
    EXPECT(is_of_nobody(&status));
    EXPECT(in == -1 && out == rank);
    if (rank == 0) {
        MPI_Sendrecv(&out, 1, MPI_INT, peer, 4, &in, 1, MPI_INT, MPI_PROC_NULL,
                     4, MPI_COMM_WORLD, &status);
        EXPECT(is_of_nobody(&status));
    } else {
        MPI_Recv(&in, 1, MPI_INT, peer, 4, MPI_COMM_WORLD, &status);
        EXPECT(in == peer && status.MPI_SOURCE == peer);
    }
}

/* More than a table holds at first. Plain MPICH over libfabric's tcp does not
 * get through 3,000. */
static void many(void)
{
    exchange_many(2000, peer);
}

/* Generalized requests: callbacks of the program, which may call MPI. */
static int freed;

static int query(void *extra, MPI_Status *status)
{
    (void) extra;
    MPI_Status_set_elements(status, MPI_BYTE, 42);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 5;
    return MPI_SUCCESS;
}

static int let_go(void *extra)
{
    int size;

    (void) extra;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    freed += size;
    return MPI_SUCCESS;
}

static int no_cancel(void *extra, int complete)
{
    (void) extra;
    (void) complete;
    return MPI_SUCCESS;
}

static void *complete_later(void *request)
{
    pause_ms(50);
    MPI_Grequest_complete(*(MPI_Request *) request);
    return NULL;
}

static void grequest(void)
{
    MPI_Request request, handed;
    MPI_Status status;
    pthread_t thread;
    int count, flag;

    MPI_Grequest_start(query, let_go, no_cancel, NULL, &request);
    MPI_Test(&request, &flag, &status);
    EXPECT(!flag && freed == 0);
    handed = request;
    pthread_create(&thread, NULL, complete_later, &handed);
    MPI_Wait(&request, &status);
    pthread_join(thread, NULL);
    MPI_Get_count(&status, MPI_BYTE, &count);
    EXPECT(count == 42 && status.MPI_SOURCE == 5 && freed == 2);
    EXPECT(request == MPI_REQUEST_NULL);
}

enum { SENDS_AT = 3 }; /* looks */
struct promise {
    MPI_Request request;
    int looks;
};

/* It sends what the other request of the Waitall receives. */
static int send_at_last(void *extra, MPI_Status *status)
{
    struct promise *promise = extra;

    (void) status;
    if (++promise->looks == SENDS_AT) {
        MPI_Send(&rank, 1, MPI_INT, rank, 7, MPI_COMM_WORLD);
        MPI_Grequest_complete(promise->request);
    }
    return MPI_SUCCESS;
}

static int wait_so_long(int count, void **promises, double s,
                        MPI_Status *status)
{
    (void) s;
    for (int i = 0; i < count; i++) {
        while (((struct promise *) promises[i])->looks < SENDS_AT)
            (void) send_at_last(promises[i], status);
    }
    return MPI_SUCCESS;
}

/* Who waits in the order of the requests waits for ever. */
static void moved_together(void)
{
    struct promise promise = {0};
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int got = -1;

    MPI_Irecv(&got, 1, MPI_INT, rank, 7, MPI_COMM_WORLD, &requests[0]);
    MPIX_Grequest_start(query, let_go, no_cancel, send_at_last, wait_so_long,
                        &promise, &requests[1]);
    promise.request = requests[1];
    MPI_Waitall(2, requests, statuses);
    EXPECT(got == rank && promise.looks >= SENDS_AT);
}

/* A small send is over when it is posted, and before what answers it: who asks
 * for any of the two late gets them in that order. */
static void answered(void)
{
    MPI_Request requests[2];
    int value = 0, index[2] = {-1, -1}, flag = 0;

    if (rank == 1) {
        MPI_Recv(&value, 1, MPI_INT, peer, 8, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        value++;
        MPI_Send(&value, 1, MPI_INT, peer, 8, MPI_COMM_WORLD);
        return;
    }
    MPI_Irecv(&value, 1, MPI_INT, peer, 8, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&peer, 1, MPI_INT, peer, 8, MPI_COMM_WORLD, &requests[1]);
    pause_ms(20);
    MPI_Testany(2, requests, &index[0], &flag, MPI_STATUS_IGNORE);
    MPI_Waitany(2, requests, &index[1], MPI_STATUS_IGNORE);
    EXPECT(flag && index[0] == 1 && index[1] == 0 && value == peer + 1);
}

/* A generalized request that comes first in the array goes before a small send,
 * while a receive is under way. */
static void promised(void)
{
    MPI_Request requests[3];
    int value = 0, index[2] = {-1, -1}, freed_before = freed;

    MPI_Irecv(&value, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, &requests[1]);
    MPI_Grequest_start(query, let_go, no_cancel, NULL, &requests[0]);
    MPI_Grequest_complete(requests[0]);
    MPI_Isend(&rank, 1, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD,
              &requests[2]);
    pause_ms(20);
    MPI_Waitany(3, requests, &index[0], MPI_STATUS_IGNORE);
    EXPECT(index[0] == 0 && freed == freed_before + 2);
    MPI_Waitany(3, requests, &index[1], MPI_STATUS_IGNORE);
    EXPECT(index[1] == 2);
    MPI_Send(&peer, 1, MPI_INT, rank, 9, MPI_COMM_WORLD);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    EXPECT(value == peer);
}

/* One of two fails: MPI_Request_get_status says so, and MPI_Testall does not
 * wait for the other. */
static void half_failed(void)
{
    MPI_Request requests[3];
    MPI_Status statuses[3];
    int flag = 0, small, never, buf[2] = {0}, class, rc = MPI_SUCCESS;

    MPI_Irecv(&small, 1, MPI_INT, peer, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&never, 1, MPI_INT, peer, 4, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(buf, 2, MPI_INT, peer, 3, MPI_COMM_WORLD, &requests[2]);
    while (!flag)
        rc = MPI_Request_get_status(requests[0], &flag, &statuses[0]);
    MPI_Error_class(rc, &class);
    EXPECT(class == MPI_ERR_TRUNCATE);
    rc = MPI_Testall(3, requests, &flag, statuses);
    EXPECT(rc == MPI_ERR_IN_STATUS && !flag);
    MPI_Error_class(statuses[0].MPI_ERROR, &class);
    EXPECT(class == MPI_ERR_TRUNCATE); /* MPICH 4.0 gives it back, 4.2 not */
    EXPECT(statuses[1].MPI_ERROR == MPI_ERR_PENDING);
    EXPECT(requests[1] != MPI_REQUEST_NULL);
    MPI_Cancel(&requests[1]);
    MPI_Waitall(3, requests, statuses);
}

/* Wrong arguments come back as codes at once, failures at completion. */
static void errors(void)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[2];
    int buf[2] = {0}, small = 0, class = 0, rc;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    rc = MPI_Isend(buf, 1, MPI_INT, 99, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Error_class(rc, &class);
    EXPECT(class == MPI_ERR_RANK);
    rc = MPI_Irecv(buf, -1, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Error_class(rc, &class);
    EXPECT(class == MPI_ERR_COUNT);
    rc = MPI_Isend(buf, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD,
                   &requests[0]);
    MPI_Error_class(rc, &class);
    EXPECT(class == MPI_ERR_TYPE);
    EXPECT(requests[0] == MPI_REQUEST_NULL);
    MPI_Irecv(&small, 1, MPI_INT, peer, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(buf, 2, MPI_INT, peer, 3, MPI_COMM_WORLD, &requests[1]);
    rc = MPI_Waitall(2, requests, statuses);
    EXPECT(rc == MPI_ERR_IN_STATUS);
    MPI_Error_class(statuses[0].MPI_ERROR, &class);
    EXPECT(class == MPI_ERR_TRUNCATE);
    EXPECT(statuses[1].MPI_ERROR == MPI_SUCCESS ||
           statuses[1].MPI_ERROR == MPI_ERR_PENDING);
    rc = MPI_Wait(NULL, MPI_STATUS_IGNORE);
    EXPECT(rc != MPI_SUCCESS);
    rc = MPI_Irecv(buf, 1, MPI_INT, peer, 3, MPI_COMM_WORLD, NULL);
    MPI_Error_class(rc, &class);
    EXPECT(class == MPI_ERR_ARG);
    half_failed();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* An error handler of the program that calls MPI itself. */
static int handled;

static void handle(MPI_Comm *comm, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING];
    int length, size;

    MPI_Error_string(*code, text, &length);
    MPI_Comm_size(*comm, &size);
    handled += size;
}

/* What MPICH returns when it has called a handler of the program. */
#define HANDLED_SUCCEEDS (MPICH_NUMVERSION >= 40300000)

static void handlers(void)
{
    MPI_Errhandler handler;
    MPI_Comm comm;
    int buf = 0, rc;

    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    rc = MPI_Send(&buf, 1, MPI_INT, 7, 0, comm);
    EXPECT((rc == MPI_SUCCESS) == HANDLED_SUCCEEDS);
    EXPECT(handled == 1);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&comm);
}

/* A deletion callback that sends a message and waits for it. */
static int say_goodbye(MPI_Comm comm, int keyval, void *value, void *extra)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int in = -1, out = rank;

    (void) comm;
    (void) keyval;
    (void) value;
    (void) extra;
    MPI_Irecv(&in, 1, MPI_INT, peer, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, peer, 4, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    EXPECT(in == peer);
    return MPI_SUCCESS;
}

static void callbacks(void)
{
    MPI_Comm comm;
    int keyval;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, say_goodbye, &keyval, NULL);
    MPI_Comm_set_attr(comm, keyval, NULL);
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&keyval);
}

/* One thread is in a receive that comes late; the other works meanwhile. */
static void *receive_late(void *value)
{
    MPI_Recv(value, 1, MPI_INT, peer, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

static void no_stall(void)
{
    pthread_t thread;
    MPI_Comm comm;
    int value = -1, sum, one = 1;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    pthread_create(&thread, NULL, receive_late, &value);
    for (int i = 0; i < 20; i++) {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        EXPECT(sum == 2);
    }
    MPI_Send(&rank, 1, MPI_INT, peer, 5, MPI_COMM_WORLD);
    pthread_join(thread, NULL);
    EXPECT(value == peer);
    MPI_Comm_free(&comm);
}

/* How often this process's other threads have gone to sleep; -1: cannot tell.
 */
static long sleeps_of_others(void)
{
    char path[300], line[80];
    struct dirent *task;
    DIR *tasks = opendir("/proc/self/task");
    long sleeps, sum = 0;
    FILE *status;

    if (!tasks)
        return -1;
    while ((task = readdir(tasks))) {
        snprintf(path, sizeof(path), "/proc/self/task/%s/status", task->d_name);
        if (atoi(task->d_name) == gettid() || !(status = fopen(path, "r")))
            continue;
        while (fgets(line, sizeof(line), status)) {
            if (sscanf(line, "voluntary_ctxt_switches: %ld", &sleeps) == 1)
                sum += sleeps;
        }
        fclose(status);
    }
    closedir(tasks);
    return sum;
}

/* While a rank waits in a collective call its other threads leave it the CPU.
 * (To be told before there is a window.) */
static void quiet(void)
{
    double ms;
    long sleeps;

    MPI_Barrier(MPI_COMM_WORLD);
    sleeps = sleeps_of_others();
    ms = MPI_Wtime() * 1e3;
    if (rank == 1)
        pause_ms(QUIET_MS);
    MPI_Barrier(MPI_COMM_WORLD);
    ms = MPI_Wtime() * 1e3 - ms;
    if (rank == 0) {
        EXPECT(ms >= QUIET_MS / 2);
        EXPECT(sleeps >= 0);
        EXPECT((double) (sleeps_of_others() - sleeps) <= ms);
    }
}

/* Two threads split two communicators, one rank in the other order: the first
 * call of one rank waits for the second call of the other. */
static void *split_late(void *comm)
{
    usleep(50000);
    MPI_Comm_split(*(MPI_Comm *) comm, 0, 0, comm);
    return NULL;
}

static void orders(void)
{
    pthread_t thread;
    MPI_Comm comms[2], made[2];
    int sum, one = 1;

    for (int i = 0; i < 2; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        made[i] = comms[i];
    }
    pthread_create(&thread, NULL, split_late, &made[rank]);
    MPI_Comm_split(comms[peer], 0, 0, &made[peer]);
    pthread_join(thread, NULL);
    for (int i = 0; i < 2; i++) {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made[i]);
        EXPECT(sum == 2);
        MPI_Comm_free(&made[i]);
        MPI_Comm_free(&comms[i]);
    }
}

/* What one thread has posted, another one completes. */
enum { HANDED = 4000 };
struct handed {
    MPI_Win win;
    MPI_Request requests[HANDED];
    int values[HANDED];
};

static void *put_all(void *argument)
{
    struct handed *handed = argument;

    for (int i = 0; i < HANDED; i++) {
        handed->values[i] = 10000 * rank + i;
        MPI_Rput(&handed->values[i], 1, MPI_INT, peer, i, 1, MPI_INT,
                 handed->win, &handed->requests[i]);
    }
    return NULL;
}

static void handed_over(void)
{
    static struct handed handed;
    pthread_t thread;
    int *memory, value;

    MPI_Win_allocate(HANDED * sizeof(int), sizeof(int), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &memory, &handed.win);
    MPI_Win_lock_all(0, handed.win);
    pthread_create(&thread, NULL, put_all, &handed);
    pthread_join(thread, NULL);
    MPI_Win_flush_all(handed.win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Get(&value, 1, MPI_INT, peer, HANDED - 1, 1, MPI_INT, handed.win);
    MPI_Win_unlock_all(handed.win);
    for (int i = 0; i < HANDED; i++)
        MPI_Wait(&handed.requests[i], MPI_STATUS_IGNORE);
    EXPECT(value == 10000 * rank + HANDED - 1);
    MPI_Win_free(&handed.win);
}

/* Collective writes to a file of both ranks' words in turn. */
static MPI_File open_together(void)
{
    MPI_Datatype every_other;
    MPI_Info info;
    MPI_File file;
    char name[PATH_MAX];

    if (rank == 0)
        snprintf(name, sizeof(name), "%s/offload_stories.%ld",
                 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (long) getpid());
    MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", "enable"); /* with messages */
    MPI_File_open(MPI_COMM_WORLD, name,
                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  info, &file);
    MPI_Info_free(&info);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every_other);
    MPI_Type_commit(&every_other);
    MPI_File_set_view(file, (MPI_Offset) sizeof(int) * rank, MPI_INT,
                      every_other, "native", MPI_INFO_NULL);
    MPI_Type_free(&every_other);
    return file;
}

static int written[WRITES][WRITTEN], back[WRITES][WRITTEN];

/* They move on only while both ranks wait for them. Rank 0 waits for a word of
 * rank 1 beside them, which is sent when rank 1 has written. */
static void beside(void)
{
    MPI_Request requests[WRITES + 1];
    MPI_Status statuses[WRITES + 1];
    MPI_File file = open_together();
    int word = -1;

    for (int w = 0; w <= WRITES; w++)
        requests[w] = MPI_REQUEST_NULL;
    if (rank == 0)
        MPI_Irecv(&word, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
    for (int w = 0; w < WRITES; w++) {
        for (int i = 0; i < WRITTEN; i++)
            written[w][i] = 1000 * w + 2 * i + rank;
        MPI_File_iwrite_at_all(file, (MPI_Offset) w * WRITTEN, written[w],
                               WRITTEN, MPI_INT, &requests[w + 1]);
    }
    MPI_Waitall(WRITES + 1, requests, statuses);
    if (rank == 1)
        MPI_Send(&rank, 1, MPI_INT, peer, 0, MPI_COMM_WORLD);
    EXPECT(rank == 1 || word == 1);
    MPI_File_read_at_all(file, 0, back, WRITES * WRITTEN, MPI_INT,
                         MPI_STATUS_IGNORE);
    EXPECT(memcmp(written, back, sizeof(back)) == 0);
    MPI_File_close(&file);
}

/* Signals are the program's; a child may exit. */
static volatile sig_atomic_t signalled;
static pthread_t main_thread;

static void on_signal(int number)
{
    (void) number;
    signalled += pthread_equal(pthread_self(), main_thread) ? 1 : 100;
}

static void processes(void)
{
    int status = -1;
    pid_t child;

    main_thread = pthread_self();
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < 20; i++)
        kill(getpid(), SIGUSR1);
    EXPECT(signalled > 0 && signalled < 100);
    fflush(NULL);
    child = fork();
    if (child == 0)
        exit(3);
    waitpid(child, &status, 0);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

static const struct story stories[] = {
    {"quiet", quiet},         {"level", level},
    {"mixed", mixed},         {"many", many},
    {"grequest", grequest},   {"moved together", moved_together},
    {"answered", answered},   {"promised", promised},
    {"errors", errors},       {"handlers", handlers},
    {"callbacks", callbacks}, {"no stall", no_stall},
    {"orders", orders},       {"handed over", handed_over},
    {"beside", beside},       {"processes", processes},
    {"nobody", nobody},
};

int main(int argc, char **argv)
{
    return tell_to_each_other(argc, argv, stories,
                              sizeof(stories) / sizeof(stories[0]), &peer);
}
