/* SPDX-License-Identifier: BSD-3-Clause */
/* The decision every operation takes. Wrong arguments and operations outside
 * an epoch go to MPI's own window, which reports them as it always does: it
 * was never told of a lock, so it refuses. Only what MPI does not check, the
 * bounds of the window, is refused here, because a ghost would corrupt the
 * memory of somebody else.
 *
 * What may take which path: Put and Get may be carried out by anybody, so they
 * are copied here where the target's memory is in reach, left to the device
 * where one is trusted (rma.direct), and sent to whatever ghost is least busy
 * otherwise (rma.balance), the simple ones on the contiguous window. Each byte
 * has one ghost that carries out all its accumulates, of all origins and in all
 * kinds of epochs. */
#include "config.h"

#include "balance.h"
#include "flush.h"
#include "route.h"
#include "types.h"
#include "runtime/casper/arena/arrival.h"
#include "runtime/casper/window/native.h"

#include "runtime/base/log.h"
#include "runtime/mpi/handle.h"
#include "runtime/mpi/real.h"

/* Operations, and bytes, that one window of one process may have under way to
 * one ghost. With more the process waits for the ghost: that bounds the memory
 * of the queues. */
enum { CREDIT_OPS = 1024, CREDIT_BYTES = 64 << 20 };

/* What takes more than one message where MPI shares memory: MPICH's cells have
 * 16 KiB and more, with a header. */
enum { CELL_BYTES = 16000 };

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

/* Is what the operation touches inside the target's window? Fills start and
 * the span: first byte and last + 1, from start. */
static bool in_bounds(const struct aspx_target *target,
                      const struct aspx_target_access *access,
                      MPI_Aint *start_p, MPI_Count *lo_p, MPI_Count *hi_p)
{
    MPI_Count begin, end;

    *start_p = *lo_p = *hi_p = 0;
    if (access->count == 0)
        return true;
    if (!aspx_type_span(access->count, access->type, lo_p, hi_p) ||
        __builtin_mul_overflow(access->disp, target->disp_unit, start_p) ||
        __builtin_add_overflow(*start_p, *lo_p, &begin) ||
        __builtin_add_overflow(*start_p, *hi_p, &end))
        return false;
    return *lo_p >= *hi_p || (begin >= 0 && (uint64_t) end <= target->bytes);
}

/* MPI has no question for it, so it is told to move nothing, once for a type
 * that is used again and again. (A type that was freed may leave its handle to
 * one that is not committed: that goes unnoticed then, and is copied rightly.)
 */
static bool is_committed(MPI_Datatype type)
{
    static _Atomic MPI_Datatype last = MPI_DATATYPE_NULL;

    if (atomic_load_explicit(&last, memory_order_relaxed) == type)
        return true;
    if (aspx_real.MPI_Put(NULL, 0, type, MPI_PROC_NULL, 0, 0, type,
                          aspx_engine.win) != MPI_SUCCESS)
        return false;
    atomic_store_explicit(&last, type, memory_order_relaxed);
    return true;
}

/* Are both buffers the same string of bytes? What does not fit together is left
 * to MPI and its error. */
static bool same_bytes(const struct aspx_buffer *origin,
                       const struct aspx_target_access *access, uint64_t bytes)
{
    if (origin->count < 0 || (!origin->addr && bytes > 0))
        return false;
    if (aspx_handle_basic_size(access->type))
        return aspx_handle_basic_size(origin->type) &&
               aspx_type_bytes(origin->count, origin->type) == bytes;
    return origin->type == access->type && origin->count == access->count &&
           aspx_type_dense(access->type) && is_committed(access->type);
}

uint32_t aspx_route_owner(const struct aspx_win *win,
                          const struct aspx_target *target, MPI_Aint byte)
{
    const struct aspx_win_node *node = &win->nodes[target->node];
    uint64_t segment = (node->bytes + node->nghosts - 1) / node->nghosts;
    uint64_t at = target->first_byte + (uint64_t) byte;

    return node->first_ghost + (uint32_t) (segment ? at / segment : 0);
}

void aspx_route_to(struct aspx_route *route, uint32_t g)
{
    const struct aspx_win *win = route->win;
    int rank = win->ghosts[g].rank_all;

    route->on = aspx_engine.win;
    route->ghost = g;
    route->rank = rank;
    route->addr = (MPI_Aint) (aspx_engine.arena_addr[rank] +
                              route->target->off) +
                  route->start;
}

/* For the record, and for adaptation, which decides between ghost and target.
 */
static void count_operation(const struct aspx_route *route, enum aspx_call call,
                            enum aspx_handling handling)
{
    int kind = call == ASPX_CALL_PUT   ? ASPX_KIND_PUT
               : call == ASPX_CALL_GET ? ASPX_KIND_GET
                                       : ASPX_KIND_ACC;

    aspx_count(call, handling);
    aspx_adapt_count(kind, route->bytes, handling == ASPX_HANDLING_GHOST);
}

/* Redirection is off: the target's own address of its memory. */
static enum aspx_path to_itself(struct aspx_route *route, enum aspx_call call)
{
    const struct aspx_target *target = route->target;

