/* SPDX-License-Identifier: BSD-3-Clause */
/* Mode off with a report: the section of the record that says so, and what
 * helpers could do about the time in MPI. */
#include "config.h"

#include "observe.h"

#include "profile.h"
#include "report.h"
#include "runtime/coll/select/report.h"
#include "runtime/coll/select/tune.h"
#include "runtime/mpi/fixes.h"
#include "runtime/pack/report.h"
#include "runtime/record/frame.h"

#include "common/base/advice.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* What each helper could do something about. */
static const struct {
    enum asp_advice_kind advice;
    const char *waits, *what;
} helps[] = {
    {ASP_ADVICE_GHOST, "operations on windows",
     "ghosts carry them out (--async-progress=ghost:1, a core on each node)"},
    {ASP_ADVICE_THREAD, "messages",
     "threads move them (--async-progress=offload, a core for each rank)"},
};

/* What it would take, and where to ask whether it is worth it. */
static void print_advice(FILE *to, const void *times)
{
    bool any = false;

    for (size_t i = 0; i < sizeof(helps) / sizeof(helps[0]); i++) {
        double share = aspx_times_waited(times, helps[i].advice);

        if (share < ASP_ADVICE_LEAST)
            continue;
        any = true;
        fprintf(to,
                "aspen: %.0f %% of their time they waited for %s; while the "
                "other side computes %s: aspen compare tells if that helps\n",
                100 * share, helps[i].waits, helps[i].what);
    }
    if (!any)
        fprintf(to,
                "aspen: helpers would find little to do: less than %.0f %% "
                "of the time went to waiting for windows or messages\n",
                100 * ASP_ADVICE_LEAST);
}

static bool mends(const struct asp_layout *layout)
{
    return layout->knobs.pack == ASP_SWITCH_AUTO ||
           layout->knobs.match == ASP_SWITCH_AUTO ||
           layout->knobs.coll != ASP_COLL_MODE_OFF;
}

/* What was done to MPI in this process: not all that was asked for. */
static void print_done(FILE *out)
{
    bool pack = aspx_fix_was_needed(ASPX_FIX_PACK);
    bool match = aspx_fix_was_needed(ASPX_FIX_MATCH);

    if (!pack && !match && !aspx_coll_began) {
        fputs(": plain MPI, whose time was taken\n", out);
        return;
    }
    fputs(": MPI without helpers", out);
    if (pack || match)
        fprintf(out, ", whose messages were mended (%s%s%s)",
                pack ? "pack" : "", pack && match ? ", " : "",
                match ? "match" : "");
    fprintf(out, "%s and whose time was taken\n",
            aspx_coll_began ? ", whose collectives were chosen (coll)" : "");
}

static bool wants(const struct asp_layout *layout)
{
    return layout->mode == ASP_MODE_OFF &&
           (aspx_record_where(layout) || mends(layout));
}

static void *gather(struct aspx_record *record)
{
    return aspx_times_section.gather(record);
}

static void print(FILE *out, const struct aspx_record *record,
                  const void *times)
{
    fputs("aspen: mode off, ", out);
    aspx_record_print_ranks(out, record);
    print_done(out);
    aspx_times_section.print(out, record, times);
    print_advice(out, times);
}

static void put_json(FILE *out, const struct aspx_record *record,
                     const void *times)
{
    aspx_times_section.json(out, record, times);
}

static const struct aspx_section section = {
    .close = aspx_profile_stop,
    .gather = gather,
    .print = print,
    .json = put_json,
};

const struct aspx_mode aspx_observe_mode = {
    .wants = wants,
    .elsewhere = "its time is not taken",
    .no_sessions = "no report: in mode off the time of programs that open a "
                   "session before MPI_Init is not taken",
    .sections = {&section, &aspx_typed_section, &aspx_coll_section},
};
