/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes and names. What a program asks of a window and MPI would answer
 * otherwise, since its own window was made by MPI_Win_create, or made anew; and
 * what rules by name can still change when a window gets its name. */
#include "config.h"

#include "native.h"
#include "registry.h"
#include "rules.h"
#include "window.h"

#include "runtime/base/log.h"
#include "runtime/mpi/real.h"
#include "mpi_wrap.h"

#include <string.h>

/* Attributes that are ours to tell. Of a redirected window, these are its
 * flavor and the base, for which MPICH takes that of a larger window around
 * this one if there is one. Returns the attribute, or NULL: MPI's answer
 * stands. */
static const void *own_attr(MPI_Win handle, int keyval)
{
    const struct aspx_win *win;

    if (keyval != MPI_WIN_CREATE_FLAVOR && keyval != MPI_WIN_BASE &&
        keyval != MPI_WIN_DISP_UNIT)
        return NULL;
    win = aspx_win_find(handle);
    if (!win)
        return aspx_native_attr(handle, keyval);
    if (keyval == MPI_WIN_CREATE_FLAVOR)
        return &win->flavor;
    if (keyval == MPI_WIN_DISP_UNIT || !win->targets[win->rank].bytes)
        return NULL;
    return win->targets[win->rank].here;
}

int aspx_wrap_MPI_Win_get_attr(MPI_Win handle, int keyval, void *value,
                               int *flag)
{
    int rc = aspx_real.MPI_Win_get_attr(aspx_native_of(handle), keyval, value,
                                        flag);
    const void *own;

    if (rc != MPI_SUCCESS || !*flag)
        return rc;
    own = own_attr(handle, keyval);
    if (own)
        memcpy(value, &own, sizeof(own));
    return rc;
}

/* Fortran's way: its keyval may be one more than that of C, and an attribute
 * of integer type (bit 0 of type) is the number itself, not a pointer to it. */
int aspx_wrap_MPII_Win_get_attr(MPI_Win handle, int keyval, void *value,
                                int *flag, int type)
{
    int rc = aspx_real.MPII_Win_get_attr(aspx_native_of(handle), keyval, value,
                                         flag, type);
    int of_c = keyval == MPI_WIN_CREATE_FLAVOR + 1 ||
                       keyval == MPI_WIN_BASE + 1 ||
                       keyval == MPI_WIN_DISP_UNIT + 1
                   ? keyval - 1
                   : keyval;
    const void *own;

    if (rc != MPI_SUCCESS || !*flag)
        return rc;
    own = own_attr(handle, of_c);
    if (own && type & 1)
        *(MPI_Aint *) value = of_c == MPI_WIN_BASE ? (MPI_Aint) (uintptr_t) own
                                                   : *(const int *) own;
    else if (own)
        memcpy(value, &own, sizeof(own));
    return rc;
}

/* MPI_PROC_NULL means the lowest rank with memory, or nobody's. */
static const struct aspx_target *find_shared(const struct aspx_win *win,
                                             int rank)
{
    if (rank >= 0 && rank < win->size)
        return &win->targets[rank];
    for (int i = 0; rank == MPI_PROC_NULL && i < win->size; i++)
        if (win->targets[i].bytes > 0)
            return &win->targets[i];
    return NULL;
}

/* Returns false when MPI shall answer. */
static bool query_shared(MPI_Win handle, int rank, MPI_Aint *size,
                         MPI_Aint *disp_unit, void *baseptr, int *rc)
{
    const struct aspx_win *win = aspx_win_find(handle);
    const struct aspx_target *target;
    void *base = NULL;

    if (!win || win->flavor != MPI_WIN_FLAVOR_SHARED)
        return false;
    *rc = MPI_SUCCESS;
    target = find_shared(win, rank);
    if ((!target && rank != MPI_PROC_NULL) || !size || !baseptr) {
        *rc = aspx_win_raise(win, size && baseptr ? MPI_ERR_RANK : MPI_ERR_ARG);
        return true;
    }
    *size = target ? (MPI_Aint) target->bytes : 0;
    *disp_unit = target ? target->disp_unit : 1;
    if (target && target->bytes > 0)
        base = target->here;
    memcpy(baseptr, &base, sizeof(base));
    return true;
}

int aspx_wrap_MPI_Win_shared_query(MPI_Win handle, int rank, MPI_Aint *size,
                                   int *disp_unit, void *baseptr)
{
    MPI_Aint unit = 0;
    int rc;

    if (!disp_unit || !query_shared(handle, rank, size, &unit, baseptr, &rc))
        return aspx_real.MPI_Win_shared_query(aspx_native_of(handle), rank,
                                              size, disp_unit, baseptr);
    if (rc == MPI_SUCCESS)
        *disp_unit = (int) unit;
    return rc;
}

int aspx_wrap_MPI_Win_shared_query_c(MPI_Win handle, int rank, MPI_Aint *size,
                                     MPI_Aint *disp_unit, void *baseptr)
{
    int rc;

    if (!disp_unit ||
        !query_shared(handle, rank, size, disp_unit, baseptr, &rc))
        return aspx_real.MPI_Win_shared_query_c(aspx_native_of(handle), rank,
                                                size, disp_unit, baseptr);
    return rc;
}

/* The registry's entry may stand for several windows by now, or there is none,
 * so each window notes which rules were counted for it. */
static void count_rules(struct aspx_win *win)
{
    uint32_t known = atomic_fetch_or(&win->held_once, win->holds);

    if (win->rank == 0)
        aspx_registry_count_rules(win->holds & ~known);
}

/* A rule by name can still switch redirection, at the next legal point: each
 * process speaks for itself there. */
static void apply_async_rule(struct aspx_win *win, const char *name)
{
    const struct asp_objrule *rule = aspx_rules_last(win->holds,
                                                     ASP_WIN_ASYNC_CONFIG);

    if (!rule || !rule->name[0])
        return;
    if (win->turn.able)
        win->turn.asked = aspx_async_read(rule->value[ASP_WIN_ASYNC_CONFIG]);
    else if (win->rank == 0)
        aspx_log(ASPX_LOG_WARNING,
                 "the rule at %s says async_config=%s of window "
                 "\"%s\", which cannot be switched (adapt=%s)",
                 rule->origin, rule->value[ASP_WIN_ASYNC_CONFIG], name,
                 aspx_adapt_mode());
}

int aspx_wrap_MPI_Win_set_name(MPI_Win handle, const char *name)
{
    int rc = aspx_real.MPI_Win_set_name(aspx_native_of(handle), name);
    struct aspx_win *win;

    if (rc != MPI_SUCCESS || !aspx_rules_active())
        return rc;
    win = aspx_win_find(handle);
    if (win) {
        win->holds = aspx_rules_named(win->could, name);
        aspx_win_choose_balance(win);
        apply_async_rule(win, name);
        aspx_registry_set_name(win->serial, name);
        aspx_registry_set_rules(win->serial, win->holds);
        count_rules(win);
    } else {
        aspx_registry_set_name(aspx_native_serial(handle), name);
    }
    return rc;
}
