/* SPDX-License-Identifier: BSD-3-Clause */
/* Packs and unpacks one type three ways: by the engine of runtime/pack, by
 * MPI_Pack, and by a loop that is written for this type. bench/pack_cost runs
 * it under callgrind, which sees each function below as one line of its
 * profile.
 *
 * usage: pack_cost_app ROW    (a name of rows[])
 * Ends with 1 where the three do not agree. */
#include "config.h"

#include "runtime/mpi/real.h"
#include "runtime/pack/typemap.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MESSAGE = 65536, /* bytes of a vector's stream */
    PAIRS = 4096,    /* structs */
    FRAGMENT = 8240, /* what UCX asks for at a time (bytes) */
};

#ifdef __clang__ /* makes no copies of functions */
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noinline, noclone))
#endif

struct int_double {
    int i;
    double d;
};

struct row {
    const char *name;
    size_t block; /* bytes, every other block is left out; 0: int_double */
};

static const struct row rows[] = {
    {"blocks-8", 8},
    {"blocks-64", 64},
    {"blocks-512", 512},
    {"int-double", 0},
};

static const struct row *row;
static MPI_Datatype type;
static int count;
static size_t bytes;
static char *buffer, *stream, *expected;

/* ---- by hand -------------------------------------------------------------- */

/* n blocks, where the size is an argument: a loop of its own for doubles. */
static void copy_blocks(char *to, size_t to_stride, const char *from,
                        size_t from_stride, size_t block, size_t n)
{
    if (block == sizeof(double))
        for (; n; n--, to += to_stride, from += from_stride)
            memcpy(to, from, sizeof(double));
    else
        for (; n; n--, to += to_stride, from += from_stride)
            memcpy(to, from, block);
}

static void pack_pairs(char *to, const struct int_double *from, size_t n)
{
    for (size_t i = 0; i < n; i++, to += 12) {
        memcpy(to, &from[i].i, sizeof(from[i].i));
        memcpy(to + 4, &from[i].d, sizeof(from[i].d));
    }
}

static void unpack_pairs(struct int_double *to, const char *from, size_t n)
{
    for (size_t i = 0; i < n; i++, from += 12) {
        memcpy(&to[i].i, from, sizeof(to[i].i));
        memcpy(&to[i].d, from + 4, sizeof(to[i].d));
    }
}

static void pack_by_hand(void)
{
    if (row->block)
        copy_blocks(stream, row->block, buffer, 2 * row->block, row->block,
                    MESSAGE / row->block);
    else
        pack_pairs(stream, (const void *) buffer, PAIRS);
}

void measure_hand_pack(void);
ALONE void measure_hand_pack(void)
{
    pack_by_hand();
}

void measure_hand_unpack(void);
ALONE void measure_hand_unpack(void)
{
    if (row->block)
        copy_blocks(buffer, 2 * row->block, stream, row->block, row->block,
                    MESSAGE / row->block);
    else
        unpack_pairs((void *) buffer, stream, PAIRS);
}

/* ---- by MPI, and by the engine -------------------------------------------- */

void measure_mpi_pack(void);
ALONE void measure_mpi_pack(void)
{
    int at = 0;

    MPI_Pack(buffer, count, type, stream, (int) bytes, &at, MPI_COMM_SELF);
}

void measure_mpi_unpack(void);
ALONE void measure_mpi_unpack(void)
{
    int at = 0;

    MPI_Unpack(stream, (int) bytes, &at, buffer, count, type, MPI_COMM_SELF);
}

void measure_typemap(void);
ALONE void measure_typemap(void)
{
    (void) aspx_typemap_of(type);
}

void measure_engine_pack(void);
ALONE void measure_engine_pack(void)
{
    aspx_typemap_pack(aspx_typemap_of(type), buffer, (uint64_t) count, 0,
                      stream, bytes);
}

