/* SPDX-License-Identifier: BSD-3-Clause */
/* The three-dimensional Fourier transform on a grid of ranks, forward and back
 * (Nishtala 2009, section 6.3; figures 6.14 and 6.15).
 *
 * A rank has some of the planes z and some of the rows y, whole in x:
 *
 *   [z of TZ][y of TY][x]       transform x, exchange within a row of the grid
 *   [z of TZ][x of TY][y]       transform y, exchange within a column
 *   [y of TZ][x of TY][z]       transform z
 *
 * The way back is the same way with z, x, y in place of x, y, z. It ends with
 * [x of TZ][z of TY][y], which is not how it began, but each number can be told
 * from its place. TY is the columns of the grid, TZ its rows. */
#include "bench.h"

#include "fft1d.h"

#include <math.h>
#include <stdlib.h>

enum { X, Y, Z, SIDES };
enum { ALL_POINTS = 4096, SOME_POINTS = 4 }; /* checked against a plain sum */
static const double LIMIT = 1e-10;

struct fft {
    struct grid grid;
    size_t side[SIDES];
    size_t points; /* of a rank */
    struct fft1d along[SIDES];
    double complex *data, *other, *send, *received;
    MPI_Request *requests;
};

/* An exchange. Before it the rank has planes * rows rows of `length` numbers,
 * of which each peer gets an equal part. What comes of a peer goes, for number
 * i of its part of a row, to plane * plane_to + row * row_to + peer * peer_to +
 * i * item_to. */
struct step {
    MPI_Comm team;
    size_t peers, planes, rows, length;
    size_t plane_to, row_to, peer_to, item_to;
    const struct fft1d *along;
    size_t together; /* rows that travel in one exchange */
};

/* Where the part of a row lies that goes to, or comes from, a peer. Both sides
 * have a chunk as [peer][row][item]. */
static double complex *place(const struct step *step, double complex *buffer,
                             size_t row, size_t peer)
{
    size_t width = step->length / step->peers;
    size_t chunk = row / step->together;

    return buffer + chunk * step->together * step->length +
           (peer * step->together + row % step->together) * width;
}

static void pack_row(const struct fft *fft, const struct step *step, size_t row,
                     const double complex *from)
{
    size_t width = step->length / step->peers;

    for (size_t peer = 0; peer < step->peers; peer++) {
        double complex *to = place(step, fft->send, row, peer);

        for (size_t i = 0; i < width; i++)
            to[i] = from[peer * width + i];
    }
}

static void unpack_row(const struct fft *fft, const struct step *step,
                       size_t row, double complex *to)
{
    size_t width = step->length / step->peers;

    to += row / step->rows * step->plane_to + row % step->rows * step->row_to;
    for (size_t peer = 0; peer < step->peers; peer++) {
        const double complex *from = place(step, fft->received, row, peer);

        for (size_t i = 0; i < width; i++)
            to[peer * step->peer_to + i * step->item_to] = from[i];
    }
}

/* Send the chunk that begins with this row; the request is set if it goes on
 * while the next one is computed. */
static void begin_exchange(const struct fft *fft, const struct step *step,
                           size_t row, MPI_Request *request)
{
    int n = (int) (step->together * step->length / step->peers);
    double complex *from = place(step, fft->send, row, 0);
    double complex *to = place(step, fft->received, row, 0);

    if (request)
        MPI_Ialltoall(from, n, MPI_C_DOUBLE_COMPLEX, to, n,
                      MPI_C_DOUBLE_COMPLEX, step->team, request);
    else
        MPI_Alltoall(from, n, MPI_C_DOUBLE_COMPLEX, to, n, MPI_C_DOUBLE_COMPLEX,
                     step->team);
}

