/* SPDX-License-Identifier: BSD-3-Clause */
/* For test programs of several processes: what is not so is counted in `wrong`
 * and told with rank and line. */
#ifndef ASPEN_TESTS_EXPECT_H
#define ASPEN_TESTS_EXPECT_H

#include <stdio.h>
#include <time.h>

static int rank, wrong;

#define EXPECT(what)                                                           \
    do {                                                                       \
        if (!(what)) {                                                         \
            wrong++;                                                           \
            fprintf(stderr, "rank %d, line %d: not so: %s\n", rank, __LINE__,  \
                    #what);                                                    \
        }                                                                      \
    } while (0)

/* Be busy outside MPI. */
static inline void pause_ms(long ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&time, NULL);
}

#endif
