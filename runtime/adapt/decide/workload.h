/* SPDX-License-Identifier: BSD-3-Clause */
/* The workload of a stretch of time: what users did with windows and messages,
 * and what ghosts did for them. Each node measures its own
 * (adapt/node/node_stats.h); the sum over all nodes is all that adapt=auto
 * decides by. Pure. */
#ifndef ASPEN_RUNTIME_ADAPT_DECIDE_WORKLOAD_H
#define ASPEN_RUNTIME_ADAPT_DECIDE_WORKLOAD_H

#include <stdint.h>

/* Kinds of operations that differ in the time to handle one. */
enum { ASPX_KIND_PUT, ASPX_KIND_GET, ASPX_KIND_ACC, ASPX_KINDS };

/* Doubles only, because it travels and is added up as an array of them. */
struct aspx_workload {
    double users, ghosts;   /* counted here */
    double user_s;          /* users times seconds */
    double ops[ASPX_KINDS]; /* that a ghost or the target could handle */
    double bytes[ASPX_KINDS];
    double redirected; /* of these operations, by ghosts */
    double waits;      /* flushes and the like that had to wait */
    double large;      /* operations that a progress thread would work
                          for: large messages that do not block */
    double bursts;     /* of these, posted when none was pending: about one
                          in each step of the program */
    double mpi_s;      /* time of users inside MPI */
    double wait_s;     /* of this, the part that is not known to be work */
    double outside_s2; /* sum of the squares of all stays outside MPI, in
                          seconds squared: see aspx_workload_delay() */
    double wanted_s;   /* of user_s, while the predictor wanted ghosts */
    double ghost_s;    /* ghosts times seconds */
    double busy_s;     /* of this, ghosts at work */
};

enum { ASPX_WORKLOAD_DOUBLES = sizeof(struct aspx_workload) / sizeof(double) };

void aspx_workload_add(struct aspx_workload *sum,
                       const struct aspx_workload *more);

double aspx_workload_ops(const struct aspx_workload *workload);

/* Operations per second of the job. */
double aspx_workload_rate(const struct aspx_workload *workload);

/* Mean time, in seconds, from an operation's arrival to when its target is in
 * MPI. An operation that comes at a random time in T seconds meets a stay of s
 * seconds outside MPI with a probability of s / T, and half of it is left: the
 * sum of s * s / 2T. */
double aspx_workload_delay(const struct aspx_workload *workload);

#endif
