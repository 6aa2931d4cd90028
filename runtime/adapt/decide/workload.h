/* SPDX-License-Identifier: BSD-3-Clause */
/* What users did with windows in a stretch of time, and what ghosts did for
 * them: measured on each node, added up over the nodes, and all that adapt=auto
 * decides by. Pure. */
#ifndef ASPEN_RUNTIME_ADAPT_DECIDE_WORKLOAD_H
#define ASPEN_RUNTIME_ADAPT_DECIDE_WORKLOAD_H

#include <stdint.h>

/* Kinds that differ in what handling one takes. */
enum { ASPX_KIND_PUT, ASPX_KIND_GET, ASPX_KIND_ACC, ASPX_KINDS };

/* Doubles only: travels as an array of them. */
struct aspx_workload {
    double users, ghosts;   /* that are counted here */
    double user_s;          /* users times seconds */
    double ops[ASPX_KINDS]; /* that a ghost could carry out or the target */
    double bytes[ASPX_KINDS];
    double redirected; /* of these operations, by ghosts */
    double waits;      /* flushes and the like that had to wait */
    double large;      /* operations that a progress thread would work
                          for: large messages that do not block */
    double bursts;     /* of these, the first after another had ended: about
                          one in each step of the program */
    double mpi_s;      /* time of users inside MPI */
    double wait_s;     /* of it, what is not known to be work */
    double outside_s2; /* the sum of the squares of all stays outside MPI,
                          in seconds: see aspx_workload_delay() */
    double wanted_s;   /* of user_s, when the predictor wanted ghosts */
    double ghost_s;    /* ghosts times seconds */
    double busy_s;     /* of these, at work */
};

enum { ASPX_WORKLOAD_DOUBLES = sizeof(struct aspx_workload) / sizeof(double) };

void aspx_workload_add(struct aspx_workload *sum,
                       const struct aspx_workload *more);

double aspx_workload_ops(const struct aspx_workload *workload);

/* Operations per second of the job. */
double aspx_workload_rate(const struct aspx_workload *workload);

/* Seconds from when an operation comes, at any time, to when a target, any of
 * them, is in MPI: a stay of s seconds is met with a probability of s / T and
 * has s / 2 left. */
double aspx_workload_delay(const struct aspx_workload *workload);

#endif
