/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 collects what was found when a communicator ends; of communicators of
 * one shape the latest stands. The table that is saved and the section of the
 * record are made from that. */
#include "config.h"

#include "report.h"

#include "runtime/coll/comm/global.h"
#include "runtime/coll/machine/join.h"
#include "runtime/coll/machine/machine.h"
#include "runtime/coll/machine/model.h"
#include "runtime/coll/machine/settings.h"
#include "runtime/coll/nonblocking/context.h"

#include "runtime/base/log.h"

#include "common/tune/store.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FOUND_MAX = 256 }; /* keys that are told; more are counted only */

/* A key and what its search came to. All ranks of its communicator have the
 * same. */
struct found {
    struct asp_tune_key key;
    struct asp_search_sum sum;
    char config[ASPX_COLL_CONFIG_TEXT];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct found *found;
static uint32_t nfound;
static struct {
    uint64_t comms, keys; /* tuned; with a search */
    uint64_t reused;      /* keys that an earlier communicator had found */
} counts;

static bool is_same_key(const struct asp_tune_key *a,
                        const struct asp_tune_key *b)
{
    return asp_tune_key_compare(a, b) == 0;
}

/* Where a key is told: a later communicator of the same shape takes the place
 * of an earlier one. */
static struct found *place_for(const struct asp_tune_key *key)
{
    for (uint32_t i = 0; i < nfound; i++)
        if (is_same_key(&found[i].key, key))
            return &found[i];
    if (!found)
        found = calloc(FOUND_MAX, sizeof(*found));
    return found && nfound < FOUND_MAX ? &found[nfound++] : NULL;
}

static void keep(const struct aspx_coll_comm *comm,
                 const struct asp_tune_key *key,
                 const struct asp_search_sum *sum)
{
    struct found *place;

    if (sum->resumed) { /* told with the one that found it */
        counts.reused++;
        return;
    }
    counts.keys++;
    place = place_for(key);
    if (!place)
        return;
    place->key = *key;
    place->sum = *sum;
    if (sum->config == ASP_DECIDE_DEFAULT)
        strcpy(place->config, "default");
    else
        aspx_coll_config_text(&comm->configs[sum->config], place->config);
}

void aspx_coll_count_comm(const struct aspx_coll_comm *comm)
{
    struct asp_search_sum sum;
    struct asp_tune_key key;

    pthread_mutex_lock(&lock);
    counts.comms++;
    for (uint32_t i = 0; asp_decide_account(comm->decide, i, &key, &sum); i++)
        keep(comm, &key, &sum);
    pthread_mutex_unlock(&lock);
}

/* ---- saved ------------------------------------------------------------------ */

static void add_rows(struct asp_tune_table *table, const char *day)
{
    struct asp_err err;

    for (uint32_t i = 0; i < nfound; i++) {
        const struct asp_search_sum *sum = &found[i].sum;
        struct asp_tune_row row = {
            .key = found[i].key,
            .best_ns = (uint64_t) (1e3 * sum->best_us),
            .default_ns = (uint64_t) (1e3 * sum->default_us),
            .tried = sum->tried,
            .source = aspx_coll_settings.explicit_effort ? ASP_TUNE_SWEEP
                                                         : ASP_TUNE_SEARCH,
        };

        if (sum->best_us <= 0 || strlen(found[i].config) >= ASP_TUNE_CONFIG_MAX)
            continue; /* nothing was measured */
        snprintf(row.day, sizeof(row.day), "%s", day);
        (void) asp_tune_table_add(table, &row, found[i].config, &err);
    }
    (void) asp_tune_table_add_job(table, aspx_coll_job(), &err);
}

/* What is in the file: perhaps of jobs of other shapes, which cannot be used
 * here, or written since this one began. */
static void add_file(struct asp_tune_table *table, const char *path)
{
    struct asp_tune_table there;
    struct asp_err err;

    if (asp_tune_table_read(path, aspx_coll_config_check, &there, &err) != 0)
        return;
    (void) asp_tune_table_merge(table, &there, &err);
    asp_tune_table_clear(&there);
}

static void save(const char *path)
{
    static bool said;
    struct asp_tune_table table = {0}, *known;
    struct asp_tune_store store;
    time_t now = time(NULL);
    char day[ASP_TUNE_DAY_MAX], *text;
    struct asp_err err;
    struct tm tm;
    size_t bytes;

    strftime(day, sizeof(day), "%Y-%m-%d", gmtime_r(&now, &tm));
    table.machine = *aspx_coll_machine();
    known = (struct asp_tune_table *) (uintptr_t) aspx_coll_table();
    if (known)
        (void) asp_tune_table_merge(&table, known, &err);
    /* From here on: what another job saves meanwhile would be lost. */
    (void) asp_tune_store_open(&store, path, ASP_TUNE_STORE_MS);
    add_file(&table, path);
    asp_tune_links_merge(&table.links, &aspx_coll_model_found()->links);
    add_rows(&table, day);
    text = asp_tune_table_text(&table, &bytes);
    if (!(text && asp_tune_store_write(&store, text, bytes) == 0) && !said) {
        said = true; /* a sweep saves again and again */
        aspx_log(ASPX_LOG_WARNING, "cannot write coll.save %s: %s", path,
                 strerror(errno));
    }
    asp_tune_store_close(&store);
    free(text);
    asp_tune_table_clear(&table);
}

void aspx_coll_save(void)
{
    if (aspx_coll_settings.save && aspx_coll_is_first())
        save(aspx_coll_settings.save);
}

/* ---- the record ------------------------------------------------------------- */

/* Rank 0 tells of the communicators that it is in; of the others nothing is
 * known there. */
static void *gather(struct aspx_record *record)
{
    return record->rank == 0 && counts.comms ? &counts : NULL;
}

static double us_saved(const struct found *one)
{
    return one->sum.default_us - one->sum.best_us;
}

/* Those by which configurations were put in order. */
static const struct {
    const char *where;
    size_t link, from; /* in struct asp_coll_machine, struct aspx_coll_model */
} links[] = {
    {"inside nodes", offsetof(struct asp_coll_machine, inside),
     offsetof(struct aspx_coll_model, inside)},
    {"between nodes", offsetof(struct asp_coll_machine, between),
     offsetof(struct aspx_coll_model, between)},
};
enum { LINKS = sizeof(links) / sizeof(links[0]) };

/* In the units that are told. */
struct told_link {
    const char *from;
    double latency_us, overhead_us, gap_us, byte_ns;
};

static struct told_link read_link(int i)
{
    const struct aspx_coll_model *model = aspx_coll_model_found();
    enum aspx_coll_source source;
    struct asp_coll_link link;

