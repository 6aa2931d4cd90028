/* SPDX-License-Identifier: BSD-3-Clause */
/* MPICH asks UCX for the address of its worker, gathers those of all ranks in a
 * table whose rows are as long as the longest, and makes an end point of each
 * row, in order:
 *
 *    | UCX's address | mark |  0  | UCX's longer address | mark | ...
 *    ^ row 0                      ^ row 1
 *
 * From 5.0 on it makes an end point of its own address first, where UCX has put
 * it, and gives all others 4,096 bytes from there, whatever the address has: so
 * there must be as many, and what follows the mark is 0.
 *
 * An MPI that keeps addresses otherwise must not be believed, nor read beyond
 * what it has: rows lie at one distance, or have that length, in mapped memory.
 */
#include "config.h"

#include "peers.h"

#include "runtime/mpi/plt_patch.h"
#include "runtime/mpi/real.h"
#include "runtime/world/world.h"

#include <inttypes.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nobody has this in an address by chance. The last byte is the version of what
 * the mark promises. */
static const char mark[] = "\x9e\x41spen-unpacks\xd3\x01";
enum {
    MARK = sizeof(mark) - 1,
    ROW_MAX = 1 << 16,
    ROW_FIXED = 4096, /* MPICH's MPID_MAX_BC_SIZE */
};

/* Of ucp.h, in the C library's types; ucs_status_t is a packed enumeration. */
typedef signed char status;
struct end_point_params {
    uint64_t fields; /* the lowest bit: there is an address */
    const char *address;
};
typedef status get_address_f(void *worker, void **address_p, size_t *bytes_p);
typedef status create_ep_f(void *worker, const struct end_point_params *params,
                           void **ep_p);

static get_address_f *get_address;
static create_ep_f *create_ep;

/* ---- this rank's ------------------------------------------------------------ */

static const char *own_address;

/* It is freed as what UCX has given: by free(). */
static status get_marked_address(void *worker, void **address_p,
                                 size_t *bytes_p)
{
    status rc = get_address(worker, address_p, bytes_p);
    size_t marked_bytes;
    char *marked;

    /* MPICH 5.0 takes no address that is longer, so that one stays without. */
    if (rc != 0 || (*bytes_p <= ROW_FIXED && *bytes_p + MARK > ROW_FIXED))
        return rc;
    marked_bytes = *bytes_p + MARK < ROW_FIXED ? ROW_FIXED : *bytes_p + MARK;
    marked = realloc(*address_p, marked_bytes);
    if (marked) {
        memset(marked + *bytes_p, 0, marked_bytes - *bytes_p);
        memcpy(marked + *bytes_p, mark, MARK);
        own_address = marked;
        *address_p = marked;
        *bytes_p += MARK;
    }
    return rc;
}

/* ---- the others' ------------------------------------------------------------ */

/* While MPI_Init makes end points, one after the other. */
static struct {
    const char *first, *last; /* rows */
    const char *end;          /* of the memory that the first lies in */
    ptrdiff_t row;            /* bytes; 0: not known yet */
    int rows, marked;
    bool fixed; /* rows have ROW_FIXED bytes, wherever they are */
    bool odd, over;
} table;

static bool all_marked;       /* ranks of the program */
static atomic_bool strangers; /* processes of other jobs have come */

/* The end of the mapped memory that an address lies in: a table does, whole. */
static const char *find_end(const char *address)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    uintptr_t from, to, at = (uintptr_t) address, end = 0;
    char line[512], rights;

    while (maps && !end && fgets(line, sizeof(line), maps))
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %c", &from, &to, &rights) ==
                3 &&
            at >= from && at < to && rights == 'r')
            end = to;
    if (maps)
        fclose(maps);
    return (const char *) end;
}

/* Behind an address and its mark a row is empty. What follows an address that
 * lies alone (a header of malloc's, other rows) is not. */
static bool has_mark(const char *row)
{
    const char *end = row + table.row,
               *at = memmem(row, (size_t) table.row, mark, MARK);

    for (at = at ? at + MARK : NULL; at && at < end; at++)
        if (*at)
            return false;
    return at != NULL;
}

