/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Finalize deletes the attributes of MPI_COMM_SELF first, while MPI still
 * works, and the one that was set first last: when callbacks of the program,
 * which may send and receive themselves, are through. */
#include "config.h"

#include "last_barrier.h"

#include "real.h"

#include "runtime/own_thread.h"

#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* The others may compute for hours yet: a rank that waits for them looks at MPI
 * all the time at first, as ranks mostly end together, and then between naps. As
 * others may be in the middle of a large message from it, these stay short. */
enum {
    AWAKE_NS = 2000000,
    NAP_FIRST_NS = 20000,
    NAP_LAST_NS = 100000,
};

static void rest(uint64_t began_ns, long *nap_ns)
{
    const struct timespec nap = {.tv_nsec = *nap_ns};

    if (aspx_clock_ns(CLOCK_MONOTONIC) - began_ns < AWAKE_NS) {
        sched_yield();
        return;
    }
    nanosleep(&nap, NULL);
    *nap_ns = 2 * *nap_ns < NAP_LAST_NS ? 2 * *nap_ns : NAP_LAST_NS;
}

static int wait_for_all(MPI_Comm comm, int keyval, void *value, void *extra)
{
    uint64_t began_ns = aspx_clock_ns(CLOCK_MONOTONIC);
    long nap_ns = NAP_FIRST_NS;
    MPI_Errhandler programs;
    MPI_Request request;
    int rc, over = 0;

    (void) comm;
    (void) keyval;
    (void) value;
    (void) extra;
    /* A program that has revoked it may end all the same. */
    aspx_real.MPI_Comm_get_errhandler(MPI_COMM_WORLD, &programs);
    aspx_real.MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    rc = aspx_real.MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (rc == MPI_SUCCESS && !over) {
        rc = aspx_real.MPI_Test(&request, &over, MPI_STATUS_IGNORE);
        if (!over)
            rest(began_ns, &nap_ns);
    }
    aspx_real.MPI_Comm_set_errhandler(MPI_COMM_WORLD, programs);
    aspx_real.MPI_Errhandler_free(&programs);
    return MPI_SUCCESS;
}

void aspx_last_barrier_set(void)
{
    static int keyval = MPI_KEYVAL_INVALID;

    if (keyval != MPI_KEYVAL_INVALID ||
        aspx_real.MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, wait_for_all,
                                         &keyval, NULL) != MPI_SUCCESS)
        return;
    aspx_real.MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
}
