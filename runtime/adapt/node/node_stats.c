/* SPDX-License-Identifier: BSD-3-Clause */
/* The workload of a node: see node_stats.h. */
#include "config.h"

#include "node_stats.h"

#include <stdlib.h>
#include <string.h>

struct user {
    struct aspx_rank_slot *slot;
    bool seen;       /* its time in MPI is published: the next two are known */
    uint64_t inside; /* ticks in MPI, at the last look */
    double inside_s; /* in MPI, at the last take */
    uint64_t work;   /* ticks of it at work, then */
    double uncharged_s;        /* work of earlier rounds, told later */
    double away_s;             /* the stay outside MPI under way, so far */
    struct aspx_workload done; /* at the last take: ops, bytes, ... */
};

struct aspx_node_stats {
    const struct aspx_doorbell *doorbells; /* of the node's ghosts */
    uint32_t nghosts, nusers;
    uint64_t took, looked; /* ticks */
    double busy_s;         /* of all ghosts so far, at the last take */
    struct aspx_workload sum;
    struct user user[];
};

/* Seconds at work of all ghosts of the node so far. */
static double busy(const struct aspx_node_stats *stats)
{
    uint64_t now = aspx_clock_ns(CLOCK_MONOTONIC), sum = 0;

    for (uint32_t g = 0; g < stats->nghosts; g++)
        sum += aspx_heartbeat_work_ns(&stats->doorbells[g].heartbeat, now);
    return 1e-9 * (double) sum;
}

struct aspx_node_stats *aspx_node_stats_create(
    const struct aspx_engine *engine, struct aspx_node_status_page *page)
{
    const struct aspx_world *world = engine->world;
    uint32_t nusers = aspx_engine_count(world, ASP_ROLE_USER);
    struct aspx_node_stats *stats = calloc(
        1, sizeof(*stats) + nusers * sizeof(stats->user[0]));

    if (!stats)
        return NULL;
    stats->doorbells = engine->arena.doorbells;
    stats->nghosts = aspx_engine_count(world, ASP_ROLE_GHOST);
    stats->nusers = nusers;
    for (uint32_t u = 0; u < nusers; u++)
        stats->user[u].slot = &page->slots[u];
    stats->took = stats->looked = aspx_clock_ticks();
    return stats;
}

/* A stay of s seconds adds s * s to the sum, in parts as it grows. */
static void sample_user(struct aspx_node_stats *stats, struct user *user,
                        uint64_t ticks, double passed)
{
    uint64_t inside;

    if (!user->seen)
        return;
    inside = aspx_mpi_time_read(&user->slot->mpi_time, ticks);
    if (inside != user->inside) {
        user->away_s = 0;
    } else {
        stats->sum.outside_s2 += passed * (2 * user->away_s + passed);
        user->away_s += passed;
    }
    user->inside = inside;
}

void aspx_node_stats_sample(struct aspx_node_stats *stats, uint64_t ticks,
                            uint32_t wishing)
{
    double passed = aspx_clock_seconds(
        aspx_clock_between(stats->looked, ticks));

    for (uint32_t u = 0; u < stats->nusers; u++)
        sample_user(stats, &stats->user[u], ticks, passed);
    stats->sum.wanted_s += wishing * passed;
    stats->looked = ticks;
}

/* Totals of the user so far. */
static void count(const struct aspx_issued *issued, struct aspx_workload *done)
{
    for (int k = 0; k < ASPX_KINDS; k++) {
        done->ops[k] = (double) atomic_load_explicit(&issued->ops[k],
                                                     memory_order_relaxed);
        done->bytes[k] = (double) atomic_load_explicit(&issued->bytes[k],
                                                       memory_order_relaxed);
    }
    done->redirected = (double) atomic_load_explicit(&issued->redirected,
                                                     memory_order_relaxed);
    done->waits = (double) atomic_load_explicit(&issued->waits,
                                                memory_order_relaxed);
    done->large = (double) atomic_load_explicit(&issued->posted.large,
                                                memory_order_relaxed);
    done->bursts = (double) atomic_load_explicit(&issued->posted.bursts,
                                                 memory_order_relaxed);
}

/* A call tells of its work when it is over: what was taken for waiting until
 * then is taken off the next time (uncharged_s). Ticks of work may go back,
 * too. */
static double waited(struct user *user, double mpi_s, uint64_t work)
{
    double work_s = (int64_t) work < 0 ? -aspx_clock_seconds(-work)
                                       : aspx_clock_seconds(work);
    double wait_s = mpi_s - work_s - user->uncharged_s;

    user->uncharged_s = wait_s < 0 ? -wait_s : 0;
    return wait_s < 0 ? 0 : wait_s < mpi_s ? wait_s : mpi_s;
}

static void take_from(struct aspx_node_stats *stats, struct user *user,
                      uint64_t ticks, double passed)
{
    struct aspx_workload done = {.users = 1, .user_s = passed};
    struct aspx_workload less = user->done;
    bool seen = aspx_rank_slot_live(user->slot);
    double inside_s = 0;
    uint64_t work = 0;

    count(&user->slot->issued, &done);
    user->done = done;
    for (int k = 0; k < ASPX_KINDS; k++) {
        done.ops[k] -= less.ops[k];
        done.bytes[k] -= less.bytes[k];
    }
    done.redirected -= less.redirected;
    done.waits -= less.waits;
    done.large -= less.large;
    done.bursts -= less.bursts;
    if (seen) {
        inside_s = aspx_clock_seconds(
            aspx_mpi_time_read(&user->slot->mpi_time, ticks));
        work = atomic_load_explicit(&user->slot->mpi_time.work,
                                    memory_order_relaxed);
    }
    if (seen && user->seen) {
        done.mpi_s = inside_s - user->inside_s;
        done.wait_s = waited(user, done.mpi_s, work - user->work);
    }
    user->inside_s = inside_s;
    user->work = work;
    user->seen = seen;
    aspx_workload_add(&stats->sum, &done);
}

void aspx_node_stats_take(struct aspx_node_stats *stats, uint64_t ticks,
                          struct aspx_workload *workload_p)
{
    double passed = aspx_clock_seconds(aspx_clock_between(stats->took, ticks));
    double busy_s = busy(stats);

    for (uint32_t u = 0; u < stats->nusers; u++)
        take_from(stats, &stats->user[u], ticks, passed);
    stats->sum.ghosts = stats->nghosts;
    stats->sum.ghost_s = stats->nghosts * passed;
    stats->sum.busy_s = busy_s - stats->busy_s;
    stats->busy_s = busy_s;
    *workload_p = stats->sum;
    stats->sum = (struct aspx_workload){0};
    stats->took = ticks;
}

void aspx_node_stats_destroy(struct aspx_node_stats *stats)
{
    free(stats);
}
