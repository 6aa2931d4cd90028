/* SPDX-License-Identifier: BSD-3-Clause */
/* What is cheap is asked first: most calls are of types without gaps, or of
 * small ones. What looks unusual is handed on as it is: NULL, also as
 * MPI_BOTTOM; negative counts and ranks; types that are freed or not committed.
 *
 * Not here: MPI_Bsend, whose buffer MPI accounts for by the type;
 * MPI_Sendrecv_replace; and what ends in another call than it began in
 * (docs/design/pack.md says why). */
#include "config.h"

#include "staged.h"

#include "messages.h"
#include "openmp.h"
#include "parallel.h"
#include "peers.h"
#include "staging.h"
#include "typemap.h"

#include "runtime/mpi/entry.h"
#include "runtime/mpi/handle.h"

#include "mpi_behind.h"
#include "mpi_wrap.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

/* It is one call with an int. Memory that is taken for one message. */
enum { STAGED_MAX = 1 << 30 };

static bool wanted;

/* ---- one buffer of the program ----------------------------------------------- */

struct staged {
    const struct aspx_typemap *typemap;
    void *buffer;
    uint64_t count, bytes;
    unsigned threads;
    char *staging; /* NULL: it is MPI's as it is */
};

/* What is asked in front of each call. */
static inline bool has_gaps(MPI_Datatype type)
{
    return aspx_handle_basic_size(type) == 0; /* it may have */
}

static __attribute__((noinline)) bool may_pay(MPI_Count count,
                                              MPI_Datatype type)
{
    const struct aspx_typemap *typemap = aspx_typemap_in_use(type);

    return typemap && count > 0 &&
           (uint64_t) count * typemap->size >= ASPX_PARALLEL_MIN &&
           !aspx_openmp_all_compute();
}

/* Does it pay? Fills in all but the staging memory. */
static bool pays(struct staged *staged, const void *buffer, MPI_Count count,
                 MPI_Datatype type)
{
    const struct aspx_typemap *typemap;
    uint64_t bytes;

    if (!has_gaps(type) || !buffer || count <= 0)
        return false;
    typemap = aspx_typemap_in_use(type);
    if (!typemap || !typemap->node ||
        !aspx_typemap_bytes(typemap, (uint64_t) count, &bytes) ||
        bytes < ASPX_PARALLEL_MIN || bytes > STAGED_MAX)
        return false;
    *staged = (struct staged){.typemap = typemap,
                              .buffer = (void *) (uintptr_t) buffer,
                              .count = (uint64_t) count,
                              .bytes = bytes,
                              .threads = aspx_parallel_threads(typemap, bytes)};
    return staged->threads > 1;
}

static bool begin(struct staged *staged)
{
    staged->staging = aspx_staging_take(staged->bytes);
    if (staged->staging)
        aspx_typemap_hold();
    return staged->staging;
}

static void end(struct staged *staged)
{
    if (!staged->staging)
        return;
    aspx_typemap_release();
    aspx_staging_give(staged->staging);
}

static bool begin_send(struct staged *staged, const void *buffer,
                       MPI_Count count, MPI_Datatype type, int dest,
                       MPI_Comm comm)
{
    staged->staging = NULL;
    if (dest < 0 || !pays(staged, buffer, count, type) ||
        !aspx_pack_peers_only(&aspx_staged_behind, comm) || !begin(staged))
        return false;
    aspx_parallel_pack(staged->typemap, staged->buffer, staged->count,
                       staged->staging, staged->bytes, staged->threads);
    return true;
}

static bool begin_receive(struct staged *staged, void *buffer, MPI_Count count,
                          MPI_Datatype type, int source)
{
    staged->staging = NULL;
    return (source >= 0 || source == MPI_ANY_SOURCE) &&
           pays(staged, buffer, count, type) && begin(staged);
}

/* Who is idle now decides, not who was when the message was awaited. */
static void unpack_what_came(const struct staged *staged,
                             const MPI_Status *status)
{
    MPI_Count bytes = 0;

    if (aspx_real.MPI_Get_elements_x(status, MPI_BYTE, &bytes) != MPI_SUCCESS ||
        bytes <= 0)
        return;
    aspx_parallel_unpack(
        staged->typemap, staged->buffer, staged->count, staged->staging,
        (uint64_t) bytes,
        aspx_parallel_threads(staged->typemap, (uint64_t) bytes));
}

/* Fields that MPI does not set keep what the program has put there. */
static MPI_Status own_status(const MPI_Status *status)
{
    MPI_Status own;

    if (status == MPI_STATUS_IGNORE)
        memset(&own, 0, sizeof(own));
    else
        own = *status;
    return own;
}

/* ---- messages ------------------------------------------------------------------ */

/* In three steps, so that a call that is not ours costs little: the first needs
 * no stack frame, the second jumps on with the arguments where they are. */
