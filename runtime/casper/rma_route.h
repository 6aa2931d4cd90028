/* SPDX-License-Identifier: BSD-3-Clause */
/* Where one operation goes: the ghost of its target, MPI itself, or nowhere
 * because it is wrong. */
#ifndef ASPEN_RUNTIME_CASPER_RMA_ROUTE_H
#define ASPEN_RUNTIME_CASPER_RMA_ROUTE_H

#include "window.h"

#include "runtime/record.h"

enum aspx_road {
    ASPX_ROAD_GHOST,
    ASPX_ROAD_NATIVE, /* not ours, or MPI shall complain about it */
    ASPX_ROAD_ERROR,  /* already raised: return code */
};

struct aspx_route {
    struct aspx_win *win;
    uint32_t ghost_index; /* in win->ghosts */
    int ghost;            /* rank in world->all */
    MPI_Aint addr;        /* displacement in the internal window */
    int code;
};

/* What an operation touches at its target. */
struct aspx_touch {
    enum aspx_call call;
    int rank;
    MPI_Aint disp;
    MPI_Count count;
    MPI_Datatype type;
};

/* Decide, check the bounds, count. On ASPX_ROAD_GHOST the operation must
 * follow. Threads: any. */
enum aspx_road aspx_route_find(MPI_Win handle, const struct aspx_touch *touch,
                               struct aspx_route *route);

#endif
