/* SPDX-License-Identifier: BSD-3-Clause */
/* MPICH calls ucp_dt_create_generic() when a type with gaps is committed, with
 * its six functions, the same for all types, and its own record of the type,
 * which begins with the handle, as all objects of MPICH do. UCX then calls
 *
 *   start_pack / start_unpack --> packed_size --> pack / unpack ... --> finish
 *
 * for each message. MPICH's start and finish are always called, too, so that
 * its counts of references hold. */
#include "config.h"

#include "messages.h"

#include "generic_ops.h"
#include "peers.h"
#include "staged.h"
#include "typemap.h"

#include "runtime/base/counter.h"
#include "runtime/mpi/build.h"
#include "runtime/mpi/fixes.h"
#include "runtime/mpi/handle.h"
#include "runtime/mpi/plt_patch.h"
#include "runtime/mpi/real.h"

#include "mpi_behind.h"
#include "mpi_wrap.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Bytes. A transport of UCX cuts messages into pieces of a packet at least,
 * which are hundreds. */
enum { PIECE_MIN = 64 };

/* A message under way. */
struct message {
    const struct aspx_typemap *typemap; /* NULL: MPICH does it */
    void *buffer;
    uint64_t count;
    void *mpich; /* its own state */
    /* Of a receive that MPICH unpacks, once a piece has come: all pieces. */
    char *whole;
    uint64_t got, size; /* bytes of it */
};

static aspx_create_generic_f *create;
static struct aspx_generic_ops mpich; /* its functions, as it first gave them */
static bool prepared;                 /* we stand in front of MPICH */
static atomic_bool ready; /* the probe has found that all is as it must be */

static struct {
    _Atomic uint64_t described, undescribed, bytes, pieces;
} counts;

/* ---- what UCX calls ---------------------------------------------------------- */

static MPI_Datatype handle_of(const void *context)
{
    MPI_Datatype type;

    memcpy(&type, context, sizeof(type));
    return type;
}

static void *start(void *context, void *buffer, size_t count, void *its_state,
                   bool ours)
{
    struct message *message = malloc(sizeof(*message));
    uint64_t bytes;

    if (!message)
        abort(); /* as MPICH, which has no way to say so */
    *message = (struct message){
        .buffer = buffer, .count = count, .mpich = its_state};
    if (ours && atomic_load(&ready))
        message->typemap = aspx_typemap_find(handle_of(context));
    if (message->typemap &&
        !aspx_typemap_bytes(message->typemap, count, &bytes))
        message->typemap = NULL;
    if (message->typemap) {
        aspx_counter_add(&counts.described, 1);
        aspx_counter_add(&counts.bytes, bytes);
    } else {
        aspx_counter_add(&counts.undescribed, 1);
    }
    return message;
}

/* The engine ends pieces where UCX does; a receiver that is MPICH's alone wants
 * whole numbers in each. */
static void *start_pack(void *context, const void *buffer, size_t count)
{
    return start(context, (void *) (uintptr_t) buffer, count,
                 mpich.start_pack(context, buffer, count),
                 aspx_pack_peers_all());
}

static void *start_unpack(void *context, void *buffer, size_t count)
{
    return start(context, buffer, count,
                 mpich.start_unpack(context, buffer, count), true);
}

static size_t packed_size(void *state)
{
    const struct message *message = state;

    return message->typemap ? message->typemap->size * message->count
                            : mpich.packed_size(message->mpich);
}

static size_t pack(void *state, size_t offset, void *to, size_t most)
{
    const struct message *message = state;

    if (!message->typemap)
        return mpich.pack(message->mpich, offset, to, most);
    aspx_counter_add(&counts.pieces, 1);
    return aspx_typemap_pack(message->typemap, message->buffer, message->count,
                             offset, to, most);
}

/* MPICH cannot unpack a part of a number, and pieces end anywhere: so it gets
 * all of them at once, or, of a message that is shorter than its buffer, in
 * finish(). */
