/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that are allowed before MPI_Init and after MPI_Finalize, thread levels,
 * MPI_T, and the way out.
 *
 * usage: life LEVEL [abort|abort-self|abort-dup|fatal|fatal-away]
 *   fatal-away  ... while all others are outside MPI */
#include "say.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AWAY_S = 70 }; /* longer than a test may take */

static void tell_outside(const char *when)
{
    int major, minor, initialized, done, length;
    char version[MPI_MAX_LIBRARY_VERSION_STRING];

    MPI_Get_version(&major, &minor);
    MPI_Get_library_version(version, &length);
    MPI_Initialized(&initialized);
    MPI_Finalized(&done);
    say("%s: MPI %d.%d, %.14s, initialized %d, finalized %d", when, major,
        minor, version, initialized, done);
}

/* Every handle that can be had on MPI_COMM_WORLD. */
static void tell_tools(void)
{
    int vars, got = 0, count;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_T_cvar_handle handle;

    MPI_T_cvar_get_num(&vars);
    for (int i = 0; i < vars; i++) {
        if (MPI_T_cvar_handle_alloc(i, &world, &handle, &count) != MPI_SUCCESS)
            continue;
        got++;
        MPI_T_cvar_handle_free(&handle);
    }
    say("%d of %d control variables", got, vars);
}

static void leave(const char *how)
{
    MPI_Comm comm = MPI_COMM_WORLD;

    if (strcmp(how, "abort-self") == 0)
        comm = MPI_COMM_SELF;
    else if (strcmp(how, "abort-dup") == 0)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(MPI_COMM_WORLD);
    if (say_rank == 1 && strncmp(how, "fatal", 5) == 0)
        MPI_Send(&comm, 1, MPI_INT, 999, 0, MPI_COMM_WORLD);
    else if (say_rank == 1)
        MPI_Abort(comm, 7);
    else if (strcmp(how, "fatal-away") == 0)
        sleep(AWAY_S);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int level = argc > 1 ? atoi(argv[1]) : 0, provided, now, main_thread;

    tell_outside("before");
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    tell_tools();
    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &say_rank);
    MPI_Query_thread(&now);
    MPI_Is_thread_main(&main_thread);
    say("asked %d, got %d %d, main %d", level, provided, now, main_thread);
    tell_outside("inside");
    tell_tools();
    MPI_Pcontrol(1);
    if (argc > 2)
        leave(argv[2]);
    MPI_Finalize();
    MPI_T_finalize();
    tell_outside("after");
    return 0;
}