void measure_engine_unpack(void);
ALONE void measure_engine_unpack(void)
{
    aspx_typemap_unpack(aspx_typemap_of(type), buffer, (uint64_t) count, 0,
                        stream, bytes);
}

void measure_fragments_pack(void);
ALONE void measure_fragments_pack(void)
{
    const struct aspx_typemap *typemap = aspx_typemap_of(type);

    for (size_t at = 0; at < bytes; at += FRAGMENT)
        aspx_typemap_pack(typemap, buffer, (uint64_t) count, at, stream + at,
                          FRAGMENT);
}

void measure_fragments_unpack(void);
ALONE void measure_fragments_unpack(void)
{
    const struct aspx_typemap *typemap = aspx_typemap_of(type);
    size_t left;

    for (size_t at = 0; at < bytes; at += FRAGMENT) {
        left = bytes - at;
        aspx_typemap_unpack(typemap, buffer, (uint64_t) count, at, stream + at,
                            left < FRAGMENT ? left : FRAGMENT);
    }
}

/* ---- all of them ---------------------------------------------------------- */

static void make_type(void)
{
    int lengths[] = {1, 1}, n = row->block ? (int) (MESSAGE / row->block) : 0;
    MPI_Aint at[] = {offsetof(struct int_double, i),
                     offsetof(struct int_double, d)};
    MPI_Datatype members[] = {MPI_INT, MPI_DOUBLE};
    int doubles = (int) (row->block / sizeof(double));

    if (row->block)
        MPI_Type_vector(n, doubles, 2 * doubles, MPI_DOUBLE, &type);
    else
        MPI_Type_create_struct(2, lengths, at, members, &type);
    MPI_Type_commit(&type);
    count = row->block ? 1 : PAIRS;
    bytes = row->block ? MESSAGE : PAIRS * 12;
}

/* What is done once in a process. */
static void warm_up(void)
{
    MPI_Datatype other;
    int at = 0;

    MPI_Type_contiguous(2, MPI_DOUBLE, &other);
    MPI_Type_commit(&other);
    (void) aspx_typemap_of(other);
    MPI_Pack(buffer, 1, other, stream, MESSAGE, &at, MPI_COMM_SELF);
    MPI_Type_free(&other);
}

static void check(const char *what)
{
    if (memcmp(stream, expected, bytes) == 0)
        return;
    fprintf(stderr, "pack_cost_app: %s: %s differs\n", row->name, what);
    exit(1);
}

static void pack_all(void)
{
    measure_hand_pack();
    memcpy(expected, stream, bytes);
    memset(stream, 0, bytes);
    measure_mpi_pack();
    check("MPI_Pack");
    measure_typemap();
    memset(stream, 0, bytes);
    measure_engine_pack();
    check("the engine");
    memset(stream, 0, bytes);
    measure_fragments_pack();
    check("the engine in fragments");
}

static void unpack_all(void)
{
    void (*const unpack[])(void) = {
        measure_hand_unpack,
        measure_mpi_unpack,
        measure_engine_unpack,
        measure_fragments_unpack,
    };

    for (size_t i = 0; i < sizeof(unpack) / sizeof(unpack[0]); i++) {
        memcpy(stream, expected, bytes);
        memset(buffer, 0, 2 * MESSAGE);
        unpack[i]();
        memset(stream, 0, bytes);
        pack_by_hand();
        check("what was unpacked");
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (argc == 2 && strcmp(rows[i].name, argv[1]) == 0)
            row = &rows[i];
    if (!row || aspx_real_resolve() != 0)
        return 2;
    buffer = malloc(2 * MESSAGE);
    stream = calloc(1, MESSAGE + FRAGMENT);
    expected = malloc(MESSAGE);
    for (size_t i = 0; i < 2 * MESSAGE; i++)
        buffer[i] = (char) (i * 7 + i / 251);
    warm_up();
    make_type();
    pack_all();
    unpack_all();
    MPI_Type_free(&type);
    free(buffer);
    free(stream);
    free(expected);
    MPI_Finalize();
    return 0;
}
