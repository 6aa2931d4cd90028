/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows: creation, the choice between ghosts and plain MPI, and the end.
 *
 * A window is redirected when the memory of every process lies in an arena
 * that its ghost has mapped. The program's handle is a window of MPI's own on
 * the same memory, so names, groups, attributes and error handlers are MPI's.
 * The choice is made from one exchange, so all processes choose alike. */
#include "config.h"

#include "casper.h"
#include "window.h"

#include "runtime/mpi/real.h"
#include "runtime/record.h"
#include "mpi_hand.h"

#include <stdlib.h>
#include <string.h>

/* What each process of a window tells the others. */
struct offer {
    uint64_t off;     /* of its memory, in the arena of its node */
    uint64_t bytes;
    int64_t disp_unit;
    uint64_t number;  /* windows this process has offered so far */
    uint32_t ok;      /* the memory is in the arena */
    uint32_t reserved;
};

/* What a window is made of, as the program gave it. */
struct request {
    void *base;
    MPI_Aint bytes, disp_unit;
    MPI_Info info;
    MPI_Comm comm;
    int flavor;
    bool allocate; /* take the memory from the arena */
};

static _Atomic uint64_t offers_made;

/* Would MPI take these arguments? What it refuses it shall refuse itself. */
static bool sane(const struct request *request, const MPI_Win *win)
{
    unsigned handle = (unsigned) request->comm;
    int inter = 1;

    /* MPICH handles: two bits of storage (0: null), four bits of kind. */
    if (!win || request->bytes < 0 || request->disp_unit <= 0 ||
        handle >> 30 == 0 || (handle >> 26 & 0xf) != 1)
        return false;
    return aspx_real.MPI_Comm_test_inter(request->comm, &inter) ==
               MPI_SUCCESS && !inter;
}

/* World ranks of a communicator's processes, or NULL if there is no memory or
 * some process is not of our world (spawned, connected). Same result
 * everywhere, but for memory. */
static int *world_ranks(MPI_Comm comm, int size)
{
    int *ranks = malloc(2 * sizeof(*ranks) * (size_t) size);
    MPI_Group group, all;
    bool known = true;

    if (!ranks)
        return NULL;
    for (int i = 0; i < size; i++)
        ranks[size + i] = i;
    aspx_real.MPI_Comm_group(comm, &group);
    aspx_real.MPI_Comm_group(aspx_engine.world->all, &all);
    aspx_real.MPI_Group_translate_ranks(group, size, ranks + size, all, ranks);
    aspx_real.MPI_Group_free(&group);
    aspx_real.MPI_Group_free(&all);
    for (int i = 0; i < size; i++)
        if (ranks[i] == MPI_UNDEFINED)
            known = false;
    if (known)
        return ranks;
    free(ranks);
    return NULL;
}

static uint32_t enter_ghost(struct aspx_win *win, uint32_t ghost)
{
    int g;

    for (g = 0; g < win->nghosts; g++)
        if (win->ghosts[g].rank_all == (int) ghost)
            return (uint32_t) g;
    win->ghosts[g].rank_all = (int) ghost;
    win->ghosts[g].bell = aspx_engine_bell(&aspx_engine, ghost);
    win->nghosts++;
    return (uint32_t) g;
}

/* Fill targets from the offers. Returns false when some target has no ghost
 * that could serve it. */
static bool meet_targets(struct aspx_win *win, const struct offer *offers,
                         const int *ranks)
{
    const struct aspx_peer *peers = aspx_engine.world->peers;
    uint64_t inside = 0;

    for (int i = 0; i < win->size; i++) {
        uint32_t ghost = peers[ranks[i]].ghost;

        if (!offers[i].ok || ghost == ASP_RANK_NONE ||
            !aspx_engine.arena_addr[ghost])
            return false;
        win->targets[i] = (struct aspx_target) {
            .addr = aspx_engine.arena_addr[ghost] + offers[i].off,
            .bytes = offers[i].bytes,
            .disp_unit = offers[i].disp_unit,
            .ghost = enter_ghost(win, ghost),
        };
        inside += offers[i].bytes;
    }
    win->id = (uint64_t) ranks[0] << 40 | offers[0].number;
    /* A window of no bytes gains nothing. */
    return inside > 0 || win->allocated;
}

static void destroy(struct aspx_win *win)
{
    if (!win)
        return;
    if (win->allocated)
        aspx_arena_free(&aspx_engine.arena, win->block_off, win->block_bytes);
    pthread_mutex_destroy(&win->mutex);
    free(win->ghosts);
    free(win);
}

