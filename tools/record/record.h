/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of a job (docs/design/record.md), read from its JSON form. A
 * record may come from anywhere: every value is checked here once, so that
 * what shows it need not. Unknown keys are left alone: a newer Aspen may have
 * more of them. docs/record.schema.json says the same to other programs. */
#ifndef ASPEN_TOOLS_RECORD_RECORD_H
#define ASPEN_TOOLS_RECORD_RECORD_H

#include "common/base/cpuset.h"
#include "common/base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ASPT_RECORD_FORM = 1,
    ASPT_HANDLINGS_MAX = 16, /* handlings that one record can name */
    ASPT_CALLS_MAX = 64,     /* kinds of calls that are counted by handling */
    ASPT_CPU_NONE = -1,
    ASPT_ALL_WINDOWS = -1,
};

/* All texts are borrowed from the JSON tree, UTF-8 and of any content. */

struct aspt_recorded_task { /* of the first user's node */
    uint64_t local;
    const char *role, *cpu_list;
    int64_t numa, helper_cpu;
    bool ghost;
    struct asp_cpuset cpus;
};

struct aspt_load { /* what all users sent to a ghost */
    uint64_t rank, node, ops, bytes;
};

struct aspt_call {
    const char *name;
    uint64_t count[ASPT_HANDLINGS_MAX]; /* by aspt_record.handlings */
    uint64_t sum;
};

struct aspt_window {
    uint64_t order, last, count, processes, bytes_least, bytes_most;
    const char *name, *site, *function, *made_by, *handling;
    const char *source; /* of the site, in words: report/source.h; or NULL */
    bool switchable;
    const json_t *rules; /* indexes in aspt_record.rules, checked */
};

struct aspt_rule {
    const char *from, *match, *set;
    uint64_t held; /* objects that it held for */
};

struct aspt_rank_time {
    uint64_t rank, node, threads; /* whose times are added up */
    double mpi_s, wait_s, work_s, wall_s;
};

struct aspt_call_time {
    const char *name;
    uint64_t count;
    double seconds, wait_s;
};

struct aspt_busy {
    uint64_t rank, node;
    double busy_s, held_s;
    double cpu_s, start_cpu_s;     /* the latter is of the former */
    double parked_s, parked_cpu_s; /* of these */
    const char *waits;             /* "events", "naps"; NULL: not known */
    const char *naps_why;          /* "", where it need not */
};

struct aspt_scaling { /* from then on so many ghosts of the node were active */
    double t_s;
    uint64_t node, active;
};

struct aspt_switch {
    double t_s;
    uint64_t node, rank;
    int64_t window; /* order, or ASPT_ALL_WINDOWS */
    const char *to, *why;
};

struct aspt_adapt_decision { /* of adapt=auto, for all ranks */
    double t_s;
    const char *to, *why;
};

struct aspt_strip { /* how much of a node is redirected, by bucket */
    uint64_t node;
    size_t n;
    const json_t *on;
};

/* The parts of a mode, or of what was measured; absent ones are not there in
 * this record. */
struct aspt_offload {
    uint64_t threads; /* ranks that have one */
    uint64_t commands, posted, ended, naps, callbacks;
    double cpu_seconds, core_seconds;
};

struct aspt_thread {
    uint64_t threads; /* ranks that have one */
    uint64_t watched, wakes, polls, busy_polls, kept_out, held_back, confined;
    double cpu_seconds;
};

/* Messages of types with gaps, all ranks together. */
struct aspt_typed {
    uint64_t described, undescribed, bytes, pieces, types_refused;
    /* buffers that OpenMP threads have packed or unpacked */
    uint64_t threaded, threaded_bytes, threaded_chunks, threaded_helpers;
    uint64_t threaded_us;
};

/* Messages that ghosts carried, all ranks together. */
struct aspt_messages {
    const char *reason; /* why none were, or "" */
    uint64_t communicators, communicators_left, large_as_all;
    uint64_t sent, bytes_sent, received, bytes_received;
    uint64_t bytes_direct, bytes_landed, bytes_copied;
    uint64_t posted_most, unexpected_most; /* at one ghost */
    uint64_t given_back_ms;
    size_t nrules;
    struct aspt_rule *rules; /* for communicators */
};

/* A kind of collective call, and the configuration that was chosen for it. */
struct aspt_chosen {
    const char *key, *config, *end; /* end: how the search ended */
    uint64_t candidates, tried, trials, agreements, model_rank;
    double spent_us, best_us, default_us; /* 0: not measured */
};

/* A link as the model has it. */
struct aspt_link {
    const char *where, *from;
    double latency_us, overhead_us, gap_us, byte_ns;
};

struct aspt_collectives {
    uint64_t communicators, kinds, reused;
    uint64_t posted_in_memory, posted_to_ghosts; /* non-blocking calls */
    double probe_ms;
    size_t nlinks;
    struct aspt_link *links;
    size_t nfound;
    struct aspt_chosen *found;
};

struct aspt_time {
    double wall_s, mpi_s, wait_s, work_s;
    size_t nranks, ncalls;
    struct aspt_rank_time *ranks;
    struct aspt_call_time *calls; /* the longest first */
};

struct aspt_adaptation {
    const char *mode;       /* the knob adapt */
    uint64_t switches_more; /* that found no room in the list */
    double interval_s, bucket_s;
    uint64_t decisions_more;
    size_t nswitches, nstrips, ndecisions;
    struct aspt_adapt_decision *decisions;
    struct aspt_switch *switches;
    struct aspt_strip *strips;
};

struct aspt_record {
    json_t *root;
    uint64_t form, users, ghosts, nodes;
    const char *program;
    const char *mpi, *mpi_build, *mpi_fixes;
    const char *mpi_device;    /* NULL: an older record */
    const char *profile_build; /* NULL: not chosen by a profile */
    const char *version, *job, *mode, *reason, *digest, *service_list;
    struct asp_cpuset service; /* CPUs of the first node, for mode thread */
    bool bound;
    size_t ntasks, nloads, ncalls, nhandlings, nwindows, nrules, nbusy;
    struct aspt_recorded_task *tasks;
    struct aspt_load *loads;
    struct aspt_call calls[ASPT_CALLS_MAX];
    const char
        *handlings[ASPT_HANDLINGS_MAX]; /* that occur, in the record's order */
    bool has_calls, has_time, has_busy, has_adaptation;
    bool has_offload, has_thread, has_typed, has_messages, has_collectives;
    uint64_t redirected, windows_more;
    struct aspt_window *windows;
    char *sources; /* texts of theirs */
    struct aspt_rule *rules;
    struct aspt_busy *busy;
    bool has_scaling; /* ghosts could be parked */
    size_t nscaling;
    uint64_t scaling_more; /* changes that found no room in the list */
    struct aspt_scaling *scaling;
    struct aspt_time time;
    struct aspt_adaptation adaptation;
    struct aspt_offload offload;
    struct aspt_thread thread;
    struct aspt_messages messages;
    struct aspt_typed typed;
    struct aspt_collectives collectives;
};

/* Read and check a record.
 *   path  "-": stdin
 *   *record_p  owned by the caller, aspt_record_free(); untouched on failure
 * Returns 0, or -1 with the reason and its place in err. */
int aspt_record_read(const char *path, struct aspt_record **record_p,
                     struct asp_err *err);

/* Takes NULL. */
void aspt_record_free(struct aspt_record *record);

#endif