/* Transform the rows of `from`, and exchange into `to`. */
static void transform_and_exchange(struct bench *bench, const struct fft *fft,
                                   const struct step *step,
                                   double complex *from, double complex *to,
                                   int sign)
{
    size_t rows = step->planes * step->rows;
    int pending = 0;
    bool blocking = bench->opt.how == HOW_PACKED;

    for (size_t row = 0; row < rows; row++) {
        fft1d(step->along, from + row * step->length, sign);
        pack_row(fft, step, row, from + row * step->length);
        if ((row + 1) % step->together != 0)
            continue;
        SPEND(bench, IN_COLL,
              begin_exchange(fft, step, row + 1 - step->together,
                             blocking ? NULL : &fft->requests[pending]));
        pending += !blocking;
    }
    SPEND(bench, IN_COLL, wait_all(pending, fft->requests));
    for (size_t row = 0; row < rows; row++)
        unpack_row(fft, step, row, to);
}

static size_t rows_together(const struct bench *bench, const struct step *step)
{
    if (bench->opt.how == HOW_PACKED)
        return step->planes * step->rows;
    return bench->opt.how == HOW_SLABS ? step->rows : 1;
}

/* There, or back: x is the side along which numbers lie together, and so on. */
static void transform(struct bench *bench, struct fft *fft, int x, int y, int z,
                      int sign)
{
    size_t ty = (size_t) fft->grid.cols, tz = (size_t) fft->grid.rows;
    size_t planes = fft->side[z] / tz, width = fft->side[x] / ty;
    struct step first = {.team = fft->grid.row_team,
                         .peers = ty,
                         .planes = planes,
                         .rows = fft->side[y] / ty,
                         .length = fft->side[x],
                         .plane_to = width * fft->side[y],
                         .row_to = 1,
                         .peer_to = fft->side[y] / ty,
                         .item_to = fft->side[y],
                         .along = &fft->along[x]};
    struct step second = {.team = fft->grid.col_team,
                          .peers = tz,
                          .planes = planes,
                          .rows = width,
                          .length = fft->side[y],
                          .plane_to = 1,
                          .row_to = fft->side[z],
                          .peer_to = planes,
                          .item_to = width * fft->side[z],
                          .along = &fft->along[y]};

    first.together = rows_together(bench, &first);
    second.together = rows_together(bench, &second);
    transform_and_exchange(bench, fft, &first, fft->data, fft->other, sign);
    transform_and_exchange(bench, fft, &second, fft->other, fft->data, sign);
    for (size_t at = 0; at < fft->points; at += fft->side[z])
        fft1d(&fft->along[z], fft->data + at, sign);
}

/* ---- the numbers --------------------------------------------------------- */

/* The place in the whole of number `at` of this rank, where `outer` is dealt to
 * rows of the grid, `middle` to its columns, and `inner` is whole. */
static void find_place(const struct fft *fft, size_t at, int outer, int middle,
                       int inner, size_t out[SIDES])
{
    size_t middles = fft->side[middle] / (size_t) fft->grid.cols;
    size_t outers = fft->side[outer] / (size_t) fft->grid.rows;

    out[inner] = at % fft->side[inner];
    at /= fft->side[inner];
    out[middle] = at % middles + (size_t) fft->grid.col * middles;
    out[outer] = at / middles + (size_t) fft->grid.row * outers;
}

static double complex input_at(const size_t at[SIDES])
{
    return CMPLX(value_at(at[X], at[Y], at[Z]),
                 value_at(at[X], at[Y], at[Z] + (1u << 20)));
}

/* What the transform has at this place, by the sum that defines it. */
static double complex plain_sum(const struct fft *fft, const size_t k[SIDES])
{
    double complex sum = 0;
    size_t j[SIDES];

    for (j[Z] = 0; j[Z] < fft->side[Z]; j[Z]++)
        for (j[Y] = 0; j[Y] < fft->side[Y]; j[Y]++)
            for (j[X] = 0; j[X] < fft->side[X]; j[X]++) {
                double complex term = input_at(j);

                for (int s = X; s < SIDES; s++)
                    term = fft1d_product(
                        term, fft->along[s].roots[j[s] * k[s] % fft->side[s]]);
                sum += term;
            }
    return sum;
}

