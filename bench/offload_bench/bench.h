/* SPDX-License-Identifier: BSD-3-Clause */
/* offload_app runs kernels named on its command line, one after the other in
 * one job: NAME[,KEY=VALUE...]. A kernel gathers samples; main.c prints their
 * median. It knows nothing of Aspen. */
#ifndef ASPEN_BENCH_OFFLOAD_H
#define ASPEN_BENCH_OFFLOAD_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum op {
    OP_ISEND,
    OP_IRECV,
    OP_IBCAST,
    OP_IALLREDUCE,
    OP_IALLTOALL,
    OP_IALLGATHER
};

/* What the command line says; options.c has the names and the defaults. */
struct options {
    int op;       /* enum op: what is posted, and of post the call timed */
    int bytes;    /* of a message, or to each rank */
    int self;     /* messages go to the rank itself */
    int threads;  /* threads, barrier: that many */
    int window;   /* bandwidth: messages in flight */
    int pending;  /* pending: receives that nobody answers */
    int ask;      /* pending: enum ask */
    int delay_us; /* overlap: at least; call: outside MPI before each */
    int spin;     /* compute in earnest; else sleep */
    int receiver; /* availability: of this side */
    int value;    /* overlap: enum overlap_value */
    int grid;     /* exchange: with four neighbours */
    int part;     /* exchange: enum part */
};

/* What the kernel overlap reports: the share of the communication that no
 * longer shows in the wait, the times that make it, and that share of the wait.
 */
enum overlap_value { OVERLAP, COMMUNICATION, WAIT, WAIT_AFTER, HIDDEN };

/* The kernel exchange: which part of a step. */
enum part { PART_ALL, PART_POST, PART_WAIT };

/* The kernel pending: an exchange that ends by MPI_Waitall, or by tests of the
 * receive; the Irecv of one and a Test at once; a Test of what has been tested
 * before. */
enum ask { ASK_WAIT, ASK_TEST, ASK_FIRST, ASK_AGAIN };

enum { SAMPLES_MOST = 5000, WINDOW_MOST = 64 };

struct samples {
    int n;
    double at[SAMPLES_MOST];
};

struct bench {
    struct options opt;
    int rank, size, peer;
    double ms;         /* about how long a kernel may repeat */
    double near_s;     /* kernels begin when CPUs are that near; 0: at once */
    double patience_s; /* or after so long */
    int64_t *out, *in; /* opt.bytes for each rank, or each of the window */
};

struct kernel {
    const char *name, *unit; /* us: samples are seconds */
    void (*run)(struct bench *bench, struct samples *samples);
};

/* Parse "NAME,KEY=VALUE,..."; exits with a message if it makes no sense. */
const struct kernel *options_read(const char *spec, struct options *out);

/* Seconds, without a call of MPI; and what it takes to read them. */
double now(void);
double clock_cost(void);

/* Stay outside MPI that long; returns how long it was. */
double compute(const struct bench *bench, double seconds);

/* How many steps of that duration to take; all ranks get the same answer. */
int plan(const struct bench *bench, double step_s);

/* Wait until a word to another CPU and back takes less than near_s, or for
 * patience_s. */
void await_near(const struct bench *bench);

double median(double *values, int n);
void add(struct samples *samples, double value);

/* Messages: fill blocks of opt.bytes, mark those of a step, and see what has
 * arrived. A wrong word ends the job. `from` has filled the block as his
 * `block`th one. */
void fill(struct bench *bench, int blocks);
void mark(struct bench *bench, int blocks, int step);
void check(const struct bench *bench, const int64_t *data, int from, int block,
           int step, bool whole);

/* Post what opt.op says of step `step`: a message each way, or a collective.
 * Returns the number of requests. seconds_p: of the call that opt.op names. */
int post(struct bench *bench, int step, MPI_Request requests[2],
         double *seconds_p);

/* MPI_Waitall; 2 * WINDOW_MOST at most. */
void wait_all(int n, MPI_Request requests[]);
void check_posted(struct bench *bench, int step, bool whole);

void post_run(struct bench *bench, struct samples *samples);
void sendrecv_run(struct bench *bench, struct samples *samples);
void call_run(struct bench *bench, struct samples *samples);
void overlap_run(struct bench *bench, struct samples *samples);
void availability_run(struct bench *bench, struct samples *samples);
void threads_run(struct bench *bench, struct samples *samples);
void bandwidth_run(struct bench *bench, struct samples *samples);
void latency_run(struct bench *bench, struct samples *samples);
void barrier_run(struct bench *bench, struct samples *samples);
void idle_run(struct bench *bench, struct samples *samples);
void line_run(struct bench *bench, struct samples *samples);
void pending_run(struct bench *bench, struct samples *samples);
void exchange_run(struct bench *bench, struct samples *samples);

#endif
