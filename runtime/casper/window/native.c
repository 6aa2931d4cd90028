/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of a window stays until MPI has freed it: attribute callbacks
 * may still use it, and MPI_Win_free may fail. */
#include "config.h"

#include "native.h"
#include "window.h"
#include "runtime/casper/arena/engine.h"

#include "runtime/base/table.h"
#include "runtime/mpi/handle.h"
#include "runtime/mpi/fixes.h"
#include "runtime/mpi/real.h"

#include <stdlib.h>

/* Where the memory of one process is for MPI. */
struct place {
    int64_t unit;  /* of the program's displacements, bytes */
    int64_t shift; /* bytes from what MPI takes for the base to the base */
};

struct native {
    enum aspx_handling why;
    uint32_t serial;
    int size;      /* processes; 0: MPI goes nowhere astray */
    int disp_unit; /* own; for MPI_WIN_DISP_UNIT */
    void *base;    /* own */
    struct place places[];
};

static struct aspx_table natives = ASPX_TABLE_INITIALIZER;

/* A handle of nothing. MPI_WIN_NULL would be called so in MPI's message. */
#define NO_WINDOW ((MPI_Win) 0)

static struct native *find_native(MPI_Win win)
{
    return aspx_table_find(&natives, win);
}

/* Whoever frees a window has its entry, and takes care of its memory. */
void aspx_native_begin_anew(MPI_Win win)
{
    const struct native *native = find_native(win);
    const struct aspx_win *redirected = aspx_win_find(win);

    if (native)
        aspx_table_remove(&natives, win, native);
    if (redirected)
        aspx_table_remove(&aspx_redirected, win, redirected);
}

MPI_Win aspx_native_of(MPI_Win win)
{
    return find_native(win) || aspx_win_find(win) ||
                   !aspx_handle_is(win, ASPX_HANDLE_WIN)
               ? win
               : NO_WINDOW;
}

/* Returns NULL (ENOMEM). */
static struct native *add_native(MPI_Win win, int size)
{
    struct native *native = calloc(
        1, sizeof(*native) + (size_t) size * sizeof(native->places[0]));

    if (!native)
        return NULL;
    native->size = size;
    if (aspx_table_insert(&natives, win, native) == 0)
        return native;
    free(native);
    return NULL;
}

static bool may_stray(const struct aspx_win_request *request)
{
    return (request->flavor == MPI_WIN_FLAVOR_CREATE ||
            request->flavor == MPI_WIN_FLAVOR_ALLOCATE) &&
           aspx_engine.world;
}

void aspx_native_begin(struct aspx_win_request *request)
{
    request->kept_info = MPI_INFO_NULL;
    if (may_stray(request) && aspx_handle_is(request->info, ASPX_HANDLE_INFO))
        aspx_real.MPI_Info_dup(request->info, &request->kept_info);
}

int64_t aspx_native_shift(const struct aspx_win_request *request, MPI_Win win)
{
    void *base = request->base;
    int flag = 0;

    aspx_real.MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
    if (!flag || request->bytes == 0)
        return 0;
    return (int64_t) ((uintptr_t) request->base - (uintptr_t) base);
}

static bool anybody(bool here, MPI_Comm comm)
{
    int mine = here, any = 0;

    aspx_real.MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, comm);
    return any != 0;
}

static int make_in_bytes(struct aspx_win_request *request, MPI_Win *win)
{
    if (request->flavor == MPI_WIN_FLAVOR_ALLOCATE)
        return aspx_real.MPI_Win_allocate_c(request->bytes, 1,
                                            request->kept_info, request->comm,
                                            &request->base, win);
    return aspx_real.MPI_Win_create_c(request->base, request->bytes, 1,
                                      request->kept_info, request->comm, win);
}

/* With the places of all. */
static int make_anew(struct aspx_win_request *request, MPI_Win *win)
{
    struct place mine = {request->disp_unit, 0};
    struct native *native;
    int rc, size;

    rc = aspx_real.MPI_Win_free(win);
    if (rc == MPI_SUCCESS)
        rc = make_in_bytes(request, win);
    if (rc != MPI_SUCCESS)
        return rc;
    aspx_native_begin_anew(*win);
    aspx_real.MPI_Comm_size(request->comm, &size);
    native = add_native(*win, size);
    if (!native) /* the others wait for our place: there is no way out */
        aspx_abort();
    native->base = request->base;
    native->disp_unit = (int) request->disp_unit;
    mine.shift = aspx_native_shift(request, *win);
    return aspx_real.MPI_Allgather(&mine, sizeof(mine), MPI_BYTE,
                                   native->places, sizeof(mine), MPI_BYTE,
                                   request->comm);
}

int aspx_native_mend(struct aspx_win_request *request, MPI_Win *win)
{
    bool strays;

    if (!may_stray(request) ||
        !aspx_world_holds(aspx_engine.world, request->comm))
        return MPI_SUCCESS;
    strays = anybody(aspx_native_shift(request, *win) != 0, request->comm);
    aspx_fix_note(ASPX_FIX_WINDOW_BASE, strays);
    return strays ? make_anew(request, win) : MPI_SUCCESS;
}

void aspx_native_note(MPI_Win win, enum aspx_handling why, uint32_t serial)
{
    struct native *native = find_native(win);

    if (!native)
        native = add_native(win, 0);
    if (!native) /* it would be refused */
        aspx_abort();
    native->why = why;
    native->serial = serial;
    aspx_count(ASPX_CALL_WINDOW, why);
}

int aspx_native_free(MPI_Win *win)
{
    MPI_Win freed = win ? *win : MPI_WIN_NULL, none = MPI_WIN_NULL;
    struct native *native = find_native(freed);
    int rc;

    if (win && aspx_native_of(freed) != freed) {
        none = aspx_native_of(freed);
        win = &none;
    }
    rc = aspx_real.MPI_Win_free(win);

    if (rc != MPI_SUCCESS || !native)
        return rc;
    aspx_table_remove(&natives, freed, native);
    free(native);
    return rc;
}

uint32_t aspx_native_serial(MPI_Win win)
{
    const struct native *native = find_native(win);

    return native ? native->serial : 0;
}

MPI_Aint aspx_native_disp(MPI_Win win, enum aspx_call call, int rank,
                          MPI_Aint disp)
{
    const struct native *native = find_native(win);
    const struct place *place;

    if (!native)
        return disp;
    aspx_count(call, native->why);
    /* What is wrong shall look wrong to MPI, too. */
    if (rank < 0 || rank >= native->size || disp < 0)
        return disp;
    place = &native->places[rank];
    return (MPI_Aint) ((uint64_t) disp * (uint64_t) place->unit +
                       (uint64_t) place->shift);
}

const void *aspx_native_attr(MPI_Win win, int keyval)
{
    const struct native *native;

    if (keyval != MPI_WIN_BASE && keyval != MPI_WIN_DISP_UNIT)
        return NULL;
    native = find_native(win);
    if (!native || native->size == 0)
        return NULL;
    return keyval == MPI_WIN_BASE ? native->base : &native->disp_unit;
}
