/* SPDX-License-Identifier: BSD-3-Clause */
/* CPU list text to bits and back; see cpuset.h. */
#include "cpuset.h"

#include "strbuf.h"

#include <errno.h>
#include <stdio.h>

unsigned asp_cpuset_count(const struct asp_cpuset *set)
{
    unsigned count = 0;

    for (size_t w = 0; w < ASP_CPUSET_WORDS; w++)
        count += (unsigned) __builtin_popcountll(set->word[w]);
    return count;
}

int asp_cpuset_next(const struct asp_cpuset *set, unsigned cpu_os)
{
    for (size_t w = cpu_os / 64; w < ASP_CPUSET_WORDS; w++) {
        uint64_t bits = set->word[w];

        if (w == cpu_os / 64)
            bits &= ~UINT64_C(0) << (cpu_os % 64);
        if (bits)
            return (int) (w * 64) + __builtin_ctzll(bits);
    }
    return -1;
}

/* Read a decimal CPU number at *text_p; advances it. Returns -1 if none. */
static int parse_cpu(const char **text_p, const char *end)
{
    const char *text = *text_p;
    int cpu = 0;

    if (text == end || *text < '0' || *text > '9')
        return -1;
    for (; text < end && *text >= '0' && *text <= '9'; text++) {
        cpu = cpu * 10 + (*text - '0');
        if (cpu >= ASP_CPUS_MAX)
            return -1;
    }
    *text_p = text;
    return cpu;
}

int asp_cpuset_parse(const char *text, size_t len, struct asp_cpuset *out_p)
{
    struct asp_cpuset set = {{0}};
    const char *end = text + len;

    while (text < end) {
        int first = parse_cpu(&text, end), last = first;

        if (first < 0)
            goto bad;
        if (text < end && *text == '-') {
            text++;
            last = parse_cpu(&text, end);
            if (last < first)
                goto bad;
        }
        for (int cpu = first; cpu <= last; cpu++)
            asp_cpuset_add(&set, (unsigned) cpu);
        if (text == end)
            break;
        if (*text != ',' || ++text == end)
            goto bad;
    }
    *out_p = set;
    return 0;
bad:
    errno = EINVAL;
    return -1;
}

int asp_cpuset_print(const struct asp_cpuset *set, char *buf, size_t size)
{
    struct asp_strbuf list = asp_strbuf_on(buf, size);

    for (int cpu = asp_cpuset_next(set, 0); cpu >= 0;) {
        int last = cpu;

        while (asp_cpuset_has(set, (unsigned) last + 1))
            last++;
        asp_strbuf_add(&list, "%s%d", list.len ? "," : "", cpu);
        if (last > cpu)
            asp_strbuf_add(&list, "-%d", last);
        cpu = asp_cpuset_next(set, (unsigned) last + 1);
    }
    return asp_strbuf_end(&list);
}
