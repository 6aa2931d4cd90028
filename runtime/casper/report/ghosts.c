/* SPDX-License-Identifier: BSD-3-Clause */
/* The record's section of what the ghosts did with their time. */
#include "config.h"

#include "sections.h"

#include "runtime/casper/arena/engine.h"
#include "runtime/base/clock.h"
#include "runtime/net/net.h"
#include "runtime/world/world.h"

#include <stdint.h>
#include <time.h>

/* Of one world rank, times in nanoseconds; held 0: not known, or no ghost. */
struct ghost_time {
    uint64_t held, busy;
    uint64_t cpu, start_cpu; /* the latter is of the former */
    uint64_t parked, parked_cpu;
    uint64_t naps; /* why no event would wake it, of enum aspx_net_deaf */
};

enum { NUMBERS = sizeof(struct ghost_time) / sizeof(uint64_t) };

static uint64_t cpu_ns(int32_t pid)
{
    clockid_t clock;

    return clock_getcpuclockid(pid, &clock) == 0 ? aspx_clock_ns(clock) : 0;
}

/* How long it was parked, and what it used then. */
static void read_parked(const struct aspx_ghost_scaling *scaling,
                        struct ghost_time *time)
{
    uint64_t since = atomic_load(&scaling->parked_since_ns);
    int64_t used = atomic_load(&scaling->parked_cpu_ns);

    time->parked = atomic_load(&scaling->parked_ns);
    if (since)
        time->parked += aspx_clock_ns(CLOCK_MONOTONIC) - since;
    if (atomic_load(&scaling->parked_seen))
        used += (int64_t) time->cpu;
    time->parked_cpu = used > 0 ? (uint64_t) used : 0;
}

static struct ghost_time read_ghost(uint32_t rank)
{
    const struct aspx_doorbell *doorbell = aspx_engine_doorbell(&aspx_engine,
                                                                rank);
    struct ghost_time time = {0};
    uint64_t since, now;

    since = doorbell ? atomic_load(&doorbell->heartbeat.since_ns) : 0;
    if (!since)
        return time;
    now = aspx_clock_ns(CLOCK_MONOTONIC);
    time.held = now - since;
    time.busy = aspx_heartbeat_work_ns(&doorbell->heartbeat, now);
    time.naps = atomic_load(&doorbell->heartbeat.naps);
    time.cpu = cpu_ns(aspx_engine.pids[rank]);
    if (time.cpu) /* else it cannot be asked */
        time.start_cpu = atomic_load(&doorbell->heartbeat.start_cpu_ns);
    read_parked(&doorbell->scaling, &time);
    return time;
}

/* Is this the first user of its node? */
static bool reads_ghosts(const struct aspx_world *world)
{
    return aspx_engine.pids &&
           aspx_engine_local(world, (uint32_t) world->rank_all) == 0;
}

static void *gather(struct aspx_record *record)
{
    const struct aspx_world *world = &aspx_world;
    size_t n = (size_t) world->size_all;
    struct ghost_time *own = aspx_record_alloc(record, n * sizeof(*own));

    for (uint32_t r = 0; own && reads_ghosts(world) && r < n; r++)
        if (world->peers[r].node == world->node &&
            world->peers[r].role == ASP_ROLE_GHOST)
            own[r] = read_ghost(r);
    return aspx_record_sum(record, (const uint64_t *) own, NUMBERS * n);
}

static double seconds(uint64_t ns)
{
    return 1e-9 * (double) ns;
}

static void print(FILE *to, const struct aspx_record *record, const void *data)
{
    const struct ghost_time *times = data;
    struct ghost_time sum = {0};
    int ghosts = 0;

    (void) record;
    for (int r = 0; r < aspx_world.size_all; r++) {
        const struct ghost_time *time = &times[r];

        if (!time->held)
            continue;
        ghosts++;
        sum.held += time->held;
        sum.busy += time->busy;
        sum.cpu += time->cpu;
        sum.start_cpu += time->start_cpu;
        sum.parked += time->parked;
        sum.parked_cpu += time->parked_cpu;
    }
    if (ghosts)
        fprintf(to,
                "aspen: %d %s at work %.2f of %.2f s, %.0f %%; %.2f "
                "CPU-seconds, and %.2f to start\n",
                ghosts, ghosts == 1 ? "ghost was" : "ghosts were",
                seconds(sum.busy), seconds(sum.held),
                100.0 * (double) sum.busy / (double) sum.held,
                seconds(sum.cpu - sum.start_cpu), seconds(sum.start_cpu));
    if (ghosts && aspx_engine.settings.scaling)
        fprintf(to,
                "aspen: they were parked for %.2f of these %.2f s and then "
                "used %.3g CPU-seconds\n",
                seconds(sum.parked), seconds(sum.held),
                seconds(sum.parked_cpu));
}

static void put_json(FILE *to, const struct aspx_record *record,
                     const void *data)
{
    const struct ghost_time *times = data;
    const char *comma = "";

    (void) record;
    fputs(",\n  \"ghost_busy\": [", to);
    for (int r = 0; r < aspx_world.size_all; r++) {
        const struct ghost_time *time = &times[r];

        if (!time->held)
            continue;
        fprintf(to,
                "%s\n    {\"rank\": %d, \"node\": %u, \"busy_s\": %.6f, "
                "\"held_s\": %.6f, \"cpu_s\": %.6f, \"start_cpu_s\": %.6f, "
                "\"waits\": \"%s\", \"naps_why\": \"%s\"",
                comma, r, aspx_world.peers[r].node, seconds(time->busy),
                seconds(time->held), seconds(time->cpu),
                seconds(time->start_cpu), time->naps ? "naps" : "events",
                aspx_net_deaf_text((enum aspx_net_deaf) time->naps));
        if (aspx_engine.settings.scaling)
            fprintf(to, ", \"parked_s\": %.6f, \"parked_cpu_s\": %.6f",
                    seconds(time->parked), seconds(time->parked_cpu));
        fputc('}', to);
        comma = ",";
    }
    fputs("\n  ]", to);
}

const struct aspx_section aspx_ghost_times_section = {
    .text_place = 50,
    .gather = gather,
    .print = print,
    .json = put_json,
};
