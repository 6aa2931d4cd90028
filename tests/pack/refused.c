/* SPDX-License-Identifier: BSD-3-Clause */
/* Types at the bounds of what gets a typemap (runtime/pack/typemap.h). */
#include "config.h"

#include "runtime/mpi/real.h"
#include "runtime/pack/typemap.h"

#include <stdio.h>
#include <stdlib.h>

static int wrong;

static void expect(bool so, const char *type, const char *what)
{
    if (so)
        return;
    wrong++;
    fprintf(stderr, "pack_refused: %s: not so: %s\n", type, what);
}

/* Commit, ask twice, free. `why` is ASPX_NO_TYPEMAPS where there must be one.
 */
static void expect_typemap(const char *what, MPI_Datatype *type,
                           enum aspx_no_typemap why)
{
    uint64_t before = why < ASPX_NO_TYPEMAPS ? aspx_typemaps_refused(why) : 0;
    const struct aspx_typemap *typemap;

    MPI_Type_commit(type);
    typemap = aspx_typemap_of(*type);
    expect((typemap != NULL) == (why == ASPX_NO_TYPEMAPS), what,
           why == ASPX_NO_TYPEMAPS ? "it has a typemap" : "it has none");
    expect(typemap == aspx_typemap_of(*type), what, "it has one typemap");
    if (why < ASPX_NO_TYPEMAPS)
        expect(aspx_typemaps_refused(why) == before + 1, what,
               aspx_no_typemap_name(why));
    MPI_Type_free(type);
}

/* Every other double, but for the last one: a list that is no loop. */
static MPI_Datatype make_list(int n)
{
    int *at = malloc((size_t) n * sizeof(*at));
    MPI_Datatype type;

    for (int i = 0; i < n; i++)
        at[i] = 2 * i + (i == n - 1);
    MPI_Type_create_indexed_block(n, 1, at, MPI_DOUBLE, &type);
    free(at);
    return type;
}

/* Loops within each other, no two of which are one. */
static MPI_Datatype make_deep(int levels)
{
    MPI_Datatype type = MPI_BYTE, outer;

    for (int i = 0; i < levels; i++) {
        MPI_Type_create_hvector(2, 1, 3 + i, type, &outer);
        if (i > 0)
            MPI_Type_free(&type);
        type = outer;
    }
    return type;
}

static MPI_Datatype make_copies(int levels)
{
    MPI_Datatype type, outer;

    MPI_Type_contiguous(2, MPI_INT, &type);
    for (int i = 0; i < levels; i++) {
        MPI_Type_dup(type, &outer);
        MPI_Type_free(&type);
        type = outer;
    }
    return type;
}

/* A type, another, and the first again, and so on: 2^levels ways lead down. */
static MPI_Datatype make_broad(int levels)
{
    const int lengths[] = {1, 1, 1};
    const MPI_Aint at[] = {0, 1, 2};
    MPI_Datatype type, outer;

    MPI_Type_create_resized(MPI_BYTE, 0, 1, &type);
    for (int i = 0; i < levels; i++) {
        const MPI_Datatype types[] = {type, MPI_BYTE, type};

        MPI_Type_create_struct(3, lengths, at, types, &outer);
        MPI_Type_free(&type);
        type = outer;
    }
    return type;
}

/* For one use it may be as large as it likes. */
static void test_unbounded(MPI_Datatype type)
{
    enum aspx_no_typemap why;
    struct aspx_typemap *typemap = aspx_typemap_make_large(type, &why);

    expect(typemap &&
               typemap->size == (ASPX_TYPEMAP_ENTRIES_MAX + 1) * sizeof(double),
           "a longer list", "it has a typemap without bounds");
    aspx_typemap_free(typemap);
}

static void test_f90(void)
{
    MPI_Datatype real, type;

    MPI_Type_create_f90_real(10, MPI_UNDEFINED, &real);
    MPI_Type_vector(3, 1, 2, real, &type);
    expect_typemap("a type of Fortran's", &type, ASPX_NO_TYPEMAPS);
}

static void test_none(void)
{
    MPI_Datatype type;

    MPI_Type_create_struct(0, NULL, NULL, NULL, &type);
    expect_typemap("a struct of nothing", &type, ASPX_NO_TYPEMAPS);
}

int main(int argc, char **argv)
{
    MPI_Datatype type;

    MPI_Init(&argc, &argv);
    if (aspx_real_resolve() != 0)
        return 2;
    type = make_list(ASPX_TYPEMAP_ENTRIES_MAX);
    expect_typemap("a long list", &type, ASPX_NO_TYPEMAPS);
    type = make_list(ASPX_TYPEMAP_ENTRIES_MAX + 1);
    test_unbounded(type);
    expect_typemap("a longer list", &type, ASPX_NO_TYPEMAP_LARGE);
    type = make_deep(ASPX_NODE_DEPTH_MAX);
    expect_typemap("deep loops", &type, ASPX_NO_TYPEMAPS);
    type = make_deep(ASPX_NODE_DEPTH_MAX + 1);
    expect_typemap("deeper loops", &type, ASPX_NO_TYPEMAP_DEEP);
    type = make_copies(150);
    expect_typemap("copies of copies", &type, ASPX_NO_TYPEMAPS);
    type = make_copies(300);
    expect_typemap("more copies of copies", &type, ASPX_NO_TYPEMAP_DEEP);
    type = make_broad(24);
    expect_typemap("many ways", &type, ASPX_NO_TYPEMAPS);
    test_f90();
    test_none();
    MPI_Finalize();
    return wrong > 0;
}
