/* SPDX-License-Identifier: BSD-3-Clause */
/* Switches the entry tables; see entry.h. The tables hold only function
 * pointers, so they are handled as arrays of them. */
#include "config.h"

#include "entry.h"
#include "workers.h"

#include "runtime/profile/profile.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef void (*call_f)(void);

/* The MPI_X of a tool preloaded behind us, or NULL. */
static call_f tools[ASPX_CALLS];

static void set_entry(size_t i, call_f mpi, call_f pmpi)
{
    call_f *table_mpi = (call_f *)(void *)&aspx_entry_mpi;
    call_f *table_pmpi = (call_f *)(void *)&aspx_entry_pmpi;

    __atomic_store_n(&table_pmpi[i], pmpi, __ATOMIC_RELEASE);
    __atomic_store_n(&table_mpi[i], mpi, __ATOMIC_RELEASE);
}

/* Pointer by pointer: other threads may be jumping through the tables. */
static void set_entries(const struct aspx_real *wanted)
{
    const call_f *from = (const call_f *)(const void *)wanted;

    for (size_t i = 0; i < ASPX_CALLS; i++)
        set_entry(i, tools[i] ? tools[i] : from[i], from[i]);
}

static void find_tools(void)
{
    for (size_t i = 0; i < ASPX_CALLS; i++) {
        call_f next, own;

        *(void **)&next = dlsym(RTLD_NEXT, aspx_real_name(i));
        *(void **)&own = dlsym(aspx_real_library(), aspx_real_name(i));
        tools[i] = next && next != own ? next : NULL;
    }
}

static void no_mpi(void)
{
    fprintf(stderr, "aspen: an MPI function was called, but this process has "
                    "no MPI library that Aspen can find; run it with "
                    "--async-progress=off\n");
    abort();
}

/* A program of another MPI that inherited LD_PRELOAD: its functions may have
 * other arguments, but a jump does not look at them. */
static void step_aside(void)
{
    char pmpi_name[80];

    for (size_t i = 0; i < ASPX_CALLS; i++) {
        call_f mpi, pmpi;

        snprintf(pmpi_name, sizeof(pmpi_name), "P%s", aspx_real_name(i));
        *(void **)&mpi = dlsym(RTLD_NEXT, aspx_real_name(i));
        *(void **)&pmpi = dlsym(RTLD_NEXT, pmpi_name);
        set_entry(i, mpi ? mpi : no_mpi, pmpi ? pmpi : no_mpi);
    }
}

static void resolve_once(void)
{
    struct aspx_real table;

    if (aspx_real_resolve() != 0) {
        step_aside();
        return;
    }
    find_tools();
    aspx_workers_fill_start(&table);
    set_entries(&table);
}

void aspx_entry_resolve(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, resolve_once);
}

void aspx_entry_inert(void)
{
    set_entries(&aspx_real);
}

void aspx_entry_activate(void)
{
    struct aspx_real table;

    aspx_workers_fill(&table);
    aspx_entry_use(&table);
}

void aspx_entry_use(const struct aspx_real *table)
{
    struct aspx_real front;

    set_entries(aspx_profile_front(table, &front));
}

void aspx_entry_end(void)
{
    struct aspx_real table;

    aspx_workers_fill_end(&table);
    set_entries(&table);
}
