/* SPDX-License-Identifier: BSD-3-Clause */
/* Called in tasks. degraded_test.c decodes the result with common/layout. */
#include "config.h"

#include "degraded.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_MAX = 512 + 3 * ASPS_REASON_MAX, TASK_MAX = 48 };

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || (c && strchr("._:,@+/-", c) != NULL);
}

static size_t escape(const char *text, char *buf)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t used = 0;

    for (; *text; text++) {
        unsigned char c = (unsigned char) *text;

        if (is_plain(*text)) {
            buf[used++] = *text;
            continue;
        }
        buf[used++] = '%';
        buf[used++] = hex[c >> 4];
        buf[used++] = hex[c & 15];
    }
    buf[used] = '\0';
    return used;
}

/* Without ghosts the ranks are Slurm's. */
static size_t put_task(const struct asps_step *step, uint32_t slot, char *buf,
                       size_t size)
{
    uint32_t rank = step->ranks_world[slot];

    if (step->spec.ghosts == 0)
        return (size_t) snprintf(
            buf, size, " task=%" PRIu32 ":user:%" PRIu32 ":-:numa-1:h-1:c",
            rank, rank);
    return (size_t) snprintf(buf, size, " task=-:%s:-:-:numa-1:h-1:c",
                             slot < asps_step_users(step) ? "user" : "ghost");
}

char *asps_degraded_layout(const struct asps_step *step)
{
    size_t size = HEAD_MAX + (size_t) step->nlocal * TASK_MAX, used;
    char *text = malloc(size);

    if (text == NULL)
        return NULL;
    used = (size_t) snprintf(text, size,
                             "aspen-layout/1 job=%" PRIu32 ".%" PRIu32
                             " mode=%s gpn=%" PRIu32 " bound=no reason=",
                             step->job, step->id, step->spec.mode,
                             step->spec.ghosts);
    used += escape(step->reason, text + used);
    used += (size_t) snprintf(text + used, size - used,
                              " digest= size=%" PRIu32 " nnodes=%" PRIu32
                              " node=%" PRIu32 " service=",
                              step->ntasks, step->nnodes, step->node);
    for (uint32_t i = 0; i < step->nlocal; i++)
        used += put_task(step, i, text + used, size - used);
    snprintf(text + used, size - used, " end");
    return text;
}