    route->on = aspx_engine.win;
    route->ghost = ASPX_ROUTE_TARGET;
    route->rank = target->rank_all;
    route->addr = (MPI_Aint) (aspx_engine.arena_addr[target->rank_all] +
                              target->off) +
                  route->start;
    count_operation(route, call, ASPX_HANDLING_TARGET);
    return ASPX_PATH_SEND;
}

static bool is_itself(const struct aspx_target *target)
{
    return atomic_load_explicit(&target->itself, memory_order_relaxed);
}

bool aspx_route_to_contig(struct aspx_route *route)
{
    if (!route->contig)
        return false;
    if (route->ghost == ASPX_ROUTE_TARGET) {
        route->on = route->win->contig_win;
        route->rank = (int) (route->target - route->win->targets);
        route->addr = route->start;
        return true;
    }
    route->on = aspx_engine.contig_win;
    route->addr = (MPI_Aint) route->target->off + route->start;
    return true;
}

/* Puts and Gets have neither order nor atomicity, so they need not wait for a
 * legal point; origins may even differ. */
static bool moves_itself(const struct aspx_target *target)
{
    const aspx_target_byte *states = aspx_adapt_target_states;
    enum aspx_target_state state = ASPX_TARGET_UNKNOWN;

    if (states && atomic_load_explicit(&target->free, memory_order_relaxed))
        state = (enum aspx_target_state) atomic_load_explicit(
            &states[target->rank_all], memory_order_relaxed);
    return state == ASPX_TARGET_UNKNOWN ? is_itself(target)
                                        : state == ASPX_TARGET_BY_ITSELF;
}

/* Put and Get. */
static enum aspx_path find_mover(struct aspx_route *route,
                                 const struct aspx_target_access *access,
                                 const struct aspx_buffer *origin)
{
    bool bytes_only = same_bytes(origin, access, route->bytes);

    route->contig = false;
    if (bytes_only && route->target->here) {
        route->here = route->target->here + route->start;
        aspx_count(access->call, ASPX_HANDLING_COPY);
        return ASPX_PATH_COPY;
    }
    if (bytes_only && route->win->device && !access->request) {
        route->contig = true;
        route->ghost = ASPX_ROUTE_TARGET;
        aspx_count(access->call, ASPX_HANDLING_DEVICE);
        return ASPX_PATH_SEND;
    }
    if (moves_itself(route->target)) {
        route->contig = bytes_only && route->win->contig_win != MPI_WIN_NULL;
        return to_itself(route, access->call);
    }
    aspx_route_to(route, aspx_balance_choose(route->win, route->target));
    route->contig = bytes_only && aspx_engine.settings.contig_win &&
                    !route->win->ghosts[route->ghost].doorbell;
    count_operation(route, access->call, ASPX_HANDLING_GHOST);
    return ASPX_PATH_SEND;
}

/* Accumulates. lo, hi: the span from route->start. */
static enum aspx_path find_owner(struct aspx_route *route,
                                 const struct aspx_target_access *access,
                                 MPI_Count lo, MPI_Count hi)
{
    uint32_t first = atomic_load_explicit(&route->target->owner,
                                          memory_order_relaxed);
    uint32_t last = first;

    if (is_itself(route->target))
        return to_itself(route, access->call);
    if (route->win->segments && lo < hi) {
        first = aspx_route_owner(route->win, route->target, route->start + lo);
        last = aspx_route_owner(route->win, route->target,
                                route->start + hi - 1);
    }
    count_operation(route, access->call, ASPX_HANDLING_GHOST);
    aspx_route_to(route, first);
    if (first == last || access->call == ASPX_CALL_FETCH_AND_OP ||
        access->call == ASPX_CALL_COMPARE_AND_SWAP)
        return ASPX_PATH_SEND; /* one element: whose first byte it is */
    return ASPX_PATH_SPLIT;
}

/* Tell the first of its kind to each target. */
static void trace_route(const struct aspx_route *route,
                        const struct aspx_target_access *access,
                        enum aspx_path path)
{
    static const char *const calls[] = {
        [ASPX_CALL_PUT] = "MPI_Put",
        [ASPX_CALL_GET] = "MPI_Get",
        [ASPX_CALL_ACCUMULATE] = "MPI_Accumulate",
        [ASPX_CALL_GET_ACCUMULATE] = "MPI_Get_accumulate",
        [ASPX_CALL_FETCH_AND_OP] = "MPI_Fetch_and_op",
        [ASPX_CALL_COMPARE_AND_SWAP] = "MPI_Compare_and_swap",
    };
    enum { GHOST, TARGET, DEVICE, COPY, WHERE };
    static const char *const wheres[WHERE] = {
        [GHOST] = "by ghost",
        [TARGET] = "by the target itself, for redirection to it is off; rank",
        [DEVICE] = "by the device; rank",
        [COPY] = "copied by this process, in memory of the node; rank",
    };
    int where = path == ASPX_PATH_COPY                ? COPY
                : route->ghost != ASPX_ROUTE_TARGET   ? GHOST
                : route->win->device && route->contig ? DEVICE
                                                      : TARGET;
    uint32_t bit = UINT32_C(1) << (access->call * WHERE + where);