/* How far the transform is from the plain sum, relative to the root of the
 * number of points, about which each value is. */
static double error_forward(const struct bench *bench, const struct fft *fft)
{
    size_t all = fft->points * (size_t) bench->size;
    size_t stride = all <= ALL_POINTS ? 1 : fft->points / SOME_POINTS + 1;
    double worst = 0;
    size_t k[SIDES];

    for (size_t at = 0; at < fft->points; at += stride) {
        find_place(fft, at, Y, X, Z, k);
        worst = fmax(worst, cabs(fft->data[at] - plain_sum(fft, k)));
    }
    return worst / sqrt((double) all);
}

static double error_back(const struct bench *bench, const struct fft *fft)
{
    double scale = 1.0 / ((double) fft->points * bench->size), worst = 0;
    size_t at[SIDES];

    for (size_t i = 0; i < fft->points; i++) {
        find_place(fft, i, X, Z, Y, at);
        worst = fmax(worst, cabs(fft->data[i] * scale - input_at(at)));
    }
    return worst;
}

/* ---- the application ----------------------------------------------------- */

static void *fft_open(struct bench *bench)
{
    const struct options *opt = &bench->opt;
    struct fft *fft = zeros(1, sizeof(*fft));
    bool fits = true;

    grid_make(bench, &fft->grid);
    fft->side[X] = (size_t) opt->nx;
    fft->side[Y] = (size_t) opt->ny;
    fft->side[Z] = (size_t) opt->nz;
    for (int s = X; s < SIDES; s++) {
        size_t side = fft->side[s];

        fits = fits && (side & (side - 1)) == 0 &&
               side % (size_t) fft->grid.rows == 0 &&
               side % (size_t) fft->grid.cols == 0;
        fft1d_make(&fft->along[s], side);
    }
    need(bench, fits,
         "sides must be powers of two, and multiples of the grid's");
    fft->points = fft->side[X] * fft->side[Y] * fft->side[Z] /
                  (size_t) bench->size;
    fft->data = zeros(fft->points, sizeof(*fft->data));
    fft->other = zeros(fft->points, sizeof(*fft->data));
    fft->send = zeros(fft->points, sizeof(*fft->data));
    fft->received = zeros(fft->points, sizeof(*fft->data));
    fft->requests = zeros(fft->points, sizeof(*fft->requests));
    return fft;
}

static void fft_reset(struct bench *bench, void *state)
{
    struct fft *fft = state;
    size_t at[SIDES];

    (void) bench;
    for (size_t i = 0; i < fft->points; i++) {
        find_place(fft, i, Z, Y, X, at);
        fft->data[i] = input_at(at);
    }
}

static void fft_run(struct bench *bench, void *state)
{
    transform(bench, state, X, Y, Z, -1);
    transform(bench, state, Z, X, Y, 1);
}

/* What the run left must be the input; then once more, to see the middle. */
static struct verdict fft_check(struct bench *bench, void *state)
{
    double error = error_back(bench, state);

    fft_reset(bench, state);
    transform(bench, state, X, Y, Z, -1);
    return (struct verdict){fmax(error, error_forward(bench, state)), LIMIT};
}

static void fft_close(void *state)
{
    struct fft *fft = state;

    for (int s = X; s < SIDES; s++)
        fft1d_free(&fft->along[s]);
    free(fft->data);
    free(fft->other);
    free(fft->send);
    free(fft->received);
    free(fft->requests);
    grid_free(&fft->grid);
    free(fft);
}

const struct app fft_app = {.name = "fft",
                            .first = HOW_PACKED,
                            .last = HOW_PENCILS,
                            .open = fft_open,
                            .reset = fft_reset,
                            .run = fft_run,
                            .check = fft_check,
                            .close = fft_close};
