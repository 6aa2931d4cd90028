/* SPDX-License-Identifier: BSD-3-Clause */
/* The Fourier transform of a row of complex numbers, in place. */
#ifndef ASPEN_BENCH_FFT1D_H
#define ASPEN_BENCH_FFT1D_H

#include <complex.h>
#include <stddef.h>

/* For rows of n numbers; n is a power of two. */
struct fft1d {
    size_t n;
    double complex *roots; /* exp(-2 pi i k / n), k < n */
    size_t *reversed;      /* k with its bits in reverse order */
};

/* Ends the job when there is no memory. */
void fft1d_make(struct fft1d *out, size_t n);
void fft1d_free(struct fft1d *fft);

/* y[k] = sum over j of x[j] exp(sign 2 pi i j k / n); sign is -1 or 1. Not
 * scaled: there and back is n times what it was. */
void fft1d(const struct fft1d *fft, double complex *row, int sign);

#ifndef CMPLX /* the C library defines it for gcc alone */
#define CMPLX(re, im) __builtin_complex((double) (re), (double) (im))
#endif

/* Without the checks for infinities that C asks of a complex product. */
static inline double complex fft1d_product(double complex a, double complex b)
{
    return CMPLX(creal(a) * creal(b) - cimag(a) * cimag(b),
                 creal(a) * cimag(b) + cimag(a) * creal(b));
}

#endif
