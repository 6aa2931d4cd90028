/* SPDX-License-Identifier: BSD-3-Clause */
/* rma_app runs kernels named on its command line, one after the other in one
 * job: NAME[,KEY=VALUE...]. A kernel says how a window is opened and what one
 * step is; main.c warms up, repeats, and prints the median step. Programs of
 * tests know nothing of Aspen and neither does this one. */
#ifndef ASPEN_BENCH_RMA_H
#define ASPEN_BENCH_RMA_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum op { OP_PUT, OP_GET, OP_ACC, OPS };

/* What the command line says; options.c has the names and the defaults. */
struct options {
    int op;               /* enum op */
    int bytes;            /* of one operation */
    int n;                /* operations of one step to one target */
    int first;            /* all: operations before the computation */
    int hot_acc, hot_put; /* all: operations to each node's first rank */
    int acc, put;         /* all: operations to each other rank */
    int hot_bytes;        /* all: of an operation to a node's first rank */
    int area;             /* bytes that operations walk over; 0: of one */
    int delay_us;         /* how long the target, or everyone, "computes" */
    int windows;          /* ghost_rss: idle windows */
    int warm_ms;          /* steps that do not count, about so long */
    int threads;          /* rate: threads that send */
    int self;             /* the target is the origin itself */
    int sleep;            /* the target sleeps; else it polls MPI */
    int nocheck;          /* assert MPI_MODE_NOCHECK */
    int cpu;              /* slowdown: processor time instead of time */
    char info[128];       /* KEY:VALUE[+KEY:VALUE...] of the window */
};

/* A window of two areas, accumulates in the first, put and get in the second:
 * the two kinds may not meet in one epoch. */
struct bench {
    struct options opt;
    int rank, size, local; /* local: index on this node */
    const int *locals;     /* of every rank */
    int target;
    MPI_Win win;
    double *base;
    double *from, *into; /* the origin's buffers */
    long *issued;        /* doubles accumulated, by target */
    bool got, put;
    long acc_bytes, rma_bytes; /* size of my two areas */
};

struct kernel {
    const char *name;
    /* Whose time counts: rank 0 acts alone while the others wait as `sleep`
     * says; rank 0 or 1 in a step that all take part in; the slowest rank. */
    enum { ORIGIN_ALONE, ORIGIN, TARGET, SLOWEST } timed;
    const char *unit;
    bool once; /* a state, not a time: one step, no warm-up */
    void (*open)(struct bench *bench);
    double (*step)(struct bench *bench);
    void (*close)(struct bench *bench);
};

/* Parse "NAME,KEY=VALUE,..."; exits with a message if it makes no sense. */
const struct kernel *options_read(const char *spec, struct options *out);

/* Make the window, with `info`, and fill it; and check it and free it. */
void area_open(struct bench *bench);
void area_close(struct bench *bench);
MPI_Info area_info(const struct options *options);

/* Issue the i-th operation of a step. */
void issue(struct bench *bench, enum op op, int target, int i, int bytes);

/* Stay outside MPI. */
void compute(int us);

extern const struct kernel kernel_table[];

void passive_open(struct bench *bench);
void passive_close(struct bench *bench);
double flush_step(struct bench *bench);
double stall_step(struct bench *bench);
double lock_step(struct bench *bench);
double lockall_step(struct bench *bench);
double fence_step(struct bench *bench);
double pscw_step(struct bench *bench);
double slowdown_step(struct bench *bench);
double all_step(struct bench *bench);
void alloc_open(struct bench *bench);
double alloc_step(struct bench *bench);
void alloc_close(struct bench *bench);
void copy_open(struct bench *bench);
double copy_step(struct bench *bench);
void copy_close(struct bench *bench);
double rate_step(struct bench *bench);
double ghost_rss_step(struct bench *bench);

#endif