/* Is there a row at the address, of which all bytes can be read? */
static bool is_row(const char *address)
{
    return address >= table.first && address < table.end &&
           table.row <= table.end - address;
}

/* The length of rows is known. */
static void look_at_row(const char *address)
{
    table.odd = table.odd || !is_row(address);
    if (!table.odd)
        table.marked += has_mark(address);
}

/* One row more, of ROW_FIXED bytes. */
static void look_at_fixed_row(const char *address)
{
    if (!is_row(address)) {
        table.first = address;
        table.end = find_end(address);
    }
    look_at_row(address);
}

static void look_at(const char *address)
{
    ptrdiff_t row = (ptrdiff_t) ((uintptr_t) address - (uintptr_t) table.last);

    if (table.rows == 0 && address == own_address) {
        table.fixed = true;
        table.row = ROW_FIXED;
    }
    if (table.fixed) {
        table.rows++;
        look_at_fixed_row(address);
    } else if (table.rows++ == 0) {
        table.first = address;
    } else if (table.rows == 2) {
        table.row = row;
        table.odd = row <= 0 || row > ROW_MAX;
        table.end = table.odd ? NULL : find_end(table.first);
        look_at_row(table.first);
        look_at_row(address);
    } else {
        table.odd = table.odd || row != table.row;
        look_at_row(address);
    }
    table.last = address;
}

static status create_ep_and_look(void *worker,
                                 const struct end_point_params *params,
                                 void **ep_p)
{
    if (table.over)
        atomic_store(&strangers, true);
    else if (params->fields & 1)
        look_at(params->address);
    return create_ep(worker, params, ep_p);
}

void aspx_pack_peers_prepare(void)
{
    if (aspx_plt_patch_lead("ucp_ep_create", create_ep_and_look, &create_ep))
        (void) aspx_plt_patch_lead("ucp_worker_get_address", get_marked_address,
                                   &get_address);
}

/* ---- communicators ----------------------------------------------------------- */

static int keyval = MPI_KEYVAL_INVALID;
static char all_unpack, some_do_not; /* the attribute's values: addresses */

/* A duplicate asks anew. No callbacks: MPICH 4.0 gives up its lock for them. */
static bool make_keyval(void)
{
    return aspx_real.MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN,
                                            MPI_COMM_NULL_DELETE_FN, &keyval,
                                            NULL) == MPI_SUCCESS;
}

void aspx_pack_peers_start(void)
{
    int users = aspx_world.size_users, size = 0;

    table.over = true;
    aspx_real.MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (users == 0) /* there are no ghosts in its world */
        users = size;
    all_marked = !table.odd && table.rows == size &&
                 (size == 1 || table.marked == users) && make_keyval();
}

bool aspx_pack_peers_all(void)
{
    return all_marked &&
           !atomic_load_explicit(&strangers, memory_order_relaxed);
}

/* Has the communicator one group, all of which is in the world? */
static bool is_of_world(const struct aspx_real *mpi, MPI_Comm comm)
{
    MPI_Group group, world, others;
    int inter = 1, n = 1;

    mpi->MPI_Comm_test_inter(comm, &inter);
    if (inter)
        return false;
    mpi->MPI_Comm_group(comm, &group);
    mpi->MPI_Comm_group(MPI_COMM_WORLD, &world);
    mpi->MPI_Group_difference(group, world, &others);
    mpi->MPI_Group_size(others, &n);
    mpi->MPI_Group_free(&group);
    mpi->MPI_Group_free(&world);
    if (others != MPI_GROUP_EMPTY)
        mpi->MPI_Group_free(&others);
    return n == 0;
}

bool aspx_pack_peers_only(const struct aspx_real *mpi, MPI_Comm comm)
{
    const char *value = NULL;
    int found = 0;

    if (!all_marked)
        return false;
    if (aspx_pack_peers_all())
        return true;
    if (mpi->MPI_Comm_get_attr(comm, keyval, &value, &found) != MPI_SUCCESS)
        return false;
    if (!found) {
        value = is_of_world(mpi, comm) ? &all_unpack : &some_do_not;
        mpi->MPI_Comm_set_attr(comm, keyval, (void *) (uintptr_t) value);
    }
    return value == &all_unpack;
}