#define APART __attribute__((noinline))
#define INTERCEPTOR(name, parameters, arguments, gaps, large)                  \
    APART static int weigh_##name parameters                                   \
    {                                                                          \
        return (large) ? apart_##name arguments                                \
                       : aspx_staged_behind.name arguments;                    \
    }                                                                          \
    int aspx_staged_##name parameters                                          \
    {                                                                          \
        return (gaps) ? weigh_##name arguments                                 \
                      : aspx_staged_behind.name arguments;                     \
    }

#define SEND_ARGUMENTS (buf, count, datatype, dest, tag, comm)
#define SEND_PARAMETERS(integer)                                               \
    (const void *buf, integer count, MPI_Datatype datatype, int dest, int tag, \
     MPI_Comm comm)

#define SEND(name, integer)                                                    \
    APART static int apart_##name SEND_PARAMETERS(integer)                     \
    {                                                                          \
        struct staged send;                                                    \
        int rc;                                                                \
                                                                               \
        if (!begin_send(&send, buf, count, datatype, dest, comm))              \
            return aspx_staged_behind.name SEND_ARGUMENTS;                     \
        rc = aspx_staged_behind.name(send.staging, (integer) send.bytes,       \
                                     MPI_BYTE, dest, tag, comm);               \
        end(&send);                                                            \
        return rc;                                                             \
    }                                                                          \
    INTERCEPTOR(name, SEND_PARAMETERS(integer), SEND_ARGUMENTS,                \
                has_gaps(datatype), may_pay(count, datatype))

static void end_receive(struct staged *receive, int rc, const MPI_Status *own,
                        MPI_Status *status)
{
    if (!receive->staging)
        return;
    if (rc == MPI_SUCCESS)
        unpack_what_came(receive, own);
    if (status != MPI_STATUS_IGNORE)
        *status = *own;
    end(receive);
}

#define RECEIVE_ARGUMENTS (buf, count, datatype, source, tag, comm, status)
#define RECEIVE_PARAMETERS(integer)                                            \
    (void *buf, integer count, MPI_Datatype datatype, int source, int tag,     \
     MPI_Comm comm, MPI_Status *status)

#define RECEIVE(name, integer)                                                 \
    APART static int apart_##name RECEIVE_PARAMETERS(integer)                  \
    {                                                                          \
        struct staged receive;                                                 \
        MPI_Status own;                                                        \
        int rc;                                                                \
                                                                               \
        if (!begin_receive(&receive, buf, count, datatype, source))            \
            return aspx_staged_behind.name RECEIVE_ARGUMENTS;                  \
        own = own_status(status);                                              \
        rc = aspx_staged_behind.name(receive.staging, (integer) receive.bytes, \
                                     MPI_BYTE, source, tag, comm, &own);       \
        end_receive(&receive, rc, &own, status);                               \
        return rc;                                                             \
    }                                                                          \
    INTERCEPTOR(name, RECEIVE_PARAMETERS(integer), RECEIVE_ARGUMENTS,          \
                has_gaps(datatype), may_pay(count, datatype))

#define SENDRECV_ARGUMENTS                                                     \
    (sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,          \
     recvtype, source, recvtag, comm, status)
#define SENDRECV_PARAMETERS(integer)                                           \
    (const void *sendbuf, integer sendcount, MPI_Datatype sendtype, int dest,  \
     int sendtag, void *recvbuf, integer recvcount, MPI_Datatype recvtype,     \
     int source, int recvtag, MPI_Comm comm, MPI_Status *status)

/* Either side may be staged. */
#define SENDRECV(name, integer)                                                \
    APART static int apart_##name SENDRECV_PARAMETERS(integer)                 \
    {                                                                          \
        struct staged send, receive;                                           \
        MPI_Status own, *to = status;                                          \
        int rc;                                                                \
                                                                               \
        if (begin_send(&send, sendbuf, sendcount, sendtype, dest, comm)) {     \
            sendbuf = send.staging;                                            \
            sendcount = (integer) send.bytes;                                  \
            sendtype = MPI_BYTE;                                               \
        }                                                                      \
        if (begin_receive(&receive, recvbuf, recvcount, recvtype, source)) {   \
            recvbuf = receive.staging;                                         \
            recvcount = (integer) receive.bytes;                               \
            recvtype = MPI_BYTE;                                               \
            own = own_status(status);                                          \
            to = &own;                                                         \
        }                                                                      \
        rc = aspx_staged_behind.name(sendbuf, sendcount, sendtype, dest,       \
                                     sendtag, recvbuf, recvcount, recvtype,    \
                                     source, recvtag, comm, to);               \
        end_receive(&receive, rc, &own, status);                               \
        end(&send);                                                            \
        return rc;                                                             \
    }                                                                          \
    INTERCEPTOR(name, SENDRECV_PARAMETERS(integer), SENDRECV_ARGUMENTS,        \
                has_gaps(sendtype) || has_gaps(recvtype),                      \
                may_pay(sendcount, sendtype) ||                                \
                    ((recvtype != sendtype || recvcount > sendcount) &&        \
                     may_pay(recvcount, recvtype)))

