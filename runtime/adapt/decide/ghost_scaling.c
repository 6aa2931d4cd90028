/* SPDX-License-Identifier: BSD-3-Clause */
/* How many ghosts of a node are active: the rule of ghost_scaling.h. */
#include "config.h"

#include "ghost_scaling.h"

/* Intervals in a row that park a ghost, at first and at most: more after each
 * time that the ghost was needed again soon, so that the number does not follow
 * a load that comes and goes. Soon: within SOON times the patience. */
enum { PATIENCE = 4, PATIENCE_MAX = 64, SOON = 2 };

void aspx_scaler_init(struct aspx_scaler *scaler, uint32_t reserved,
                      double high, double low)
{
    *scaler = (struct aspx_scaler){
        .high = high,
        .low = low < high ? low : high,
        .reserved = reserved,
        .active = reserved,
        .patience = PATIENCE,
        .shrunk = UINT32_MAX,
    };
}

static void grow(struct aspx_scaler *scaler)
{
    scaler->low_intervals = 0;
    if (scaler->shrunk > SOON * scaler->patience)
        scaler->patience = PATIENCE;
    else if (scaler->patience < PATIENCE_MAX)
        scaler->patience *= 2;
    scaler->active = 2 * scaler->active < scaler->reserved ? 2 * scaler->active
                                                           : scaler->reserved;
}

/* Share at work of the busiest ghost if there were one less: the mean then, or
 * what the busiest does now, which may not be divisible. */
static double with_one_less(const struct aspx_scaler *scaler, double most,
                            double sum)
{
    double mean = sum / (scaler->active - 1);

    return mean > most ? mean : most;
}

uint32_t aspx_scaler_update(struct aspx_scaler *scaler, const double *busy)
{
    double most = 0, sum = 0;

    for (uint32_t g = 0; g < scaler->reserved; g++) {
        sum += busy[g];
        if (busy[g] > most)
            most = busy[g];
    }
    if (scaler->shrunk < UINT32_MAX)
        scaler->shrunk++;
    if (most > scaler->high && scaler->active < scaler->reserved) {
        grow(scaler);
        return scaler->active;
    }
    if (scaler->active == 1 ||
        with_one_less(scaler, most, sum) >= scaler->low) {
        scaler->low_intervals = 0;
    } else if (++scaler->low_intervals >= scaler->patience) {
        scaler->low_intervals = scaler->shrunk = 0;
        scaler->active--;
    }
    return scaler->active;
}
