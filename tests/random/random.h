/* SPDX-License-Identifier: BSD-3-Clause */
/* Random RMA programs with a sequential model; README.md says how it works.
 *
 * Every rank derives the same program from (seed, number) and runs the model of
 * all ranks; it then executes its own part and compares. Ranks in here are
 * ranks in the window's communicator unless the name says world. */
#ifndef ASPEN_TESTS_RANDOM_H
#define ASPEN_TESTS_RANDOM_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prng.h"

enum {
    MAX_RANKS = 16,
    MAX_COMMS = 6,
    MAX_WINDOWS = 6,
    MAX_REGIONS = 8,
    MAX_BLOCKS = 8,
    MAX_ROUNDS = 3,
    MAX_PHASES = 4,
    MAX_OPS = 512,
    MAX_TRACES = 4096,
    MAX_GROUPS = 4096,
    MAX_WORDS = 4,   /* traced ones of a region */
    MAX_EXTENT = 32, /* of a predefined type, bytes */
    ALIGN = 64,      /* of a region's start; every such type fits */
    FILL = 0xa5      /* what origin buffers hold before */
};

/* ---- types.c: predefined types and what may be done to them */

enum type_class {
    INTEGER,
    INTEGER_F,  /* Fortran's: no logical operation */
    SHARED_INT, /* MPI_AINT and the like: no logical operation */
    FLOATING,
    COMPLEX,
    LOGICAL,
    BYTES,
    CHARACTER,
    PAIR
};

struct type {
    MPI_Datatype mpi;
    enum type_class class;
    int extent;           /* bytes; also the distance of two elements */
    uint32_t significant; /* bit per byte that carries the value */
    int part, at;         /* width of the number; where the second one is */
};

struct operator
{
    MPI_Op mpi;
    const char *name;
    unsigned classes; /* bit per enum type_class */
    int commutes;     /* with itself, whatever the values */
};

enum { TYPE_LONG = 6 }; /* in types[] */
enum { OP_REPLACE, OP_NO_OP, OP_SUM, OP_BOR, OP_BXOR };

extern const struct type types[];
extern const int n_types;
extern const struct operator operators[];
extern const int n_operators;

const char *type_name(const struct type *type);
const struct type *type_random(struct prng *prng, int bytes);
const struct type *type_word(struct prng *prng); /* of 64 bits, integer */
void type_value(const struct type *type, struct prng *prng, int tame,
                unsigned char *out);
int type_may_swap(const struct type *type); /* in MPI_Compare_and_swap */

/* ---- layout.c: a derived datatype over elements of one predefined type */

enum shape {
    PLAIN,
    CONTIGUOUS,
    VECTOR,
    INDEXED,
    HINDEXED,
    STRUCT,
    SUBARRAY,
    RESIZED,
    ABSOLUTE, /* with MPI_BOTTOM */
    SHAPES
};

/* All distances count elements ("slots") from the buffer's address. */
struct layout {
    enum shape shape;
    int count; /* of the MPI call */
    int blocks, at[MAX_BLOCKS], len[MAX_BLOCKS];
    int per;    /* elements in one datatype */
    int extent; /* slots from one datatype to the next */
    int shift;  /* bytes in front of the first slot; HINDEXED only */
};

void layout_plain(struct layout *layout, int n);
/* n elements within so many slots; shift > 0 asks for a shape that can, and
 * only an origin's may be ABSOLUTE. */
void layout_random(struct layout *layout, struct prng *prng, int n, int slots,
                   int shift, int of_origin);
int layout_slot(const struct layout *layout, int i);
int layout_span(const struct layout *layout);
/* The caller frees it unless it is the predefined one. */
MPI_Datatype layout_build(const struct layout *layout, const struct type *type,
                          const void *absolute);

/* ---- program: communicators, windows, operations */

struct comm {
    MPI_Comm mpi; /* MPI_COMM_NULL where this process is no member */
    const char *kind;
    int n, world[MAX_RANKS], me; /* me < 0: no member */
};

/* Who may do what to some bytes of one process during one phase. */
enum mode {
    IDLE,      /* nobody */
    OWNED,     /* anything, by one origin */
    READ_ONLY, /* by all */
    LOCAL,     /* loads and stores of the target */
    FOLD,      /* one commutative operation, by many */
    CHAIN,     /* every update sets a bit of its own; fetches are compared */
    ONE_WINS,  /* compare-and-swap by many */
    SWAPS,     /* replacing fetches by many */
    GUARDED    /* get, change, put under an exclusive lock */
};

struct region {
    int at, bytes;
    enum mode mode;
    const struct type *type; /* NULL until first filled */
    int filled;              /* by the target, before this phase */
    int owner;               /* OWNED: which origin */
    unsigned origins;        /* bit per origin that may use it */
    int op;                  /* FOLD, CHAIN: which one */
    int words;               /* of 64 bits; the traced modes */
    int group[MAX_WORDS], final[MAX_WORDS]; /* in p->trace */
};

