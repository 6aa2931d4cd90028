/* SPDX-License-Identifier: BSD-3-Clause */
/* The record's section of windows and rules. Every window is listed by its
 * first process, so the lists are only put together and sorted here. */
#include "config.h"

#include "sections.h"

#include "runtime/casper/window/registry.h"
#include "runtime/casper/window/rules.h"
#include "runtime/casper/window/counts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 12 }; /* of windows on stderr; the file has all */

struct counts {
    uint64_t more, contig_missing;
    uint64_t hits[ASP_OBJRULES_MAX];
};

enum { NUMBERS = sizeof(struct counts) / sizeof(uint64_t) };

struct windows {
    const struct counts *sum;
    const struct aspx_registry_entry *entry; /* n, by order */
    size_t n;
};

static int by_order(const void *a, const void *b)
{
    const struct aspx_registry_entry *left = a, *right = b;

    return (left->first > right->first) - (left->first < right->first);
}

static void *gather(struct aspx_record *record)
{
    struct counts own = {
        .more = aspx_registry.more,
        .contig_missing = aspx_registry.contig_missing,
    };
    struct windows *windows = aspx_record_alloc(record, sizeof(*windows));
    struct aspx_registry_entry *entry;
    uint64_t *sum;
    size_t n;

    memcpy(own.hits, aspx_registry.hits, sizeof(own.hits));
    sum = aspx_record_sum(record, (const uint64_t *) &own, NUMBERS);
    entry = aspx_record_rows(record, aspx_registry.entry, aspx_registry.n,
                             sizeof(*entry), &n);
    if (!windows || !sum || !entry)
        return NULL;
    qsort(entry, n, sizeof(*entry), by_order);
    *windows = (struct windows){(const void *) sum, entry, n};
    return windows;
}

static const char *maker(int flavor)
{
    switch (flavor) {
    case MPI_WIN_FLAVOR_CREATE:
        return "MPI_Win_create";
    case MPI_WIN_FLAVOR_ALLOCATE:
        return "MPI_Win_allocate";
    case MPI_WIN_FLAVOR_DYNAMIC:
        return "MPI_Win_create_dynamic";
    case MPI_WIN_FLAVOR_SHARED:
        return "MPI_Win_allocate_shared";
    }
    return "?";
}

static void print_entry(FILE *to, const struct aspx_registry_entry *entry)
{
    const struct asp_objrules *rules = aspx_rules_all();
    const char *between = "; rules ";

    fprintf(to, "aspen: window %" PRIu32, entry->first);
    if (entry->count > 1)
        fprintf(to, "-%" PRIu32 " (%" PRIu32 " of a kind)", entry->last,
                entry->count);
    if (entry->name[0])
        fprintf(to, " \"%s\"", entry->name);
    fprintf(to, ": %s at %s%s%s%s, %" PRIu32 " processes, ",
            maker(entry->flavor),
            entry->call_site.place[0] ? entry->call_site.place : "?",
            entry->call_site.function[0] ? " (" : "", entry->call_site.function,
            entry->call_site.function[0] ? ")" : "", entry->processes);
    if (entry->least != entry->most)
        fprintf(to, "%" PRIu64 " to ", entry->least);
    fprintf(to, "%" PRIu64 " bytes each, %s%s%s", entry->most,
            entry->handling == ASPX_HANDLING_GHOST ? "" : "native: ",
            aspx_handling_words((enum aspx_handling) entry->handling),
            entry->switchable ? " (can be switched off)" : "");
    for (uint32_t r = 0; r < rules->n; r++)
        if (entry->holds >> r & 1) {
            fprintf(to, "%s%s", between, rules->rule[r].origin);
            between = ", ";
        }
    fputc('\n', to);
}

static void print(FILE *to, const struct aspx_record *record, const void *data)
{
    const struct asp_objrules *rules = aspx_rules_all();
    const struct windows *windows = data;
    uint64_t more = windows->sum->more;

    (void) record;
    for (size_t i = 0; i < windows->n; i++) {
        if (i < LINES)
            print_entry(to, &windows->entry[i]);
        else
            more += windows->entry[i].count;
    }
    if (more)
        fprintf(to, "aspen: and %" PRIu64 " more windows\n", more);
    if (windows->sum->contig_missing)
        fprintf(to,
                "aspen: %" PRIu64 " windows had no flat window of their "
                "own: puts and gets to targets themselves took longer\n",
                windows->sum->contig_missing);
    for (uint32_t r = 0; r < rules->n; r++)
        if (!windows->sum->hits[r])
            fprintf(to, "aspen: the rule at %s held for no window\n",
                    rules->rule[r].origin);
}

static void put_text(FILE *to, const char *key, const char *text)
{
    fprintf(to, "\"%s\": ", key);
    aspx_record_put_string(to, text);
}

static void put_entry(FILE *to, const struct aspx_registry_entry *entry)
{
    const struct asp_objrules *rules = aspx_rules_all();
    const char *between = "";

    fprintf(to,
            "{\"order\": %" PRIu32 ", \"last\": %" PRIu32
            ", \"count\": %" PRIu32 ", ",
            entry->first, entry->last, entry->count);
    put_text(to, "name", entry->name);
    fputs(", ", to);
    put_text(to, "site", entry->call_site.place);
    fputs(", ", to);
    put_text(to, "function", entry->call_site.function);
    fprintf(to,
            ",\n     \"made_by\": \"%s\", \"processes\": %" PRIu32
            ", \"bytes_least\": %" PRIu64 ", \"bytes_most\": %" PRIu64
            ", \"way\": \"%s\", \"switchable\": %s, \"rules\": [",
            maker(entry->flavor), entry->processes, entry->least, entry->most,
            aspx_handling_key((enum aspx_handling) entry->handling),
            entry->switchable ? "true" : "false");
    for (uint32_t r = 0; r < rules->n; r++)
        if (entry->holds >> r & 1) {
            fprintf(to, "%s%" PRIu32, between, r);
            between = ", ";
        }
    fputs("]}", to);
}

static void put_json(FILE *to, const struct aspx_record *record,
                     const void *data)
{
    const struct asp_objrules *rules = aspx_rules_all();
    const struct windows *windows = data;

    (void) record;
    fputs(",\n  \"windows\": [", to);
    for (size_t i = 0; i < windows->n; i++) {
        fputs(i ? ",\n    " : "\n    ", to);
        put_entry(to, &windows->entry[i]);
    }
    fputs("\n  ]", to);
    if (windows->sum->contig_missing)
        fprintf(to, ",\n  \"windows_flat_less\": %" PRIu64,
                windows->sum->contig_missing);
    fprintf(to, ",\n  \"windows_more\": %" PRIu64 ",\n  \"window_rules\": [",
            windows->sum->more);
    for (uint32_t r = 0; r < rules->n; r++) {
        fputs(r ? ",\n    " : "\n    ", to);
        aspx_record_put_rule(to, &rules->rule[r], "windows",
                             windows->sum->hits[r]);
    }
    fputs("\n  ]", to);
}

const struct aspx_section aspx_windows_section = {
    .text_place = 60,
    .close = aspx_registry_close,
    .gather = gather,
    .print = print,
    .json = put_json,
};
