/* SPDX-License-Identifier: BSD-3-Clause */
/* MPICH's MPI_Pack and MPI_Unpack refuse NULL, which is MPI_BOTTOM, whatever
 * the type; its collectives take it where a type has addresses. The same data
 * are then named by the address of their first byte, and a type that is moved
 * to there. */
#include "config.h"

#include "typed.h"

#include "call.h"

#include <stdbool.h>
#include <stdint.h>

struct data {
    void *address;
    MPI_Count count;
    MPI_Datatype type;
    bool moved; /* the type is ours */
};

/* NULL where nothing lies at an address of its own stays an error. */
static int move(struct data *data)
{
    MPI_Count first = 0, bytes = 0, from;
    MPI_Datatype type;
    int rc = aspx_coll_behind.MPI_Type_get_true_extent_c(data->type, &first,
                                                         &bytes);

    if (rc != MPI_SUCCESS || first == 0)
        return rc;
    from = -first;
    rc = aspx_coll_behind.MPI_Type_create_hindexed_c(1, &data->count, &from,
                                                     data->type, &type);
    if (rc != MPI_SUCCESS)
        return rc;
    *data = (struct data){(void *) (uintptr_t) first, 1, type, true};
    return aspx_coll_behind.MPI_Type_commit(&data->type);
}

static void leave(struct data *data)
{
    if (data->moved)
        aspx_coll_behind.MPI_Type_free(&data->type);
}

int aspx_coll_pack(const void *address, MPI_Count count, MPI_Datatype type,
                   void *bytes, MPI_Count size, MPI_Comm comm)
{
    struct data data = {(void *) (uintptr_t) address, count, type, false};
    int rc = address ? MPI_SUCCESS : move(&data);
    MPI_Count at = 0;

    if (rc == MPI_SUCCESS)
        rc = aspx_coll_behind.MPI_Pack_c(data.address, data.count, data.type,
                                         bytes, size, &at, comm);
    leave(&data);
    return rc;
}

int aspx_coll_unpack(const void *bytes, MPI_Count size, void *address,
                     MPI_Count count, MPI_Datatype type, MPI_Comm comm)
{
    struct data data = {address, count, type, false};
    int rc = address ? MPI_SUCCESS : move(&data);
    MPI_Count at = 0;

    if (rc == MPI_SUCCESS)
        rc = aspx_coll_behind.MPI_Unpack_c(bytes, size, &at, data.address,
                                           data.count, data.type, comm);
    leave(&data);
    return rc;
}
