/* SPDX-License-Identifier: BSD-3-Clause */
/* The hidden MPI_Init of programs that begin with a session, and the answers of
 * MPI_Initialized and MPI_Finalized that hide it. */
#include "config.h"

#include "init_state.h"

#include "mpi_wrap.h"
#include "runtime/mpi/real.h"

#include <stdatomic.h>

static atomic_bool seen, hidden, initialized, finalized, stays;
static atomic_int sessions;

void aspx_init_see(void)
{
    atomic_store(&seen, true);
}

bool aspx_init_seen(void)
{
    return atomic_load(&seen);
}

bool aspx_init_adopt(void)
{
    return atomic_load(&hidden) && !atomic_exchange(&initialized, true);
}

void aspx_init_note_start(bool is_hidden)
{
    atomic_store(is_hidden ? &hidden : &initialized, true);
}

void aspx_init_note_finalize(void)
{
    atomic_store(&finalized, true);
}

void aspx_init_note_session(void)
{
    atomic_fetch_add(&sessions, 1);
}

void aspx_init_stay(void)
{
    atomic_store(&stays, true);
}

static bool is_only_hidden(void)
{
    return atomic_load(&hidden) && !atomic_load(&initialized);
}

bool aspx_init_end_session(void)
{
    return atomic_fetch_sub(&sessions, 1) == 1 && is_only_hidden() &&
           !atomic_load(&stays);
}

bool aspx_init_is_left_open(void)
{
    return atomic_load(&stays) && is_only_hidden() &&
           atomic_load(&sessions) == 0;
}

bool aspx_init_is_started(void)
{
    return atomic_load(&hidden) || atomic_load(&initialized);
}

bool aspx_init_is_hidden(void)
{
    return atomic_load(&hidden);
}

bool aspx_init_is_over(void)
{
    return atomic_load(&sessions) == 0 &&
           atomic_load(&initialized) == atomic_load(&finalized) &&
           !aspx_init_is_left_open();
}

int aspx_wrap_MPI_Initialized(int *flag)
{
    if (!flag || !atomic_load(&hidden))
        return aspx_real.MPI_Initialized(flag);
    *flag = atomic_load(&initialized);
    return MPI_SUCCESS;
}

int aspx_wrap_MPI_Finalized(int *flag)
{
    if (!flag || !atomic_load(&hidden))
        return aspx_real.MPI_Finalized(flag);
    *flag = atomic_load(&finalized);
    return MPI_SUCCESS;
}
