/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions: alone, and around or inside MPI_Init.
 *
 * usage: session alone|again|before|inside|after */
#include "say.h"

#include <stdlib.h>
#include <string.h>

static void tell_state(const char *when)
{
    int initialized, done;

    MPI_Initialized(&initialized);
    MPI_Finalized(&done);
    say("%s: initialized %d, finalized %d", when, initialized, done);
}

static void tell_set(MPI_Session session, const char *name)
{
    char value[32] = "";
    int size, rank, flag, sum = 0;
    MPI_Group group;
    MPI_Info info;
    MPI_Comm comm;

    MPI_Session_get_pset_info(session, name, &info);
    MPI_Info_get(info, "mpi_size", sizeof(value) - 1, value, &flag);
    MPI_Info_free(&info);
    MPI_Group_from_session_pset(session, name, &group);
    MPI_Group_size(group, &size);
    MPI_Group_rank(group, &rank);
    MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_RETURN,
                               &comm);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    say_rank = say_rank < 0 ? rank : say_rank;
    say("%s: mpi_size %s, rank %d of %d, sum %d", name, value, rank, size, sum);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
}

static MPI_Session begin(void)
{
    char name[64];
    int length, sets;
    MPI_Session session;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    tell_set(session, "mpi://WORLD");
    tell_set(session, "mpi://SELF");
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets);
    for (int i = 0; i < sets; i++) {
        length = sizeof(name);
        MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
        say("set %d is %s", i, name);
    }
    tell_state("in a session");
    return session;
}

static void init(void)
{
    int provided, level, size;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Query_thread(&level);
    MPI_Comm_rank(MPI_COMM_WORLD, &say_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    say("world: size %d, level %d %d", size, provided, level);
    tell_state("after MPI_Init");
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "alone";
    MPI_Session one, two;

    if (strcmp(mode, "alone") == 0) {
        one = begin();
        two = begin();
        MPI_Session_finalize(&one);
        tell_state("one left");
        MPI_Session_finalize(&two);
    } else if (strcmp(mode, "again") == 0) {
        for (int i = 0; i < 3; i++) {
            one = begin();
            MPI_Session_finalize(&one);
        }
    } else if (strcmp(mode, "before") == 0) {
        one = begin();
        init();
        MPI_Session_finalize(&one);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize();
    } else if (strcmp(mode, "inside") == 0) {
        init();
        one = begin();
        MPI_Session_finalize(&one);
        MPI_Finalize();
    } else {
        init();
        one = begin();
        MPI_Finalize();
        tell_set(one, "mpi://WORLD");
        tell_state("after MPI_Finalize");
        MPI_Session_finalize(&one);
    }
    tell_state("at the end");
    return 0;
}
