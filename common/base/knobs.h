/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of knobs: every setting of Aspen, declared here and nowhere else.
 * Parsers, merge, limits, help, the man page, the layout's text and the struct
 * that the runtime reads are made of it, and no default stands anywhere else.
 *
 * P(ID, name, type, default, words, min, max, unit, flags, help)
 *         a knob of the plan: plugin, agent and tools ask the policy for it
 * R(ID, field, name, ...)
 *         a knob that the runtime reads: it travels in the layout, and is a
 *         field of struct asp_knobs
 *
 *   words   the words that are accepted, one of the lists below; those of a
 *           WORD are the enum asp_WORDS
 *   flags   who may set it, and what depends on it (enum asp_knob_flag) */
#ifndef ASPEN_COMMON_BASE_KNOBS_H
#define ASPEN_COMMON_BASE_KNOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ASP_NAME_MAX = 64,
    ASP_VALUE_MAX = 256,
};

/* clang-format off */

/* W(ENUMERATOR, "word"), the first is 0; without an enumerator where nobody
 * compares them. */
#define ASP_WORDS_mode(W)                                                      \
    W(ASP_MODE_OFF, "off") W(ASP_MODE_AUTO, "auto") W(ASP_MODE_GHOST, "ghost") \
    W(ASP_MODE_OFFLOAD, "offload") W(ASP_MODE_THREAD, "thread")
#define ASP_WORDS_none(W)
#define ASP_WORDS_no_yes(W) W(, "no") W(, "yes")
#define ASP_WORDS_report(W) W(, "no") W(, "yes") W(, "trace")
#define ASP_WORDS_spread(W)                                                    \
    W(ASP_SPREAD_NUMA, "numa") W(ASP_SPREAD_PACK, "pack")
#define ASP_WORDS_smt(W) W(ASP_SMT_AVOID, "avoid") W(ASP_SMT_USE, "use")
#define ASP_WORDS_auto(W) W(, "auto")
#define ASP_WORDS_active(W) W(ASP_ACTIVE_ALL, "all") W(ASP_ACTIVE_AUTO, "auto")
#define ASP_WORDS_binding(W)                                                   \
    W(ASP_BINDING_RANK, "rank") W(ASP_BINDING_SEGMENT, "segment")
#define ASP_WORDS_balance(W)                                                   \
    W(ASP_BALANCE_NONE, "none") W(ASP_BALANCE_RANDOM, "random")                \
    W(ASP_BALANCE_OPS, "ops") W(ASP_BALANCE_BYTES, "bytes")                    \
    W(ASP_BALANCE_QUEUE, "queue")
#define ASP_WORDS_direct(W)                                                    \
    W(ASP_DIRECT_AUTO, "auto") W(ASP_DIRECT_YES, "yes") W(ASP_DIRECT_NO, "no")
#define ASP_WORDS_switch(W) W(ASP_SWITCH_AUTO, "auto") W(ASP_SWITCH_OFF, "off")
#define ASP_WORDS_coll_mode(W)                                                 \
    W(ASP_COLL_MODE_OFF, "off") W(ASP_COLL_MODE_TABLE, "table")                \
    W(ASP_COLL_MODE_TUNE, "tune")
#define ASP_WORDS_p2p(W)                                                       \
    W(ASP_P2P_OFF, "off") W(ASP_P2P_ALL, "all") W(ASP_P2P_LARGE, "large")
#define ASP_WORDS_no(W) W(, "no")
#define ASP_WORDS_effort(W) W(ASP_EFFORT_FEW, "few") W(ASP_EFFORT_ALL, "all")
#define ASP_WORDS_family(W)                                                    \
    W(, "no") W(, "shared") W(, "tree") W(, "ring") W(, "dissemination")       \
    W(, "exchange") W(, "levels") W(, "mpich") W(, "mpich-binomial")           \
    W(, "mpich-nb-tree") W(, "mpich-recursive-doubling")
