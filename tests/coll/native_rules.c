/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "native_test.h"

#include <stdio.h>

static int rank(void)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static int access_one(const char *name, int *value, int write)
{
    MPI_T_cvar_handle handle;
    int index, count;

    if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS ||
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS)
        return 0;
    if (write)
        MPI_T_cvar_write(handle, value);
    else
        MPI_T_cvar_read(handle, value);
    MPI_T_cvar_handle_free(&handle);
    return 1;
}

static void write_one(const char *name, int value)
{
    access_one(name, &value, 1);
}

static int read_one(const char *name)
{
    int value = -1;

    access_one(name, &value, 0);
    return value;
}

#define ALGORITHM "MPIR_CVAR_BCAST_INTRA_ALGORITHM"
#define RADIX     "MPIR_CVAR_IBCAST_TREE_KVAL"

static int others_write(const struct aspx_coll_call *call)
{
    must(read_one(RADIX) == 3, "a configuration's radix is set in its call");
    write_one(RADIX, 5);
    return MPI_Bcast(call->recv, 1, MPI_INT, 0, call->comm);
}

static int fails(const struct aspx_coll_call *call)
{
    must(read_one(RADIX) == 3, "a configuration's radix is set in its call");
    return MPI_Bcast(call->recv, -1, MPI_INT, 0, call->comm);
}

static int plain(const struct aspx_coll_call *call)
{
    return MPI_Bcast(call->recv, 1, MPI_INT, 0, call->comm);
}

static void set_and_restore(void)
{
    int value = rank();
    struct aspx_coll_call call = {
        .recv = &value, .comm = MPI_COMM_WORLD, .mpi = plain};
    struct aspx_native_config config;
    struct asp_err err;

    must(aspx_native_parse(ASP_COLL_BCAST, "bcast:mpich=nb-tree,k=3", &config,
                           &err) == 0,
         "nb-tree is an algorithm");
    write_one(ALGORITHM, 1);
    write_one(RADIX, 4);
    must(aspx_native_call(&config, &call) == MPI_SUCCESS && value == 0 &&
             read_one(ALGORITHM) == 1 && read_one(RADIX) == 4,
         "what the program wrote before is there after a call");
    call.mpi = fails;
    must(aspx_native_call(&config, &call) != MPI_SUCCESS &&
             read_one(ALGORITHM) == 1 && read_one(RADIX) == 4,
         "and after a call that failed");
    call.mpi = others_write;
    must(aspx_native_call(&config, &call) == MPI_SUCCESS &&
             read_one(ALGORITHM) == 1 && read_one(RADIX) == 5,
         "what somebody writes in a call stays");
    write_one(ALGORITHM, 0);
}

/* MPICH is asked for what it cannot do: the calls below fail only because it
 * says so, as all of these tests rely on. */
static int falls_back(const struct aspx_coll_call *call)
{
    int from[3] = {0}, to[3];

    return MPI_Allgather(from, 1, MPI_INT, to, 1, MPI_INT, call->comm);
}

static void fallback_is_seen(void)
{
    struct aspx_coll_call call = {.mpi = falls_back};
    struct aspx_native_problem problem = {
        .op = ASP_COLL_ALLGATHER, .ranks = 3, .nodes = 1};
    struct asp_tune_args args = {.bytes = 4};
    struct aspx_native_config config;
    struct asp_err err;
    int size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    must(size >= 3, "there are 3 ranks");
    problem.args = &args;
    must(aspx_native_parse(ASP_COLL_ALLGATHER,
                           "allgather:mpich=recursive-doubling", &config,
                           &err) == 0,
         "recursive-doubling is an algorithm");
    must(!aspx_native_fits(&config, &problem), "but not of 3 ranks");
    MPI_Comm_split(MPI_COMM_WORLD, rank() < 3, 0, &call.comm);
    MPI_Comm_set_errhandler(call.comm, MPI_ERRORS_RETURN);
    if (rank() < 3)
        must(aspx_native_call(&config, &call) != MPI_SUCCESS,
             "MPICH would fall back there, and says so");
    MPI_Comm_free(&call.comm);
}

static void texts_are_checked(void)
{
    static const char *const bad[] = {
        "",
        "bcast:mpich=",
        "bcast:mpich=smp",
        "bcast:mpich=nb-tree",
        "bcast:mpich=nb-tree,k=1",
        "bcast:mpich=nb-tree,k=2,k=2",
        "bcast:mpich=nb-tree,k=-2",
        "bcast:mpich=nb-tree,k=2,",
        "bcast:mpich=nb-tree,k=99999999999",
        "bcast:mpich=nb-tree,k",
        "bcast:mpich=binomial,k=2",
        "bcast:mpich=binomial,chunk=65536",
        "bcast:mpich=binomial,device=off",
        "bcast:mpich=nb-ring,device=on",
        "reduce:mpich=binomial",
        "bcast:mpich=binomial ",
        "bcast:mpich=nb-tree,k=4,chunk=8192",
    };
    struct aspx_native_config config;
    struct asp_err err;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        must(aspx_native_parse(ASP_COLL_BCAST, bad[i], &config, &err) == -1,
             bad[i]);
}

int count_configs(void)
{
    struct asp_tune_args args = {.bytes = 1024};
    struct aspx_native_problem problem = {
        .op = ASP_COLL_BCAST, .ranks = 8, .nodes = 1, .args = &args};
    struct aspx_native_configs configs = {0};
    int n = 0;

    while (aspx_native_configs_next(&configs, &problem))
        n++;
    return n;
}

void rules(int release)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    must(count_configs() >= 8, "there are algorithms of MPI_Bcast");
    set_and_restore();
    fallback_is_seen();
    texts_are_checked();
    aspx_native_stop();
    must(count_configs() == 0, "there is none when it has stopped");
    aspx_native_start(403);
    must(count_configs() == 0, "there is none of an unknown release");
    aspx_native_stop();
    /* One rank alone cannot use them. */
    aspx_native_start(rank() == 0 ? 399 : release);
    must(count_configs() == 0, "there is none that some rank lacks");
    aspx_native_stop();
    aspx_native_start(release);
    must(count_configs() >= 8, "there are algorithms of MPI_Bcast again");
    if (rank() == 0)
        printf("ok rules\n");
}