/* A window without memory or peers yet. */
static struct aspx_win *blank(const struct request *request, int rank,
                              int size)
{
    struct aspx_win *win = calloc(1, sizeof(*win) + (size_t) size *
                                         sizeof(struct aspx_target));

    if (!win)
        return NULL;
    win->ghosts = calloc((size_t) size, sizeof(*win->ghosts));
    if (!win->ghosts) {
        free(win);
        return NULL;
    }
    pthread_mutex_init(&win->mutex, NULL);
    win->flavor = request->flavor;
    win->rank = rank;
    win->size = size;
    return win;
}

/* Find or take the memory. Fills request->base and the offer. */
static void offer_memory(struct aspx_win *win, struct request *request,
                         struct offer *offer)
{
    uint64_t bytes = (uint64_t) request->bytes;

    *offer = (struct offer) {
        .bytes = bytes,
        .disp_unit = request->disp_unit,
        .number = atomic_fetch_add(&offers_made, 1),
    };
    if (!win || !aspx_engine.arena.slice)
        return;
    if (request->allocate) {
        request->base = aspx_arena_alloc(&aspx_engine.arena, bytes,
                                         &offer->off);
        win->allocated = request->base != NULL;
        win->block_off = offer->off;
        win->block_bytes = bytes;
        offer->ok = win->allocated;
    } else {
        offer->ok = bytes == 0 ||
                    aspx_arena_offset(&aspx_engine.arena, request->base,
                                      bytes, &offer->off) == 0;
    }
}

/* Exchange offers and agree. Returns the window, or NULL: all go native. */
static struct aspx_win *agree(struct request *request, const int *ranks,
                              int rank, int size)
{
    struct aspx_win *win = blank(request, rank, size);
    struct offer mine, *offers = calloc((size_t) size, sizeof(*offers));
    bool good = false;

    offer_memory(win, request, &mine);
    if (!offers) /* the others wait for our offer: there is no way out */
        aspx_real.MPI_Abort(MPI_COMM_WORLD, 1);
    if (aspx_real.MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, offers,
                                sizeof(mine), MPI_BYTE, request->comm)
            == MPI_SUCCESS && win)
        good = meet_targets(win, offers, ranks);
    free(offers);
    if (good)
        return win;
    destroy(win);
    return NULL;
}

/* Make a redirected window. Returns false when the window has to be native;
 * else *rc is MPI's verdict. Collective over request->comm. */
static bool make(struct request *request, void *baseptr, MPI_Win *handle,
                 int *rc)
{
    struct aspx_win *win;
    int rank, size, *ranks;

    aspx_real.MPI_Comm_rank(request->comm, &rank);
    aspx_real.MPI_Comm_size(request->comm, &size);
    ranks = world_ranks(request->comm, size);
    if (!ranks)
        return false;
    win = agree(request, ranks, rank, size);
    free(ranks);
    if (!win)
        return false;
    *rc = aspx_real.MPI_Win_create_c(request->base, request->bytes,
                                     request->disp_unit, request->info,
                                     request->comm, handle);
    win->handle = *handle;
    if (*rc != MPI_SUCCESS || aspx_win_insert(win) != 0) {
        if (*rc == MPI_SUCCESS)
            aspx_real.MPI_Abort(MPI_COMM_WORLD, 1); /* no memory for a slot */
        destroy(win);
        return true;
    }
    if (request->allocate)
        memcpy(baseptr, &request->base, sizeof(void *));
    aspx_count(ASPX_CALL_WINDOW, ASPX_WAY_GHOST);
    return true;
}

/* Try to redirect; count what becomes native. */
static bool redirect(struct request *request, void *baseptr, MPI_Win *win,
                     int *rc)
{
    if (!sane(request, win) || (request->allocate && !baseptr))
        return false;
    if (aspx_engine.up && make(request, baseptr, win, rc))
        return true;
    aspx_count(ASPX_CALL_WINDOW, request->allocate ? ASPX_WAY_ARENA
                                                   : ASPX_WAY_PRIVATE);
    return false;
}

int aspx_hand_MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info,
                               MPI_Comm comm, void *baseptr, MPI_Win *win)
{
    struct request request = {NULL, size, disp_unit, info, aspx_comm(comm),
                              MPI_WIN_FLAVOR_ALLOCATE, true};
    int rc;

    if (redirect(&request, baseptr, win, &rc))
        return rc;
    return aspx_real.MPI_Win_allocate(size, disp_unit, info, request.comm,
                                      baseptr, win);
}

int aspx_hand_MPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit,
                                 MPI_Info info, MPI_Comm comm, void *baseptr,
                                 MPI_Win *win)
{
    struct request request = {NULL, size, disp_unit, info, aspx_comm(comm),
                              MPI_WIN_FLAVOR_ALLOCATE, true};
    int rc;

    if (redirect(&request, baseptr, win, &rc))
        return rc;
    return aspx_real.MPI_Win_allocate_c(size, disp_unit, info, request.comm,
                                        baseptr, win);
}

