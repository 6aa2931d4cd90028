/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows. All durations by which a wait is tuned are here; change one only
 * with the measurement that its reason names. */
#include "config.h"

#include "wait_table.h"

#include "common/layout/idle_auto.h"

enum {
    /* Nothing is lost by this bound: it is there for what nobody announces, and
     * to show the watchdog that the process lives (ghost.timeout_s >= 2). */
    LONGEST_US = 1000000,
    ASLEEP_US = 10 * LONGEST_US, /* who need not show that it lives */
    /* What is seldom: 20 looks a second take some 0.1 % of a CPU. */
    SELDOM_US = 50000,
    /* What nobody waits for: a look in vain costs some 10 us on a CPU that
     * others want. */
    NAP_MAX_US = 1000,
    NAP_FIRST_US = 20,
    NODE_NAP_US = 200, /* no nap ends in vain in a barrier of 16 ranks on 2
                          CPUs, which takes 50 to 200 us */
    NAP_NEAR_US = 5,   /* five times as long: 30 %, not 93 % of an Iallreduce of
                          1 MiB over TCP is overlapped */
};

const struct aspx_wait_policy aspx_wait_table[ASPX_WAITERS] = {
    [ASPX_WAIT_GHOST_OWN_CPU] = {"ghost with a CPU of its own",
                                 ASP_IDLE_SPIN_ALONE_US, 0, LONGEST_US,
                                 LONGEST_US,
                                 "answers in a microsecond while it spins; "
                                 "knob idle.spin_us"},
    [ASPX_WAIT_GHOST_SHARED_CPU] = {"ghost on a CPU of others",
                                    ASP_IDLE_SPIN_US, ASP_IDLE_YIELD_US,
                                    LONGEST_US, LONGEST_US,
                                    "a few round trips: the next message may "
                                    "be under way"},
    [ASPX_WAIT_GHOST_PARKED] = {"parked ghost", 0, 0, LONGEST_US, LONGEST_US,
                                "nobody is sent to it"},
    [ASPX_WAIT_GHOST_NO_EVENTS] = {"ghost that nothing wakes", 0, 0,
                                   NAP_FIRST_US, NAP_MAX_US,
                                   "after it has spun and yielded as its CPU "
                                   "allows; a message waits for a nap's end"},
    [ASPX_WAIT_GHOST_BOARD] = {"ghost's watch over its users", 0, 0, 500000,
                               500000,
                               "for users that have not loaded Aspen yet; the "
                               "others wake it"},
    [ASPX_WAIT_OFFLOAD_OWN_CPU] = {"offload thread with a CPU of its own", 2000,
                                   1000, LONGEST_US, LONGEST_US,
                                   "a wake-up costs more than a message"},
    [ASPX_WAIT_OFFLOAD_SHARED_CPU] =
        {"offload thread on a CPU of others", 1, 1000, LONGEST_US, LONGEST_US,
         "some looks, as the next command is often "
         "near; but the CPU is its caller's"},
    [ASPX_WAIT_OFFLOAD_NO_EVENTS] = {"offload thread that nothing wakes", 0, 0,
                                     NAP_FIRST_US, NAP_MAX_US,
                                     "calls of the program end a nap; messages "
                                     "wait for its end"},
    [ASPX_WAIT_OFFLOAD_UNSEEN] =
        {"offload thread, nothing pending but a window", 0, 0, NAP_FIRST_US,
         2000,
         "others may want something of the window; what MPI_Bsend has begun "
         "is not seen"},
    [ASPX_WAIT_OFFLOAD_IDLE] = {"offload thread, nothing pending", 0, 0,
                                NAP_FIRST_US, SELDOM_US,
                                "calls end a nap; who sends more small "
                                "messages than there is room for waits for its "
                                "end"},
    [ASPX_WAIT_OFFLOAD_DIRECT_CALLS] =
        {"offload thread on the CPU of direct calls", 0, 0, NAP_FIRST_US, 100,
         "each look may take the CPU from one that is late"},
    [ASPX_WAIT_OFFLOAD_AWAITED] = {"offload thread while a caller sleeps", 0, 0,
                                   NAP_FIRST_US, NAP_FIRST_US,
                                   "the caller waits for what it would poll"},
    [ASPX_WAIT_CALLER_OWN_CPU] = {"caller of the offload thread", 5, 2000,
                                  100000, 100000,
                                  "as long as that thread spins"},
    [ASPX_WAIT_CALLER_MANY] = {"one of many callers", 20, 100, 100000, 100000,
                               "another may have the work that this CPU should "
                               "do"},
    [ASPX_WAIT_CALLER_SHARED_CPU] = {"caller on the offload thread's CPU", 1,
                                     50, 100000, 100000,
                                     "that thread needs the CPU for what is "
                                     "waited for, unless it has another"},
    [ASPX_WAIT_CALLER_TESTS] = {"caller whose looks have a request tested", 5,
                                2000, NAP_FIRST_US, 100,
                                "nobody else moves the request on"},
    [ASPX_WAIT_CALLBACK] =
        {"offload thread and caller at a callback", 40, 20, 1000, 100000,
         "the caller may be about to look; first while direct calls may begin"},
    [ASPX_WAIT_PROGRESS] = {"progress thread", 0, 0, NAP_NEAR_US, NAP_MAX_US,
                            "the next step of a conversation is near; a look "
                            "each millisecond costs 1 % of a CPU"},
    [ASPX_WAIT_PROGRESS_IDLE] = {"progress thread with nothing to do", 0, 0,
                                 NAP_NEAR_US, 50,
                                 "more is often posted soon; for ten naps"},
    [ASPX_WAIT_PROGRESS_ASLEEP] = {"progress thread after that", 0, 0,
                                   ASLEEP_US, ASLEEP_US,
                                   "the next post wakes it"},
    [ASPX_WAIT_PROGRESS_OFF] = {"progress thread without a permit", 0, 0, 5000,
                                100000,
                                "short for a second: it is tried for parts of "
                                "one whether it is worth having"},
    [ASPX_WAIT_GATE] = {"caller that meets the progress thread in MPI", 5, 0,
                        NAP_MAX_US, NAP_MAX_US,
                        "an empty poll takes less than 1 us"},
    [ASPX_WAIT_WATCHDOG] = {"watchdog of a rank", 0, 0, LONGEST_US, LONGEST_US,
                            "counts its rounds as seconds"},
    [ASPX_WAIT_PROCESS_ENDS] = {"waiter for the ends of processes", 0, 0, 100,
                                10000, "most end within a millisecond"},
    [ASPX_WAIT_END_BARRIER] = {"rank in the launcher's last barrier", 0, 2000,
                               NAP_FIRST_US, 100,
                               "others may still want something of it"},
    [ASPX_WAIT_NODE_SPIN] = {"rank in a collective of its node, spinning",
                             10000, 10000, NAP_FIRST_US, NAP_MAX_US,
                             "there is a CPU for each rank; after a time "
                             "slice it is not so"},
    [ASPX_WAIT_NODE_YIELD] = {"the same, yielding", 5, 100000, NAP_FIRST_US,
                              NAP_MAX_US,
                              "somewhat more ranks than CPUs, and none that "
                              "computes"},
    [ASPX_WAIT_NODE_SLEEP] = {"the same, sleeping", 0, 0, NODE_NAP_US,
                              NAP_MAX_US,
                              "whoever is waited for wakes it; only MPI needs "
                              "the naps"},
    [ASPX_WAIT_COLL_PROBE] = {"rank while others measure links", 0, 0,
                              NAP_FIRST_US, NAP_MAX_US,
                              "those that measure are to have the CPUs; at "
                              "MPI_Init only"},
    [ASPX_WAIT_OPENMP] = {"caller whose OpenMP threads end a chunk", 20, 2000,
                          NAP_FIRST_US, NAP_MAX_US,
                          "a chunk takes some 10 us, but its thread may have "
                          "lost its CPU"},
    [ASPX_WAIT_LOOK_THREAD] = {"thread for what a rank owes to others", 0, 0,
                               NAP_MAX_US, NAP_MAX_US,
                               "between looks whether others have taken "
                               "something; seldom needed"},
    [ASPX_WAIT_COLL_AHEAD] = {"rank that is far ahead of its node", 0, 0, 2000,
                              2000,
                              "lets the others run, once after each post; "
                              "never until they have taken what it gave"},
    [ASPX_WAIT_P2P_PROBE] = {"probe of messages that take two ways", 0, 0, 100,
                             100, "MPI and the ghost are asked in turns"},
    [ASPX_WAIT_GHOST_NO_ROOM] = {"ghost that has no room for an answer", 0, 0,
                                 NAP_MAX_US, NAP_MAX_US,
                                 "users make some when they run"},
    [ASPX_WAIT_OTHER_REPORTS] = {"process while another says why the job ends",
                                 0, 0, LONGEST_US, LONGEST_US,
                                 "whoever ends first ends the others"},
    [ASPX_WAIT_PASS_ON] = {"process that has said why the job ends", 0, 0,
                           100000, 100000,
                           "the launcher drops what it has not passed on"},
    [ASPX_WAIT_LEFT_ALONE] = {"rank that exits after its ghosts", 0, 0, 20000,
                              20000,
                              "the launcher takes two ends at once for one"},
    [ASPX_WAIT_ABORT] = {"process that has called MPI_Abort", 0, 0,
                         10 * LONGEST_US, 10 * LONGEST_US,
                         "another thread may hold MPI's lock for ever"},
    [ASPX_WAIT_MANAGER] = {"process that has told the launcher something", 0, 0,
                           5 * LONGEST_US, 5 * LONGEST_US,
                           "it ends the job, answers or closes"},
    [ASPX_WAIT_FINALIZE] = {"ghost that leaves to MPI_Finalize to say so", 0, 0,
                            60 * LONGEST_US, 60 * LONGEST_US,
                            "another thread is to come through that"},
};
