/* SPDX-License-Identifier: BSD-3-Clause */
/* Contiguous data stay where they are. Data with gaps are packed before a send
 * is posted, and unpacked as the pieces of a message land. */
#include "config.h"

#include "message.h"

#include "runtime/mpi/handle.h"
#include "runtime/mpi/real.h"

#include <stdlib.h>
#include <string.h>

uint64_t aspx_p2p_bytes(const struct aspx_p2p_buffer *buffer)
{
    unsigned basic = aspx_handle_basic_size(buffer->type);
    MPI_Count size = (MPI_Count) basic;
    uint64_t bytes;

    if (buffer->count < 0 || buffer->type == MPI_DATATYPE_NULL ||
        !aspx_handle_is(buffer->type, ASPX_HANDLE_DATATYPE))
        return UINT64_MAX;
    if (!basic && aspx_real.MPI_Type_size_c(buffer->type, &size) != MPI_SUCCESS)
        return UINT64_MAX;
    if (__builtin_mul_overflow((uint64_t) size, (uint64_t) buffer->count,
                               &bytes))
        return UINT64_MAX;
    return bytes > 0 && !buffer->address && basic ? UINT64_MAX : bytes;
}

/* Where elements follow one another without gaps. NULL: there are gaps. */
static char *contiguous(const struct aspx_p2p_buffer *buffer)
{
    const struct aspx_typemap *typemap;

    if (aspx_handle_basic_size(buffer->type))
        return buffer->address;
    typemap = aspx_typemap_of(buffer->type);
    if (!typemap || typemap->node ||
        (buffer->count > 1 && typemap->extent != (int64_t) typemap->size))
        return NULL;
    return (char *) buffer->address + typemap->offset;
}

static bool take_memory(struct aspx_p2p_message *message)
{
    message->owned = malloc((size_t) message->post.bytes + 1);
    return message->owned;
}

static int pack(struct aspx_p2p_message *message)
{
    const struct aspx_p2p_buffer *buffer = &message->buffer;
    const struct aspx_typemap *typemap = aspx_typemap_of(buffer->type);
    MPI_Count position = 0;

    if (!take_memory(message))
        return MPI_ERR_NO_MEM;
    message->data = message->owned;
    if (!typemap)
        return aspx_real.MPI_Pack_c(
            buffer->address, buffer->count, buffer->type, message->owned,
            (MPI_Count) message->post.bytes, &position, MPI_COMM_SELF);
    aspx_typemap_pack(typemap, buffer->address, (uint64_t) buffer->count, 0,
                      message->owned, message->post.bytes);
    return MPI_SUCCESS;
}

int aspx_p2p_give(struct aspx_p2p_message *message)
{
    if (message->post.bytes == 0)
        return MPI_SUCCESS;
    message->data = contiguous(&message->buffer);
    return message->data ? MPI_SUCCESS : pack(message);
}

/* A typemap of its own, since the program may free the type meanwhile. */
int aspx_p2p_expect(struct aspx_p2p_message *message)
{
    enum aspx_no_typemap why;

    if (message->post.bytes == 0)
        return MPI_SUCCESS;
    message->data = contiguous(&message->buffer);
    if (message->data)
        return MPI_SUCCESS;
    message->typemap = aspx_typemap_make_large(message->buffer.type, &why);
    if (message->typemap)
        return MPI_SUCCESS;
    if (!take_memory(message))
        return MPI_ERR_NO_MEM;
    message->data = message->owned;
    return aspx_p2p_keep_type(message);
}

int aspx_p2p_keep_type(struct aspx_p2p_message *message)
{
    MPI_Datatype kept;
    int rc;

    if (message->keeps_type || aspx_handle_basic_size(message->buffer.type))
        return MPI_SUCCESS;
    rc = aspx_real.MPI_Type_contiguous(1, message->buffer.type, &kept);
    if (rc == MPI_SUCCESS)
        rc = aspx_real.MPI_Type_commit(&kept);
    if (rc != MPI_SUCCESS)
        return rc;
    message->buffer.type = kept;
    message->keeps_type = true;
    return MPI_SUCCESS;
}

void aspx_p2p_land(struct aspx_p2p_message *message, uint64_t offset,
                   const void *data, uint64_t bytes)
{
    uint64_t room = message->post.bytes;

    if (offset >= room)
        return;
    if (bytes > room - offset)
        bytes = room - offset;
    if (message->typemap)
        aspx_typemap_unpack(message->typemap, message->buffer.address,
                            (uint64_t) message->buffer.count, offset, data,
                            bytes);
    else
        memcpy(message->data + offset, data, bytes);
}

/* Whole elements: MPI cannot unpack less. Where there are gaps MPICH has an
 * error for a number of which a part is missing. */
int aspx_p2p_unpack(struct aspx_p2p_message *message, uint64_t got)
{
    const struct aspx_p2p_buffer *buffer = &message->buffer;
    MPI_Count size = 0, position = 0;

    if (message->typemap)
        return got % message->typemap->number ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
    if (!message->owned || message->post.verb != ASPX_P2P_RECEIVE)
        return MPI_SUCCESS;
    aspx_real.MPI_Type_size_c(buffer->type, &size);
    return aspx_real.MPI_Unpack_c(message->owned, (MPI_Count) got, &position,
                                  buffer->address, (MPI_Count) got / size,
                                  buffer->type, MPI_COMM_SELF);
}

void aspx_p2p_drop(struct aspx_p2p_message *message)
{
    free(message->owned);
    message->owned = NULL;
    message->data = NULL;
    if (message->typemap)
        aspx_typemap_free(message->typemap);
    message->typemap = NULL;
}