static aspx_ucs_status unpack_by_mpich(struct message *message, size_t offset,
                                       const void *from, size_t bytes)
{
    if (!message->whole) {
        message->size = mpich.packed_size(message->mpich);
        if (offset == 0 && bytes == message->size)
            return mpich.unpack(message->mpich, 0, from, bytes);
        message->whole = malloc(message->size);
        if (!message->whole)
            return UCX_NO_MEMORY;
    }
    if (offset > message->size || bytes > message->size - offset)
        return UCX_TRUNCATED;
    memcpy(message->whole + offset, from, bytes);
    message->got += bytes;
    return message->got < message->size
               ? UCX_OK
               : mpich.unpack(message->mpich, 0, message->whole, message->size);
}

/* An error of the program, which MPICH finds in plain runs. Other pieces may
 * end anywhere, but nothing comes behind one that begins a message and is so
 * small. */
static bool ends_within_number(const struct message *message, size_t offset,
                               size_t bytes)
{
    return offset == 0 && bytes < PIECE_MIN &&
           bytes % message->typemap->number != 0;
}

static aspx_ucs_status unpack(void *state, size_t offset, const void *from,
                              size_t bytes)
{
    struct message *message = state;
    uint64_t copied;

    if (!message->typemap)
        return unpack_by_mpich(message, offset, from, bytes);
    aspx_counter_add(&counts.pieces, 1);
    copied = aspx_typemap_unpack(message->typemap, message->buffer,
                                 message->count, offset, from, bytes);
    return copied == bytes && !ends_within_number(message, offset, bytes)
               ? UCX_OK
               : UCX_TRUNCATED;
}

static void finish(void *state)
{
    struct message *message = state;

    if (message->whole && message->got < message->size)
        (void) mpich.unpack(message->mpich, 0, message->whole, message->got);
    mpich.finish(message->mpich);
    free(message->whole);
    free(message);
}

/* ---- what MPICH calls -------------------------------------------------------- */

/* The record of the last type with gaps. A preloaded library may use the
 * thread's static block, and needs nothing of the linker. */
static _Thread_local void *made __attribute__((tls_model("initial-exec")));

/* The functions are the same for all types; those of another kind of type,
 * should there be one, are left alone. */
static aspx_ucs_status create_ours(const struct aspx_generic_ops *ops,
                                   void *context, uint64_t *type_p)
{
    static const struct aspx_generic_ops ours = {
        start_pack, start_unpack, packed_size, pack, unpack, finish};

    if (!mpich.start_pack)
        mpich = *ops;
    if (memcmp(ops, &mpich, sizeof(mpich)) != 0)
        return create(ops, context, type_p);
    made = context;
    if (atomic_load(&ready))
        aspx_typemap_forget(handle_of(context));
    return create(&ours, context, type_p);
}

/* ---- types of the program ---------------------------------------------------- */

/* Nothing is made for a type without gaps, or that is committed once more. */
static int describe(int rc, const MPI_Datatype *type)
{
    if (rc != MPI_SUCCESS || !atomic_load(&ready))
        return rc;
    if (made)
        (void) aspx_typemap_of(*type);
    else
        aspx_typemap_check_alive(*type);
    return rc;
}

int aspx_pack_MPI_Type_commit(MPI_Datatype *type)
{
    made = NULL;
    return describe(aspx_pack_behind.MPI_Type_commit(type), type);
}

/* The copy of a committed type is committed. */
int aspx_pack_MPI_Type_dup(MPI_Datatype type, MPI_Datatype *copy)
{
    made = NULL;
    return describe(aspx_pack_behind.MPI_Type_dup(type, copy), copy);
}

int aspx_pack_MPI_Type_free(MPI_Datatype *type)
{
    MPI_Datatype freed = type ? *type : MPI_DATATYPE_NULL;
    bool known = aspx_handle_is(freed, ASPX_HANDLE_DATATYPE) &&
                 atomic_load(&ready);
    int rc;

    if (known)
        aspx_typemap_retire(freed);
    rc = aspx_pack_behind.MPI_Type_free(type);
    if (known && rc != MPI_SUCCESS)
        aspx_typemap_check_alive(freed);
    return rc;
}

