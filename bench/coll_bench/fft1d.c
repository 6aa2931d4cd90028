/* SPDX-License-Identifier: BSD-3-Clause */
/* Radix 2, decimation in time: rows are reordered by reversed bits, then
 * butterflies of growing span (Cooley, Tukey 1965). */
#include "fft1d.h"

#include "bench.h"

#include <math.h>
#include <stdlib.h>

void fft1d_make(struct fft1d *out, size_t n)
{
    out->n = n;
    out->roots = zeros(n, sizeof(*out->roots));
    out->reversed = zeros(n, sizeof(*out->reversed));
    for (size_t k = 0; k < n; k++) {
        double angle = -2 * acos(-1) * (double) k / (double) n;

        out->roots[k] = CMPLX(cos(angle), sin(angle));
        out->reversed[k] = out->reversed[k / 2] / 2 + (k % 2) * (n / 2);
    }
}

void fft1d_free(struct fft1d *fft)
{
    free(fft->roots);
    free(fft->reversed);
}

static void reorder(const struct fft1d *fft, double complex *row)
{
    for (size_t k = 0; k < fft->n; k++) {
        size_t other = fft->reversed[k];
        double complex kept = row[k];

        if (other <= k)
            continue;
        row[k] = row[other];
        row[other] = kept;
    }
}

/* One butterfly: the sums of pairs that are `half` apart. */
static void combine(double complex *even, double complex *odd,
                    double complex root)
{
    double complex turned = fft1d_product(*odd, root);

    *odd = *even - turned;
    *even += turned;
}

void fft1d(const struct fft1d *fft, double complex *row, int sign)
{
    reorder(fft, row);
    for (size_t half = 1; half < fft->n; half *= 2)
        for (size_t k = 0; k < half; k++) {
            double complex root = fft->roots[k * (fft->n / 2 / half)];

            if (sign > 0)
                root = conj(root);
            for (size_t at = k; at < fft->n; at += 2 * half)
                combine(&row[at], &row[at + half], root);
        }
}
