/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "ghost_scaling.h"

/* In intervals. Load that comes and goes would make the number go up and down
 * with it: who had to grow soon after it shrank is more patient next time. */
enum { PATIENCE = 4, PATIENCE_MAX = 64, SOON = 2 };

void aspx_crew_init(struct aspx_crew *crew, uint32_t reserved, double high,
                    double low)
{
    *crew = (struct aspx_crew){
        .high = high,
        .low = low < high ? low : high,
        .reserved = reserved,
        .active = reserved,
        .patience = PATIENCE,
        .shrunk = UINT32_MAX,
    };
}

static void grow(struct aspx_crew *crew)
{
    crew->calm = 0;
    if (crew->shrunk > SOON * crew->patience)
        crew->patience = PATIENCE;
    else if (crew->patience < PATIENCE_MAX)
        crew->patience *= 2;
    crew->active = 2 * crew->active < crew->reserved ? 2 * crew->active
                                                     : crew->reserved;
}

/* The busiest of the rest would do at least this, with one ghost less. */
static double with_one_less(const struct aspx_crew *crew, double most,
                            double sum)
{
    double mean = sum / (crew->active - 1);

    return mean > most ? mean : most;
}

uint32_t aspx_crew_update(struct aspx_crew *crew, const double *busy)
{
    double most = 0, sum = 0;

    for (uint32_t g = 0; g < crew->reserved; g++) {
        sum += busy[g];
        if (busy[g] > most)
            most = busy[g];
    }
    if (crew->shrunk < UINT32_MAX)
        crew->shrunk++;
    if (most > crew->high && crew->active < crew->reserved) {
        grow(crew);
        return crew->active;
    }
    if (crew->active == 1 || with_one_less(crew, most, sum) >= crew->low) {
        crew->calm = 0;
    } else if (++crew->calm >= crew->patience) {
        crew->calm = crew->shrunk = 0;
        crew->active--;
    }
    return crew->active;
}
