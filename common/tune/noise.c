/* SPDX-License-Identifier: BSD-3-Clause */
/* The measured distributions, and random numbers that follow them: whether a
 * call is a slow one depends on the call before, and its time is drawn from the
 * quantiles of the fast or of the slow ones. */
#include "noise.h"

#include "quality_model.h"

#include <math.h>

/* clang-format off */
/* tests/ghostrun -n 2 -g 0 bench/coll_noise_app 20000 and -n 4 ... 2500 on a
 * virtual machine of 2 CPUs that five other builds and test runs used (load 25
 * to 32), MPICH 4.0.2; medians of 0.7 us to 4 ms. */
const struct noise_shape noise_shapes[] = {
    {"allreduce 8 B, 2 ranks", 0.3196, 0.688,
     {0.217, 0.335, 0.433, 0.621, 0.798, 1.020, 1.261, 1.377, 1.471},
     {1.514, 1.576, 1.660, 2.006, 3.126, 7.099, 18.793, 36.881, 175.239}},
    {"barrier, 2 ranks", 0.4692, 0.991,
     {0.709, 0.723, 0.723, 0.736, 0.792, 0.875, 0.960, 1.000, 1.139},
     {3.693, 28.642, 33.531, 41.157, 64.950, 152.904, 670.633, 1583.788, 9431.724}},
    {"bcast 64 KiB, 2 ranks", 0.1835, 0.740,
     {0.768, 0.779, 0.882, 0.963, 0.981, 1.056, 1.175, 1.227, 1.374},
     {1.543, 1.791, 2.143, 9.899, 143.900, 868.000, 1427.220, 1679.642, 2306.343}},
    {"alltoall 4 KiB, 2 ranks", 0.1290, 0.676,
     {0.510, 0.630, 0.676, 0.846, 0.971, 1.192, 1.298, 1.341, 1.438},
     {1.513, 1.574, 1.670, 2.137, 67.981, 970.800, 2410.207, 3213.178, 4739.829}},
    {"allreduce 8 B, 4 ranks", 0.4372, 0.834,
     {0.005, 0.007, 0.008, 0.012, 0.025, 0.299, 1.050, 1.243, 1.444},
     {1.531, 1.632, 1.788, 2.143, 2.802, 3.659, 4.683, 5.376, 7.488}},
    {"barrier, 4 ranks", 0.4692, 0.862,
     {0.015, 0.019, 0.021, 0.032, 0.114, 0.289, 0.708, 1.049, 1.374},
     {1.545, 1.963, 2.840, 6.328, 12.900, 20.409, 28.972, 35.874, 46.533}},
    {"bcast 64 KiB, 4 ranks", 0.3536, 0.699,
     {0.372, 0.516, 0.562, 0.646, 0.751, 0.973, 1.237, 1.336, 1.459},
     {1.536, 1.661, 1.794, 2.400, 3.992, 12.835, 43.685, 58.257, 117.107}},
    {"alltoall 4 KiB, 4 ranks", 0.4228, 0.771,
     {0.028, 0.041, 0.051, 0.091, 0.286, 0.676, 1.165, 1.333, 1.460},
     {1.529, 1.665, 1.852, 2.424, 3.931, 5.168, 6.691, 7.362, 10.422}},
    {0},
};
/* clang-format on */

static const double at[NOISE_QUANTILES] = {0.01, 0.05, 0.1,  0.25, 0.5,
                                           0.75, 0.9,  0.95, 0.99};

/* Between quantiles the logarithm is linear; beyond the last it goes on. */
static double invert(const double *quantiles, double u)
{
    int i = 1;
    double part;

    if (u < at[0])
        return quantiles[0];
    while (i < NOISE_QUANTILES - 1 && u > at[i])
        i++;
    part = (u - at[i - 1]) / (at[i] - at[i - 1]);
    return quantiles[i - 1] * pow(quantiles[i] / quantiles[i - 1], part);
}

double noise_next(const struct noise_shape *shape, struct noise_state *state)
{
    /* Such that the share of slow calls is what it was. */
    double first = shape->slow * (1 - shape->again) / (1 - shape->slow);

    state->slow = quality_uniform(&state->random) <
                  (state->slow ? shape->again : first);
    return invert(state->slow ? shape->tail : shape->body,
                  quality_uniform(&state->random));
}
