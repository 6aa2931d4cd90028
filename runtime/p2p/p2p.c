/* SPDX-License-Identifier: BSD-3-Clause */
/* Before the ranks join nothing is made; then all have a ghost that carries
 * their messages, or none has. */
#include "config.h"

#include "p2p.h"

#include "buffer.h"
#include "call.h"
#include "give_back.h"

#include "runtime/base/log.h"
#include "runtime/posted/posted.h"
#include "runtime/world/world.h"

#include "mpi_behind.h"

#include <unistd.h>

struct aspx_p2p_join aspx_p2p_join;

static bool start(const struct asp_layout *layout)
{
    bool wanted = asp_layout_carries(layout);

    if (wanted)
        aspx_posted_want();
    return wanted;
}

/* All ranks have a ghost that carries their messages, or none has. */
static void join(const struct asp_layout *layout)
{
    bool can;

    aspx_posted_shares_cpus |= sysconf(_SC_NPROCESSORS_ONLN) <
                               (long) layout->ntasks;
    aspx_posted_polls = &aspx_p2p_behind;
    aspx_p2p_call_start();
    can = aspx_p2p_channel_open();
    aspx_p2p_give_back_start();
    aspx_p2p_join = (struct aspx_p2p_join){.asked = 1, .cannot = !can};
    if (!aspx_p2p_comm_start(layout, can) && aspx_world.rank_user == 0)
        aspx_log(ASPX_LOG_WARNING,
                 "some rank has no memory in common with its ghost; messages "
                 "are MPI's own");
}

/* What the program has left to MPI_Finalize is sent. */
static void leave(void)
{
    aspx_p2p_flush();
    aspx_p2p_channel_close();
}

const struct aspx_interceptor aspx_p2p_interceptor = {
    .start = start,
    .join = join,
    .leave = leave,
    .fill = aspx_p2p_fill,
    .behind = &aspx_p2p_behind,
};