enum flavor { ALLOCATE, SHARED, CREATE, FLAVORS };
enum source { ALLOC_MEM, PRIVATE, OTHER_WINDOW };
/* What the info object promises, or asks for. */
enum promise { NO_PROMISE, NO_LOCKS, ACTIVE_ONLY, ALL_OR_FENCE, NO_GHOSTS };
enum epoch { FENCE, PSCW, PASSIVE };
enum access { NO_ACCESS, LOCK_ALL, HELD, ONE_BY_ONE };
enum lock { NO_LOCK, LOCK_SHARED, LOCK_EXCLUSIVE };
enum separator { NOTHING, FLUSH, FLUSH_ALL, FLUSH_LOCAL, FLUSH_LOCAL_ALL };

struct side { /* one process of a window */
    int bytes, unit;
    int reserve; /* bytes behind, for a window created on this one's memory */
    enum source source;
    int lead; /* PRIVATE: bytes to the base from a multiple of ALIGN */
    int regions;
    struct region region[MAX_REGIONS];
    unsigned char *model, *known, *start, *touched;
};

struct window {
    struct comm *comm;
    enum flavor flavor;
    int birth, death;      /* phases; alive in both */
    struct window *parent; /* whose memory this one is created on */
    int noncontiguous;
    enum promise promise;
    struct side side[MAX_RANKS];
    int parts; /* bytes of all models */

    /* this phase */
    enum epoch epoch;
    int alive, rounds, handoff, nocheck, exclusive;
    unsigned may[MAX_RANKS]; /* bit per target that the origin may access */
    enum access access[MAX_RANKS];
    enum lock lock[MAX_RANKS][MAX_RANKS];
    unsigned lock_nocheck[MAX_RANKS];
    enum separator separator[MAX_RANKS][MAX_ROUNDS];
    unsigned char whim[MAX_RANKS]; /* choices without effect on the result */

    /* this process */
    MPI_Win mpi;
    unsigned char *base, *memory;
};

enum kind {
    PUT,
    GET,
    ACCUMULATE,
    GET_ACCUMULATE,
    FETCH_AND_OP,
    COMPARE_AND_SWAP,
    STORE,
    LOAD,
    GUARDED_ADD,
    KINDS
};

struct op {
    enum kind kind;
    struct window *window;
    int origin, target; /* target < 0: MPI_PROC_NULL */
    int round, region, n;
    const struct type *type;
    int op;
    int request, large, late; /* R variant; _c variant; waited on at the end */
    int at;                   /* byte offset in the target's window */
    struct layout to, from, result;
    unsigned char *data; /* n elements; compare value behind */
    unsigned char *expect, *expect_known;
    int trace; /* of the first element; -1 without */

    /* execution */
    int issued, done;
    MPI_Request handle;
    unsigned char *origin_buffer, *result_buffer, *compare_buffer;
};

/* One update or fetch of a word that several processes change. */
struct trace {
    enum mode mode;
    int group, phase, window, target, origin; /* world ranks */
    uint64_t bit; /* what it adds or writes; 0 for a read */
    int fetches;  /* a value came back */
    int final;    /* not an operation: what the target found at the end */
    uint64_t found;
};

struct program {
    uint64_t seed;
    long number;
    struct prng prng;
    int phases, phase;
    int n_comms, n_windows, n_ops, n_traces, n_groups;
    struct comm comm[MAX_COMMS];
    struct window window[MAX_WINDOWS];
    struct op op[MAX_OPS];
    struct trace trace[MAX_TRACES];
    int free_order[MAX_WINDOWS];
    int scratch_allocated; /* origin buffers come from MPI_Alloc_mem */
    long wrong;
    const char *stage; /* for the watchdog */
};

struct options {
    uint64_t seed;
    long programs, first;
    int plain_safe;  /* leave out what plain MPICH 4.0.2 gets wrong */
    int early_posts; /* no barrier between epochs of post and start */
    int switches;    /* of redirection, by MPI_Win_set_info */
    int print;
    int limit_s;                                 /* one program */
    long break_memory, break_value, break_order; /* program numbers, or -1 */
};

extern struct options options;
extern int world_rank, world_size;
extern int world_node[MAX_RANKS]; /* node of each world rank */

/* May plain MPICH be the one that serves this window? Then what version 4.0.2
 * gets wrong is left out (README.md). */
int may_be_plain(const struct window *w);

/* generate.c, operate.c */
void program_begin(struct program *p, long number);
void phase_generate(struct program *p);
void modes_again(struct program *p, struct window *w);
void operations_generate(struct program *p);

/* model.c */
void model_fill(struct region *region, struct side *side, struct prng *prng);
void model_apply(struct op *op);
void *phase_memory(size_t bytes); /* zeroed; valid until the next phase */
void phase_memory_reset(void);

/* window.c */
void comms_make(struct program *p);
void comms_free(struct program *p);
void window_make(struct program *p, struct window *w);
void window_free(struct window *w);

/* sync.c, execute.c */
void phase_execute(struct program *p);
void op_issue(struct program *p, struct op *op);
void op_finish(struct program *p, struct op *op);
void scratch_reset(struct program *p);

/* describe.c */
void describe_window(const struct program *p, const struct window *w, char *out,
                     size_t bytes);
void describe_op(const struct op *op, char *out, size_t bytes);
const char *describe_mode(enum mode mode);
void print_phase(const struct program *p);

/* check.c */
void check_memory(struct program *p, struct window *w);
void check_result(struct program *p, struct op *op);
void check_traces(struct program *p);
void complain(struct program *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
