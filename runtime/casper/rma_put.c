/* SPDX-License-Identifier: BSD-3-Clause */
/* Put, Get and their twins: with a request, with large counts. The four twins
 * of an operation share one body; a body returns false when MPI's own call
 * has to run. */
#include "config.h"

#include "rma_route.h"

#include "runtime/mpi/real.h"
#include "mpi_hand.h"

/* The origin's side of an operation. */
struct side {
    void *addr;
    MPI_Count count;
    MPI_Datatype type;
};

static bool put(const void *addr, MPI_Count count, MPI_Datatype type,
                const struct aspx_touch *touch, MPI_Win win,
                MPI_Request *request, int *rc)
{
    struct aspx_route to;

    switch (aspx_route_find(win, touch, &to)) {
    case ASPX_ROAD_NATIVE:
        return false;
    case ASPX_ROAD_ERROR:
        *rc = to.code;
        return true;
    case ASPX_ROAD_GHOST:
        break;
    }
    if (!request) {
        *rc = aspx_real.MPI_Put_c(addr, count, type, to.ghost, to.addr,
                                  touch->count, touch->type, aspx_engine.win);
    } else {
        *rc = aspx_real.MPI_Rput_c(addr, count, type, to.ghost, to.addr,
                                   touch->count, touch->type, aspx_engine.win,
                                   request);
        aspx_win_ring(to.win, to.ghost_index);
    }
    *rc = aspx_win_pass(to.win, *rc);
    return true;
}

static bool get(const struct side *origin, const struct aspx_touch *touch,
                MPI_Win win, MPI_Request *request, int *rc)
{
    struct aspx_route to;

    switch (aspx_route_find(win, touch, &to)) {
    case ASPX_ROAD_NATIVE:
        return false;
    case ASPX_ROAD_ERROR:
        *rc = to.code;
        return true;
    case ASPX_ROAD_GHOST:
        break;
    }
    if (!request) {
        *rc = aspx_real.MPI_Get_c(origin->addr, origin->count, origin->type,
                                  to.ghost, to.addr, touch->count, touch->type,
                                  aspx_engine.win);
    } else {
        *rc = aspx_real.MPI_Rget_c(origin->addr, origin->count, origin->type,
                                   to.ghost, to.addr, touch->count,
                                   touch->type, aspx_engine.win, request);
        aspx_win_ring(to.win, to.ghost_index);
    }
    *rc = aspx_win_pass(to.win, *rc);
    return true;
}

int aspx_hand_MPI_Put(const void *origin_addr, int origin_count,
                      MPI_Datatype origin_datatype, int target_rank,
                      MPI_Aint target_disp, int target_count,
                      MPI_Datatype target_datatype, MPI_Win win)
{
    const struct aspx_touch touch = {ASPX_CALL_PUT, target_rank,
                                     target_disp, target_count,
                                     target_datatype};
    int rc;

    if (put(origin_addr, origin_count, origin_datatype, &touch, win, NULL,
            &rc))
        return rc;
    return aspx_real.MPI_Put(origin_addr, origin_count, origin_datatype,
                             target_rank, target_disp, target_count,
                             target_datatype, win);
}

int aspx_hand_MPI_Put_c(const void *origin_addr, MPI_Count origin_count,
                        MPI_Datatype origin_datatype, int target_rank,
                        MPI_Aint target_disp, MPI_Count target_count,
                        MPI_Datatype target_datatype, MPI_Win win)
{
    const struct aspx_touch touch = {ASPX_CALL_PUT, target_rank,
                                     target_disp, target_count,
                                     target_datatype};
    int rc;

    if (put(origin_addr, origin_count, origin_datatype, &touch, win, NULL,
            &rc))
        return rc;
    return aspx_real.MPI_Put_c(origin_addr, origin_count, origin_datatype,
                               target_rank, target_disp, target_count,
                               target_datatype, win);
}

