/* SPDX-License-Identifier: BSD-3-Clause */
/* Planes of an array of n^3 doubles, one after the other along their axis. */
#include "bench.h"

#include "bench/buffer.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLED = 7 }; /* of so many numbers one is in the sum */

static struct {
    double *array, *packed;
    size_t points; /* of the array */
    int n, next;
    MPI_Datatype type;
    size_t stride; /* doubles from one plane to the next */
} p;

/* Under valgrind a number at a time would take longer than all that is
 * measured. */
static void fill(void)
{
    const size_t row = (size_t) p.n;

    for (size_t i = 0; i < row; i++)
        p.array[i] = (double) (i * 37 % 1013);
    for (size_t i = row; i < p.points; i += row) {
        memcpy(p.array + i, p.array, row * sizeof(*p.array));
        p.array[i + i / row % row] += (double) (i / row);
    }
}

static void plane_open(int n, MPI_Datatype type, size_t stride)
{
    p.n = n;
    p.next = 0;
    p.points = (size_t) n * (size_t) n * (size_t) n;
    p.array = buffer_pages(p.points * sizeof(double));
    p.packed = buffer_pages((size_t) n * (size_t) n * sizeof(double));
    p.type = type;
    p.stride = stride;
    MPI_Type_commit(&p.type);
    fill();
}

/* X and Y vary: one block. */
void front_open(int n)
{
    MPI_Datatype type;

    MPI_Type_contiguous(n * n, MPI_DOUBLE, &type);
    plane_open(n, type, (size_t) n * (size_t) n);
}

/* X and Z vary: a vector of rows. */
void xz_open(int n)
{
    MPI_Datatype type;

    MPI_Type_vector(n, n, n * n, MPI_DOUBLE, &type);
    plane_open(n, type, (size_t) n);
}

/* Y and Z vary: a vector of vectors of single numbers. */
void yz_open(int n)
{
    MPI_Datatype column, type;

    MPI_Type_vector(n, 1, n, MPI_DOUBLE, &column);
    MPI_Type_create_hvector(n, 1, (MPI_Aint) n * n * (MPI_Aint) sizeof(double),
                            column, &type);
    MPI_Type_free(&column);
    plane_open(n, type, 1);
}

static double *next_plane(void)
{
    return p.array + (size_t) (p.next++ % p.n) * p.stride;
}

/* bench/typed counts the instructions of the calls that this makes. */
__attribute__((noinline)) void measure_plane(const double *plane);

void measure_plane(const double *plane)
{
    int position = 0, bytes = p.n * p.n * (int) sizeof(double);

    MPI_Pack(plane, 1, p.type, p.packed, bytes, &position, MPI_COMM_WORLD);
}

void plane_pack_step(void)
{
    const double *plane = next_plane(), begin = MPI_Wtime();

    measure_plane(plane);
    in_mpi_s += MPI_Wtime() - begin;
}

/* To the other rank, into the plane after it. */
void plane_send_step(void)
{
    double *plane = next_plane(), *beside = next_plane();
    const double begin = MPI_Wtime();
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Sendrecv(plane, 1, p.type, 1 - rank, 0, beside, 1, p.type, 1 - rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    in_mpi_s += MPI_Wtime() - begin;
}

double plane_close(void)
{
    double sum = 0;

    for (int i = 0; i < p.n * p.n; i++)
        sum += p.packed[i] * (double) (i % 61 + 1);
    for (size_t i = 0; i < p.points; i += SAMPLED)
        sum += p.array[i] * (double) (i % 59 + 1);
    MPI_Type_free(&p.type);
    free(p.array);
    free(p.packed);
    return sum;
}
