/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of `aspen compare` share. One "side" is the command with
 * Aspen, the other the command without it. */
#ifndef ASPEN_TOOLS_COMPARE_COMPARE_H
#define ASPEN_TOOLS_COMPARE_COMPARE_H

#include "tools/base/srun.h"
#include "stat.h"

#include "common/base/err.h"

#include <limits.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>

int aspt_compare(int argc, char **argv);

enum { ASPT_WITH, ASPT_WITHOUT, ASPT_SIDES };

/* What the record of a run with Aspen says (docs/design/record.md). */
struct aspt_facts {
    char mode[16];
    long users, ghosts, nodes, redirected; /* -1: not said */
    long spare;   /* ranks that the service CPUs have room for, mode thread */
    double mpi_s; /* from MPI_Init to MPI_Finalize; negative: not said */
    bool has_time;
    double ranks_s, inside_s, wait_s; /* all ranks: in all, in MPI, waiting */
    double helpers_s; /* what helpers cost, core-seconds; negative: not said */
    bool holds_cores; /* else these are seconds of CPU time */
};

struct aspt_side {
    const char *name; /* "with", "without" */
    char **argv;
    size_t n;
    double wall_s[ASPT_RUNS_MAX];    /* of the command */
    double program_s[ASPT_RUNS_MAX]; /* of rank 0; with is_clocked */
    double metric[ASPT_RUNS_MAX];    /* with --metric */
    double ranks_s[ASPT_RUNS_MAX], mpi_s[ASPT_RUNS_MAX];
    double wait_s[ASPT_RUNS_MAX], helpers_s[ASPT_RUNS_MAX]; /* with is_timed */
};

struct aspt_compare {
    /* options */
    long runs, warmups;
    double until; /* percent; 0: do all runs */
    bool fill, bare;
    const char *progress, *without, *json, *keep;
    const char *metric; /* as given; NULL: wall time */
    regex_t regex;      /* of metric */
    char **command;

    /* the command */
    bool is_srun;
    struct aspt_srun srun;

    /* the runs */
    char dir[PATH_MAX]; /* for their output */
    bool dir_is_ours;
    const char *clock; /* path of libaspenclock.so; NULL: not there */
    bool is_clocked;   /* all runs until now told the time of their program */
    bool is_timed;     /* and of MPI in it */
    struct aspt_side side[ASPT_SIDES];
    bool has_facts;
    struct aspt_facts facts;
    long cpus; /* of the allocation; 0: not known */
    struct aspt_effect effect;
};

/* Can the command be compared, and where does Aspen come from? Returns 0, or
 * -1 with err. sides.c. */
int aspt_sides_check(const struct aspt_compare *compare, struct asp_err *err);

/* Outside of an allocation: become salloc, with what the srun command asks
 * for, which calls us again with the same arguments.
 *   argv  ours, from "compare" on
 * Returns only on failure, with err. */
int aspt_sides_allocate(const struct aspt_compare *compare, char **argv,
                        struct asp_err *err);

/* The command line of a side; for ASPT_WITHOUT after the facts are known.
 * Returns 0, or -1 with err. */
int aspt_sides_make(struct aspt_compare *compare, int side,
                    struct asp_err *err);

/* How many ranks more --fill gives to the runs without Aspen. */
long aspt_fill_ranks(const struct aspt_compare *compare);

/* Do all runs. Returns 0, or -1 when a run failed or was interrupted: err says
 * so, and the runs done until then are there. loop.c. */
int aspt_compare_all(struct aspt_compare *compare, struct asp_err *err);

/* What is compared of a side: its metrics, else the times of its programs, else
 * those of the command. */
const double *aspt_compared(const struct aspt_compare *compare, int side);

/* Read a record. Returns 0, or -1 if there is none. facts.c. */
int aspt_facts_read(const char *path, struct aspt_facts *out_p);

/* The time that libaspenclock.so wrote. Returns 0, or -1 if it did not. */
int aspt_clock_read(const char *path, double *seconds_p);

/* The number in the first parenthesis of the last line that matches, in one of
 * two files. Returns 0, or -1 if none is there that is above 0. */
int aspt_figure_read(const regex_t *regex, const char *out, const char *err,
                     double *figure_p);

/* What all ranks together waited less in MPI, by their records; what helpers
 * cost in the median, negative if that is not known. mpi.c. */
bool aspt_saved(const struct aspt_compare *compare, struct aspt_saved *out_p);
double aspt_helpers_cost(const struct aspt_compare *compare);

/* The table of it; and a line, "" if there is nothing to say. */
void aspt_mpi_print(FILE *to, const struct aspt_compare *compare);
const char *aspt_mpi_verdict(const struct aspt_compare *compare, char *buf,
                             size_t size);

/* For people, and for programs. say.c. */
void aspt_compare_print(FILE *to, const struct aspt_compare *compare);
int aspt_compare_json(const struct aspt_compare *compare, struct asp_err *err);
void aspt_print_command(FILE *to, char *const *argv);

#endif