int aspx_hand_MPI_Win_create(void *base, MPI_Aint size, int disp_unit,
                             MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    struct request request = {base, size, disp_unit, info, aspx_comm(comm),
                              MPI_WIN_FLAVOR_CREATE, false};
    int rc;

    if (redirect(&request, NULL, win, &rc))
        return rc;
    return aspx_real.MPI_Win_create(base, size, disp_unit, info, request.comm,
                                    win);
}

int aspx_hand_MPI_Win_create_c(void *base, MPI_Aint size, MPI_Aint disp_unit,
                               MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    struct request request = {base, size, disp_unit, info, aspx_comm(comm),
                              MPI_WIN_FLAVOR_CREATE, false};
    int rc;

    if (redirect(&request, NULL, win, &rc))
        return rc;
    return aspx_real.MPI_Win_create_c(base, size, disp_unit, info,
                                      request.comm, win);
}

int aspx_hand_MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm,
                                     MPI_Win *win)
{
    aspx_count(ASPX_CALL_WINDOW, ASPX_WAY_DYNAMIC);
    return aspx_real.MPI_Win_create_dynamic(info, aspx_comm(comm), win);
}

int aspx_hand_MPI_Win_allocate_shared(MPI_Aint size, int disp_unit,
                                      MPI_Info info, MPI_Comm comm,
                                      void *baseptr, MPI_Win *win)
{
    aspx_count(ASPX_CALL_WINDOW, ASPX_WAY_SHARED);
    return aspx_real.MPI_Win_allocate_shared(size, disp_unit, info,
                                             aspx_comm(comm), baseptr, win);
}

int aspx_hand_MPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit,
                                        MPI_Info info, MPI_Comm comm,
                                        void *baseptr, MPI_Win *win)
{
    aspx_count(ASPX_CALL_WINDOW, ASPX_WAY_SHARED);
    return aspx_real.MPI_Win_allocate_shared_c(size, disp_unit, info,
                                               aspx_comm(comm), baseptr, win);
}

/* MPI's own MPI_Win_free has a barrier: when it returns, every process has
 * closed its epochs, each with a flush, so no ghost touches the block again.
 * The entry stays until then, because attribute callbacks may ask for it. */
int aspx_hand_MPI_Win_free(MPI_Win *handle)
{
    struct aspx_win *win = handle ? aspx_win_find(*handle) : NULL;
    int rc, access;

    if (!win)
        return aspx_real.MPI_Win_free(handle);
    access = atomic_load(&win->access);
    if (access > ASPX_ACCESS_FENCED)
        return aspx_win_raise(win, MPI_ERR_RMA_SYNC);
    rc = aspx_real.MPI_Win_free(handle);
    if (rc != MPI_SUCCESS)
        return rc;
    aspx_win_remove(win);
    destroy(win);
    return MPI_SUCCESS;
}

int aspx_hand_MPI_Win_get_attr(MPI_Win handle, int keyval, void *value,
                               int *flag)
{
    int rc = aspx_real.MPI_Win_get_attr(handle, keyval, value, flag);
    struct aspx_win *win;

    if (keyval != MPI_WIN_CREATE_FLAVOR || rc != MPI_SUCCESS || !*flag)
        return rc;
    win = aspx_win_find(handle);
    if (win) {
        int *flavor = &win->flavor;

        memcpy(value, &flavor, sizeof(flavor));
    }
    return rc;
}

/* Fortran's way: its keyval may be one more than that of C, and an attribute
 * of integer type (bit 0 of type) is the number itself, not a pointer to it. */
int aspx_hand_MPII_Win_get_attr(MPI_Win handle, int keyval, void *value,
                                int *flag, int type)
{
    int rc = aspx_real.MPII_Win_get_attr(handle, keyval, value, flag, type);
    struct aspx_win *win;

    if ((keyval != MPI_WIN_CREATE_FLAVOR &&
         keyval != MPI_WIN_CREATE_FLAVOR + 1) || rc != MPI_SUCCESS || !*flag)
        return rc;
    win = aspx_win_find(handle);
    if (win && type & 1) {
        *(MPI_Aint *) value = win->flavor;
    } else if (win) {
        int *flavor = &win->flavor;

        memcpy(value, &flavor, sizeof(flavor));
    }
    return rc;
}

int aspx_win_raise(const struct aspx_win *win, int errclass)
{
    aspx_real.MPI_Win_call_errhandler(win->handle, errclass);
    return errclass;
}

int aspx_win_pass(const struct aspx_win *win, int code)
{
    if (code == MPI_SUCCESS)
        return code;
    aspx_real.MPI_Win_call_errhandler(win->handle, code);
    return code;
}
