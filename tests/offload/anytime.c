/* SPDX-License-Identifier: BSD-3-Clause */
/* The main thread of the first rank waits for a message, which the second one
 * sends when another thread of the first has made the calls that MPI allows at
 * any time, at any thread level. Two processes on one node.
 * usage: offload_anytime LEVEL (of MPI_Init_thread) */
#include "tests/expect.h"
#include "tests/shared_int.h"

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT_MS = 10000 };

static _Atomic int *calls_made; /* in memory of both */

static void about_state(void)
{
    int flag, major, minor;

    MPI_Initialized(&flag);
    EXPECT(flag);
    MPI_Finalized(&flag);
    EXPECT(!flag);
    MPI_Query_thread(&flag);
    MPI_Is_thread_main(&flag);
    EXPECT(!flag);
    MPI_Get_version(&major, &minor);
    EXPECT(major >= 4);
}

static void about_info(void)
{
    char key[MPI_MAX_INFO_KEY + 1], value[8];
    int count, flag, length = sizeof(value);
    MPI_Info info, copy;

    MPI_Info_create(&info);
    MPI_Info_set(info, "one", "1");
    MPI_Info_set(info, "two", "2");
    MPI_Info_dup(info, &copy);
    MPI_Info_delete(copy, "one");
    MPI_Info_get_nkeys(copy, &count);
    EXPECT(count == 1);
    MPI_Info_get_nthkey(copy, 0, key);
    EXPECT(strcmp(key, "two") == 0);
    MPI_Info_get_string(copy, key, &length, value, &flag);
    EXPECT(flag && strcmp(value, "2") == 0);
    MPI_Info_get_valuelen(info, "one", &length, &flag);
    EXPECT(flag && length == 1);
    MPI_Info_free(&copy);
    MPI_Info_free(&info);
    EXPECT(info == MPI_INFO_NULL);
    MPI_Info_create_env(0, NULL, &info);
    MPI_Info_free(&info);
}

static void about_errors(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int class, length;

    MPI_Error_class(MPI_ERR_RANK, &class);
    EXPECT(class == MPI_ERR_RANK);
    MPI_Error_string(MPI_ERR_RANK, text, &length);
    EXPECT(length > 0 && strstr(text, "rank"));
}

static void about_tools(void)
{
    int provided, number, index;

    EXPECT(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS);
    EXPECT(MPI_T_cvar_get_num(&number) == MPI_SUCCESS && number > 0);
    EXPECT(MPI_T_cvar_get_index("MPIR_CVAR_ASYNC_PROGRESS", &index) ==
           MPI_SUCCESS);
    EXPECT(MPI_T_pvar_get_num(&number) == MPI_SUCCESS);
    EXPECT(MPI_T_category_get_num(&number) == MPI_SUCCESS);
    EXPECT(MPI_T_finalize() == MPI_SUCCESS);
}

static void (*const calls[])(void) = {about_state, about_info, about_errors,
                                      about_tools};
enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

static void *call(void *unused)
{
    for (int i = 0; i < CALLS; i++) {
        calls[i]();
        atomic_store(calls_made, i + 1);
    }
    return unused;
}

/* How many kinds of call returned. */
static int wait_for_calls(void)
{
    for (int ms = 0; ms < LIMIT_MS && atomic_load(calls_made) < CALLS; ms++)
        pause_ms(1);
    return atomic_load(calls_made);
}

int main(int argc, char **argv)
{
    int provided, made = 0;
    pthread_t thread;

    (void) argc;
    MPI_Init_thread(NULL, NULL, atoi(argv[1]), &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    calls_made = (_Atomic int *) shared_int();
    if (rank == 0) {
        pthread_create(&thread, NULL, call, NULL);
        MPI_Recv(&made, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        pthread_join(thread, NULL);
    } else {
        made = wait_for_calls();
        MPI_Send(&made, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    EXPECT(made == CALLS);
    MPI_Finalize();
    if (rank == 0)
        puts(wrong ? "anytime: wrong" : "anytime: ok");
    return 0;
}
