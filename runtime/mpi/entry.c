/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds tools behind us, and switches the entry tables (entry.h). A table holds
 * nothing but function pointers, so it is handled as an array of them. */
#include "config.h"

#include "entry.h"

#include "build.h"
#include "library.h"
#include "redirect.h"

#include "runtime/base/log.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAME_BYTES = 80 }; /* of the longest function's, and more */

typedef void (*call_f)(void);

/* From the inside out. */
static const struct aspx_interceptor *interceptors[ASPX_INTERCEPTORS_MAX];
static size_t ninterceptors;

static void set_entry(struct aspx_real *table, size_t i, call_f call)
{
    call_f *calls = (call_f *) (void *) table;

    __atomic_store_n(&calls[i], call, __ATOMIC_RELEASE);
}

/* Pointer by pointer: other threads may be jumping through it. */
static void copy(struct aspx_real *to, const struct aspx_real *from)
{
    const call_f *calls = (const call_f *) (const void *) from;

    for (size_t i = 0; i < ASPX_CALLS; i++)
        set_entry(to, i, calls[i]);
}

/* The MPI_X and PMPI_X of a tool behind us, or NULL. */
static call_f tools_mpi[ASPX_CALLS], tools_pmpi[ASPX_CALLS];

/* libmpich's own, NULL where it is a release that lacks the function. */
static const call_f *const real_calls =
    (const call_f *) (const void *) &aspx_real;

/* Pointer by pointer: other threads may be jumping through the tables. */
static void set_entries(const struct aspx_real *wanted)
{
    const call_f *from = (const call_f *) (const void *) wanted;

    for (size_t i = 0; i < ASPX_CALLS; i++) {
        if (!real_calls[i])
            continue; /* its stub says so */
        set_entry(&aspx_entry_inner, i, from[i]);
        set_entry(&aspx_entry_pmpi, i, tools_pmpi[i] ? tools_pmpi[i] : from[i]);
        set_entry(&aspx_entry_mpi, i, tools_mpi[i] ? tools_mpi[i] : from[i]);
    }
}

/* What stands behind us under this name: NULL when that is libmpich, whose
 * symbols may lead to us. */
static call_f find_tool(size_t i, const char *prefix)
{
    const call_f *inner = (const call_f *) (const void *) &aspx_inner;
    char name[NAME_BYTES];
    call_f next;

    snprintf(name, sizeof(name), "%s%s", prefix, aspx_real_names[i]);
    *(void **) &next = dlsym(RTLD_NEXT, name);
    return next != real_calls[i] && next != inner[i] ? next : NULL;
}

static void find_tools(void)
{
    for (size_t i = 0; i < ASPX_CALLS; i++) {
        tools_mpi[i] = find_tool(i, "");
        tools_pmpi[i] = find_tool(i, "P");
    }
}

static void no_mpi(void)
{
    aspx_log(ASPX_LOG_ERROR, "an MPI function was called, but this process has "
                             "no MPI library that defines it; run it with "
                             "--async-progress=off");
    abort();
}

/* A tool's behind us, or the library's, which RTLD_NEXT does not see in a scope
 * of its own. */
static call_f find_behind(void *library, size_t i, const char *prefix)
{
    char name[NAME_BYTES];
    call_f found;

    snprintf(name, sizeof(name), "%s%s", prefix, aspx_real_names[i]);
    *(void **) &found = dlsym(RTLD_NEXT, name);
    if (!found && library)
        *(void **) &found = dlsym(library, name);
    return found;
}

/* Its functions may have other arguments, but a jump does not look at them. */
static void step_aside(const struct aspx_mpi_library *other)
{
    void *handle = other ? aspx_mpi_library_open(other) : NULL;

    for (size_t i = 0; i < ASPX_CALLS; i++) {
        call_f mpi = find_behind(handle, i, ""),
               pmpi = find_behind(handle, i, "P");

        set_entry(&aspx_entry_pmpi, i, pmpi ? pmpi : no_mpi);
        set_entry(&aspx_entry_mpi, i, mpi ? mpi : no_mpi);
    }
}

static void resolve_once(void)
{
    struct aspx_mpi_library library, second;
    bool known = aspx_real_resolve() == 0,
         found = aspx_mpi_library_find(&library);
    struct aspx_real table;

    if (!known) {
        step_aside(found ? &library : NULL);
        if (found && aspx_redirect_is_wanted())
            aspx_entry_other_mpi(&library);
        return;
    }
    aspx_redirect();
    find_tools();
    aspx_wrappers_fill_start(&table);
    set_entries(&table);
    if (aspx_redirect_is_wanted() &&
        aspx_mpi_library_find_second(&library, &second))
        aspx_entry_second_mpi(&library, &second);
}

/* The loader would have said so, had our symbol not been there. */
static _Noreturn void say_lacking(size_t call)
{
    aspx_log(ASPX_LOG_ERROR,
             "this program calls %s, which the MPI library that it has "
             "loaded (%s) does not have",
             aspx_real_names[call], aspx_mpi_name());
    abort();
}

void aspx_entry_resolve(size_t call)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, resolve_once);
    if (aspx_real_library() && !real_calls[call])
        say_lacking(call);
}

void aspx_entry_inert(void)
{
    set_entries(&aspx_real);
}

void aspx_entry_activate(void)
{
    struct aspx_real table;

    aspx_wrappers_fill(&table);
    aspx_entry_use(&table);
}

void aspx_entry_use(const struct aspx_real *table)
{
    struct aspx_real whole = *table;

    for (size_t i = 0; i < ninterceptors; i++) {
        if (interceptors[i]->is_over && interceptors[i]->is_over())
            continue;
        copy(interceptors[i]->behind, &whole);
        interceptors[i]->fill(&whole);
    }
    set_entries(&whole);
}

void aspx_entry_put_before_library(const struct aspx_interceptor *interceptor)
{
    *interceptor->behind = aspx_real;
    interceptor->fill(&aspx_real);
}

void aspx_entry_put_before_mode(const struct aspx_interceptor *interceptor)
{
    for (size_t i = 0; i < ninterceptors; i++)
        if (interceptors[i] == interceptor)
            return;
    interceptors[ninterceptors++] = interceptor;
}

void aspx_entry_end(void)
{
    struct aspx_real table;

    aspx_wrappers_fill_end(&table);
    set_entries(&table);
}
