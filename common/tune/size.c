/* SPDX-License-Identifier: BSD-3-Clause */
/* Agreed sizes; see size.h. */
#include "size.h"

void asp_size_start(struct asp_size *size)
{
    *size = (struct asp_size){.now = ASP_TUNE_BUCKET_ANY, .epoch = 1};
}

bool asp_size_call(struct asp_size *size)
{
    return ++size->seen >= size->epoch;
}

uint32_t asp_size_rest(const struct asp_size *size)
{
    return size->seen + 1 < size->epoch ? size->epoch - 1 - size->seen : 0;
}

void asp_size_pass(struct asp_size *size, uint32_t calls)
{
    size->seen += calls;
}

double asp_size_value(const struct asp_size *size)
{
    return size->most;
}

void asp_size_agreed(struct asp_size *size, double value)
{
    uint32_t then = (uint32_t) value;
    bool ends = size->seen >= size->epoch;
    bool first = size->now == ASP_TUNE_BUCKET_ANY;

    if (then != size->now && (first || ends || then > size->now)) {
        size->now = then;
        size->epoch = ASP_SIZE_FIRST;
    } else if (ends && size->epoch < ASP_SIZE_LONGEST) {
        size->epoch *= 2;
    }
    if (ends || size->seen >= size->epoch)
        size->seen = size->most = 0;
}
