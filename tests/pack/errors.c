/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Pack and MPI_Unpack where something is wrong or unusual: prints what the
 * program sees, which must be the same with and without Aspen. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { DOUBLES = 8, BYTES = 64 };

static double data[DOUBLES];
static char packed[BYTES];
static MPI_Datatype pairs, raw, named = MPI_DOUBLE;
static MPI_Comm freed;

static void say(const char *what, int rc, long position)
{
    int class;
    double sum = 0;
    unsigned bytes = 0;

    MPI_Error_class(rc, &class);
    for (int i = 0; i < DOUBLES; i++)
        sum += data[i];
    for (int i = 0; i < BYTES; i++)
        bytes = bytes * 31 + (unsigned char) packed[i];
    printf("%s: class %d, position %ld, data %g, packed %u\n", what, class,
           position, sum, bytes);
}

static void begin(void)
{
    memset(packed, 0, sizeof(packed));
    for (int i = 0; i < DOUBLES; i++)
        data[i] = i + 1;
}

static void pack(const char *what, const void *from, int count,
                 MPI_Datatype type, void *to, int size, int position,
                 MPI_Comm comm)
{
    MPI_Count at = position;
    int rc;

    begin();
    rc = MPI_Pack(from, count, type, to, size, &position, comm);
    say(what, rc, position);
    begin();
    rc = MPI_Pack_c(from, count, type, to, size, &at, comm);
    say(what, rc, (long) at);
}

static void unpack(const char *what, const void *from, int size, int position,
                   void *to, int count, MPI_Datatype type, MPI_Comm comm)
{
    MPI_Count at = position;
    int rc;

    begin();
    rc = MPI_Unpack(from, size, &position, to, count, type, comm);
    say(what, rc, position);
    begin();
    rc = MPI_Unpack_c(from, size, &at, to, count, type, comm);
    say(what, rc, (long) at);
}

static void pack_all(void)
{
    MPI_Comm world = MPI_COMM_WORLD;

    pack("pack", data, 2, pairs, packed, BYTES, 3, world);
    pack("pack to the last byte", data, 2, pairs, packed, 32, 0, world);
    pack("pack of one's own", data, 2, pairs, packed, BYTES, 0, MPI_COMM_SELF);
    pack("pack named", data, 2, named, packed, BYTES, 8, world);
    pack("pack none", data, 0, pairs, packed, BYTES, 8, world);
    pack("pack fewer than none", data, -1, pairs, packed, BYTES, 8, world);
    pack("pack from NULL", NULL, 0, pairs, packed, BYTES, 8, world);
    pack("pack uncommitted", data, 1, raw, packed, BYTES, 0, world);
    pack("pack no type", data, 1, MPI_DATATYPE_NULL, packed, BYTES, 0, world);
    pack("pack negative size", data, 1, pairs, packed, -1, 0, world);
    pack("pack no communicator", data, 1, pairs, packed, BYTES, 0,
         MPI_COMM_NULL);
    pack("pack freed communicator", data, 1, pairs, packed, BYTES, 0, freed);
}

static void unpack_all(void)
{
    MPI_Comm world = MPI_COMM_WORLD;

    unpack("unpack", packed, BYTES, 3, data, 2, pairs, world);
    unpack("unpack to the last byte", packed, 32, 0, data, 2, pairs, world);
    unpack("unpack named", packed, BYTES, 8, data, 2, named, world);
    unpack("unpack none", packed, BYTES, 8, data, 0, pairs, world);
    unpack("unpack fewer than none", packed, BYTES, 8, data, -1, pairs, world);
    unpack("unpack uncommitted", packed, BYTES, 0, data, 1, raw, world);
    unpack("unpack no type", packed, BYTES, 0, data, 1, MPI_DATATYPE_NULL,
           world);
    unpack("unpack negative size", packed, -1, 0, data, 1, pairs, world);
    unpack("unpack no communicator", packed, BYTES, 0, data, 1, pairs,
           MPI_COMM_NULL);
    unpack("unpack freed communicator", packed, BYTES, 0, data, 1, pairs,
           freed);
}

/* Absolute addresses. */
static void bottom(void)
{
    MPI_Datatype type;
    MPI_Aint at;
    int length = 2;

    MPI_Get_address(data, &at);
    MPI_Type_create_hindexed(1, &length, &at, pairs, &type);
    MPI_Type_commit(&type);
    pack("pack from the bottom", MPI_BOTTOM, 1, type, packed, BYTES, 0,
         MPI_COMM_WORLD);
    unpack("unpack to the bottom", packed, BYTES, 0, MPI_BOTTOM, 1, type,
           MPI_COMM_WORLD);
    MPI_Type_free(&type);
}

/* A type whose creator has gone, a copy, and the same handle as another type.
 */
static void lives(void)
{
    MPI_Datatype copy, inner, outer;

    MPI_Type_dup(pairs, &copy);
    pack("pack a copy", data, 2, copy, packed, BYTES, 0, MPI_COMM_WORLD);
    MPI_Type_free(&copy);
    for (int i = 1; i <= 3; i++) {
        MPI_Type_vector(2, 1, i, MPI_DOUBLE, &inner);
        MPI_Type_commit(&inner);
        pack("pack inner", data, 1, inner, packed, BYTES, 0, MPI_COMM_WORLD);
        MPI_Type_create_hvector(2, 1, 8, inner, &outer);
        MPI_Type_free(&inner);
        MPI_Type_commit(&outer);
        pack("pack outer", data, 1, outer, packed, BYTES, 0, MPI_COMM_WORLD);
        MPI_Type_free(&outer);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm copy;

    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_SELF, &copy);
    freed = copy;
    MPI_Comm_free(&copy);
    MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &pairs);
    MPI_Type_commit(&pairs);
    MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &raw);
    pack_all();
    unpack_all();
    bottom();
    lives();
    MPI_Type_free(&pairs);
    MPI_Type_free(&raw);
    MPI_Finalize();
    return 0;
}
