/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that ghosts carried, in the record of the job. */
#include "config.h"

#include "report.h"

#include "channel.h"
#include "comm.h"
#include "give_back.h"
#include "p2p.h"

#include <inttypes.h>
#include <string.h>

/* Of all ranks together. */
struct sum {
    struct aspx_p2p_join join;
    uint64_t carried, left, as_all; /* communicators */
    uint64_t sent, bytes_sent, received, bytes_received;
    uint64_t bytes_direct, bytes_copied;
    uint64_t held[ASP_OBJRULES_MAX];
};

/* Of any rank the most. */
struct most {
    uint64_t posted, unexpected, given_back_ms;
};

enum {
    SUMS = sizeof(struct sum) / sizeof(uint64_t),
    MOSTS = sizeof(struct most) / sizeof(uint64_t),
};

struct told {
    const struct sum *sum;
    const struct most *most;
    char reason[96]; /* why none were carried, or "" */
};

static struct sum own_sum(void)
{
    struct sum own = {
        .join = aspx_p2p_join,
        .carried = aspx_p2p_comms.carried,
        .left = aspx_p2p_comms.left,
        .as_all = aspx_p2p_comms.as_all,
        .sent = aspx_p2p_counts.sent,
        .bytes_sent = aspx_p2p_counts.bytes_sent,
        .received = aspx_p2p_counts.received,
        .bytes_received = aspx_p2p_counts.bytes_received,
        .bytes_direct = aspx_p2p_counts.bytes_direct,
        .bytes_copied = aspx_p2p_counts.bytes_copied,
    };

    for (int r = 0; r < ASP_OBJRULES_MAX; r++)
        own.held[r] = aspx_p2p_comms.held[r];
    return own;
}

static void *gather(struct aspx_record *record)
{
    struct sum own = own_sum();
    struct most own_most = {aspx_p2p_counts.posted_most,
                            aspx_p2p_counts.unexpected_most,
                            aspx_p2p_given_back_ms};
    struct told *told = aspx_record_alloc(record, sizeof(*told));
    const void *sum = aspx_record_sum(record, (const void *) &own, SUMS);
    const void *most = aspx_record_most(record, (const void *) &own_most,
                                        MOSTS);

    if (!told || !sum || !most)
        return NULL;
    told->sum = sum;
    told->most = most;
    if (told->sum->join.cannot)
        snprintf(told->reason, sizeof(told->reason),
                 "%" PRIu64 " of %d ranks have no memory in common with their "
                 "ghost, or too little",
                 told->sum->join.cannot, record->nusers);
    return told->sum->join.asked ? told : NULL;
}

/* ---- text ----------------------------------------------------------------- */

static void print_rules(FILE *out, const struct sum *sum)
{
    const struct asp_objrules *rules = aspx_p2p_rules();

    for (uint32_t r = 0; r < rules->n; r++)
        if (!sum->held[r])
            fprintf(out, "aspen: the rule at %s held for no communicator\n",
                    rules->rule[r].origin);
}

static void print(FILE *out, const struct aspx_record *record, const void *data)
{
    const struct told *told = data;
    const struct sum *sum = told->sum;

    (void) record;
    if (told->reason[0]) {
        fprintf(out, "aspen: ghosts carried no messages: %s\n", told->reason);
        return;
    }
    fprintf(out,
            "aspen: ghosts carried %" PRIu64 " messages (%.1f MB) on %" PRIu64
            " communicators; %" PRIu64 " communicators were left to MPI\n",
            sum->sent, (double) sum->bytes_sent / 1e6, sum->carried, sum->left);
    fprintf(out,
            "aspen:   of %.1f MB received %.1f MB were written in place by "
            "ghosts; %.1f MB were copied at the post; at one ghost up to "
            "%" PRIu64 " receives and %" PRIu64 " messages waited\n",
            (double) sum->bytes_received / 1e6,
            (double) sum->bytes_direct / 1e6, (double) sum->bytes_copied / 1e6,
            told->most->posted, told->most->unexpected);
    if (told->most->given_back_ms)
        fprintf(out,
                "aspen:   after %.1f s messages were given back to MPI: all "
                "ranks were in MPI for most of the time (adapt)\n",
                (double) told->most->given_back_ms / 1e3);
    if (sum->as_all)
        fprintf(out,
                "aspen:   p2p=large was all on %" PRIu64
                " communicators, without mpi_assert_exact_length\n",
                sum->as_all);
    print_rules(out, sum);
}

/* ---- JSON ----------------------------------------------------------------- */

static void put_json(FILE *out, const struct aspx_record *record,
                     const void *data)
{
    const struct asp_objrules *rules = aspx_p2p_rules();
    const struct told *told = data;
    const struct sum *sum = told->sum;
    const struct {
        const char *key;
        uint64_t value;
    } members[] = {
        {"communicators", sum->carried},
        {"communicators_left", sum->left},
        {"large_as_all", sum->as_all},
        {"sent", sum->sent},
        {"bytes_sent", sum->bytes_sent},
        {"received", sum->received},
        {"bytes_received", sum->bytes_received},
        {"bytes_direct", sum->bytes_direct},
        {"bytes_landed", sum->bytes_received - sum->bytes_direct},
        {"bytes_copied", sum->bytes_copied},
        {"posted_most", told->most->posted},
        {"unexpected_most", told->most->unexpected},
        {"given_back_ms", told->most->given_back_ms},
    };

    (void) record;
    fputs(",\n  \"messages\": {\n    \"reason\": ", out);
    aspx_record_put_string(out, told->reason);
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        fprintf(out, ",\n    \"%s\": %" PRIu64, members[i].key,
                members[i].value);
    fputs(",\n    \"rules\": [", out);
    for (uint32_t r = 0; r < rules->n; r++) {
        fputs(r ? ",\n     " : "\n     ", out);
        aspx_record_put_rule(out, &rules->rule[r], "communicators",
                             sum->held[r]);
    }
    fputs("]\n  }", out);
}

const struct aspx_section aspx_messages_section = {
    .text_place = 44,
    .gather = gather,
    .print = print,
    .json = put_json,
};
