/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "mpi_kind.h"

#include <stddef.h>

/* What every MPI library defines. Tools stand for MPI_X, and some of them for
 * the PMPI_X of functions that interest them (Darshan, Recorder: Init,
 * Finalize, files), but not for these. */
static const char *const all_have[] = {"PMPI_Init", "PMPI_Comm_size",
                                       "PMPI_Type_commit", "PMPI_Wtime"};

/* What each has beside that; the first row that fits counts. MPIR_Dup_fn
 * is in every program that uses MPI_DUP_FN with an mpi.h of MPICH's interface,
 * so all that have the interface define it. */
static const struct {
    const char *symbol; /* NULL: nothing more */
    const char *name;
    const char *joins_by;
} kinds[ASP_MPI_KINDS] = {
    [ASP_MPI_NONE] = {NULL, "no MPI", ""},
    [ASP_MPI_MPICH] = {"MPIR_Dup_fn", "MPICH", "PMI_RANK"},
    [ASP_MPI_OPEN] = {"ompi_mpi_comm_world", "Open MPI", "PMIX_RANK"},
    [ASP_MPI_OTHER] = {NULL, "another MPI than MPICH", "PMI_RANK"},
};

enum asp_mpi_kind asp_mpi_kind(asp_mpi_defines_f *defines, const void *library)
{
    int kind = ASP_MPI_MPICH;

    for (size_t i = 0; i < sizeof(all_have) / sizeof(all_have[0]); i++)
        if (!defines(library, all_have[i]))
            return ASP_MPI_NONE;
    while (kinds[kind].symbol && !defines(library, kinds[kind].symbol))
        kind++;
    return (enum asp_mpi_kind) kind;
}

const char *asp_mpi_kind_name(enum asp_mpi_kind kind)
{
    return kinds[kind].name;
}

const char *asp_mpi_kind_joins_by(enum asp_mpi_kind kind)
{
    return kinds[kind].joins_by;
}
