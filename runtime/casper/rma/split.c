/* SPDX-License-Identifier: BSD-3-Clause */
/* Accumulates whose target bytes belong to several ghosts. An element belongs
 * to the ghost that owns its first byte, so none is ever split, whatever its
 * size and alignment: a location that is accessed with one predefined type, as
 * MPI asks of concurrent accumulates, has one owner (trap X5). */
#include "config.h"

#include "acc.h"
#include "flush.h"
#include "types.h"

#include "runtime/mpi/handle.h"
#include "runtime/mpi/real.h"

#include <stdlib.h>

/* Where the elements of one buffer are. */
struct elements {
    MPI_Aint *at; /* displacements; NULL: back to back from 0 */
    MPI_Datatype basic;
    MPI_Aint unit; /* extent of basic */
    size_t count;
    bool used; /* the operation looks at this buffer */
};

static MPI_Aint element_at(const struct elements *elements, size_t i)
{
    return elements->at ? elements->at[i] : (MPI_Aint) i * elements->unit;
}

static bool find_elements(struct elements *elements, MPI_Count count,
                          MPI_Datatype type)
{
    MPI_Count lb, extent;

    *elements = (struct elements){.used = true};
    if (aspx_handle_basic_size(type)) {
        elements->basic = type;
        elements->count = (size_t) count;
    } else {
        elements->at = aspx_type_flatten(count, type, &elements->basic,
                                         &elements->count);
        if (!elements->at)
            return false;
    }
    aspx_real.MPI_Type_get_extent_x(elements->basic, &lb, &extent);
    elements->unit = extent;
    return true;
}

/* A type of the elements [first, last) of a buffer, with runs merged; or the
 * basic type when they lie back to back.
 *   buffer_p  in: the whole buffer; out: the part
 *   *made   the caller frees the type */
static bool part_buffer(const struct elements *elements, size_t first,
                        size_t last, struct aspx_buffer *buffer_p, bool *made)
{
    size_t n = last - first, runs = 0;
    MPI_Count *lengths;
    MPI_Count *places;
    bool ok;

    *made = false;
    if (!elements->at) {
        buffer_p->addr = (const char *) buffer_p->addr +
                         (MPI_Aint) first * elements->unit;
        buffer_p->count = (MPI_Count) n;
        return true;
    }
    lengths = malloc(n * sizeof(*lengths));
    places = malloc(n * sizeof(*places));
    for (size_t i = first; lengths && places && i < last; i++) {
        if (runs && elements->at[i] == elements->at[i - 1] + elements->unit) {
            lengths[runs - 1]++;
            continue;
        }
        lengths[runs] = 1;
        places[runs++] = elements->at[i];
    }
    ok = runs && aspx_real.MPI_Type_create_hindexed_c(
                     (MPI_Count) runs, lengths, places, elements->basic,
                     &buffer_p->type) == MPI_SUCCESS;
    if (ok) {
        aspx_real.MPI_Type_commit(&buffer_p->type);
        buffer_p->count = 1;
        *made = true;
    }
    free(lengths);
    free(places);
    return ok;
}

/* Issue the elements [first, last), which ghost g owns. */
static int send_part(const struct aspx_acc *acc,
                     const struct elements elements[3], size_t first,
                     size_t last, struct aspx_route *to, uint32_t g)
{
    struct aspx_acc part = *acc;
    struct aspx_buffer *buffers[2] = {&part.origin, &part.result};
    struct aspx_buffer target = {NULL, acc->target.count, acc->target.type};
    bool made[3] = {false, false, false}, ok = true;
    MPI_Aint start = to->start;
    int rc = MPI_ERR_NO_MEM;

    for (int s = 0; s < 2; s++)
        if (elements[s].used)
            ok = ok &&
                 part_buffer(&elements[s], first, last, buffers[s], &made[s]);
    ok = ok && part_buffer(&elements[2], first, last, &target, &made[2]);
    if (ok) {
        part.target.count = target.count;
        part.target.type = target.type;
        to->start = start + (MPI_Aint) (uintptr_t) target.addr;
        to->bytes = (last - first) * aspx_type_bytes(1, elements[2].basic);
        aspx_route_to(to, g);
        rc = aspx_acc_send(&part, to, NULL);
        to->start = start;
    }
    for (int s = 0; s < 2; s++)
        if (made[s])
            aspx_real.MPI_Type_free(&buffers[s]->type);
    if (made[2])
        aspx_real.MPI_Type_free(&target.type);
    return aspx_route_sent(to, rc);
}

/* Elements in order; a part ends where the owner changes. */
static int send_parts(const struct aspx_acc *acc,
                      const struct elements elements[3], struct aspx_route *to)
{
    const struct elements *target = &elements[2];
    int rc = MPI_SUCCESS;

    for (size_t first = 0, last; rc == MPI_SUCCESS && first < target->count;
         first = last) {
        uint32_t g = aspx_route_owner(to->win, to->target,
                                      to->start + element_at(target, first));

        for (last = first + 1; last < target->count; last++)
            if (aspx_route_owner(to->win, to->target,
                                 to->start + element_at(target, last)) != g)
                break;
        rc = send_part(acc, elements, first, last, to, g);
    }
    return rc;
}

int aspx_acc_split(const struct aspx_acc *acc, struct aspx_route *to,
                   MPI_Request *request)
{
    struct elements elements[3] = {{.used = false}}; /* of origin, result, and
                                                        target */
    bool ok = find_elements(&elements[2], acc->target.count, acc->target.type);
    int rc = MPI_ERR_NO_MEM;

    /* MPI_NO_OP looks at no origin. */
    if (ok && acc->op != MPI_NO_OP)
        ok = find_elements(&elements[0], acc->origin.count, acc->origin.type);
    if (ok && acc->result.type != MPI_DATATYPE_NULL)
        ok = find_elements(&elements[1], acc->result.count, acc->result.type);
    for (int s = 0; ok && s < 2; s++)
        if (elements[s].used && (elements[s].count != elements[2].count ||
                                 elements[s].basic != elements[2].basic)) {
            ok = false; /* a mismatch that MPI would not see in the parts */
            rc = MPI_ERR_TYPE;
        }
    rc = ok ? send_parts(acc, elements, to) : aspx_win_raise(to->win, rc);
    for (int s = 0; s < 3; s++)
        free(elements[s].at);
    if (rc != MPI_SUCCESS || !request)
        return rc;
    rc = aspx_flush(to->win, acc->target.rank);
    return aspx_win_pass(to->win,
                         rc == MPI_SUCCESS ? aspx_route_done(request) : rc);
}