    if (atomic_fetch_or(&route->win->traced[access->rank], bit) & bit)
        return;
    aspx_trace(ASPX_WIN_NAME ": %s to process %d, %llu bytes: %s %d%s",
               ASPX_WIN_NAMES(route->win), calls[access->call], access->rank,
               (unsigned long long) route->bytes, wheres[where],
               path == ASPX_PATH_COPY ? route->target->rank_all : route->rank,
               path == ASPX_PATH_SPLIT ? " and others" : "");
}

/* Find it without a trace, and tell it. */
__attribute__((cold, noinline)) static enum aspx_path find_traced(
    MPI_Win handle, struct aspx_target_access *access,
    const struct aspx_buffer *origin, struct aspx_route *route)
{
    enum aspx_path path;

    access->traced = true;
    path = aspx_route_find(handle, access, origin, route);
    if (path != ASPX_PATH_NATIVE && path != ASPX_PATH_ERROR)
        trace_route(route, access, path);
    return path;
}

enum aspx_path aspx_route_find(MPI_Win handle,
                               struct aspx_target_access *access,
                               const struct aspx_buffer *origin,
                               struct aspx_route *route)
{
    struct aspx_win *win = aspx_win_find(handle);
    MPI_Count lo, hi;

    route->win = win;
    if (!win) {
        access->disp = aspx_native_disp(handle, access->call, access->rank,
                                        access->disp);
        return ASPX_PATH_NATIVE;
    }
    /* Negative ones are large. */
    if ((unsigned) access->rank >= (unsigned) win->size ||
        (access->disp | access->count) < 0 ||
        !aspx_handle_is(access->type, ASPX_HANDLE_DATATYPE))
        return ASPX_PATH_NATIVE;
    if (__builtin_expect(win->traced != NULL, 0) && !access->traced)
        return find_traced(handle, access, origin, route);
    route->target = &win->targets[access->rank];
    if (!in_epoch(win, route->target))
        return ASPX_PATH_NATIVE;
    if (!in_bounds(route->target, access, &route->start, &lo, &hi)) {
        route->code = aspx_win_raise(win, MPI_ERR_RMA_RANGE);
        return ASPX_PATH_ERROR;
    }
    route->bytes = aspx_type_bytes(access->count, access->type);
    route->late = access->call == ASPX_CALL_PUT && route->bytes > 0 &&
                  aspx_arrival_is_late();
    return origin ? find_mover(route, access, origin)
                  : find_owner(route, access, lo, hi);
}

void aspx_route_ring(const struct aspx_route *route)
{
    if (route->ghost == ASPX_ROUTE_TARGET)
        return;
    aspx_flush_owe(&route->win->ghosts[route->ghost]);
    aspx_win_ring(route->win, route->ghost);
}

/* Notes come after the operation: a flush that began before them may have
 * missed it, and one that begins later covers it. */
static void note_issued(struct aspx_flow *flow, bool late)
{
    if (late)
        (void) aspx_counter_add(&flow->late, 1);
    (void) aspx_counter_add(&flow->issued, 1);
}

int aspx_route_sent(const struct aspx_route *route, int rc)
{
    struct aspx_win *win = route->win;
    struct aspx_win_ghost *ghost;
    uint64_t bytes, bit;

    if (rc != MPI_SUCCESS)
        return aspx_win_pass(win, rc);
    if (route->ghost == ASPX_ROUTE_TARGET) {
        /* No bound here: the target may compute, and waiting for it before the
         * program does would be worse than what MPI does. */
        note_issued(route->on == win->contig_win ? &route->target->contig
                                                 : &route->target->sent,
                    route->late);
        (void) aspx_counter_add(&win->turn.to_targets.issued, 1);
        return rc;
    }
    ghost = &win->ghosts[route->ghost];
    bit = UINT64_C(1) << (route->ghost -
                          win->nodes[route->target->node].first_ghost);
    if (!(atomic_load_explicit(&route->target->served_by,
                               memory_order_relaxed) &
          bit))
        atomic_fetch_or(&route->target->served_by, bit);
    note_issued(route->on == aspx_engine.contig_win ? &ghost->contig
                                                    : &ghost->sent,
                route->late);
    bytes = aspx_counter_add(&ghost->bytes, route->bytes);
    aspx_balance_note(ghost->rank_all, route->bytes);
    if (aspx_engine.rings && route->bytes > CELL_BYTES)
        aspx_flush_owe(ghost);
    if (aspx_engine.rings)
        aspx_win_ring(win, route->ghost);
    if (aspx_flow_open(&ghost->sent) + aspx_flow_open(&ghost->contig) <
            CREDIT_OPS &&
        bytes < CREDIT_BYTES)
        return rc;
    return aspx_win_pass(win, aspx_flush_ghost(win, route->ghost));
}

int aspx_route_done(MPI_Request *request)
{
    return aspx_real.MPI_Rput(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, 0, MPI_BYTE,
                              aspx_engine.win, request);
}
