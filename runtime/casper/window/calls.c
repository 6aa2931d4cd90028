/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that make windows: to ghosts where that is possible, else
 * MPI's own, counted with the reason. */
#include "config.h"

#include "window.h"
#include "native.h"
#include "registry.h"
#include "rules.h"

#include "runtime/base/log.h"
#include "runtime/mpi/build.h"
#include "runtime/mpi/real.h"
#include "counts.h"
#include "mpi_wrap.h"

#include <string.h>

static struct aspx_win_request make_request(enum aspx_memory memory, int flavor,
                                            void *base, MPI_Aint bytes,
                                            MPI_Aint unit, MPI_Info info,
                                            MPI_Comm comm)
{
    return (struct aspx_win_request){.memory = memory,
                                     .flavor = flavor,
                                     .base = base,
                                     .bytes = bytes,
                                     .disp_unit = unit,
                                     .info = info,
                                     .comm = aspx_comm(comm),
                                     .kept_info = MPI_INFO_NULL};
}

/* Why a window is MPI's own. */
static enum aspx_handling native_handling(
    const struct aspx_win_request *request)
{
    if (request->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return ASPX_HANDLING_DYNAMIC;
    if (request->asked_off)
        return ASPX_HANDLING_ASKED;
    if (aspx_mpi_unknown())
        return ASPX_HANDLING_RELEASE;
    if (request->memory == ASPX_MEMORY_GIVEN)
        return ASPX_HANDLING_PRIVATE;
    return request->flavor == MPI_WIN_FLAVOR_SHARED ? ASPX_HANDLING_SHARED
                                                    : ASPX_HANDLING_ARENA;
}

/* What the rules say, before anything is made. Returns false when MPI shall
 * not make the window either: *rc is the error then. */
static bool apply_rules(struct aspx_win_request *request, int *rc)
{
    const char *config;
    int errclass = aspx_rules_choose(request);

    if (errclass != MPI_SUCCESS) {
        aspx_real.MPI_Comm_call_errhandler(aspx_comm_shown(request->comm),
                                           errclass);
        *rc = errclass;
        return false;
    }
    config = aspx_rules_value(request->verdict.holds, ASP_WIN_ASYNC_CONFIG);
    request->asked_off = config && aspx_adapt_native(aspx_async_read(config));
    return true;
}

static void trace_made(const struct aspx_win *win)
{
    const struct aspx_target *own = &win->targets[win->rank];

    aspx_trace(ASPX_WIN_NAME
               " of %d processes: %llu bytes of this one go to ghost %d; "
               "accumulates are bound by %s; redirection %s, and is %s now",
               ASPX_WIN_NAMES(win), win->size, (unsigned long long) own->bytes,
               win->ghosts[own->ghost].rank_all,
               win->segments ? "segment" : "rank",
               win->turn.able ? "can be switched" : "stays",
               atomic_load(&own->itself) ? "off" : "on");
}

/* True when *rc is the answer. */
static bool make_redirected(struct aspx_win_request *request, void *baseptr,
                            MPI_Win *win, int *rc)
{
    struct aspx_win *made;
    void *base;

    if (!win || !aspx_win_sane(request) ||
        (request->memory != ASPX_MEMORY_GIVEN && !baseptr))
        return false;
    if (!apply_rules(request, rc))
        return true;
    if (!aspx_engine.up || request->asked_off || aspx_mpi_unknown() ||
        !aspx_win_make(request, win, rc))
        return false;
    if (*rc == MPI_SUCCESS) {
        made = aspx_win_find(*win);
        made->serial = aspx_registry_add(request, ASPX_HANDLING_GHOST,
                                         made->turn.able);
        if (made->contig_missing && made->rank == 0)
            aspx_registry_count_contig_missing();
        if (aspx_log_on(ASPX_LOG_TRACE))
            trace_made(made);
    }
    aspx_rules_done(&request->verdict);
    /* As in MPICH, a process without memory has no address, nor has the
     * attribute MPI_WIN_BASE. */
    base = request->bytes > 0 ? request->base : NULL;
    if (*rc == MPI_SUCCESS && request->flavor != MPI_WIN_FLAVOR_CREATE)
        memcpy(baseptr, &base, sizeof(base));
    aspx_count(ASPX_CALL_WINDOW, ASPX_HANDLING_GHOST);
    return true;
}

/* Try to redirect; true when *rc is the answer, else MPI shall make it. */
static bool try_redirect(struct aspx_win_request *request, void *baseptr,
                         MPI_Win *win, int *rc)
{
    if (make_redirected(request, baseptr, win, rc))
        return true;
    aspx_native_begin(request);
    return false;
}

/* MPI has made the window itself, or failed to. baseptr: where it has put the
 * base, or NULL: the request has it. */
static int finish_native(int rc, void *baseptr, MPI_Win *win,
                         struct aspx_win_request *request)
{
    enum aspx_handling why = native_handling(request);

    if (rc == MPI_SUCCESS) {
        aspx_native_begin_anew(*win);
        if (baseptr)
            memcpy(&request->base, baseptr, sizeof(request->base));
        rc = aspx_native_mend(request, win);
    }
    if (rc == MPI_SUCCESS) {
        if (baseptr)
            memcpy(baseptr, &request->base, sizeof(request->base));
        aspx_trace("a window, %lld bytes of this process, is MPI's own: %s",
                   (long long) request->bytes, aspx_handling_words(why));
        aspx_native_note(*win, why, aspx_registry_add(request, why, false));
    }
    if (request->kept_info != MPI_INFO_NULL)
        aspx_real.MPI_Info_free(&request->kept_info);
    aspx_rules_done(&request->verdict);
    return rc;
}

/* Each call and its twin with large counts: NAME is the call, UNIT the type of
 * its displacement unit. */
#define ALLOCATE(NAME, UNIT, FLAVOR, MEMORY)                                   \
    int aspx_wrap_##NAME(MPI_Aint size, UNIT disp_unit, MPI_Info info,         \
                         MPI_Comm comm, void *baseptr, MPI_Win *win)           \
    {                                                                          \
        struct aspx_win_request request = make_request(                        \
            MEMORY, FLAVOR, NULL, size, disp_unit, info, comm);                \
        int rc;                                                                \
                                                                               \
        if (try_redirect(&request, baseptr, win, &rc))                         \
            return rc;                                                         \
        rc = aspx_real.NAME(size, disp_unit, request.info, request.comm,       \
                            baseptr, win);                                     \
        return finish_native(rc, baseptr, win, &request);                      \
    }

