/* SPDX-License-Identifier: BSD-3-Clause */
/* A tag of MPICH's over UCX (its ucx_impl.h, 4.0 to 4.2), from the highest bit:
 *
 *    63         48 47         32 31  30 29              0
 *   +-------------+-------------+---+-----+--------------+
 *   | context     | source rank |   | err | tag          |
 *   +-----------|-+-------------+---+-----+--------------+
 *               +-- the lowest bit of a context: 1 in collectives
 */
#include "config.h"

#include "full_tag_mask.h"

#include "build.h"
#include "fixes.h"
#include "plt_patch.h"
#include "real.h"

#include <stdint.h>
#include <string.h>

#define ERROR_BITS     (UINT64_C(3) << 29)
#define COLLECTIVE_BIT (UINT64_C(1) << 48)
#define TAG_BITS       UINT64_C(0xffffffff)
#define SOURCE_BITS    UINT64_C(0xffff)
#define ALL_BITS       UINT64_MAX

enum { SOURCE_SHIFT = 32, PROBE_TAG = 0x2a5c1 };

/* ucp_tag_recv_nbx() and ucp_tag_probe_nb() of ucp.h, in the C library's types.
 */
typedef void *receive_f(void *worker, void *buffer, size_t count, uint64_t tag,
                        uint64_t mask, const void *param);
typedef void *probe_f(void *worker, uint64_t tag, uint64_t mask, int remove,
                      void *info);

static receive_f *receive;
static probe_f *probe;

/* Written while the one thread is in MPI that may be. */
static bool enabled;
static struct {
    bool looking;
    unsigned calls;
    uint64_t tag, mask;
} seen;

static uint64_t fill(uint64_t tag, uint64_t mask)
{
    return mask == (ALL_BITS & ~ERROR_BITS) && (tag & COLLECTIVE_BIT) == 0
               ? ALL_BITS
               : mask;
}

static void *receive_full(void *worker, void *buffer, size_t count,
                          uint64_t tag, uint64_t mask, const void *param)
{
    return receive(worker, buffer, count, tag, fill(tag, mask), param);
}

static void *probe_full(void *worker, uint64_t tag, uint64_t mask, int remove,
                        void *info)
{
    if (seen.looking) {
        seen.calls++;
        seen.tag = tag;
        seen.mask = mask;
    }
    return probe(worker, tag, enabled ? fill(tag, mask) : mask, remove, info);
}

/* Ask for a message that nobody sends, and look at what MPI makes of it. */
static bool has_known_form(int source, int tag)
{
    int flag;

    memset(&seen, 0, sizeof(seen));
    seen.looking = true;
    aspx_real.MPI_Iprobe(source, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    seen.looking = false;
    return seen.calls > 0 && (seen.tag & TAG_BITS) == (uint64_t) tag &&
           (seen.tag >> SOURCE_SHIFT & SOURCE_BITS) == (uint64_t) source &&
           (seen.tag & COLLECTIVE_BIT) == 0 &&
           seen.mask == (ALL_BITS & ~ERROR_BITS);
}

void aspx_full_tag_mask(const struct asp_layout *layout)
{
    int rank, size;

    if (layout->knobs.match == ASP_SWITCH_OFF || aspx_mpi_unknown())
        return;
    aspx_real.MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    aspx_real.MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) /* messages to itself do not come to UCX */
        return;
    if (!aspx_plt_patch_lead("ucp_tag_probe_nb", probe_full, &probe)) {
        aspx_fix_note(ASPX_FIX_MATCH, false); /* not over UCX */
        return;
    }
    enabled = has_known_form((rank + 1) % size, PROBE_TAG) &&
              aspx_plt_patch_lead("ucp_tag_recv_nbx", receive_full, &receive);
    if (enabled)
        aspx_fix_note(ASPX_FIX_MATCH, true);
    else
        aspx_fix_note_unknown(ASPX_FIX_MATCH);
}
