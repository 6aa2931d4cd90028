/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Pack and MPI_Unpack of derived types. What can be wrong with a call is
 * MPI's affair: first it is made with no elements, which has MPI look at
 * communicator, type and sizes, and costs 200 to 300 instructions where MPICH
 * takes 1,400 for two numbers. Calls that look unusual are left to MPI as they
 * are: NULL, also as MPI_BOTTOM; sizes that are negative or too small; types
 * without a typemap. MPI_Pack_size only multiplies, and stays MPI's. */
#include "config.h"

#include "messages.h"
#include "typemap.h"

#include "runtime/mpi/handle.h"
#include "runtime/mpi/real.h"

#include "mpi_behind.h"
#include "mpi_wrap.h"

/* Does the call look as calls do that can be Aspen's? */
static bool is_usual(const void *buffer, MPI_Count count, MPI_Datatype type,
                     const void *packed, const void *position)
{
    return aspx_pack_is_ready() && buffer && count > 0 && packed && position &&
           aspx_handle_is(type, ASPX_HANDLE_DATATYPE) &&
           !aspx_handle_basic_size(type);
}

/* The typemap of a type, if so many elements lie between position and the end
 * of what is `size` bytes long. MPI has found the type right. */
static const struct aspx_typemap *fitting(MPI_Datatype type, MPI_Count count,
                                          MPI_Count position, MPI_Count size,
                                          uint64_t *bytes)
{
    const struct aspx_typemap *typemap;

    if (position < 0 || position > size)
        return NULL;
    typemap = aspx_typemap_of(type);
    if (!typemap || !aspx_typemap_bytes(typemap, (uint64_t) count, bytes) ||
        *bytes > (uint64_t) (size - position))
        return NULL;
    return typemap;
}

/* The two calls, with int and with MPI_Count, differ in nothing else. */
#define PACK(name, integer)                                                    \
    int aspx_pack_##name(const void *inbuf, integer incount,                   \
                         MPI_Datatype datatype, void *outbuf, integer outsize, \
                         integer *position, MPI_Comm comm)                     \
    {                                                                          \
        const struct aspx_typemap *typemap = NULL;                             \
        uint64_t bytes;                                                        \
                                                                               \
        if (is_usual(inbuf, incount, datatype, outbuf, position)) {            \
            int rc = aspx_pack_behind.name(inbuf, 0, datatype, outbuf,         \
                                           outsize, position, comm);           \
                                                                               \
            if (rc != MPI_SUCCESS)                                             \
                return rc;                                                     \
            typemap = fitting(datatype, incount, *position, outsize, &bytes);  \
        }                                                                      \
        if (!typemap)                                                          \
            return aspx_pack_behind.name(inbuf, incount, datatype, outbuf,     \
                                         outsize, position, comm);             \
        aspx_typemap_pack(typemap, inbuf, (uint64_t) incount, 0,               \
                          (char *) outbuf + *position, bytes);                 \
        *position += (integer) bytes;                                          \
        return MPI_SUCCESS;                                                    \
    }

#define UNPACK(name, integer)                                                  \
    int aspx_pack_##name(const void *inbuf, integer insize, integer *position, \
                         void *outbuf, integer outcount,                       \
                         MPI_Datatype datatype, MPI_Comm comm)                 \
    {                                                                          \
        const struct aspx_typemap *typemap = NULL;                             \
        uint64_t bytes;                                                        \
                                                                               \
        if (is_usual(outbuf, outcount, datatype, inbuf, position)) {           \
            int rc = aspx_pack_behind.name(inbuf, insize, position, outbuf, 0, \
                                           datatype, comm);                    \
                                                                               \
            if (rc != MPI_SUCCESS)                                             \
                return rc;                                                     \
            typemap = fitting(datatype, outcount, *position, insize, &bytes);  \
        }                                                                      \
        if (!typemap)                                                          \
            return aspx_pack_behind.name(inbuf, insize, position, outbuf,      \
                                         outcount, datatype, comm);            \
        aspx_typemap_unpack(typemap, outbuf, (uint64_t) outcount, 0,           \
                            (const char *) inbuf + *position, bytes);          \
        *position += (integer) bytes;                                          \
        return MPI_SUCCESS;                                                    \
    }

PACK(MPI_Pack, int)
PACK(MPI_Pack_c, MPI_Count)
UNPACK(MPI_Unpack, int)
UNPACK(MPI_Unpack_c, MPI_Count)
