/* SPDX-License-Identifier: BSD-3-Clause */
/* The accumulate family. All of it runs in the target's main ghost, in every
 * kind of epoch and for every window on the same memory: one executor per
 * byte makes it atomic and ordered. See rma_put.c for the shape. */
#include "config.h"

#include "rma_route.h"

#include "runtime/mpi/real.h"
#include "mpi_hand.h"

/* One buffer of the origin. */
struct source {
    const void *addr;
    MPI_Count count;
    MPI_Datatype type;
};

struct result {
    void *addr;
    MPI_Count count;
    MPI_Datatype type;
};

static bool accumulate(const struct source *origin,
                       const struct aspx_touch *touch, MPI_Op op, MPI_Win win,
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
        *rc = aspx_real.MPI_Accumulate_c(origin->addr, origin->count,
                                         origin->type, to.ghost, to.addr,
                                         touch->count, touch->type, op,
                                         aspx_engine.win);
    } else {
        *rc = aspx_real.MPI_Raccumulate_c(origin->addr, origin->count,
                                          origin->type, to.ghost, to.addr,
                                          touch->count, touch->type, op,
                                          aspx_engine.win, request);
        aspx_win_ring(to.win, to.ghost_index);
    }
    *rc = aspx_win_pass(to.win, *rc);
    return true;
}

static bool get_accumulate(const struct source *origin,
                           const struct result *result,
                           const struct aspx_touch *touch, MPI_Op op,
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
        *rc = aspx_real.MPI_Get_accumulate_c(
            origin->addr, origin->count, origin->type, result->addr,
            result->count, result->type, to.ghost, to.addr, touch->count,
            touch->type, op, aspx_engine.win);
    } else {
        *rc = aspx_real.MPI_Rget_accumulate_c(
            origin->addr, origin->count, origin->type, result->addr,
            result->count, result->type, to.ghost, to.addr, touch->count,
            touch->type, op, aspx_engine.win, request);
        aspx_win_ring(to.win, to.ghost_index);
    }
    *rc = aspx_win_pass(to.win, *rc);
    return true;
}

int aspx_hand_MPI_Fetch_and_op(const void *origin_addr, void *result_addr,
                               MPI_Datatype datatype, int target_rank,
                               MPI_Aint target_disp, MPI_Op op, MPI_Win win)
{
    const struct aspx_touch touch = {ASPX_CALL_FETCH_AND_OP, target_rank,
                                     target_disp, 1, datatype};
    struct aspx_route to;

    switch (aspx_route_find(win, &touch, &to)) {
    case ASPX_ROAD_NATIVE:
        return aspx_real.MPI_Fetch_and_op(origin_addr, result_addr, datatype,
                                          target_rank, target_disp, op, win);
    case ASPX_ROAD_ERROR:
        return to.code;
    case ASPX_ROAD_GHOST:
        break;
    }
    return aspx_win_pass(to.win,
                         aspx_real.MPI_Fetch_and_op(origin_addr, result_addr,
                                                    datatype, to.ghost,
                                                    to.addr, op,
                                                    aspx_engine.win));
}

int aspx_hand_MPI_Compare_and_swap(const void *origin_addr,
                                   const void *compare_addr, void *result_addr,
                                   MPI_Datatype datatype, int target_rank,
                                   MPI_Aint target_disp, MPI_Win win)
{
    const struct aspx_touch touch = {ASPX_CALL_COMPARE_AND_SWAP, target_rank,
                                     target_disp, 1, datatype};
    struct aspx_route to;

    switch (aspx_route_find(win, &touch, &to)) {
    case ASPX_ROAD_NATIVE:
        return aspx_real.MPI_Compare_and_swap(origin_addr, compare_addr,
                                              result_addr, datatype,
                                              target_rank, target_disp, win);
    case ASPX_ROAD_ERROR:
        return to.code;
    case ASPX_ROAD_GHOST:
        break;
    }
    return aspx_win_pass(to.win,
                         aspx_real.MPI_Compare_and_swap(
                             origin_addr, compare_addr, result_addr, datatype,
                             to.ghost, to.addr, aspx_engine.win));
}

