/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of coll_app: the applications by which the dissertation on tuned
 * collectives shows what they are worth (Nishtala 2009, sections 5.4, 6.3 and
 * 7.3). Plain MPI programs without a numerical library; none knows of Aspen. */
#ifndef ASPEN_BENCH_COLL_H
#define ASPEN_BENCH_COLL_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The ways to communicate; each application has some, one after the other. */
enum how {
    HOW_PACKED,    /* fft: one blocking exchange of a round */
    HOW_SLABS,     /* fft: a nonblocking exchange for each plane */
    HOW_PENCILS,   /* fft: a nonblocking exchange for each row */
    HOW_ALLREDUCE, /* cg: dot products by Allreduce */
    HOW_REDUCE,    /* cg: by Reduce and Bcast, and a Barrier */
    HOW_BLOCKING,  /* summa, cholesky: Bcast */
    HOW_PREFETCH,  /* summa: Ibcast of the next panels */
    HOW_BCAST,     /* late: Ibcast */
    HOW_SUM,       /* late: Ireduce */
    HOW_EXCHANGE,  /* late: Ialltoall */
};

/* What the command line says; options.c has the names and the defaults. */
struct options {
    int how;        /* enum how */
    int rows;       /* of the grid of ranks; 0: as square as possible */
    int n;          /* fft: each side; late: numbers; else order of a matrix */
    int nx, ny, nz; /* fft: the sides; 0: n */
    int block;      /* summa, cholesky: of a panel */
    int extra;      /* cg: random pairs of entries for 100 rows */
    int reach;      /* cg: how far from the diagonal; 0: a plane of the grid */
    int shift; /* cg: what the diagonal has beyond dominance, thousandths */
    int most;  /* cg: iterations */
    int compute_us; /* late: of the one who computes */
};

/* Where time goes, of one rank: collectives but barriers, of which are said to
 * be in time; barriers; messages of a halo. */
enum part { IN_COLL, IN_BARRIER, IN_HALO, PARTS };

struct bench {
    struct options opt;
    const char *spec;
    int rank, size;
    double spent[PARTS]; /* seconds, of the run that is under way */
    double count;        /* of the run, what app.counted says; summed up */
    long nonzeros;       /* cg: entries of the whole matrix */
};

/* The result of a check: the greatest deviation, and the most that may be. */
struct verdict {
    double error, limit;
};

/* An application. open() makes its data and communicators, and ends the job
 * with a message if the ranks do not fit; reset() brings its input back; run()
 * is what is timed; check() looks at what the last run left, and may destroy
 * it. All are called by all ranks. */
struct app {
    const char *name;
    const char *counted;  /* beside time; or NULL */
    enum how first, last; /* the ways it has; the first is the default */
    void *(*open)(struct bench *bench);
    void (*reset)(struct bench *bench, void *state);
    void (*run)(struct bench *bench, void *state);
    struct verdict (*check)(struct bench *bench, void *state);
    void (*close)(void *state);
};

extern const struct app fft_app, cg_app, summa_app, cholesky_app, late_app;

/* Do it, and note how long it takes. */
#define SPEND(bench, part, call)                                               \
    do {                                                                       \
        double begin_ = MPI_Wtime();                                           \
                                                                               \
        call;                                                                  \
        (bench)->spent[part] += MPI_Wtime() - begin_;                          \
    } while (0)

/* Parse "NAME,KEY=VALUE,..."; exits with a message if it makes no sense. */
const struct app *options_read(const char *spec, struct options *out);

/* End the job unless `holds`: rank 0 prints what is needed. */
void need(const struct bench *bench, bool holds, const char *what);

/* Zeros for n things of so many bytes, for free(); ends the job when there is
 * no memory. */
void *zeros(size_t n, size_t bytes);

/* MPI_Waitall, of whose MPI_STATUSES_IGNORE gcc 12 warns. */
void wait_all(int n, MPI_Request *requests);

/* A grid of ranks, in the order of rows: rank = row * cols + col. */
struct grid {
    int rows, cols, row, col;
    MPI_Comm row_team; /* those of the same row, by column */
    MPI_Comm col_team; /* those of the same column, by row */
};

/* As opt.rows says, or as square as possible, with rows <= cols. */
void grid_make(const struct bench *bench, struct grid *out);
void grid_free(struct grid *grid);

/* A number of -1 to 1 that depends on nothing but these three. */
static inline double value_at(uint64_t i, uint64_t j, uint64_t k)
{
    uint64_t x = (i * 0x1f123bb5u + j) * 0x9e3779b97f4a7c15u + k + 1;

    /* The end of splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom
     * Number Generators, 2014). */
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    return (double) (x >> 11) * 0x1p-52 - 1;
}

#endif
