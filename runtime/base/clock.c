/* SPDX-License-Identifier: BSD-3-Clause */
/* The processor's counter is used if the kernel itself keeps time by it, and
 * its rate is measured against the kernel's clock for 0.1 ms. On any doubt the
 * kernel's clock stays. */
#include "config.h"

#include "clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

enum { COMPARE_NS = 100000, TRIES = 8 };

static uint64_t system_ns(void)
{
    return aspx_clock_ns(CLOCK_MONOTONIC);
}

bool aspx_clock_counter;
uint64_t (*aspx_clock_other)(void) = system_ns;

static double seconds_per_tick = 1e-9;

#ifdef __x86_64__
static bool counter_is_sound(void)
{
    static const char path[] =
        "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    enum { INVARIANT = 1 << 8 };
    unsigned eax, ebx, ecx, edx = 0;
    char name[16] = "";
    FILE *in;

    if (!__get_cpuid(0x80000007u, &eax, &ebx, &ecx, &edx) || !(edx & INVARIANT))
        return false;
    in = fopen(path, "re");
    if (!in)
        return false;
    if (!fgets(name, sizeof(name), in))
        name[0] = '\0';
    fclose(in);
    return strcmp(name, "tsc\n") == 0;
}
#else
/* The architecture promises it. */
static bool counter_is_sound(void)
{
    return true;
}
#endif

struct pair {
    uint64_t ticks, ns;
};

/* Both clocks at one moment: of several tries the one that took least. */
static struct pair look(void)
{
    struct pair best = {0, 0};
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < TRIES; i++) {
        uint64_t before = aspx_clock_read_counter(), ns = system_ns();
        uint64_t after = aspx_clock_read_counter();

        if (after - before < least) {
            least = after - before;
            best = (struct pair){before + least / 2, ns};
        }
    }
    return best;
}

void aspx_clock_start(void)
{
    struct pair first, last;

    if (aspx_clock_counter || aspx_clock_other != system_ns ||
        !counter_is_sound())
        return;
    first = look();
    while (system_ns() - first.ns < COMPARE_NS)
        ;
    last = look();
    seconds_per_tick = 1e-9 * (double) (last.ns - first.ns) /
                       (double) (last.ticks - first.ticks);
    aspx_clock_counter = true;
}

double aspx_clock_seconds(uint64_t ticks)
{
    return (double) ticks * seconds_per_tick;
}

uint64_t aspx_clock_ticks_of(double seconds)
{
    return (uint64_t) (seconds / seconds_per_tick);
}
