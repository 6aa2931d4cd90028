/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes as the engine has to know them. */
#ifndef ASPEN_RUNTIME_CASPER_RMA_TYPES_H
#define ASPEN_RUNTIME_CASPER_RMA_TYPES_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* First byte, and last + 1, that count > 0 elements access. Returns false when
 * that is beyond any address. */
bool aspx_type_span(MPI_Count count, MPI_Datatype type, MPI_Count *lo_p,
                    MPI_Count *hi_p);

/* Bytes of data in count elements. */
uint64_t aspx_type_bytes(MPI_Count count, MPI_Datatype type);

/* Data without gaps from the start of the buffer on; two buffers of one such
 * type are alike byte by byte. */
bool aspx_type_dense(MPI_Datatype type);

/* May MPI need a message of its own to tell another process how one element is
 * made up? Blocks at places that are listed, and many; vectors and subarrays
 * count as regular, whatever they are made of. */
bool aspx_type_is_irregular(MPI_Datatype type);

/* Displacements in bytes of the basic elements of (count, type), in the order
 * of the type map.
 *   basic_p  the predefined type of all elements
 *   count_p  elements
 * Returns them, owned by the caller; NULL without memory, and of types that
 * have no typemap of any size (runtime/pack/typemap.h) or no one basic type. */
MPI_Aint *aspx_type_flatten(MPI_Count count, MPI_Datatype type,
                            MPI_Datatype *basic_p, size_t *count_p);

#endif
