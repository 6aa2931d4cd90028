/* SPDX-License-Identifier: BSD-3-Clause */
/* typed_app: applications that send parts of three-dimensional arrays by
 * derived datatypes, between two ranks, each of which is both neighbours of the
 * other along every axis. OpenMP threads compute; one of them calls MPI. */
#ifndef ASPEN_BENCH_TYPED_H
#define ASPEN_BENCH_TYPED_H

#include <mpi.h>
#include <stddef.h>

enum axis { X, Y, Z, AXES };
enum side { LOW, HIGH, SIDES };

/* n[X] * n[Y] * n[Z] doubles, X being the axis along which they lie side by
 * side, with a layer of ghost points all around. */
struct grid {
    int n[AXES];
    double *at;
    /* Of each axis and side: the layer that the neighbour gets, and the ghost
     * points that it fills. */
    MPI_Datatype out[AXES][SIDES], in[AXES][SIDES];
};

static inline size_t grid_index(const struct grid *g, int x, int y, int z)
{
    return ((size_t) z * (size_t) (g->n[Y] + 2) + (size_t) y) *
               (size_t) (g->n[X] + 2) +
           (size_t) x;
}

/* Which ghost points an exchange fills: those of faces, all six at once; or
 * those of edges and corners too, one axis after the other, as comm3 of the
 * NAS benchmark MG does. */
enum filling { FACES, CORNERS };

void grid_open(struct grid *grid, const int n[AXES], enum filling filling);
void grid_close(struct grid *grid);
void grid_exchange(struct grid *grid, enum filling filling);

/* Sum of all points with weights, the ghost points too: what was exchanged. */
double grid_sum(const struct grid *grid);

/* Seconds in MPI so far: MPI_Pack, or an exchange. */
extern double in_mpi_s;

/* A kernel: its array, a step, and a number that tells whether it is right. */
struct kernel {
    const char *name;
    void (*open)(int n); /* the size: points along an axis, more or less */
    void (*step)(void);
    double (*close)(void);
};

extern const struct kernel kernels[]; /* ends with a name NULL */

/* M-E3: a plane of an array, packed, and sent to the other rank. */
void front_open(int n);
void xz_open(int n);
void yz_open(int n);
void plane_pack_step(void);
void plane_send_step(void);
double plane_close(void);

/* M-E4: a seven-point stencil on arrays of four shapes. */
void cube_open(int n);
void long_x_open(int n);
void long_y_open(int n);
void long_z_open(int n);
void halo_step(void);
double halo_close(void);

/* M-E5: a V cycle of a multigrid solver. */
void multigrid_open(int n);
void multigrid_step(void);
double multigrid_close(void);

#endif
