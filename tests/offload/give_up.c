/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Abort, while the main thread waits in MPI_Recv for ever: by a signal, or
 * by another thread. usage: give_up alarm|thread */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static void on_alarm(int number)
{
    (void) number;
    MPI_Abort(MPI_COMM_WORLD, 7);
}

static void *give_up(void *unused)
{
    usleep(100000);
    on_alarm(0);
    return unused;
}

int main(int argc, char **argv)
{
    int buf, provided;
    pthread_t thread;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Barrier(MPI_COMM_WORLD); /* nobody is left in MPI_Init */
    signal(SIGALRM, on_alarm);
    if (strcmp(argv[1], "alarm") == 0)
        ualarm(100000, 0);
    else
        pthread_create(&thread, NULL, give_up, NULL);
    MPI_Recv(&buf, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