int aspx_hand_MPI_Accumulate(const void *origin_addr, int origin_count,
                             MPI_Datatype origin_datatype, int target_rank,
                             MPI_Aint target_disp, int target_count,
                             MPI_Datatype target_datatype, MPI_Op op,
                             MPI_Win win)
{
    const struct aspx_touch touch = {ASPX_CALL_ACCUMULATE, target_rank,
                                     target_disp, target_count,
                                     target_datatype};
    const struct source origin = {origin_addr, origin_count,
                                  origin_datatype};
    int rc;

    if (accumulate(&origin, &touch, op, win, NULL, &rc))
        return rc;
    return aspx_real.MPI_Accumulate(origin_addr, origin_count, origin_datatype,
                                    target_rank, target_disp, target_count,
                                    target_datatype, op, win);
}

int aspx_hand_MPI_Accumulate_c(const void *origin_addr, MPI_Count origin_count,
                               MPI_Datatype origin_datatype, int target_rank,
                               MPI_Aint target_disp, MPI_Count target_count,
                               MPI_Datatype target_datatype, MPI_Op op,
                               MPI_Win win)
{
    const struct aspx_touch touch = {ASPX_CALL_ACCUMULATE, target_rank,
                                     target_disp, target_count,
                                     target_datatype};
    const struct source origin = {origin_addr, origin_count,
                                  origin_datatype};
    int rc;

    if (accumulate(&origin, &touch, op, win, NULL, &rc))
        return rc;
    return aspx_real.MPI_Accumulate_c(origin_addr, origin_count,
                                      origin_datatype, target_rank,
                                      target_disp, target_count,
                                      target_datatype, op, win);
}

int aspx_hand_MPI_Raccumulate(const void *origin_addr, int origin_count,
                              MPI_Datatype origin_datatype, int target_rank,
                              MPI_Aint target_disp, int target_count,
                              MPI_Datatype target_datatype, MPI_Op op,
                              MPI_Win win, MPI_Request *request)
{
    const struct aspx_touch touch = {ASPX_CALL_ACCUMULATE, target_rank,
                                     target_disp, target_count,
                                     target_datatype};
    const struct source origin = {origin_addr, origin_count,
                                  origin_datatype};
    int rc;

    if (request && accumulate(&origin, &touch, op, win, request, &rc))
        return rc;
    return aspx_real.MPI_Raccumulate(origin_addr, origin_count,
                                     origin_datatype, target_rank, target_disp,
                                     target_count, target_datatype, op, win,
                                     request);
}

int aspx_hand_MPI_Raccumulate_c(const void *origin_addr,
                                MPI_Count origin_count,
                                MPI_Datatype origin_datatype, int target_rank,
                                MPI_Aint target_disp, MPI_Count target_count,
                                MPI_Datatype target_datatype, MPI_Op op,
                                MPI_Win win, MPI_Request *request)
{
    const struct aspx_touch touch = {ASPX_CALL_ACCUMULATE, target_rank,
                                     target_disp, target_count,
                                     target_datatype};
    const struct source origin = {origin_addr, origin_count,
                                  origin_datatype};
    int rc;

    if (request && accumulate(&origin, &touch, op, win, request, &rc))
        return rc;
    return aspx_real.MPI_Raccumulate_c(origin_addr, origin_count,
                                       origin_datatype, target_rank,
                                       target_disp, target_count,
                                       target_datatype, op, win, request);
}

