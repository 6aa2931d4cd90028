/* SPDX-License-Identifier: BSD-3-Clause */
/* A message at one of its ends, in the room of a request of ours: its envelope,
 * as it is posted, and where its bytes are in this process. */
#ifndef ASPEN_RUNTIME_P2P_MESSAGE_H
#define ASPEN_RUNTIME_P2P_MESSAGE_H

#include "posts.h"

#include "runtime/pack/typemap.h"
#include "runtime/posted/request.h"

/* What the program says of its buffer. */
struct aspx_p2p_buffer {
    void *address;
    MPI_Count count;
    MPI_Datatype type;
};

struct aspx_p2p_message {
    struct aspx_p2p_post post;
    struct aspx_p2p_buffer buffer;
    char *data;  /* its bytes, one after another; NULL: they have gaps */
    void *owned; /* memory of ours that `data` is in, or NULL */
    /* Of a receive with gaps; neither: not a typemap, but MPI, unpacks `data`.
     */
    struct aspx_typemap *typemap;
    /* MPI_Isendrecv: this one ends when both have, and is the receive. */
    struct aspx_own_request *whole;
    uint64_t staged; /* of a send that was copied into the arena: where */
    uint8_t open;    /* parts that have not ended */
    bool is_staged;
    bool copies;          /* a send whose data are copied, in memory of ours */
    bool buffered;        /* it is MPI_Bsend's, as if in the program's buffer */
    bool starts_buffered; /* MPI_Bsend_init */
    bool keeps_type;      /* the type is ours */
    bool found;           /* a probe: there was one */
};

_Static_assert(sizeof(struct aspx_p2p_message) <= ASPX_OWN_ROOM, "its room");

static inline struct aspx_p2p_message *aspx_p2p_message_of(
    struct aspx_own_request *request)
{
    return (struct aspx_p2p_message *) (void *) request->room;
}

/* Bytes of what a program sends, or has room for; UINT64_MAX: this cannot be
 * told, MPI is to say why. */
uint64_t aspx_p2p_bytes(const struct aspx_p2p_buffer *buffer);

/* Find the data of a send, or the place of a receive. A send with gaps is
 * packed. Returns an error code. Calls MPI for types of the program's only. */
int aspx_p2p_give(struct aspx_p2p_message *message);
int aspx_p2p_expect(struct aspx_p2p_message *message);

/* Data of a receive have come: bytes from an offset on; what is behind its room
 * is left out. Calls no MPI. */
void aspx_p2p_land(struct aspx_p2p_message *message, uint64_t offset,
                   const void *data, uint64_t bytes);

/* All have come: got bytes. Where MPI has to unpack them, it does. */
int aspx_p2p_unpack(struct aspx_p2p_message *message, uint64_t got);

/* Free what was taken for it. */
void aspx_p2p_drop(struct aspx_p2p_message *message);

/* The program may free a type while a request that was made with it lives. */
int aspx_p2p_keep_type(struct aspx_p2p_message *message);

#endif
