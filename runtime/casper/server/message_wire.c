/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to other ghosts are kept until MPI has them, and received by probes
 * (receive()). What is asked for while many copies are under way waits. */
#include "config.h"

#include "message_wire.h"

#include "messages.h"

#include "runtime/mpi/real.h"

#include <stdlib.h>
#include <string.h>

enum {
    TAG = 0,
    /* While so many are under way no more posts are read: they wait in their
     * ranks' memory. */
    FULL = 256,
    TAKEN = 32, /* messages in one round: others wait, too */
    /* Pieces whose bytes were copied, so that the sender has its memory back:
     * 32 MiB. */
    COPIES = 32,
};

/* A message to another ghost, until MPI has it. */
struct out {
    struct out *next;
    MPI_Request request;
    struct aspx_ghost_send *send; /* whose memory MPI reads; or NULL */
    bool is_copy;                 /* of a piece */
    bool is_large;                /* as its room */
    _Alignas(16) char data[];
};

/* What messages had, for the next ones: fresh memory of a piece takes many
 * times as long to be written. */
static struct out *kept[2]; /* is_large */

/* A piece that another ghost has asked for, while there is no room for it. */
struct asked {
    struct asked *next;
    int32_t ghost;
    struct aspx_wire wire;
};

static struct out *outs;
static uint32_t nouts, ncopies;
static struct asked *first, **end = &first;

#define ALL aspx_ghost_messages

int aspx_wire_start(void)
{
    if (aspx_real.MPI_Comm_dup(ALL.engine->ghosts_comm, &ALL.comm) !=
        MPI_SUCCESS)
        return -1;
    aspx_real.MPI_Comm_set_errhandler(ALL.comm, MPI_ERRORS_RETURN);
    return 0;
}

bool aspx_wire_is_full(void)
{
    return nouts >= FULL;
}

bool aspx_wire_is_busy(void)
{
    return outs || first;
}

/* With room for a small message, or for a piece. */
static struct out *new_out(bool is_large)
{
    struct out *out = kept[is_large];

    if (out)
        kept[is_large] = out->next;
    else
        out = malloc(sizeof(*out) +
                     (is_large ? ASPX_P2P_PIECE
                               : sizeof(struct aspx_wire) + ASPX_P2P_SMALL));
    if (out)
        *out = (struct out){.is_large = is_large};
    return out;
}

/* No more are kept than were under way at once, which is bounded. */
static void keep_out(struct out *out)
{
    out->next = kept[out->is_large];
    kept[out->is_large] = out;
}

static int post(struct out *out, int32_t ghost, const void *data,
                uint64_t bytes, int tag)
{
    if (aspx_real.MPI_Isend(data, (int) bytes, MPI_BYTE, ghost, tag, ALL.comm,
                            &out->request) != MPI_SUCCESS) {
        keep_out(out);
        return -1;
    }
    out->next = outs;
    outs = out;
    nouts++;
    return 0;
}

int aspx_wire_send(int32_t ghost, const struct aspx_wire *wire,
                   const void *data, uint64_t bytes)
{
    struct out *out = new_out(false);

    if (!out)
        return -1;
    memcpy(out->data, wire, sizeof(*wire));
    if (bytes)
        memcpy(out->data + sizeof(*wire), data, bytes);
    return post(out, ghost, out->data, sizeof(*wire) + bytes, TAG);
}

/* ---- pieces that others have asked for ---------------------------------------- */

static int end_read(struct aspx_ghost_send *send)
{
    return send->all_asked && send->pieces == 0 ? aspx_ghost_send_over(send)
                                                : 0;
}

/* The memory of a user is read at once, and free then; the arena's is read by
 * MPI. A piece that cannot be read is sent without its bytes. */
static int send_piece(int32_t ghost, const struct aspx_wire *wire,
                      struct aspx_ghost_send *send)
{
    bool in_arena = send->place.offset != ASPX_P2P_NOWHERE;
    uint64_t bytes = wire->bytes;
    struct out *out = new_out(!in_arena);
    const void *data;

    if (!out)
        return -1;
    out->is_copy = !in_arena;
    data = in_arena ? ALL.engine->arena.base + send->place.offset + wire->offset
                    : out->data;
    if (!in_arena && !aspx_ghost_read(send, wire->offset, out->data, bytes)) {
        send->has_failed = true;
        bytes = 0;
    }
    if (in_arena) {
        out->send = send;
        send->pieces++;
    }
    send->all_asked |= wire->flags;
    ncopies += out->is_copy;
    if (post(out, ghost, data, bytes, wire->tag_data) != 0)
        return -1;
    return end_read(send);
}