#define ASP_WORDS_heap(W)                                                      \
    W(ASP_HEAP_PRIVATE, "private") W(ASP_HEAP_SHARED, "shared")
#define ASP_WORDS_adapt(W)                                                     \
    W(ASP_ADAPT_OFF, "off") W(ASP_ADAPT_USER, "user")                          \
    W(ASP_ADAPT_PROFILE, "profile") W(ASP_ADAPT_GHOSTS, "ghosts")              \
    W(ASP_ADAPT_AUTO, "auto")
#define ASP_WORDS_threads(W)                                                   \
    W(ASP_THREADS_AUTO, "auto") W(ASP_THREADS_OFF, "off")                      \
    W(ASP_THREADS_ON, "on")

#define ASP_KNOBS(P, R)                                                        \
    P(MODE, "mode", WORD, "auto", mode, 0, 0, "", 0,                           \
      "what makes progress: ghost processes, an offload thread, a progress "   \
      "thread; auto chooses, off does nothing")                                \
    P(GHOSTS, "ghosts", NUMBER, "1", none, 1, 64, "per node", 0,               \
      "ghost processes on each node, on top of the program's own ranks")       \
    R(OFFLOAD, offload, "offload", BOOL, "no", no_yes, 0, 0, "", 0,            \
      "mode ghost: each rank gets an offload thread too, for messages and "    \
      "non-blocking collectives; ask for one CPU more per task (-c)")          \
    R(REQUIRE, require, "require", BOOL, "no", no_yes, 0, 0, "", 0,            \
      "fail the step when the request cannot be honoured, instead of running " \
      "it plain and saying why")                                               \
    P(SPREAD, "placement.spread", WORD, "numa", spread, 0, 0, "", 0,           \
      "numa: ghosts go one to each NUMA domain first; pack: on the last "      \
      "cores of the node")                                                     \
    P(SHARE, "placement.share", BOOL, "no", no_yes, 0, 0, "", ASP_KNOB_COUNTS, \
      "when cores run out, let ghosts run on the cores of the users")          \
    P(SMT, "placement.smt", WORD, "avoid", smt, 0, 0, "", ASP_KNOB_COUNTS,     \
      "avoid: a task gets whole cores; use: when cores run out, single "       \
      "hardware threads")                                                      \
    R(IDLE_SPIN, idle_spin_us, "idle.spin_us", NUMBER, "auto", auto, 0,        \
      1000000, "us", 0,                                                        \
      "how long an idle ghost spins before it yields its core; auto: 2000, "   \
      "or 20 on a CPU that it may share")                                      \
    R(IDLE_YIELD, idle_yield_us, "idle.yield_us", NUMBER, "auto", auto, 0,     \
      1000000, "us", 0,                                                        \
      "how long an idle ghost yields before it blocks until something comes")  \
    R(GHOST_ACTIVE, ghost_active, "ghost.active", WORD, "all", active, 0, 0,   \
      "", 0,                                                                   \
      "how many of the ghosts of a node are active: auto: as many as their "   \
      "work needs, found out once in adapt.interval_ms; the others are "       \
      "parked and sleep")                                                      \
    R(GHOST_HIGH, ghost_high, "ghost.high", NUMBER, "70", none, 0, 100, "%",   \
      0,                                                                       \
      "ghost.active=auto: when a ghost was at work for more of the time than " \
      "this, twice as many become active")                                     \
    R(GHOST_LOW, ghost_low, "ghost.low", NUMBER, "40", none, 0, 100, "%", 0,   \
      "ghost.active=auto: when one less would work for less of the time than " \
      "this, for several intervals, one is parked")                            \
    R(RMA_BINDING, rma_binding, "rma.binding", WORD, "rank", binding, 0, 0,    \
      "", 0,                                                                   \
      "which ghost carries out accumulates: rank: the target's; segment: the " \
      "memory of a node is cut in equal parts, one for each of its ghosts")    \
    R(RMA_BALANCE, rma_balance, "rma.balance", WORD, "none", balance, 0, 0,    \
      "", 0,                                                                   \
      "which ghost of the target's node carries out puts and gets: none: the " \
      "target's; random: the next; ops, bytes: the one that this rank sent "   \
      "least; queue: the one that says it has least to do")                    \
    R(RMA_DIRECT, rma_direct, "rma.direct", WORD, "auto", direct, 0, 0, "", 0, \
      "leave contiguous puts and gets to the RDMA device, past the ghosts; "   \
      "auto: where every node has one")                                        \
    R(P2P, p2p, "p2p", WORD, "off", p2p, 0, 0, "", 0,                          \
      "mode ghost: ghosts carry the messages between ranks: all: of every "    \
      "size; large: small ones go MPI's way on communicators whose messages "  \
      "have the length of their receives, as the program or a rule promises "  \
      "(mpi_assert_exact_length), on others as all; not beside offload")       \
    R(P2P_LARGE, p2p_large_kb, "p2p.large_kb", NUMBER, "8", none, 0, 1048576,  \
      "KiB", 0,                                                                \
      "p2p=large: messages up to this size are small; MPICH sends them at "    \
      "once, without the receiver's help")                                     \
    R(MATCH, match, "match", WORD, "auto", switch, 0, 0, "",                   \
      ASP_KNOB_NO_HELPER | ASP_KNOB_SAID_IN_OFF,                               \
      "auto: receives that name source and tag are looked up, and not "        \
      "searched for among all, where this MPI is known to be one that "        \
      "searches, in mode off only when said; off: as MPI does it")             \
    R(PACK, pack, "pack", WORD, "auto", switch, 0, 0, "",                      \
      ASP_KNOB_NO_HELPER | ASP_KNOB_SAID_IN_OFF,                               \
      "auto: Aspen packs and unpacks messages of datatypes with gaps, where "  \
      "this MPI is known to do it piece by piece, in mode off only when "      \
      "said; off: MPI does")                                                   \
    R(COLL, coll, "coll", WORD, "off", coll_mode, 0, 0, "",                    \
      ASP_KNOB_NO_HELPER,                                                      \
      "how collective operations are carried out: off: by MPI; table: as "     \
      "coll.table says, else by MPI; tune: what no table says is tried out "   \
      "in the program's own calls")                                            \
    R(COLL_TABLE, coll_table, "coll.table", FILE, "no", no, 0, 0, "",          \
      ASP_KNOB_NO_HELPER,                                                      \
      "coll: a table of algorithms that was measured before (aspen tune, "     \
      "coll.save); rank 0 reads it")                                           \
    R(COLL_SAVE, coll_save, "coll.save", FILE, "no", no, 0, 0, "",             \
      ASP_KNOB_NOT_SITE | ASP_KNOB_NO_HELPER,                                  \
      "coll=tune: the file into which rank 0 writes what was found, at "       \
      "MPI_Finalize; may be that of coll.table")                               \
    R(COLL_BUDGET, coll_budget_ms, "coll.budget_ms", NUMBER, "1000", none, 0,  \
      3600000, "ms", ASP_KNOB_NO_HELPER,                                       \
      "coll=tune: what the trials for one kind of call may take; 0: no "       \
      "trials")                                                                \
    R(COLL_EFFORT, coll_effort, "coll.effort", WORD, "few", effort, 0, 0, "",  \
      ASP_KNOB_NO_HELPER,                                                      \
      "coll=tune: try the few algorithms that a model thinks best, in at most "\
      "twelve calls, or all of them, several times (aspen tune)")              \
    R(COLL_PROBE, coll_probe_ms, "coll.probe_ms", NUMBER, "20", none, 0,       \
      60000, "ms", ASP_KNOB_NO_HELPER,                                         \
      "coll=tune: time at MPI_Init to measure the links inside nodes and "     \
      "between them, where coll.table does not say how fast they are; 0: a "   \
      "machine that is built in is taken for this one")                        \
    R(COLL_REPRODUCIBLE, coll_reproducible, "coll.reproducible", BOOL, "no",   \
      no_yes, 0, 0, "", ASP_KNOB_NO_HELPER,                                    \
      "coll: yes: reductions of floating-point numbers give the same bits in " \
      "each call and each run, wherever ranks are; only algorithms that add "  \
      "in the order of ranks are taken, which between nodes are chains")       \
    R(COLL_FORCE, coll_force, "coll.force", NAME, "no", family, 0, 0, "",      \
      ASP_KNOB_NO_HELPER,                                                      \
      "coll: take the first algorithm of this family for all calls that it "   \
      "can carry out, without any choice; for tests")                          \
    R(PACK_THREADS, pack_threads, "pack.threads", WORD, "auto", switch, 0, 0,  \
      "", ASP_KNOB_NO_HELPER,                                                  \
      "auto: where Aspen packs, OpenMP threads of the program that wait take " \
      "part in it, for 64 KiB and more; off: none do")                         \
    R(INIT_TIMEOUT, init_timeout_s, "init.timeout_s", NUMBER, "60", none, 1,   \
      3600, "s", ASP_KNOB_NO_HELPER,                                           \
      "how long MPI_Init waits for the other ranks to join")                   \
    R(GHOST_TIMEOUT, ghost_timeout_s, "ghost.timeout_s", NUMBER, "60", none,   \
      0, 86400, "s", 0,                                                        \
      "how long a ghost may be stopped or stuck before it is named and the "   \
      "job ends; 0: for ever")                                                 \
    R(HEAP, heap, "heap", WORD, "private", heap, 0, 0, "", 0,                  \
      "shared: large allocations come from memory that ghosts reach, so that " \
      "MPI_Win_create on them goes to ghosts too")                             \
    R(HEAP_THRESHOLD, heap_threshold_kb, "heap.threshold_kb", NUMBER, "128",   \
      none, 4, 1048576, "KiB", 0,                                              \
      "heap=shared: smaller allocations stay private")                         \
    P(THREAD_CORES, "thread.service_cores", NUMBER, "1", none, 1, 64,          \
      "per node", ASP_KNOB_COUNTS,                                             \
      "mode thread: cores that are kept for the progress threads of the "      \
      "node's ranks")                                                          \
    R(THREAD_MIN, thread_min_kb, "thread.min_kb", NUMBER, "8", none, 0,        \
      1048576, "KiB", 0,                                                       \
      "messages up to this size do not wake a progress thread (mode thread, "  \
      "adapt.threads)")                                                        \
    R(ADAPT, adapt, "adapt", WORD, "off", adapt, 0, 0, "", 0,                  \
      "switch redirection of windows off and on while the program runs: "      \
      "user: where it asks for that (async_config); profile: by the time "     \
      "that ranks spend in MPI, too; ghosts: the same, watched by ghosts, "    \
      "and for Put and Get at any time; auto: likewise, and by what "          \
      "operations cost and a short trial shows; what mode auto takes. With "   \
      "p2p, messages are given back to MPI likewise, once")                    \
    R(ADAPT_HIGH, adapt_high, "adapt.high", NUMBER, "90", none, 0, 100, "%",   \
      0,                                                                       \
      "a rank that was inside MPI for more of the time than this serves "      \
      "itself: operations on it are not redirected")                           \
    R(ADAPT_LOW, adapt_low, "adapt.low", NUMBER, "85", none, 0, 100, "%", 0,   \
      "a rank that was inside MPI for less of the time than this gets its "    \
      "ghost back; between adapt.low and adapt.high nothing changes")          \
    R(ADAPT_INTERVAL, adapt_interval_ms, "adapt.interval_ms", NUMBER, "1000",  \
      none, 1, 3600000, "ms", 0,                                               \
      "how long a rank is watched before it is judged again")                  \
    R(ADAPT_INTERVAL_MIN, adapt_interval_min_ms, "adapt.interval_min_ms",      \
      NUMBER, "20", none, 1, 3600000, "ms", 0,                                 \
      "adapt=ghosts: the shortest such interval; it grows up to "              \
      "adapt.interval_ms while decisions are soon taken back")                 \
    R(ADAPT_THREADS, adapt_threads, "adapt.threads", WORD, "auto", threads, 0, \
      0, "", 0,                                                                \
      "adapt=auto: progress threads for large messages, on the CPUs of the "   \
      "ghosts, which stay away while ghosts have work: auto: where a short "   \
      "trial has shown that they help; on: without a trial; off: none")        \
    P(PMIX, "pmix", WORD, "auto", switch, 0, 0, "", 0,                         \
      "auto: publish the layout through PMIx too; off: by environment only")   \
    R(REPORT, report, "report", FILE, "no", report, 0, 0, "",                  \
      ASP_KNOB_NOT_SITE,                                                       \
      "at MPI_Finalize, a few lines on stderr (yes; trace: and each decision " \
      "when it is made), and JSON in a file (its name)")                       \
    P(PROFILE, "profile", FILE, "no", no, 0, 0, "", ASP_KNOB_NOT_SITE,         \
      "mode auto: choose by the record of an earlier run of the program in "   \
      "this file (of report); one that is not there yet is no error. With "    \
      "coll its name and .coll is that of coll.table and coll.save")           \
    R(PROFILE_BUILD, profile_build, "profile.build", FILE, "no", no, 0, 0, "", \
      ASP_KNOB_NOT_SITE,                                                       \
      "set by Aspen where auto chose by a profile: the MPI build that it is "  \
      "of, so that a rank with another one can say so")
