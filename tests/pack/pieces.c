/* SPDX-License-Identifier: BSD-3-Clause */
/* With PIECES_SPOIL=1 in the environment each piece that is unpacked after a
 * cut has one wrong byte, which a test must see. */
#include "config.h"

#include "pieces.h"

#include "runtime/pack/generic_ops.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static struct aspx_generic_ops its; /* of MPICH or Aspen, for all types */
static _Atomic size_t cut_first, cut_every;
static atomic_ulong ncuts;

EXPORT pieces_cut_f pieces_cut;
EXPORT pieces_count_f pieces_count;
EXPORT aspx_create_generic_f ucp_dt_create_generic;

void pieces_cut(size_t first, size_t every)
{
    atomic_store(&cut_first, first);
    atomic_store(&cut_every, every);
}

unsigned long pieces_count(void)
{
    return atomic_load(&ncuts);
}

/* How many of `left` bytes from `offset` on lie before the next cut. */
static size_t piece(size_t offset, size_t left)
{
    size_t first = atomic_load(&cut_first), every = atomic_load(&cut_every);
    size_t next = first;

    if (first == 0)
        return left;
    if (offset >= first) {
        if (every == 0)
            return left;
        next = first + ((offset - first) / every + 1) * every;
    }
    if (next - offset >= left)
        return left;
    atomic_fetch_add(&ncuts, 1);
    return next - offset;
}

static size_t measure_pack(void *state, size_t offset, void *to, size_t most)
{
    size_t done = 0, n, got;

    do {
        n = piece(offset + done, most - done);
        got = its.pack(state, offset + done, (char *) to + done, n);
        done += got;
    } while (done < most && got == n);
    return done;
}

static aspx_ucs_status unpack_piece(void *state, size_t offset,
                                    const char *from, size_t bytes, bool spoil)
{
    char *wrong;
    aspx_ucs_status status;

    if (!spoil)
        return its.unpack(state, offset, from, bytes);
    wrong = malloc(bytes);
    if (!wrong)
        abort();
    memcpy(wrong, from, bytes);
    wrong[0] ^= 1;
    status = its.unpack(state, offset, wrong, bytes);
    free(wrong);
    return status;
}

static aspx_ucs_status measure_unpack(void *state, size_t offset,
                                      const void *from, size_t bytes)
{
    const bool spoils = getenv("PIECES_SPOIL") != NULL;
    aspx_ucs_status status = UCX_OK;

    for (size_t done = 0, n; status == UCX_OK && done < bytes; done += n) {
        n = piece(offset + done, bytes - done);
        if (offset + done == 0 && n < PIECES_FIRST_MIN)
            n = bytes < PIECES_FIRST_MIN ? bytes : PIECES_FIRST_MIN;
        status = unpack_piece(state, offset + done, (const char *) from + done,
                              n, spoils && done > 0);
    }
    return status;
}

aspx_ucs_status ucp_dt_create_generic(const struct aspx_generic_ops *ops,
                                      void *context, uint64_t *type_p)
{
    static aspx_create_generic_f *create;
    struct aspx_generic_ops ours = *ops;

    if (!create)
        *(void **) &create = dlsym(RTLD_NEXT, "ucp_dt_create_generic");
    if (!its.pack)
        its = *ops;
    if (ops->pack == its.pack && ops->unpack == its.unpack) {
        ours.pack = measure_pack;
        ours.unpack = measure_unpack;
    }
    return create(&ours, context, type_p);
}
