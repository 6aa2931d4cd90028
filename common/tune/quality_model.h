/* SPDX-License-Identifier: BSD-3-Clause */
/* Points for quality_test.c: what the simulator of common/coll predicts for all
 * configurations of a call, and what they take on a machine that is not quite
 * as the simulator has it. */
#ifndef ASPEN_COMMON_TUNE_QUALITY_MODEL_H
#define ASPEN_COMMON_TUNE_QUALITY_MODEL_H

#include "common/coll/build/index.h"
#include "common/coll/model/simulate.h"

#include <stdint.h>

enum { QUALITY_CONFIGS = 512, QUALITY_RANKS = 64 };

/* A call on a machine: ranks are dealt out in blocks. */
struct quality_call {
    const struct asp_coll_machine *machine;
    enum asp_coll_op op;
    size_t bytes;
    uint32_t ranks, nodes;
};

/* Its configurations, in the order of the index, and what they should take. */
struct quality_point {
    struct quality_call call;
    uint32_t n, standard; /* which one MPICH would take: coll/model/mpich.h */
    struct asp_coll_config config[QUALITY_CONFIGS];
    double predicted_us[QUALITY_CONFIGS];
    uint32_t order[QUALITY_CONFIGS]; /* by prediction */
    double agree_us;                 /* an allreduce of 11 numbers */
};

/* All configurations and their predictions. Fails the test when one has none.
 */
void quality_predict(const struct quality_call *call, struct quality_point *p);

/* What they really take, on machine number `seed`: each constant differs by up
 * to a factor of 1.5, and each configuration by a lognormal one of its own, the
 * same for all sizes. */
void quality_true(const struct quality_point *p, uint64_t seed,
                  double us[QUALITY_CONFIGS]);

/* The number of the least of n. */
uint32_t quality_best(const double *us, uint32_t n);

/* Random numbers: 0 to 1; of mean 0 and deviation 1. */
double quality_uniform(uint64_t *random);
double quality_gauss(uint64_t *random);

#endif
