/* SPDX-License-Identifier: BSD-3-Clause */
/* The signs by which MPI libraries are told apart, in the order in which they
 * are tried, and what Aspen says of each kind. */
#include "config.h"

#include "mpi_kind.h"

#include <stdlib.h>

/* What every MPI library defines. Tools stand for MPI_X, and some of them for
 * the PMPI_X of functions that interest them (Darshan, Recorder: Init,
 * Finalize, files), but not for these. */
static const char *const all_have[] = {"PMPI_Init", "PMPI_Comm_size",
                                       "PMPI_Type_commit", "PMPI_Wtime"};

/* The same without the second names (the libmpi_abi.so of MPICH 5.0.1). It may
 * as well be a tool that stands for all of MPI, so this one counts where there
 * is no other. */
static const char *const plain_have[] = {"MPI_Init", "MPI_Comm_size",
                                         "MPI_Type_commit", "MPI_Wtime"};

/* What each has beside that; the first row that fits counts. MPIR_Dup_fn is in
 * every program that uses MPI_DUP_FN with an mpi.h of MPICH's interface, and
 * MPI_UNWEIGHTED is data there: so all that have the interface define both. To
 * the standard's interface both are numbers, whoever's the library is. */
static const struct {
    const char *symbols[2];
    enum asp_mpi_kind kind;
} signs[] = {
    {{"MPIR_Dup_fn", "MPI_UNWEIGHTED"}, ASP_MPI_MPICH},
    {{"ompi_mpi_comm_world"}, ASP_MPI_OPEN},
    /* Since release 6 its handles are in a library without functions; here an
     * extension, and what translates handles of the standard's interface. */
    {{"OMPI_Affinity_str"}, ASP_MPI_OPEN},
    {{"ompi_convert_abi_obj_handle_intern_obj_handle"}, ASP_MPI_OPEN},
    {{"PMPI_Abi_get_version"}, ASP_MPI_STANDARD},
    {{NULL}, ASP_MPI_OTHER},
};

/* Who started the process is asked of both where it cannot be told which of
 * them the library will ask. */
static const struct {
    const char *name;
    const char *aspens; /* what Aspen can do with it, as part of a sentence */
    const char *joins_by[2];
} kinds[ASP_MPI_KINDS] = {
    [ASP_MPI_NONE] = {"no MPI", "", {NULL}},
    [ASP_MPI_MPICH] = {"MPICH", "", {"PMI_RANK"}},
    [ASP_MPI_OPEN] = {"Open MPI", "Aspen works with MPICH", {"PMIX_RANK"}},
    [ASP_MPI_STANDARD] = {"an MPI of the standard's binary interface",
                          "Aspen works with MPICH by MPICH's own interface",
                          {"PMI_RANK", "PMIX_RANK"}},
    [ASP_MPI_OTHER] = {"another MPI than MPICH",
                       "Aspen works with MPICH",
                       {"PMI_RANK", "PMIX_RANK"}},
    [ASP_MPI_PLAIN] = {"an MPI without PMPI_ names",
                       "Aspen works with MPICH by its PMPI_ names",
                       {"PMI_RANK", "PMIX_RANK"}},
};

#define COUNT(names) (sizeof(names) / sizeof((names)[0]))

static bool all_defined(asp_mpi_defines_f *defines, const void *library,
                        const char *const *names, size_t n)
{
    for (size_t i = 0; i < n && names[i]; i++)
        if (!defines(library, names[i]))
            return false;
    return true;
}

enum asp_mpi_kind asp_mpi_kind(asp_mpi_defines_f *defines, const void *library)
{
    size_t sign = 0;

    if (!all_defined(defines, library, all_have, COUNT(all_have)))
        return all_defined(defines, library, plain_have, COUNT(plain_have))
                   ? ASP_MPI_PLAIN
                   : ASP_MPI_NONE;
    while (!all_defined(defines, library, signs[sign].symbols, 2))
        sign++;
    return signs[sign].kind;
}

const char *asp_mpi_kind_name(enum asp_mpi_kind kind)
{
    return kinds[kind].name;
}

const char *asp_mpi_kind_aspens(enum asp_mpi_kind kind)
{
    return kinds[kind].aspens;
}

bool asp_mpi_kind_joins(enum asp_mpi_kind kind)
{
    const char *const *names = kinds[kind].joins_by;

    return (names[0] && getenv(names[0])) || (names[1] && getenv(names[1]));
}
