/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of types with gaps, in the record of the job. */
#include "config.h"

#include "report.h"

#include "messages.h"
#include "parallel.h"
#include "typemap.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

struct sum {
    struct aspx_pack_counts messages;
    struct aspx_parallel_counts threaded;
    uint64_t refused[ASPX_NO_TYPEMAPS]; /* types, by reason */
};

enum { NUMBERS = sizeof(struct sum) / sizeof(uint64_t) };

static void *gather(struct aspx_record *record)
{
    struct sum own = {.messages = aspx_pack_counts(),
                      .threaded = aspx_parallel_counts()},
               *sum;

    for (int why = 0; why < ASPX_NO_TYPEMAPS; why++)
        own.refused[why] = aspx_typemaps_refused((enum aspx_no_typemap) why);
    sum = (void *) aspx_record_sum(record, (const void *) &own, NUMBERS);
    return sum && sum->messages.described + sum->messages.undescribed +
                       sum->threaded.buffers
               ? sum
               : NULL;
}

static void print(FILE *out, const struct aspx_record *record, const void *data)
{
    const struct sum *sum = data;

    (void) record;
    fprintf(out,
            "aspen: messages of types with gaps: %" PRIu64
            " packed or unpacked by Aspen (%.1f MB in %" PRIu64
            " pieces), %" PRIu64 " by MPI",
            sum->messages.described, (double) sum->messages.bytes / 1e6,
            sum->messages.pieces, sum->messages.undescribed);
    for (int why = 0; why < ASPX_NO_TYPEMAPS; why++)
        if (sum->refused[why])
            fprintf(out, "; %" PRIu64 " types without a description: %s",
                    sum->refused[why],
                    aspx_no_typemap_name((enum aspx_no_typemap) why));
    fputc('\n', out);
    if (sum->threaded.buffers)
        fprintf(out,
                "aspen: OpenMP threads helped with %" PRIu64
                " buffers of such types (%.1f MB in %" PRIu64
                " chunks, %.1f helpers each, %.3f s)\n",
                sum->threaded.buffers, (double) sum->threaded.bytes / 1e6,
                sum->threaded.chunks,
                (double) sum->threaded.helpers / (double) sum->threaded.buffers,
                (double) sum->threaded.ns / 1e9);
}

static void put_json(FILE *out, const struct aspx_record *record,
                     const void *data)
{
    const struct sum *sum = data;
    uint64_t refused = 0;

    (void) record;
    for (int why = 0; why < ASPX_NO_TYPEMAPS; why++)
        refused += sum->refused[why];
    fprintf(out,
            ",\n  \"typed\": {\n    \"described\": %" PRIu64
            ",\n    \"undescribed\": %" PRIu64 ",\n    \"bytes\": %" PRIu64
            ",\n    \"pieces\": %" PRIu64 ",\n    \"types_refused\": %" PRIu64,
            sum->messages.described, sum->messages.undescribed,
            sum->messages.bytes, sum->messages.pieces, refused);
    fprintf(out,
            ",\n    \"threaded\": %" PRIu64
            ",\n    \"threaded_bytes\": %" PRIu64
            ",\n    \"threaded_chunks\": %" PRIu64
            ",\n    \"threaded_helpers\": %" PRIu64
            ",\n    \"threaded_us\": %" PRIu64 "\n  }",
            sum->threaded.buffers, sum->threaded.bytes, sum->threaded.chunks,
            sum->threaded.helpers, sum->threaded.ns / 1000);
}

const struct aspx_section aspx_typed_section = {
    .text_place = 45,
    .gather = gather,
    .print = print,
    .json = put_json,
};
