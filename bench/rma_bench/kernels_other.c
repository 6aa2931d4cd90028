/* SPDX-License-Identifier: BSD-3-Clause */
/* Making a window, the rate of two-sided messages, and the memory of a ghost
 * when there are many windows. */
#include "bench.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BURST = 64,  /* messages in flight, as in the OSU test */
    BURSTS = 10, /* of one step, so that starting a thread matters little */
};

void alloc_open(struct bench *bench)
{
    (void) bench;
}

void alloc_close(struct bench *bench)
{
    (void) bench;
}

double alloc_step(struct bench *bench)
{
    MPI_Info info = area_info(&bench->opt);
    double begin, took;
    MPI_Win win;
    void *base;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    MPI_Win_allocate(bench->opt.bytes, 1, info, MPI_COMM_WORLD, &base, &win);
    took = MPI_Wtime() - begin;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    return took;
}

static char *copy_from, *copy_to;

void copy_open(struct bench *bench)
{
    size_t bytes = (size_t) bench->opt.bytes;

    copy_from = malloc(bytes);
    copy_to = malloc(bytes);
    if (!copy_from || !copy_to)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(copy_from, 1, bytes);
    memset(copy_to, 2, bytes);
}

double copy_step(struct bench *bench)
{
    double begin = MPI_Wtime();

    memcpy(copy_to, copy_from, (size_t) bench->opt.bytes);
    /* whoever else may look at it: the copy is not left out */
    __asm__ volatile("" : : "r"(copy_to) : "memory");
    return MPI_Wtime() - begin;
}

void copy_close(struct bench *bench)
{
    (void) bench;
    free(copy_from);
    free(copy_to);
}

struct sender {
    pthread_t thread;
    int peer, tag, bytes;
    bool sends;
};

static void *exchange(void *argument)
{
    const struct sender *me = argument;
    MPI_Request requests[BURST];
    MPI_Status statuses[BURST];
    char *bytes = calloc(BURST, (size_t) me->bytes);

    if (!bytes)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int b = 0; b < BURSTS; b++) {
        for (int i = 0; i < BURST; i++) {
            if (me->sends)
                MPI_Isend(bytes + (long) i * me->bytes, me->bytes, MPI_BYTE,
                          me->peer, me->tag, MPI_COMM_WORLD, &requests[i]);
            else
                MPI_Irecv(bytes + (long) i * me->bytes, me->bytes, MPI_BYTE,
                          me->peer, me->tag, MPI_COMM_WORLD, &requests[i]);
        }
        MPI_Waitall(BURST, requests, statuses);
        if (me->sends)
            MPI_Recv(bytes, 0, MPI_BYTE, me->peer, me->tag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        else
            MPI_Send(bytes, 0, MPI_BYTE, me->peer, me->tag, MPI_COMM_WORLD);
    }
    free(bytes);
    return NULL;
}

/* Time of one message. */
double rate_step(struct bench *bench)
{
    enum { THREADS = 16 };
    struct sender senders[THREADS];
    int n = bench->opt.threads < THREADS ? bench->opt.threads : THREADS;
    double begin;

    if (bench->rank > 1)
        return 0;
    begin = MPI_Wtime();
    for (int i = 0; i < n; i++) {
        senders[i] = (struct sender){.peer = 1 - bench->rank,
                                     .tag = i,
                                     .bytes = bench->opt.bytes,
                                     .sends = bench->rank == 0};
        if (i > 0 && pthread_create(&senders[i].thread, NULL, exchange,
                                    &senders[i]) != 0)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    exchange(&senders[0]);
    for (int i = 1; i < n; i++)
        pthread_join(senders[i].thread, NULL);
    return (MPI_Wtime() - begin) / (n * BURST * BURSTS);
}

/* Parent of a process, if its program is `name`; else 0. */
static int parent_if_named(const char *pid, const char *name)
{
    char path[300], comm[32] = "";
    int parent = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%s/stat", pid);
    file = fopen(path, "re");
    if (!file)
        return 0;
    if (fscanf(file, "%*d (%31[^)]) %*c %d", comm, &parent) != 2)
        parent = 0;
    fclose(file);
    return strcmp(comm, name) == 0 ? parent : 0;
}

static long resident_kb(const char *pid)
{
    char path[300], line[200];
    long kb = -1;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%s/smaps_rollup", pid);
    file = fopen(path, "re");
    while (file && kb < 0 && fgets(line, sizeof(line), file))
        sscanf(line, "Rss: %ld", &kb);
    if (file)
        fclose(file);
    return kb;
}

/* The largest ghost among the processes that mpiexec started beside this one,
 * in KB; 0 when there is none. */
static long largest_ghost_kb(void)
{
    struct dirent *entry;
    long most = 0, kb;
    DIR *proc = opendir("/proc");

    while (proc && (entry = readdir(proc))) {
        if (parent_if_named(entry->d_name, "aspen-ghost") != getppid())
            continue;
        kb = resident_kb(entry->d_name);
        most = kb > most ? kb : most;
    }
    if (proc)
        closedir(proc);
    return most;
}

double ghost_rss_step(struct bench *bench)
{
    int n = bench->opt.windows;
    MPI_Win *windows = calloc((size_t) n + 1, sizeof(*windows));
    double kb = 0;
    void *base;

    for (int i = 0; i < n; i++)
        MPI_Win_allocate(bench->opt.bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                         &base, &windows[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (bench->rank == 0)
        kb = (double) largest_ghost_kb();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < n; i++)
        MPI_Win_free(&windows[i]);
    free(windows);
    return kb;
}