SEND(MPI_Send, int)
SEND(MPI_Send_c, MPI_Count)
SEND(MPI_Ssend, int)
SEND(MPI_Ssend_c, MPI_Count)
SEND(MPI_Rsend, int)
SEND(MPI_Rsend_c, MPI_Count)
RECEIVE(MPI_Recv, int)
RECEIVE(MPI_Recv_c, MPI_Count)
SENDRECV(MPI_Sendrecv, int)
SENDRECV(MPI_Sendrecv_c, MPI_Count)

/* ---- MPI_Pack and MPI_Unpack --------------------------------------------------- */

static bool fits(const struct staged *packed, MPI_Count position,
                 MPI_Count size)
{
    return position >= 0 && position <= size &&
           packed->bytes <= (uint64_t) (size - position);
}

#define PACK_ARGUMENTS                                                         \
    (inbuf, incount, datatype, outbuf, outsize, position, comm)
#define PACK_PARAMETERS(integer)                                               \
    (const void *inbuf, integer incount, MPI_Datatype datatype, void *outbuf,  \
     integer outsize, integer *position, MPI_Comm comm)

/* As in calls.c: MPI judges the call, made with no elements. */
#define PACK(name, integer)                                                    \
    APART static int apart_##name PACK_PARAMETERS(integer)                     \
    {                                                                          \
        struct staged packed;                                                  \
        int rc;                                                                \
                                                                               \
        if (!outbuf || !position ||                                            \
            !pays(&packed, inbuf, incount, datatype) ||                        \
            !fits(&packed, *position, outsize))                                \
            return aspx_staged_behind.name PACK_ARGUMENTS;                     \
        rc = aspx_staged_behind.name(inbuf, 0, datatype, outbuf, outsize,      \
                                     position, comm);                          \
        if (rc != MPI_SUCCESS)                                                 \
            return rc;                                                         \
        aspx_parallel_pack(packed.typemap, inbuf, packed.count,                \
                           (char *) outbuf + *position, packed.bytes,          \
                           packed.threads);                                    \
        *position += (integer) packed.bytes;                                   \
        return MPI_SUCCESS;                                                    \
    }                                                                          \
    INTERCEPTOR(name, PACK_PARAMETERS(integer), PACK_ARGUMENTS,                \
                has_gaps(datatype), may_pay(incount, datatype))

#define UNPACK_ARGUMENTS                                                       \
    (inbuf, insize, position, outbuf, outcount, datatype, comm)
#define UNPACK_PARAMETERS(integer)                                             \
    (const void *inbuf, integer insize, integer *position, void *outbuf,       \
     integer outcount, MPI_Datatype datatype, MPI_Comm comm)

#define UNPACK(name, integer)                                                  \
    APART static int apart_##name UNPACK_PARAMETERS(integer)                   \
    {                                                                          \
        struct staged packed;                                                  \
        int rc;                                                                \
                                                                               \
        if (!inbuf || !position ||                                             \
            !pays(&packed, outbuf, outcount, datatype) ||                      \
            !fits(&packed, *position, insize))                                 \
            return aspx_staged_behind.name UNPACK_ARGUMENTS;                   \
        rc = aspx_staged_behind.name(inbuf, insize, position, outbuf, 0,       \
                                     datatype, comm);                          \
        if (rc != MPI_SUCCESS)                                                 \
            return rc;                                                         \
        aspx_parallel_unpack(packed.typemap, outbuf, packed.count,             \
                             (const char *) inbuf + *position, packed.bytes,   \
                             packed.threads);                                  \
        *position += (integer) packed.bytes;                                   \
        return MPI_SUCCESS;                                                    \
    }                                                                          \
    INTERCEPTOR(name, UNPACK_PARAMETERS(integer), UNPACK_ARGUMENTS,            \
                has_gaps(datatype), may_pay(outcount, datatype))

PACK(MPI_Pack, int)
PACK(MPI_Pack_c, MPI_Count)
UNPACK(MPI_Unpack, int)
UNPACK(MPI_Unpack_c, MPI_Count)

/* ---- start ----------------------------------------------------------------------- */

void aspx_staged_prepare(const struct asp_layout *layout)
{
    wanted = layout->knobs.pack_threads == ASP_SWITCH_AUTO;
    if (wanted)
        aspx_openmp_prepare();
}

static bool start(const struct asp_layout *layout)
{
    (void) layout;
    return wanted && aspx_pack_is_ready() && aspx_openmp_start();
}

const struct aspx_interceptor aspx_staged_interceptor = {
    .start = start,
    .fill = aspx_staged_fill,
    .behind = &aspx_staged_behind,
};
