/* SPDX-License-Identifier: BSD-3-Clause */
/* The decision every operation takes. Wrong arguments and operations outside
 * an epoch go to MPI's own window, which reports them as it always does: it
 * was never told of a lock, so it refuses. Only what MPI does not check, the
 * bounds of the window, is refused here, because a ghost would corrupt the
 * memory of somebody else. */
#include "config.h"

#include "rma_route.h"

#include "runtime/mpi/real.h"

/* MPICH handles: two bits of storage (0: null), four bits of kind. */
enum { KIND_DATATYPE = 3, KIND_WIN = 8 };

static bool is_handle(unsigned handle, unsigned kind)
{
    return handle >> 30 != 0 && (handle >> 26 & 0xf) == kind;
}

/* Why a window is native: from how it was made. */
static void count_native(MPI_Win handle, enum aspx_call call)
{
    int *flavor, flag = 0;
    enum aspx_way way = ASPX_WAY_PRIVATE;

    if (!is_handle((unsigned) handle, KIND_WIN))
        return;
    aspx_real.MPI_Win_get_attr(handle, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
    if (!flag)
        return;
    if (*flavor == MPI_WIN_FLAVOR_ALLOCATE)
        way = ASPX_WAY_ARENA;
    else if (*flavor == MPI_WIN_FLAVOR_DYNAMIC)
        way = ASPX_WAY_DYNAMIC;
    else if (*flavor == MPI_WIN_FLAVOR_SHARED)
        way = ASPX_WAY_SHARED;
    aspx_count(call, way);
}

/* Is an operation on this target legal now? */
static bool in_epoch(struct aspx_win *win, const struct aspx_target *target)
{
    switch (atomic_load_explicit(&win->access, memory_order_relaxed)) {
    case ASPX_ACCESS_LOCK_ALL:
    case ASPX_ACCESS_FENCE:
        return true;
    case ASPX_ACCESS_FENCED:
        atomic_store(&win->access, ASPX_ACCESS_FENCE);
        atomic_store(&win->exposed, true);
        return true;
    case ASPX_ACCESS_LOCK:
    case ASPX_ACCESS_START:
        return atomic_load_explicit(&target->held, memory_order_relaxed) !=
               ASPX_HELD_NONE;
    }
    return false;
}

/* First and last + 1 byte that count elements touch, from the displacement.
 * Predefined types carry their size in the handle, except pair types. */
static bool find_span(MPI_Count count, MPI_Datatype type, MPI_Count *lo_p,
                      MPI_Count *hi_p)
{
    MPI_Count lb, extent, true_lb, true_extent, reach;

    if (((unsigned) type & 0xff000000u) == 0x4c000000u) {
        *lo_p = 0;
        return !__builtin_mul_overflow(count, (unsigned) type >> 8 & 0xff,
                                       hi_p);
    }
    if (aspx_real.MPI_Type_get_extent_x(type, &lb, &extent) != MPI_SUCCESS ||
        aspx_real.MPI_Type_get_true_extent_x(type, &true_lb, &true_extent) !=
            MPI_SUCCESS ||
        __builtin_mul_overflow(count - 1, extent, &reach) ||
        __builtin_add_overflow(true_lb, true_extent, hi_p))
        return false;
    *lo_p = true_lb;
    if (reach < 0)
        return !__builtin_add_overflow(*lo_p, reach, lo_p);
    return !__builtin_add_overflow(*hi_p, reach, hi_p);
}

/* Is what the operation touches inside the target's window? */
static bool in_bounds(const struct aspx_target *target,
                      const struct aspx_touch *touch, MPI_Aint *addr_p)
{
    MPI_Count lo, hi, begin, end;
    MPI_Aint start;

    if (touch->count == 0) {
        *addr_p = (MPI_Aint) target->addr;
        return true;
    }
    if (!find_span(touch->count, touch->type, &lo, &hi) ||
        __builtin_mul_overflow(touch->disp, target->disp_unit, &start) ||
        __builtin_add_overflow(start, lo, &begin) ||
        __builtin_add_overflow(start, hi, &end))
        return false;
    *addr_p = (MPI_Aint) target->addr + start;
    return lo >= hi || (begin >= 0 && (uint64_t) end <= target->bytes);
}

enum aspx_road aspx_route_find(MPI_Win handle, const struct aspx_touch *touch,
                               struct aspx_route *route)
{
    struct aspx_win *win = aspx_win_find(handle);
    struct aspx_target *target;
    struct aspx_win_ghost *ghost;

    route->win = win;
    if (!win) {
        count_native(handle, touch->call);
        return ASPX_ROAD_NATIVE;
    }
    if (touch->rank < 0 || touch->rank >= win->size || touch->count < 0 ||
        !is_handle((unsigned) touch->type, KIND_DATATYPE))
        return ASPX_ROAD_NATIVE;
    target = &win->targets[touch->rank];
    if (!in_epoch(win, target))
        return ASPX_ROAD_NATIVE;
    if (!in_bounds(target, touch, &route->addr)) {
        route->code = aspx_win_raise(win, MPI_ERR_RMA_RANGE);
        return ASPX_ROAD_ERROR;
    }
    ghost = &win->ghosts[target->ghost];
    route->ghost_index = target->ghost;
    route->ghost = ghost->rank_all;
    if (!atomic_load_explicit(&ghost->used, memory_order_relaxed))
        atomic_store(&ghost->used, true);
    aspx_count(touch->call, ASPX_WAY_GHOST);
    return ASPX_ROAD_GHOST;
}