int aspx_hand_MPI_Get_accumulate(const void *origin_addr, int origin_count,
                                 MPI_Datatype origin_datatype,
                                 void *result_addr, int result_count,
                                 MPI_Datatype result_datatype, int target_rank,
                                 MPI_Aint target_disp, int target_count,
                                 MPI_Datatype target_datatype, MPI_Op op,
                                 MPI_Win win)
{
    const struct aspx_touch touch = {ASPX_CALL_GET_ACCUMULATE, target_rank,
                                     target_disp, target_count,
                                     target_datatype};
    const struct source origin = {origin_addr, origin_count,
                                  origin_datatype};
    const struct result result = {result_addr, result_count,
                                  result_datatype};
    int rc;

    if (get_accumulate(&origin, &result, &touch, op, win, NULL, &rc))
        return rc;
    return aspx_real.MPI_Get_accumulate(origin_addr, origin_count,
                                        origin_datatype, result_addr,
                                        result_count, result_datatype,
                                        target_rank, target_disp, target_count,
                                        target_datatype, op, win);
}

int aspx_hand_MPI_Get_accumulate_c(const void *origin_addr,
                                   MPI_Count origin_count,
                                   MPI_Datatype origin_datatype,
                                   void *result_addr, MPI_Count result_count,
                                   MPI_Datatype result_datatype,
                                   int target_rank, MPI_Aint target_disp,
                                   MPI_Count target_count,
                                   MPI_Datatype target_datatype, MPI_Op op,
                                   MPI_Win win)
{
    const struct aspx_touch touch = {ASPX_CALL_GET_ACCUMULATE, target_rank,
                                     target_disp, target_count,
                                     target_datatype};
    const struct source origin = {origin_addr, origin_count,
                                  origin_datatype};
    const struct result result = {result_addr, result_count,
                                  result_datatype};
    int rc;

    if (get_accumulate(&origin, &result, &touch, op, win, NULL, &rc))
        return rc;
    return aspx_real.MPI_Get_accumulate_c(origin_addr, origin_count,
                                          origin_datatype, result_addr,
                                          result_count, result_datatype,
                                          target_rank, target_disp,
                                          target_count, target_datatype, op,
                                          win);
}

int aspx_hand_MPI_Rget_accumulate(const void *origin_addr, int origin_count,
                                  MPI_Datatype origin_datatype,
                                  void *result_addr, int result_count,
                                  MPI_Datatype result_datatype,
                                  int target_rank, MPI_Aint target_disp,
                                  int target_count,
                                  MPI_Datatype target_datatype, MPI_Op op,
                                  MPI_Win win, MPI_Request *request)
{
    const struct aspx_touch touch = {ASPX_CALL_GET_ACCUMULATE, target_rank,
                                     target_disp, target_count,
                                     target_datatype};
    const struct source origin = {origin_addr, origin_count,
                                  origin_datatype};
    const struct result result = {result_addr, result_count,
                                  result_datatype};
    int rc;

    if (request && get_accumulate(&origin, &result, &touch, op, win, request,
                                  &rc))
        return rc;
    return aspx_real.MPI_Rget_accumulate(origin_addr, origin_count,
                                         origin_datatype, result_addr,
                                         result_count, result_datatype,
                                         target_rank, target_disp,
                                         target_count, target_datatype, op,
                                         win, request);
}

int aspx_hand_MPI_Rget_accumulate_c(const void *origin_addr,
                                    MPI_Count origin_count,
                                    MPI_Datatype origin_datatype,
                                    void *result_addr, MPI_Count result_count,
                                    MPI_Datatype result_datatype,
                                    int target_rank, MPI_Aint target_disp,
                                    MPI_Count target_count,
                                    MPI_Datatype target_datatype, MPI_Op op,
                                    MPI_Win win, MPI_Request *request)
{
    const struct aspx_touch touch = {ASPX_CALL_GET_ACCUMULATE, target_rank,
                                     target_disp, target_count,
                                     target_datatype};
    const struct source origin = {origin_addr, origin_count,
                                  origin_datatype};
    const struct result result = {result_addr, result_count,
                                  result_datatype};
    int rc;

    if (request && get_accumulate(&origin, &result, &touch, op, win, request,
                                  &rc))
        return rc;
    return aspx_real.MPI_Rget_accumulate_c(origin_addr, origin_count,
                                           origin_datatype, result_addr,
                                           result_count, result_datatype,
                                           target_rank, target_disp,
                                           target_count, target_datatype, op,
                                           win, request);
}
