/* SPDX-License-Identifier: BSD-3-Clause */
/* What was decided for all ranks, and why: for the record. */
#ifndef ASPEN_RUNTIME_ADAPT_DECIDE_DECISION_H
#define ASPEN_RUNTIME_ADAPT_DECIDE_DECISION_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

/* For all ranks, over the predictor; CALM: as it says, but it takes less time
 * in MPI to make it say on. */
enum aspx_order {
    ASPX_ORDER_NONE,
    ASPX_ORDER_LOW_THRESHOLD,
    ASPX_ORDER_ON,
    ASPX_ORDER_OFF
};

/* What progress threads of ranks are to do (progress/on_demand.h): there is
 * none; they rest, and what they would work for is counted; they work. */
enum aspx_help { ASPX_HELP_NONE, ASPX_HELP_COUNT, ASPX_HELP_ON };

static inline bool aspx_order_overrules(enum aspx_order order)
{
    return order == ASPX_ORDER_ON || order == ASPX_ORDER_OFF;
}

enum {
    ASPX_DECISIONS = 32, /* that are kept */
    ASPX_WHY_BYTES = 168,
};

struct aspx_decision {
    double t_s; /* since the beginning */
    int32_t to; /* enum aspx_decision_kind */
    char why[ASPX_WHY_BYTES];
};

enum aspx_decision_kind {
    ASPX_DECISION_PREDICTOR,
    ASPX_DECISION_ON,
    ASPX_DECISION_OFF,
    ASPX_DECISION_TRIAL,   /* to try it */
    ASPX_DECISION_NOTHING, /* there is nothing to decide about */
    ASPX_DECISION_THREADS, /* progress threads for messages */
    ASPX_DECISION_PLAIN,   /* none: messages go as in plain MPI */
};

struct aspx_decisions {
    uint32_t n;
    uint32_t more; /* that found no room */
    struct aspx_decision list[ASPX_DECISIONS];
};

/* Write down what was decided t_s after the beginning; more than there is room
 * for are only counted. Others may read what is there
 * (adapt/node_status_page.h). */
void aspx_decisions_add(struct aspx_decisions *all, double t_s,
                        enum aspx_decision_kind to, const char *why, ...)
    __attribute__((format(printf, 4, 5)));

/* The same with the words' arguments taken already. */
void aspx_decisions_addv(struct aspx_decisions *all, double t_s,
                         enum aspx_decision_kind to, const char *why,
                         va_list args) __attribute__((format(printf, 4, 0)));

/* Take over what another process wrote to shared memory. What can be none of
 * its decisions is left out. */
void aspx_decisions_take(struct aspx_decisions *all,
                         const struct aspx_decision *list, uint32_t n,
                         uint32_t more);

/* "off", "trial", as in the record. */
const char *aspx_decision_name(int32_t to);

#endif
