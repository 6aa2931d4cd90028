/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders for all ranks, and the list of decisions, with reasons, for the
 * record.
 */
#ifndef ASPEN_RUNTIME_ADAPT_DECIDE_DECISION_H
#define ASPEN_RUNTIME_ADAPT_DECIDE_DECISION_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

/* What holds for the redirection to all ranks: what their predictors say; the
 * same, but a lower adapt.low, so that ranks that lose their CPU for a while
 * are not taken for computing ones; on; off. */
enum aspx_order {
    ASPX_ORDER_NONE,
    ASPX_ORDER_LOW_THRESHOLD,
    ASPX_ORDER_ON,
    ASPX_ORDER_OFF
};

/* What progress threads of ranks do (progress/on_demand.h): there are none;
 * they wait, while the messages that they could work for are counted; they
 * work. */
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

/* Add a decision, taken t_s seconds after the beginning. Without room it is
 * only counted. Other processes may read the list meanwhile
 * (adapt/node_status_page.h). */
void aspx_decisions_add(struct aspx_decisions *all, double t_s,
                        enum aspx_decision_kind to, const char *why, ...)
    __attribute__((format(printf, 4, 5)));

/* The same, with a list of arguments. */
void aspx_decisions_addv(struct aspx_decisions *all, double t_s,
                         enum aspx_decision_kind to, const char *why,
                         va_list args) __attribute__((format(printf, 4, 0)));

/* Copy decisions from shared memory, which anything may have overwritten: those
 * that cannot be decisions are left out. */
void aspx_decisions_take(struct aspx_decisions *all,
                         const struct aspx_decision *list, uint32_t n,
                         uint32_t more);

/* "off", "trial", as in the record. */
const char *aspx_decision_name(int32_t to);

#endif