static bool prepare(const struct asp_layout *layout)
{
    if (aspx_mpi_unknown() || layout->knobs.pack == ASP_SWITCH_OFF ||
        !aspx_plt_patch_lead("ucp_dt_create_generic", create_ours, &create))
        return false;
    /* From 4.1 on MPICH itself unpacks what it receives, after it has come,
     * unless this says that UCX shall. */
    (void) setenv("MPIR_CVAR_UCX_DT_RECV", "1", 0);
    aspx_pack_peers_prepare();
    aspx_staged_prepare(layout);
    prepared = true;
    return true;
}

const struct aspx_interceptor aspx_pack_interceptor = {
    .prepare = prepare,
    .fill = aspx_pack_fill,
    .behind = &aspx_pack_behind,
};

/* ---- the probe --------------------------------------------------------------- */

enum {
    ELEMENTS = 3,
    BLOCKS = 2,
    STRIDE = 3,
    INTS = ELEMENTS * BLOCKS * STRIDE
};

/* Does MPICH pack and unpack as we do? Its states of these messages stay
 * behind: to finish them would take from the type what no message has given to
 * it. */
static bool packs_the_same(const struct aspx_typemap *typemap, void *context)
{
    int from[INTS], to[INTS] = {0}, theirs[INTS] = {0}, ours[INTS] = {0};
    size_t bytes = ELEMENTS * BLOCKS * sizeof(int);
    void *out, *in;

    for (int i = 0; i < INTS; i++)
        from[i] = 1 + i;
    out = mpich.start_pack(context, from, ELEMENTS);
    in = mpich.start_unpack(context, to, ELEMENTS);
    return mpich.packed_size(out) == bytes &&
           mpich.pack(out, 0, theirs, bytes) == bytes &&
           aspx_typemap_pack(typemap, from, ELEMENTS, 0, ours, bytes) ==
               bytes &&
           memcmp(theirs, ours, bytes) == 0 &&
           mpich.unpack(in, 0, theirs, bytes) == UCX_OK && to[0] == from[0] &&
           to[1] == 0 && to[STRIDE] == from[STRIDE];
}

static bool is_as_known(void)
{
    enum aspx_no_typemap why;
    struct aspx_typemap *typemap;
    MPI_Datatype type;
    bool same;

    made = NULL;
    if (aspx_real.MPI_Type_vector(BLOCKS, 1, STRIDE, MPI_INT, &type) !=
            MPI_SUCCESS ||
        aspx_pack_behind.MPI_Type_commit(&type) != MPI_SUCCESS)
        return false;
    typemap = aspx_typemap_make(type, &why);
    same = typemap && made && handle_of(made) == type &&
           packs_the_same(typemap, made);
    aspx_typemap_free(typemap);
    aspx_real.MPI_Type_free(&type);
    return same;
}

/* MPI's own types with gaps are there before the program has committed any. */
static void describe_own_types(void)
{
    const MPI_Datatype types[] = {MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT,
                                  MPI_SHORT_INT, MPI_LONG_DOUBLE_INT};

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        (void) aspx_typemap_of(types[i]);
}

/* An MPI that knows of GPUs takes addresses of their memory. */
static bool knows_gpus(void)
{
    static const int kinds[] = {MPIX_GPU_SUPPORT_CUDA, MPIX_GPU_SUPPORT_ZE,
                                MPIX_GPU_SUPPORT_HIP};

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        int known = 0;

        if (aspx_real.MPIX_GPU_query_support(kinds[i], &known) == MPI_SUCCESS &&
            known)
            return true;
    }
    return false;
}

bool aspx_pack_is_ready(void)
{
    return atomic_load_explicit(&ready, memory_order_relaxed);
}

void aspx_pack_start(void)
{
    bool asked = prepared && !knows_gpus(), known = asked && is_as_known();

    if (asked && !known)
        aspx_fix_note_unknown(ASPX_FIX_PACK);
    else if (prepared)
        aspx_fix_note(ASPX_FIX_PACK, known);
    if (known)
        describe_own_types();
    aspx_pack_peers_start();
    atomic_store(&ready, known);
}

struct aspx_pack_counts aspx_pack_counts(void)
{
    return (struct aspx_pack_counts){
        .described = atomic_load(&counts.described),
        .undescribed = atomic_load(&counts.undescribed),
        .bytes = atomic_load(&counts.bytes),
        .pieces = atomic_load(&counts.pieces),
    };
}