static int answer_pull(int32_t ghost, const struct aspx_wire *wire)
{
    struct aspx_ghost_send *send = aspx_ghost_send_at(wire->number);
    struct asked *asked;

    if (!send)
        return -1;
    if (!first && ncopies < COPIES)
        return send_piece(ghost, wire, send);
    asked = malloc(sizeof(*asked));
    if (!asked)
        return -1;
    *asked = (struct asked){NULL, ghost, *wire};
    *end = asked;
    end = &asked->next;
    return 0;
}

/* Returns whether there was one, or -1. */
static int send_asked(void)
{
    int any = 0;

    while (first && ncopies < COPIES) {
        struct asked *asked = first;
        struct aspx_ghost_send *send = aspx_ghost_send_at(asked->wire.number);

        if (!send || send_piece(asked->ghost, &asked->wire, send) != 0)
            return -1;
        first = asked->next;
        if (!first)
            end = &first;
        free(asked);
        any = 1;
    }
    return any;
}

/* ---- what comes --------------------------------------------------------------- */

static int take_envelope(int32_t ghost, const struct aspx_wire *wire,
                         const void *data, uint64_t bytes)
{
    struct aspx_ghost_message *message;

    if (wire->to >= (uint32_t) ALL.engine->world->size_users ||
        !ALL.by_rank[wire->to] ||
        (!(wire->flags & ASPX_P2P_APART) && bytes != wire->bytes))
        return -1;
    message = calloc(1, sizeof(*message));
    if (!message)
        return -1;
    message->match.envelope = (struct aspx_match_envelope){
        wire->comm, wire->to, wire->source, wire->tag};
    message->bytes = wire->bytes;
    message->flags = wire->flags;
    message->ghost = ghost;
    message->number = wire->number;
    return aspx_ghost_arrive(message, data);
}

static int take(int32_t ghost, const struct aspx_wire *wire, const void *data,
                uint64_t bytes)
{
    struct aspx_ghost_send *send = aspx_ghost_send_at(wire->number);

    switch ((enum aspx_wire_verb) wire->verb) {
    case ASPX_WIRE_ENVELOPE:
        return take_envelope(ghost, wire, data, bytes);
    case ASPX_WIRE_MATCHED:
        return send ? aspx_ghost_send_over(send) : -1;
    case ASPX_WIRE_PULL:
        return answer_pull(ghost, wire);
    case ASPX_WIRE_CANCEL:
        return aspx_ghost_cancel(ghost, wire->number);
    case ASPX_WIRE_CANCELLED:
        return send ? aspx_ghost_send_cancelled(send) : -1;
    }
    return -1;
}

/* A probe: where MPI's messages take two ways, a receive from any source is not
 * safe (loop.c). */
static int receive(void)
{
    static union {
        struct aspx_wire wire;
        char bytes[sizeof(struct aspx_wire) + ASPX_P2P_SMALL];
    } in;
    MPI_Status status;
    int flag = 0, bytes = 0;

    if (aspx_real.MPI_Iprobe(MPI_ANY_SOURCE, TAG, ALL.comm, &flag, &status) !=
        MPI_SUCCESS)
        return -1;
    if (!flag)
        return 0;
    if (aspx_real.MPI_Recv(&in, sizeof(in), MPI_BYTE, status.MPI_SOURCE, TAG,
                           ALL.comm, &status) != MPI_SUCCESS)
        return -1;
    aspx_real.MPI_Get_count(&status, MPI_BYTE, &bytes);
    if ((size_t) bytes < sizeof(in.wire))
        return -1;
    return take(status.MPI_SOURCE, &in.wire, in.bytes + sizeof(in.wire),
                (uint64_t) bytes - sizeof(in.wire)) == 0
               ? 1
               : -1;
}

/* ---- what has gone ------------------------------------------------------------ */

static int look_at_outs(void)
{
    int any = 0;

    for (struct out **at = &outs; *at;) {
        struct out *out = *at;
        int flag = 0;

        if (aspx_real.MPI_Test(&out->request, &flag, MPI_STATUS_IGNORE) !=
            MPI_SUCCESS)
            return -1;
        if (!flag) {
            at = &out->next;
            continue;
        }
        if (out->send) {
            out->send->pieces--;
            if (end_read(out->send) != 0)
                return -1;
        }
        *at = out->next;
        nouts--;
        ncopies -= out->is_copy;
        keep_out(out);
        any = 1;
    }
    return any;
}

int aspx_wire_step(void)
{
    int any = 0, one;

    if (ALL.engine->world->nnodes < 2)
        return 0;
    for (int taken = 0; taken < TAKEN && (one = receive()) != 0; taken++) {
        if (one < 0)
            return -1;
        any = 1;
    }
    one = outs ? look_at_outs() : 0;
    any |= one;
    if (one >= 0 && first) {
        one = send_asked();
        any |= one;
    }
    return one < 0 ? -1 : any;
}

void aspx_wire_stop(void)
{
    for (struct out *out = outs; out; out = out->next)
        aspx_real.MPI_Request_free(&out->request);
    aspx_real.MPI_Comm_free(&ALL.comm);
}