    memcpy(&link, (const char *) &model->bare + links[i].link, sizeof(link));
    memcpy(&source, (const char *) model + links[i].from, sizeof(source));
    return (struct told_link){
        .from = aspx_coll_source_name(source),
        .latency_us = 1e-6 * (double) link.latency,
        .overhead_us = 1e-6 * (double) link.overhead,
        .gap_us = 1e-6 * (double) link.gap,
        .byte_ns = 1e-3 * (double) link.byte,
    };
}

static void print_links(FILE *out)
{
    for (int i = 0; i < LINKS; i++) {
        struct told_link link = read_link(i);

        fprintf(out,
                "%s %s by %s: L %.3g us, o %.3g us, g %.3g us, %.3g ns a "
                "byte",
                i ? ";" : "aspen:   links", links[i].where, link.from,
                link.latency_us, link.overhead_us, link.gap_us, link.byte_ns);
    }
    fputc('\n', out);
}

/* Non-blocking ones of rank 0. */
static uint64_t posted(bool by_ghosts)
{
    return atomic_load(by_ghosts ? &aspx_coll_posted_counts.by_ghosts
                                 : &aspx_coll_posted_counts.shared_memory);
}

static void print_posted(FILE *out)
{
    if (posted(true) + posted(false) > 0)
        fprintf(out,
                "aspen: non-blocking collectives: %" PRIu64
                " in memory of the node, %" PRIu64 " among nodes by ghosts\n",
                posted(false), posted(true));
}

static void print(FILE *out, const struct aspx_record *record, const void *data)
{
    uint32_t other = 0;

    (void) record;
    (void) data;
    print_posted(out);
    if (!counts.keys) {
        fprintf(out,
                "aspen: collectives of %" PRIu64
                " communicators by coll.table, without a search\n",
                counts.comms);
        return;
    }
    for (uint32_t i = 0; i < nfound; i++)
        other += strcmp(found[i].config, "default") != 0;
    fprintf(
        out,
        "aspen: collectives of %" PRIu64 " communicators tuned: %" PRIu64
        " kinds of calls, another algorithm than MPI's for %u of the %u told\n",
        counts.comms, counts.keys, other, nfound);
    if (counts.reused)
        fprintf(out,
                "aspen:   %" PRIu64
                " more were known from communicators of the same shape\n",
                counts.reused);
    print_links(out);
    for (uint32_t i = 0; i < nfound; i++) {
        const struct found *one = &found[i];
        char key[ASP_TUNE_KEY_MAX];

        if (us_saved(one) > 0)
            fprintf(out, "aspen:   %s: %s, %.1f us instead of %.1f\n",
                    asp_tune_key_print(&one->key, key), one->config,
                    one->sum.best_us, one->sum.default_us);
    }
}

static void put_found(FILE *out, const struct found *one)
{
    char key[ASP_TUNE_KEY_MAX];

    fprintf(out,
            "\n    {\"key\": \"%s\", \"way\": \"%s\", \"end\": \"%s\", "
            "\"candidates\": %u, \"tried\": %u, \"trials\": %u, "
            "\"agreements\": %u, \"spent_us\": %.3f, \"best_us\": %.3f, "
            "\"default_us\": %.3f, \"model_rank\": %u}",
            asp_tune_key_print(&one->key, key), one->config,
            asp_search_end_name(one->sum.end), one->sum.candidates,
            one->sum.tried, one->sum.trials, one->sum.agreements,
            one->sum.spent_us, one->sum.best_us, one->sum.default_us,
            one->sum.model_rank);
}

static void put_links(FILE *out)
{
    fprintf(out, "\n    \"probe_ms\": %.3f,\n    \"links\": [",
            1e-3 * aspx_coll_model_found()->probe_us);
    for (int i = 0; i < LINKS; i++) {
        struct told_link link = read_link(i);

        fprintf(out,
                "%s\n     {\"where\": \"%s\", \"from\": \"%s\", "
                "\"latency_us\": %.6f, \"overhead_us\": %.6f, "
                "\"gap_us\": %.6f, \"byte_ns\": %.3f}",
                i ? "," : "", links[i].where, link.from, link.latency_us,
                link.overhead_us, link.gap_us, link.byte_ns);
    }
    fputs("\n    ],", out);
}

static void put_json(FILE *out, const struct aspx_record *record,
                     const void *data)
{
    (void) record;
    (void) data;
    fprintf(out,
            ",\n  \"collectives\": {\n    \"communicators\": %" PRIu64
            ",\n    \"kinds\": %" PRIu64 ",\n    \"reused\": %" PRIu64
            ",\n    \"posted_in_memory\": %" PRIu64
            ",\n    \"posted_to_ghosts\": %" PRIu64 ",",
            counts.comms, counts.keys, counts.reused, posted(false),
            posted(true));
    put_links(out);
    fputs("\n    \"found\": [", out);
    for (uint32_t i = 0; i < nfound; i++) {
        if (i)
            fputc(',', out);
        put_found(out, &found[i]);
    }
    fputs(nfound ? "\n    ]\n  }" : "]\n  }", out);
}

const struct aspx_section aspx_coll_section = {
    .text_place = 46,
    .gather = gather,
    .print = print,
    .json = put_json,
};
