/* SPDX-License-Identifier: BSD-3-Clause */
/* For test programs that tell stories: functions without arguments that all
 * ranks run together, and that count what is not so (expect.h). */
#ifndef ASPEN_TESTS_STORIES_H
#define ASPEN_TESTS_STORIES_H

#include "tests/expect.h"

#include <mpi.h>
#include <stddef.h>
#include <string.h>

struct story {
    const char *name;
    void (*tell)(void);
};

static int is_asked(char *const *names, const char *name)
{
    for (int i = 0; names[i]; i++) {
        if (strcmp(names[i], name) == 0)
            return 1;
    }
    return !names[0];
}

/* Tell those that are named, by a list that ends with NULL, or all if it is
 * empty; rank 0 prints a line for each. In MPI, by all ranks. Returns in rank 0
 * how much was wrong. */
static int tell_stories(const struct story *stories, size_t n,
                        char *const *names)
{
    int all, wrongs = 0;

    for (size_t i = 0; i < n; i++) {
        if (!is_asked(names, stories[i].name))
            continue;
        wrong = 0;
        stories[i].tell();
        MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
        if (rank == 0) {
            printf("story %s: %s\n", stories[i].name, all ? "wrong" : "ok");
            fflush(stdout);
            wrongs += all;
        }
    }
    if (rank == 0 && !names[0] && !wrongs)
        printf("all stories: ok\n");
    return wrongs;
}

/* The whole of such a program's main(), with MPI_THREAD_MULTIPLE: two ranks,
 * *peer_p is the other, and the words behind its name are stories. */
static int __attribute__((unused))
tell_to_each_other(int argc, char **argv, const struct story *stories, size_t n,
                   int *peer_p)
{
    int provided, size;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2) {
        fprintf(stderr, "%s: two processes are needed\n", argv[0]);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    *peer_p = 1 - rank;
    (void) tell_stories(stories, n, argv + 1);
    MPI_Finalize();
    return 0;
}

#endif