int aspx_hand_MPI_Rput(const void *origin_addr, int origin_count,
                       MPI_Datatype origin_datatype, int target_rank,
                       MPI_Aint target_disp, int target_count,
                       MPI_Datatype target_datatype, MPI_Win win,
                       MPI_Request *request)
{
    const struct aspx_touch touch = {ASPX_CALL_PUT, target_rank,
                                     target_disp, target_count,
                                     target_datatype};
    int rc;

    if (request && put(origin_addr, origin_count, origin_datatype, &touch, win,
                       request, &rc))
        return rc;
    return aspx_real.MPI_Rput(origin_addr, origin_count, origin_datatype,
                              target_rank, target_disp, target_count,
                              target_datatype, win, request);
}

int aspx_hand_MPI_Rput_c(const void *origin_addr, MPI_Count origin_count,
                         MPI_Datatype origin_datatype, int target_rank,
                         MPI_Aint target_disp, MPI_Count target_count,
                         MPI_Datatype target_datatype, MPI_Win win,
                         MPI_Request *request)
{
    const struct aspx_touch touch = {ASPX_CALL_PUT, target_rank,
                                     target_disp, target_count,
                                     target_datatype};
    int rc;

    if (request && put(origin_addr, origin_count, origin_datatype, &touch, win,
                       request, &rc))
        return rc;
    return aspx_real.MPI_Rput_c(origin_addr, origin_count, origin_datatype,
                                target_rank, target_disp, target_count,
                                target_datatype, win, request);
}

int aspx_hand_MPI_Get(void *origin_addr, int origin_count,
                      MPI_Datatype origin_datatype, int target_rank,
                      MPI_Aint target_disp, int target_count,
                      MPI_Datatype target_datatype, MPI_Win win)
{
    const struct aspx_touch touch = {ASPX_CALL_GET, target_rank,
                                     target_disp, target_count,
                                     target_datatype};
    const struct side origin = {origin_addr, origin_count, origin_datatype};
    int rc;

    if (get(&origin, &touch, win, NULL, &rc))
        return rc;
    return aspx_real.MPI_Get(origin_addr, origin_count, origin_datatype,
                             target_rank, target_disp, target_count,
                             target_datatype, win);
}

int aspx_hand_MPI_Get_c(void *origin_addr, MPI_Count origin_count,
                        MPI_Datatype origin_datatype, int target_rank,
                        MPI_Aint target_disp, MPI_Count target_count,
                        MPI_Datatype target_datatype, MPI_Win win)
{
    const struct aspx_touch touch = {ASPX_CALL_GET, target_rank,
                                     target_disp, target_count,
                                     target_datatype};
    const struct side origin = {origin_addr, origin_count, origin_datatype};
    int rc;

    if (get(&origin, &touch, win, NULL, &rc))
        return rc;
    return aspx_real.MPI_Get_c(origin_addr, origin_count, origin_datatype,
                               target_rank, target_disp, target_count,
                               target_datatype, win);
}

int aspx_hand_MPI_Rget(void *origin_addr, int origin_count,
                       MPI_Datatype origin_datatype, int target_rank,
                       MPI_Aint target_disp, int target_count,
                       MPI_Datatype target_datatype, MPI_Win win,
                       MPI_Request *request)
{
    const struct aspx_touch touch = {ASPX_CALL_GET, target_rank,
                                     target_disp, target_count,
                                     target_datatype};
    const struct side origin = {origin_addr, origin_count, origin_datatype};
    int rc;

    if (request && get(&origin, &touch, win, request, &rc))
        return rc;
    return aspx_real.MPI_Rget(origin_addr, origin_count, origin_datatype,
                              target_rank, target_disp, target_count,
                              target_datatype, win, request);
}

int aspx_hand_MPI_Rget_c(void *origin_addr, MPI_Count origin_count,
                         MPI_Datatype origin_datatype, int target_rank,
                         MPI_Aint target_disp, MPI_Count target_count,
                         MPI_Datatype target_datatype, MPI_Win win,
                         MPI_Request *request)
{
    const struct aspx_touch touch = {ASPX_CALL_GET, target_rank,
                                     target_disp, target_count,
                                     target_datatype};
    const struct side origin = {origin_addr, origin_count, origin_datatype};
    int rc;

    if (request && get(&origin, &touch, win, request, &rc))
        return rc;
    return aspx_real.MPI_Rget_c(origin_addr, origin_count, origin_datatype,
                                target_rank, target_disp, target_count,
                                target_datatype, win, request);
}
