/* SPDX-License-Identifier: BSD-3-Clause */
/* adapt_app runs kernels named on its command line: NAME[,KEY=VALUE...]. They
 * are those of the dissertation, section 5.5: everyone to everyone, n times
 * (operation, flush), computation, once (operation, flush). It knows nothing
 * of Aspen but two info keys, which plain MPICH ignores. */
#ifndef ASPEN_BENCH_ADAPT_H
#define ASPEN_BENCH_ADAPT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum op { OP_PUT, OP_GET, OP_ACC };
enum point { POINT_NONE, POINT_SYMMETRIC, POINT_FENCE };
enum every { EVERY_HALF, EVERY_ITERATION };
enum hints { HINTS_NONE, HINTS_WINDOW, HINTS_PHASE };

/* What the command line says; options.c has the names and the defaults. */
struct options {
    int op;         /* enum op */
    int n;          /* operations to each peer before the computation */
    int x;          /* doubles of a row; an operation has 2 x 2 rows */
    int contig;     /* no gaps at the target */
    int compute_us; /* steady, messages; phases: of the phase that computes */
    int pause_us;   /* phases: of the phase that communicates */
    int computing, talking; /* phases: iterations of a half of each phase */
    int halves;             /* of each phase */
    int windows;            /* phases: how many, one after the other */
    int point;              /* enum point: what window collective there is */
    int every;              /* enum every: and when */
    int hints;              /* enum hints: who says async_config, and when */
    int warm_ms;            /* steady, messages: before time counts */
    int queued;             /* handle: operations that wait for the target */
    int sleep;              /* total: the target sleeps, else it polls */
    int kib;                /* messages: of each */
};

struct bench {
    struct options opt;
    const char *spec;
    double begin_s; /* MPI_Init returned */
    double run_ms;  /* about how long to repeat what is timed */
    int rank, size;
    MPI_Win win;
    double *base;
    double *from, *into; /* the origin's buffers */
    MPI_Datatype there;  /* what an operation touches at the target */
    MPI_Info config[3];  /* symmetric; with async_config off; on */
    long *issued;        /* operations, by target */
    long round;          /* messages: which they are of */
    bool got;
};

struct kernel {
    const char *name;
    void (*run)(struct bench *bench);
};

extern const struct kernel kernel_table[];

/* Parse "NAME,KEY=VALUE,..."; exits with a message if it makes no sense. */
const struct kernel *options_read(const char *spec, struct options *out);

/* Rank 0 prints a row: the kernel's text, #PART if there is one, the unit,
 * three values, how many they are of. */
void emit(const struct bench *bench, const char *part, const char *unit,
          const double value[3], int count);

/* The same from samples: median, least and greatest; sorts them. */
void emit_samples(const struct bench *bench, const char *part, const char *unit,
                  double *samples, int count);

/* The window, in a lock_all epoch unless fences delimit epochs; and check
 * that what was sent is there, and free it. */
void area_open(struct bench *bench);
void area_close(struct bench *bench);
int area_doubles(const struct options *options);

/* One operation, not completed. */
void issue(struct bench *bench, int target);

/* Stay outside MPI. */
void compute(int us);

/* One iteration of the dissertation's figure 5.8. */
void iterate(struct bench *bench, int n, int us);

/* Time steps for about run_ms, after warm_ms: mean of a step. */
void repeat(struct bench *bench, void (*step)(struct bench *bench));

enum wish { WISH_NONE, WISH_OFF, WISH_ON };

/* The window collective of this kernel, if it has one. */
void meet(struct bench *bench, enum wish wish);

void alloc_run(struct bench *bench);
void fence_run(struct bench *bench);
void symmetric_run(struct bench *bench);
void phases_run(struct bench *bench);
void steady_run(struct bench *bench);
void total_run(struct bench *bench);
void handle_run(struct bench *bench);
void messages_run(struct bench *bench);

#endif
