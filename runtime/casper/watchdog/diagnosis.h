/* SPDX-License-Identifier: BSD-3-Clause */
/* What a watchdog says of a ghost: its state as the kernel sees it, what it was
 * doing as the ghost itself said last, and what to do about it. */
#ifndef ASPEN_RUNTIME_CASPER_WATCHDOG_DIAGNOSIS_H
#define ASPEN_RUNTIME_CASPER_WATCHDOG_DIAGNOSIS_H

#include "runtime/casper/arena/heartbeat.h"

#include "runtime/base/process.h"

#include <stdbool.h>
#include <stdint.h>

struct aspx_diagnosis {
    struct aspx_process process;
    int rank; /* in the real world; -1: not known yet */
    const char *node;
    struct aspx_heartbeat *heartbeat; /* NULL: only its process can be seen */
    unsigned still_s;                 /* how long it has not moved */
    unsigned idle_s; /* the last part of it, without CPU time used */
    uint64_t cpu;    /* clock ticks used at the last look */
    char state;      /* then: letter of proc(5) */
};

/* Take note of a look, a second after the last one, at which it had not moved.
 *   serving  its own heartbeat is missing: that it uses CPU time counts */
void aspx_diagnosis_update(struct aspx_diagnosis *diagnosis,
                           const struct aspx_process_look *look, bool serving);

/* Somebody stopped it: no load of the machine explains that. */
bool aspx_diagnosis_stopped(char state);

/* It has not moved for a while.
 *   then  what follows from that */
void aspx_diagnosis_report_stalled(const struct aspx_diagnosis *diagnosis,
                                   const char *then);

/* It moves again after all. */
void aspx_diagnosis_report_moving(const struct aspx_diagnosis *diagnosis);

/* Its process is no more. */
void aspx_diagnosis_report_died(const struct aspx_diagnosis *diagnosis,
                                const char *then);

#endif
