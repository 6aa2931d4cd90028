/* SPDX-License-Identifier: BSD-3-Clause */
/* What was decided for all ranks, and why: for the record. */
#ifndef ASPEN_RUNTIME_ADAPT_DECIDE_DECISION_H
#define ASPEN_RUNTIME_ADAPT_DECIDE_DECISION_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

/* For all ranks, over the predictor; CALM: as it says, but it takes less time
 * in MPI to make it say on. */
enum aspx_force {
    ASPX_FORCE_NONE,
    ASPX_FORCE_CALM,
    ASPX_FORCE_ON,
    ASPX_FORCE_OFF
};

/* What progress threads of ranks are to do (progress/on_demand.h): there is
 * none; they rest, and what they would work for is counted; they work. */
enum aspx_help { ASPX_HELP_NONE, ASPX_HELP_COUNT, ASPX_HELP_ON };

static inline bool aspx_force_overrules(enum aspx_force force)
{
    return force == ASPX_FORCE_ON || force == ASPX_FORCE_OFF;
}

enum {
    ASPX_DECISIONS = 32, /* that are kept */
    ASPX_WHY_BYTES = 168,
};

struct aspx_decision {
    double t_s; /* since the beginning */
    int32_t to; /* enum aspx_decided */
    char why[ASPX_WHY_BYTES];
};

enum aspx_decided {
    ASPX_DECIDED_PREDICTOR,
    ASPX_DECIDED_ON,
    ASPX_DECIDED_OFF,
    ASPX_DECIDED_TRIAL,   /* to try it */
    ASPX_DECIDED_NOTHING, /* there is nothing to decide about */
    ASPX_DECIDED_THREADS, /* progress threads for messages */
    ASPX_DECIDED_PLAIN,   /* none: messages go as in plain MPI */
};

struct aspx_decisions {
    uint32_t n;
    uint32_t more; /* that found no room */
    struct aspx_decision list[ASPX_DECISIONS];
};

/* Write down what was decided t_s after the beginning; more than there is room
 * for are only counted. Others may read what is there
 * (adapt/node_status_page.h). */
void aspx_decide(struct aspx_decisions *all, double t_s, enum aspx_decided to,
                 const char *why, ...) __attribute__((format(printf, 4, 5)));

/* The same with the words' arguments taken already. */
void aspx_decide_v(struct aspx_decisions *all, double t_s, enum aspx_decided to,
                   const char *why, va_list args)
    __attribute__((format(printf, 4, 0)));

/* Take over what another process wrote to shared memory. What can be none of
 * its decisions is left out. */
void aspx_decisions_take(struct aspx_decisions *all,
                         const struct aspx_decision *list, uint32_t n,
                         uint32_t more);

/* "off", "trial", as in the record. */
const char *aspx_decided_name(int32_t to);

#endif
