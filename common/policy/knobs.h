/* SPDX-License-Identifier: BSD-3-Clause */
/* The schema: every knob of Aspen, declared here and nowhere else. Parsers,
 * merge, limits, help, man page and the runtime's view derive from this table.
 *
 * K(ID, name, type, built-in, values, min, max, unit, flags, help)
 *   values  the words that are accepted, separated by |; "" for numbers
 *   flags   where the value goes and who may not set it (policy.h) */
#ifndef ASPEN_COMMON_POLICY_KNOBS_H
#define ASPEN_COMMON_POLICY_KNOBS_H

/* clang-format off */
#define ASP_KNOBS(K)                                                          \
    K(MODE, "mode", WORD, "auto", "off|auto|ghost|offload|thread", 0, 0, "",  \
      0,                                                                      \
      "what makes progress: ghost processes, an offload thread, a progress "  \
      "thread; auto chooses, off does nothing")                               \
    K(GHOSTS, "ghosts", NUMBER, "1", "", 1, 64, "per node", 0,                \
      "ghost processes on each node, on top of the program's own ranks")      \
    K(OFFLOAD, "offload", BOOL, "no", "no|yes", 0, 0, "",                     \
      ASP_KNOB_TO_RUNTIME,                                                    \
      "mode ghost: each rank gets an offload thread too, for messages and "   \
      "non-blocking collectives; ask for one CPU more per task (-c)")         \
    K(REQUIRE, "require", BOOL, "no", "no|yes", 0, 0, "", 0,                  \
      "fail the step when the request cannot be honoured, instead of "        \
      "running it plain and saying why")                                      \
    K(SPREAD, "placement.spread", WORD, "numa", "numa|pack", 0, 0, "", 0,     \
      "numa: ghosts go one to each NUMA domain first; pack: on the last "     \
      "cores of the node")                                                    \
    K(SHARE, "placement.share", BOOL, "no", "no|yes", 0, 0, "",               \
      ASP_KNOB_COUNTS,                                                        \
      "when cores run out, let ghosts run on the cores of the users")         \
    K(SMT, "placement.smt", WORD, "avoid", "avoid|use", 0, 0, "",             \
      ASP_KNOB_COUNTS,                                                        \
      "avoid: a task gets whole cores; use: when cores run out, single "      \
      "hardware threads")                                                     \
    K(IDLE_SPIN, "idle.spin_us", NUMBER, "auto", "auto", 0, 1000000, "us",    \
      ASP_KNOB_TO_RUNTIME,                                                    \
      "how long an idle ghost spins before it yields its core; auto: 2000, "  \
      "or 20 on a CPU that it may share")                                     \
    K(IDLE_YIELD, "idle.yield_us", NUMBER, "auto", "auto", 0, 1000000, "us",  \
      ASP_KNOB_TO_RUNTIME,                                                    \
      "how long an idle ghost yields before it blocks until something comes") \
    K(GHOST_ACTIVE, "ghost.active", WORD, "all", "all|auto", 0, 0, "",        \
      ASP_KNOB_TO_RUNTIME,                                                    \
      "how many of the ghosts of a node are active: auto: as many as their "  \
      "work needs, found out once in adapt.interval_ms; the others are "      \
      "parked and sleep")                                                     \
    K(GHOST_HIGH, "ghost.high", NUMBER, "70", "", 0, 100, "%",                \
      ASP_KNOB_TO_RUNTIME,                                                    \
      "ghost.active=auto: when a ghost was at work for more of the time than " \
      "this, twice as many become active")                                    \
    K(GHOST_LOW, "ghost.low", NUMBER, "40", "", 0, 100, "%",                  \
      ASP_KNOB_TO_RUNTIME,                                                    \
      "ghost.active=auto: when one less would work for less of the time than " \
      "this, for several intervals, one is parked")                           \
    K(RMA_BINDING, "rma.binding", WORD, "rank", "rank|segment", 0, 0, "",     \
      ASP_KNOB_TO_RUNTIME,                                                    \
      "which ghost carries out accumulates: rank: the target's; segment: the "\
      "memory of a node is cut in equal parts, one for each of its ghosts")   \
    K(RMA_BALANCE, "rma.balance", WORD, "none",                               \
      "none|random|ops|bytes|queue", 0, 0, "", ASP_KNOB_TO_RUNTIME,           \
      "which ghost of the target's node carries out puts and gets: none: the "\
      "target's; random: the next; ops, bytes: the one that this rank sent "  \
      "least; queue: the one that says it has least to do")                   \
    K(RMA_DIRECT, "rma.direct", WORD, "auto", "auto|yes|no", 0, 0, "",        \
      ASP_KNOB_TO_RUNTIME,                                                    \
      "leave contiguous puts and gets to the RDMA device, past the ghosts; "  \
      "auto: where every node has one")                                       \
    K(MATCH, "match", WORD, "auto", "auto|off", 0, 0, "",                     \
      ASP_KNOB_TO_RUNTIME,                                                    \
      "auto: receives that name source and tag are looked up, and not "       \
      "searched for among all, where this MPI is known to be one that "       \
      "searches, in mode off only when said; off: as MPI does it")            \
    K(PACK, "pack", WORD, "auto", "auto|off", 0, 0, "",                       \
      ASP_KNOB_TO_RUNTIME,                                                    \
      "auto: Aspen packs and unpacks messages of datatypes with gaps, where " \
      "this MPI is known to do it piece by piece, in mode off only when "     \
      "said; off: MPI does")                                                  \
    K(COLL, "coll", WORD, "off", "off|table|tune", 0, 0, "",                  \
      ASP_KNOB_TO_RUNTIME,                                                    \
      "how collective operations are carried out: off: by MPI; table: as "    \
      "coll.table says, else by MPI; tune: what no table says is tried out "  \
      "in the program's own calls")                                           \
    K(COLL_TABLE, "coll.table", FILE, "no", "no", 0, 0, "",                   \
      ASP_KNOB_TO_RUNTIME,                                                    \
      "coll: a table of ways that was measured before (aspen tune, "          \
      "coll.save); rank 0 reads it")                                          \
    K(COLL_SAVE, "coll.save", FILE, "no", "no", 0, 0, "",                     \
      ASP_KNOB_NOT_SITE | ASP_KNOB_TO_RUNTIME,                                \
      "coll=tune: the file into which rank 0 writes what was found, at "      \
      "MPI_Finalize; may be that of coll.table")                              \
    K(COLL_BUDGET, "coll.budget_ms", NUMBER, "1000", "", 0, 3600000, "ms",    \
      ASP_KNOB_TO_RUNTIME,                                                    \
      "coll=tune: what the trials for one kind of call may take; 0: no "      \
      "trials")                                                               \
    K(COLL_EFFORT, "coll.effort", WORD, "few", "few|all", 0, 0, "",           \
      ASP_KNOB_TO_RUNTIME,                                                    \
      "coll=tune: try the few ways that a model thinks best, in at most "     \
      "twelve calls, or all of them, several times (aspen tune)")             \
    K(COLL_PROBE, "coll.probe_ms", NUMBER, "20", "", 0, 60000, "ms",          \
      ASP_KNOB_TO_RUNTIME,                                                    \
      "coll=tune: time at MPI_Init to measure the links inside nodes and "    \
      "between them, where coll.table does not say how fast they are; 0: a "  \
      "machine that is built in is taken for this one")                       \
    K(COLL_REPRODUCIBLE, "coll.reproducible", WORD, "no", "no|yes", 0, 0, "", \
      ASP_KNOB_TO_RUNTIME,                                                    \
      "coll: yes: reductions of floating-point numbers give the same bits in "\
      "each call and each run, wherever ranks are; only ways that add in the " \
      "order of ranks are taken, which between nodes are chains")             \
    K(COLL_FORCE, "coll.force", WORD, "no",                                   \
      "no|shared|tree|ring|dissemination|exchange|levels|mpich|"              \
      "mpich-binomial|mpich-nb-tree|mpich-recursive-doubling",                \
      0, 0, "",                                                               \
      ASP_KNOB_TO_RUNTIME,                                                    \
      "coll: take the first way of this family for all calls that it can "    \
      "carry out, without any choice; for tests")                             \
    K(PACK_THREADS, "pack.threads", WORD, "auto", "auto|off", 0, 0, "",       \
      ASP_KNOB_TO_RUNTIME,                                                    \
      "auto: where Aspen packs, OpenMP threads of the program that wait "     \
      "take part in it, for 64 KiB and more; off: none do")                   \
    K(INIT_TIMEOUT, "init.timeout_s", NUMBER, "60", "", 1, 3600, "s",         \
      ASP_KNOB_TO_RUNTIME,                                                    \
      "how long MPI_Init waits for the other ranks to join")                  \
    K(GHOST_TIMEOUT, "ghost.timeout_s", NUMBER, "60", "", 0, 86400, "s",      \
      ASP_KNOB_TO_RUNTIME,                                                    \
      "how long a ghost may be stopped or stuck before it is named and the "  \
      "job ends; 0: for ever")                                                \
    K(HEAP, "heap", WORD, "private", "private|shared", 0, 0, "",              \
      ASP_KNOB_TO_RUNTIME,                                                    \
      "shared: large allocations come from memory that ghosts reach, so that " \
      "MPI_Win_create on them goes to ghosts too")                            \
    K(HEAP_THRESHOLD, "heap.threshold_kb", NUMBER, "128", "", 4, 1048576,     \
      "KiB", ASP_KNOB_TO_RUNTIME,                                             \
      "heap=shared: smaller allocations stay private")                        \
    K(THREAD_CORES, "thread.service_cores", NUMBER, "1", "", 1, 64,           \
      "per node", ASP_KNOB_COUNTS,                                            \
      "mode thread: cores that are kept for the progress threads of the "     \
      "node's ranks")                                                         \
    K(THREAD_MIN, "thread.min_kb", NUMBER, "8", "", 0, 1048576, "KiB",        \
      ASP_KNOB_TO_RUNTIME,                                                    \
      "messages up to this size do not wake a progress thread (mode thread, " \
      "adapt.threads)")                                                       \
    K(ADAPT, "adapt", WORD, "off", "off|user|profile|ghosts|auto", 0, 0, "",  \
      ASP_KNOB_TO_RUNTIME,                                                    \
      "switch redirection of windows off and on while the program runs: "     \
      "user: where it asks for that (async_config); profile: by the time "    \
      "that ranks spend in MPI, too; ghosts: the same, watched by ghosts, "   \
      "and for Put and Get at any time; auto: likewise, and by what "         \
      "operations cost and a short trial shows; what mode auto takes")        \
    K(ADAPT_HIGH, "adapt.high", NUMBER, "90", "", 0, 100, "%",                \
      ASP_KNOB_TO_RUNTIME,                                                    \
      "a rank that was inside MPI for more of the time than this serves "     \
      "itself: operations on it are not redirected")                          \
    K(ADAPT_LOW, "adapt.low", NUMBER, "85", "", 0, 100, "%",                  \
      ASP_KNOB_TO_RUNTIME,                                                    \
      "a rank that was inside MPI for less of the time than this gets its "   \
      "ghost back; between adapt.low and adapt.high nothing changes")         \
    K(ADAPT_INTERVAL, "adapt.interval_ms", NUMBER, "1000", "", 1, 3600000,    \
      "ms", ASP_KNOB_TO_RUNTIME,                                              \
      "how long a rank is watched before it is judged again")                 \
    K(ADAPT_INTERVAL_MIN, "adapt.interval_min_ms", NUMBER, "20", "", 1,       \
      3600000, "ms", ASP_KNOB_TO_RUNTIME,                                     \
      "adapt=ghosts: the shortest such interval; it grows up to "             \
      "adapt.interval_ms while decisions are soon taken back")                \
    K(ADAPT_THREADS, "adapt.threads", WORD, "auto", "auto|off|on", 0, 0, "",  \
      ASP_KNOB_TO_RUNTIME,                                                    \
      "adapt=auto: progress threads for large messages, on the CPUs of the "  \
      "ghosts, which stay away while ghosts have work: auto: where a short "  \
      "trial has shown that they help; on: without a trial; off: none")       \
    K(PMIX, "pmix", WORD, "auto", "auto|off", 0, 0, "", 0,                    \
      "auto: publish the layout through PMIx too; off: by environment only")  \
    K(REPORT, "report", REPORT, "no", "no|yes", 0, 0, "",                     \
      ASP_KNOB_NOT_SITE | ASP_KNOB_TO_RUNTIME,                                \
      "at MPI_Finalize, a few lines on stderr (yes) and JSON in a file (its " \
      "name)")                                                                \
    K(PROFILE, "profile", FILE, "no", "no", 0, 0, "", ASP_KNOB_NOT_SITE,      \
      "mode auto: choose by the record of an earlier run of the program in "  \
      "this file (of report); one that is not there yet is no error. With "   \
      "coll its name and .coll is that of coll.table and coll.save")         \
    K(PROFILE_BUILD, "profile.build", FILE, "no", "no", 0, 0, "",             \
      ASP_KNOB_NOT_SITE | ASP_KNOB_TO_RUNTIME,                                \
      "set by Aspen where auto chose by a profile: the MPI build that it is " \
      "of, so that a rank with another one can say so")
/* clang-format on */

#endif
