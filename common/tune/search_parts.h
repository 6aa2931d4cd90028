/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of a search call of each other; private to common/tune. */
#ifndef ASPEN_COMMON_TUNE_SEARCH_PARTS_H
#define ASPEN_COMMON_TUNE_SEARCH_PARTS_H

#include "search.h"

/* A hash with one more number in it, by the finalizer of splitmix64. */
static inline uint64_t asp_search_mix(uint64_t hash, uint64_t x)
{
    x += hash + UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Rounds, in search.c: begin one; which try has its turn; go past turns of
 * candidates that were dropped; would a trial of this try spend more than the
 * budget? */
void asp_search_begin_round(struct asp_search *s, enum asp_search_phase phase);
uint32_t asp_search_at_turn(const struct asp_search *s);
void asp_search_skip_dropped(struct asp_search *s);
bool asp_search_is_beyond(const struct asp_search *s, uint32_t i);

/* What the model predicts for a try, by the measure of the default. */
static inline double asp_search_predict(const struct asp_search *s,
                                        const struct asp_search_try *try)
{
    const struct asp_search_try *standard = &s->tries[s->standard];
    double scale = standard->best_us > 0
                       ? standard->best_us / standard->predicted_us
                       : 1;

    return try->predicted_us * scale;
}

/* The end of the search: from now on the chosen configuration. And the same for
 * a configuration that has to be proved first, unless it is the default.
 * search.c. */
void asp_search_settle(struct asp_search *s, enum asp_search_end end,
                       uint32_t chosen);
void asp_search_propose(struct asp_search *s, enum asp_search_end end,
                        uint32_t chosen);

/* Measure all that are left once more, and choose anew. search.c. */
void asp_search_repeat(struct asp_search *s);

/* The candidate with the least time, of those that may be chosen, but not
 * `other`. Returns ntries when there is none. search_agree.c. */
uint32_t asp_search_best(const struct asp_search *s, uint32_t other);

/* A call whose time will be number `slot` of the agreement, the last of them or
 * not. search.c. */
struct asp_search_step asp_search_time(struct asp_search *s, uint32_t config,
                                       uint32_t slot, bool last);

/* Times that are there, sorted. Returns how many. search_proof.c. */
uint32_t asp_search_sort(const double *times, uint32_t n, double *sorted);

/* PROOF: begin; a call; what follows from an agreement. search_proof.c. */
void asp_proof_start(struct asp_search *s);
struct asp_search_step asp_proof_next(struct asp_search *s);
void asp_proof_agreed(struct asp_search *s, const double *values);

/* WATCH: likewise. search_watch.c. */
void asp_watch_start(struct asp_search *s);
struct asp_search_step asp_watch_next(struct asp_search *s, bool ours);
void asp_watch_agreed(struct asp_search *s, const double *values);

#endif
