/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program that ends in the way its argument names; t4101 and t5101
 * compare what becomes of the job with and without ghosts.
 *
 *   normal      init, barrier, finalize
 *   once        normal, after appending a line to the file that ARG2 names
 *   stdin       rank 0 reads standard input, all print it
 *   abort       rank 1 calls MPI_Abort(MPI_COMM_WORLD, 7), the others wait
 *   abort-self  rank 1 aborts on a communicator of its own
 *   fatal       rank 1 makes an error on MPI_COMM_WORLD, the others wait
 *   crash       rank 1 dies by a signal, the others wait
 *   exit        all leave by exit(3), without MPI_Finalize
 *   exit-one    rank 1 does so, the others wait
 *   wait        all wait for ever
 *   sleep       all sleep for ever, outside MPI
 *   late        MPI_Init after two seconds
 *   fork        a child of each rank exits, another runs a shell
 *   threads     four threads talk at once (MPI_THREAD_MULTIPLE) */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, size;

static void wait_for_ever(void)
{
    int never;

    MPI_Recv(&never, 1, MPI_INT, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

static void append(const char *path)
{
    FILE *file = fopen(path, "a");

    if (!file)
        exit(1);
    fprintf(file, "%d\n", (int) getpid());
    fclose(file);
}

static void read_stdin(void)
{
    char text[256] = "";

    if (rank == 0 && !fgets(text, sizeof(text), stdin))
        strcpy(text, "nothing\n");
    MPI_Bcast(text, sizeof(text), MPI_CHAR, 0, MPI_COMM_WORLD);
    printf("rank %d of %d read %s", rank, size, text);
}

static void make_error(void)
{
    int value = 0;

    MPI_Send(&value, 1, MPI_INT, size + 3, 0, MPI_COMM_WORLD);
}

static void abort_self(void)
{
    MPI_Comm self;

    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &self);
    if (rank == 1)
        MPI_Abort(self, 7);
    wait_for_ever();
}

static void fork_children(void)
{
    int status, bad = 0;

    for (int i = 0; i < 2; i++) {
        pid_t pid = fork();

        if (pid == 0 && i == 0)
            exit(0);
        if (pid == 0)
            execl("/bin/sh", "sh", "-c", "true", (char *) NULL);
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
            bad = 1;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d children %s\n", rank, bad ? "bad" : "good");
}

static void *talk(void *arg)
{
    int tag = (int) (long) arg, other = (rank + 1) % size, got;

    for (int i = 0; i < 200; i++) {
        MPI_Sendrecv(&i, 1, MPI_INT, other, tag, &got, 1, MPI_INT,
                     (rank + size - 1) % size, tag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (got != i)
            MPI_Abort(MPI_COMM_WORLD, 9);
    }
    return NULL;
}

static void talk_in_threads(void)
{
    pthread_t threads[4];

    for (long i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, talk, (void *) i);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("rank %d threads good\n", rank);
}

static void act(const char *mode)
{
    int one = rank == 1;

    if (strcmp(mode, "stdin") == 0)
        read_stdin();
    else if (strcmp(mode, "abort") == 0)
        one ? (void) MPI_Abort(MPI_COMM_WORLD, 7) : wait_for_ever();
    else if (strcmp(mode, "abort-self") == 0)
        abort_self();
    else if (strcmp(mode, "fatal") == 0)
        one ? make_error() : wait_for_ever();
    else if (strcmp(mode, "crash") == 0)
        one ? abort() : wait_for_ever();
    else if (strcmp(mode, "exit") == 0)
        exit(3);
    else if (strcmp(mode, "exit-one") == 0)
        one ? exit(3) : wait_for_ever();
    else if (strcmp(mode, "wait") == 0)
        wait_for_ever();
    else if (strcmp(mode, "sleep") == 0)
        for (;;)
            pause();
    else if (strcmp(mode, "fork") == 0)
        fork_children();
    else if (strcmp(mode, "threads") == 0)
        talk_in_threads();
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "normal";
    int wanted, provided;

    wanted = strcmp(mode, "threads") == 0 ? MPI_THREAD_MULTIPLE
                                          : MPI_THREAD_SINGLE;
    if (strcmp(mode, "once") == 0 && argc > 2)
        append(argv[2]);
    if (strcmp(mode, "late") == 0)
        sleep(2);
    MPI_Init_thread(&argc, &argv, wanted, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    act(mode);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("rank %d of %d done, level %s\n", rank, size,
           provided == wanted ? "as wanted" : "other");
    MPI_Finalize();
    return 0;
}