/* clang-format on */

#define ASP_WORD_ENUMERATOR(ENUMERATOR, TEXT) ENUMERATOR,
#define ASP_WORD_TEXT(ENUMERATOR, TEXT)       "|" TEXT

/* The words of a list as text, "off|auto". */
#define ASP_WORDS_TEXT(WORDS)                                                  \
    (&("" ASP_WORDS_##WORDS(                                                   \
        ASP_WORD_TEXT))[sizeof("" ASP_WORDS_##WORDS(ASP_WORD_TEXT)) > 1])

enum asp_mode { ASP_WORDS_mode(ASP_WORD_ENUMERATOR) };
enum asp_spread { ASP_WORDS_spread(ASP_WORD_ENUMERATOR) };
enum asp_smt { ASP_WORDS_smt(ASP_WORD_ENUMERATOR) };
enum asp_active { ASP_WORDS_active(ASP_WORD_ENUMERATOR) };
enum asp_binding { ASP_WORDS_binding(ASP_WORD_ENUMERATOR) };
enum asp_balance { ASP_WORDS_balance(ASP_WORD_ENUMERATOR) };
enum asp_direct { ASP_WORDS_direct(ASP_WORD_ENUMERATOR) };
enum asp_p2p { ASP_WORDS_p2p(ASP_WORD_ENUMERATOR) };
enum asp_switch { ASP_WORDS_switch(ASP_WORD_ENUMERATOR) };
enum asp_coll_mode { ASP_WORDS_coll_mode(ASP_WORD_ENUMERATOR) };
enum asp_effort { ASP_WORDS_effort(ASP_WORD_ENUMERATOR) };
enum asp_heap { ASP_WORDS_heap(ASP_WORD_ENUMERATOR) };
enum asp_adapt { ASP_WORDS_adapt(ASP_WORD_ENUMERATOR) };
enum asp_threads { ASP_WORDS_threads(ASP_WORD_ENUMERATOR) };

#define ASP_KNOB_ENUM(ID, ...) ASP_KNOB_##ID,
enum asp_knob_id { ASP_KNOBS(ASP_KNOB_ENUM, ASP_KNOB_ENUM) ASP_KNOB_COUNT };

enum asp_knob_type {
    ASP_TYPE_WORD,   /* one of the words */
    ASP_TYPE_BOOL,   /* yes or no; users may write their synonyms */
    ASP_TYPE_NUMBER, /* min..max, or "auto" where that is among the words */
    ASP_TYPE_NAME,   /* no, or a name; users may write one of the words */
    ASP_TYPE_FILE,   /* one of the words, no first, or the name of a file */
};

enum asp_knob_flag {
    ASP_KNOB_TO_RUNTIME = 1,   /* a row R: travels in the layout */
    ASP_KNOB_NOT_SITE = 2,     /* only the job may set it */
    ASP_KNOB_COUNTS = 4,       /* what Slurm is asked for depends on it */
    ASP_KNOB_NO_HELPER = 8,    /* of use without helpers: travels in a layout
                                  without a plan too, as that of mode off */
    ASP_KNOB_SAID_IN_OFF = 16, /* in mode off "off" unless it was said */
};

enum { ASP_NUMBER_AUTO = -1 }; /* a NUMBER whose value is the word */

#define ASP_FIELD_WORD(FIELD, WORDS)   enum asp_##WORDS FIELD;
#define ASP_FIELD_BOOL(FIELD, WORDS)   bool FIELD;
#define ASP_FIELD_NUMBER(FIELD, WORDS) int FIELD;
#define ASP_FIELD_NAME(FIELD, WORDS)   char FIELD[ASP_VALUE_MAX];
#define ASP_FIELD_FILE(FIELD, WORDS)   char FIELD[ASP_VALUE_MAX];
#define ASP_KNOB_FIELD(ID, FIELD, NAME, TYPE, DEFAULT, WORDS, ...)             \
    ASP_FIELD_##TYPE(FIELD, WORDS)
#define ASP_KNOB_SKIP(...)

/* The knobs of the runtime. A name that is "no" is an empty field. */
struct asp_knobs {
    ASP_KNOBS(ASP_KNOB_SKIP, ASP_KNOB_FIELD)
};

struct asp_knob {
    const char *name;
    enum asp_knob_type type;
    const char *builtin; /* the default */
    const char *values;  /* its words, "off|auto" */
    int64_t min;
    int64_t max;
    const char *unit;
    unsigned flags; /* enum asp_knob_flag */
    const char *help;
    size_t offset; /* of the field, for ASP_KNOB_TO_RUNTIME */
};

extern const struct asp_knob asp_knobs[ASP_KNOB_COUNT];

/* Find a knob. Returns ASP_KNOB_COUNT if there is none. */
enum asp_knob_id asp_knob_find(const char *name);

/* The number of a word among those of a knob, which is its enumerator. Returns
 * -1 if it is none of them. */
int asp_knob_word(enum asp_knob_id id, const char *word);

/* A number of this knob, or its word (ASP_NUMBER_AUTO). Returns 0, or -1 with
 * errno EINVAL (neither) or ERANGE. */
int asp_knob_number(enum asp_knob_id id, const char *text, int *out_p);

/* 1 for yes, true, on, 1; 0 for no, false, off, 0; else -1. */
int asp_knob_bool(const char *text);

/* All fields as the table says.
 *   off  in mode off */
void asp_knobs_init(struct asp_knobs *knobs, bool off);

/* Set a field to a value ("yes", "16"; of a BOOL any of its words), which may
 * come from anybody. id is of a row R.
 * Returns 0, or -1 with errno EINVAL or ERANGE; nothing is changed then. */
int asp_knobs_set(struct asp_knobs *knobs, enum asp_knob_id id,
                  const char *text);

/* The canonical text of a field. Returns buf. */
const char *asp_knobs_text(const struct asp_knobs *knobs, enum asp_knob_id id,
                           char buf[ASP_VALUE_MAX]);

#endif