#define CREATE(NAME, UNIT)                                                     \
    int aspx_wrap_##NAME(void *base, MPI_Aint size, UNIT disp_unit,            \
                         MPI_Info info, MPI_Comm comm, MPI_Win *win)           \
    {                                                                          \
        struct aspx_win_request request = make_request(                        \
            ASPX_MEMORY_GIVEN, MPI_WIN_FLAVOR_CREATE, base, size, disp_unit,   \
            info, comm);                                                       \
        int rc;                                                                \
                                                                               \
        if (try_redirect(&request, NULL, win, &rc))                            \
            return rc;                                                         \
        rc = aspx_real.NAME(base, size, disp_unit, request.info, request.comm, \
                            win);                                              \
        return finish_native(rc, NULL, win, &request);                         \
    }

ALLOCATE(MPI_Win_allocate, int, MPI_WIN_FLAVOR_ALLOCATE, ASPX_MEMORY_OWN)
ALLOCATE(MPI_Win_allocate_c, MPI_Aint, MPI_WIN_FLAVOR_ALLOCATE, ASPX_MEMORY_OWN)
ALLOCATE(MPI_Win_allocate_shared, int, MPI_WIN_FLAVOR_SHARED,
         ASPX_MEMORY_SHARED)
ALLOCATE(MPI_Win_allocate_shared_c, MPI_Aint, MPI_WIN_FLAVOR_SHARED,
         ASPX_MEMORY_SHARED)
CREATE(MPI_Win_create, int)
CREATE(MPI_Win_create_c, MPI_Aint)

int aspx_wrap_MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    struct aspx_win_request request = make_request(
        ASPX_MEMORY_GIVEN, MPI_WIN_FLAVOR_DYNAMIC, NULL, 0, 1, info, comm);
    int rc;

    if (win && aspx_win_sane(&request) && !apply_rules(&request, &rc))
        return rc;
    rc = aspx_real.MPI_Win_create_dynamic(request.info, request.comm, win);
    return finish_native(rc, NULL, win, &request);
}
