/* SPDX-License-Identifier: BSD-3-Clause */
/* Many messages at once between two ranks. */
#ifndef ASPEN_TESTS_OFFLOAD_MANY_H
#define ASPEN_TESTS_OFFLOAD_MANY_H

#include "tests/stories.h"

#include <stdlib.h>

/* n messages each way, all posted before one is waited for; they keep their
 * order. */
static void exchange_many(int n, int peer)
{
    MPI_Request *requests = malloc(2 * (size_t) n * sizeof(*requests));
    MPI_Status *statuses = malloc(2 * (size_t) n * sizeof(*statuses));
    int *in = calloc((size_t) n, sizeof(*in)), bad = 0;
    int *out = malloc((size_t) n * sizeof(*out));

    for (int i = 0; i < n; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, peer, i % 1000, MPI_COMM_WORLD,
                  &requests[i]);
    for (int i = 0; i < n; i++) {
        out[i] = i + peer;
        MPI_Isend(&out[i], 1, MPI_INT, peer, i % 1000, MPI_COMM_WORLD,
                  &requests[n + i]);
    }
    MPI_Waitall(2 * n, requests, statuses);
    for (int i = 0; i < n; i++)
        bad += in[i] != i + rank; /* also says that they kept their order */
    EXPECT(bad == 0);
    free(requests);
    free(statuses);
    free(in);
    free(out);
}

#endif
