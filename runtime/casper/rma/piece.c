/* SPDX-License-Identifier: BSD-3-Clause */
/* How large a piece of such an operation may be; apart for its unit test. */
#include "config.h"

#include "acc.h"

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* The least common multiple cannot overflow: all the bytes of a buffer, which
 * are whole elements of every buffer, are one, too. */
uint64_t aspx_piece_bytes(const uint64_t *element, int nbuffers)
{
    uint64_t unit = 1, least = UINT64_MAX, most;

    for (int s = 0; s < nbuffers; s++) {
        unit *= element[s] / common_divisor(unit, element[s]);
        if (element[s] < least)
            least = element[s];
    }
    most = unit / least; /* elements of the buffer that has most of them */
    return most <= ASPX_PIECE_MAX ? unit * (ASPX_PIECE_MAX / most) : 0;
}
