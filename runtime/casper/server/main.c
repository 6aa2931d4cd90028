/* SPDX-License-Identifier: BSD-3-Clause */
/* aspen-ghost: the program that a ghost task runs in place of the user's. It
 * writes nothing and reads nothing of the job, waits until its users enter
 * MPI, serves them, and goes when they go:
 *
 *   board -> wait for INIT -> load MPI -> MPI_Init -> world -> engine -> serve
 *         -> engine stop -> MPI_Finalize
 *
 * It calls MPI from this thread only. */
#include "config.h"

#include "ghost.h"

#include "runtime/adapt/node_status_page.h"
#include "runtime/base/log.h"
#include "runtime/mpi/end_barrier.h"
#include "runtime/mpi/tcp_finalize_fix.h"
#include "runtime/mpi/real.h"
#include "runtime/net/net.h"
#include "runtime/world/builds.h"
#include "runtime/world/layout_fetch.h"
#include "runtime/world/manager.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Signals that are meant for the program: its users decide what happens then,
 * and the ghost goes with them. */
static void ignore_signals(void)
{
    static const int signals[] = {SIGTERM, SIGINT,  SIGHUP,  SIGUSR1, SIGUSR2,
                                  SIGXCPU, SIGPIPE, SIGALRM, SIGQUIT, SIGTSTP};

    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        signal(signals[i], SIG_IGN);
}

static int fail(const struct asp_err *err)
{
    char text[ASP_ERR_TEXT_MAX + ASP_ERR_PLACE_MAX];

    aspx_log(ASPX_LOG_ERROR, "%s", asp_err_print(err, text, sizeof(text)));
    return 1;
}

/* Did the launcher start one job of all? */
static bool has_all_ranks(const struct asp_layout *layout)
{
    int size = 0;

    aspx_real.MPI_Comm_size(MPI_COMM_WORLD, &size);
    return (uint32_t) size == layout->size_world;
}

/* Users without the library: the job cannot go on. Returns whether there are
 * any, and says so. */
static bool finds_lost(const struct asp_layout *layout)
{
    uint32_t first = 0, lost = 0, nusers;
    char which[96] = "the program is";
    struct asp_err err;

    if (has_all_ranks(layout))
        lost = aspx_ghost_count_lost(&first);
    if (lost == 0)
        return false;
    nusers = layout->ntasks - layout->ghosts_per_node;
    if (lost == 1 && nusers > 1)
        snprintf(which, sizeof(which), "local rank %u is", (unsigned) first);
    else if (lost < nusers)
        snprintf(which, sizeof(which), "local rank %u and %u others are",
                 (unsigned) first, (unsigned) lost - 1);
    asp_errf(&err, ECHILD,
             "%s in MPI without Aspen's library on %s, and would find ghosts "
             "among the ranks, so the job ends: add to LD_PRELOAD where "
             "something replaces it, or run without ghosts "
             "(--async-progress=off), as setuid and static programs must",
             which,
             layout->nodes ? layout->nodes[layout->node].name : "a node");
    fail(&err);
    return true;
}

/* Inside MPI. Returns an exit status. */
static int run(const struct asp_layout *layout, uint32_t local)
{
    struct asp_err err = {.text = "MPI failed in a ghost; see the messages of "
                                  "MPI around this one"};
    uint32_t nusers;

    if (finds_lost(layout))
        aspx_abort();
    if (aspx_world_start(&aspx_world, layout, local, &err) != 0) {
        /* ESRCH: users say so and run without us; ghosts just leave. */
        if (errno == ESRCH)
            return 0;
        fail(&err);
        aspx_abort();
    }
    aspx_builds_compare(&aspx_world);
    nusers = aspx_engine_count(&aspx_world, ASP_ROLE_USER);
    aspx_trace("process %d, ghost of node %u, which has %u users",
               (int) getpid(), aspx_world.node, nusers);
    if (aspx_engine_start(&aspx_engine, &aspx_world,
                          aspx_status_page_bytes(
                              nusers, (uint32_t) aspx_world.size_all)) != 0 ||
        aspx_ghost_serve(&aspx_engine) != 0) {
        fail(&err);
        aspx_abort();
    }
    aspx_engine_stop(&aspx_engine);
    aspx_world_stop(&aspx_world);
    return 0;
}

int main(void)
{
    struct asp_layout *layout;
    struct asp_err err;
    uint32_t local;
    int status;

    (void) prctl(PR_SET_NAME, "aspen-ghost");
    aspx_log_start("aspen-ghost");
    aspx_ghost_take_stdio();
    /* The arena tries how long a file may be. */
    signal(SIGXFSZ, SIG_IGN);
    if (aspx_ghost_watch()) {
        ignore_signals();
        aspx_ghost_await_users();
    }
    if (aspx_layout_fetch(&layout, &local, &err) != 0)
        return fail(&err);
    aspx_log_set_report(layout->knobs.report);
    if (aspx_ghost_load_mpi(&err) != 0) {
        fail(&err);
        aspx_manager_note_socket();
        aspx_manager_greet();
        aspx_manager_abort(); /* its users wait for it in MPI_Init */
        return 1;
    }
    aspx_net_enter(ASPX_NET_WAITED);
    if (aspx_ghost_init_mpi() != MPI_SUCCESS)
        return 1;
    aspx_end_barrier_patch();
    aspx_tcp_finalize_fix();
    status = run(layout, local);
    aspx_real.MPI_Finalize();
    aspx_ghost_gone();
    asp_layout_destroy(layout);
    return status;
}
