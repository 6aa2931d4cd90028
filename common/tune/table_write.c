/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables as text: the canonical bytes of aspen-coll-table(5), and their
 * digest. */
#include "table.h"

#include "table_words.h"

#include "common/base/escape.h"
#include "common/base/strbuf.h"

#include <inttypes.h>
#include <stdlib.h>

static void put_us(struct asp_strbuf *sb, uint64_t ns)
{
    asp_strbuf_add(sb, " %" PRIu64 ".%03u", ns / 1000, (unsigned) (ns % 1000));
}

static void put_link(struct asp_strbuf *sb, const char *name, bool has,
                     const struct asp_coll_link *link)
{
    if (has)
        asp_strbuf_add(
            sb, "%s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", name,
            link->latency, link->overhead, link->gap, link->byte);
}

static void put_links(struct asp_strbuf *sb, const struct asp_tune_links *links)
{
    put_link(sb, link_inside, links->has_inside, &links->inside);
    put_link(sb, link_between, links->has_between, &links->between);
    if (links->has_core)
        asp_strbuf_add(sb, "%s %" PRId64 " %" PRId64 "\n", word_core,
                       links->core.copy, links->core.reduce);
}

static void put_header(struct asp_strbuf *sb,
                       const struct asp_tune_table *table)
{
    const struct asp_tune_machine *machine = &table->machine;

    asp_strbuf_add(sb, "%s\n", magic);
    for (size_t i = 0; i < FACTS; i++) {
        asp_strbuf_add(sb, "%s ", facts[i].name);
        asp_escape(sb, (const char *) machine + facts[i].offset, marks);
        asp_strbuf_add(sb, "\n");
    }
    asp_strbuf_add(sb, "cpus %u\njobs ", machine->cpus);
    for (uint32_t i = 0; i < table->njobs; i++)
        asp_strbuf_add(sb, "%s%ux%u", i ? "," : "", table->jobs[i].nodes,
                       table->jobs[i].ppn);
    asp_strbuf_add(sb, "\n");
    put_links(sb, &table->links);
    asp_strbuf_add(sb, "rows %u\n", table->nrows);
}

char *asp_tune_table_text(const struct asp_tune_table *table, size_t *len_p)
{
    struct asp_strbuf sb = ASP_STRBUF_GROWING;

    put_header(&sb, table);
    for (uint32_t i = 0; i < table->nrows; i++) {
        const struct asp_tune_row *row = &table->rows[i];
        char key[ASP_TUNE_KEY_MAX];

        asp_strbuf_add(&sb, "%s %s", asp_tune_key_print(&row->key, key),
                       table->configs[row->config]);
        put_us(&sb, row->best_ns);
        put_us(&sb, row->default_ns);
        asp_strbuf_add(&sb, " %u %s %s\n", row->tried, sources[row->source],
                       row->day);
    }
    asp_strbuf_add(&sb, "%s\n", mark_end);
    *len_p = sb.len;
    return asp_strbuf_take(&sb);
}

int asp_tune_table_digest(const struct asp_tune_table *table,
                          unsigned char digest[ASP_SHA256_BYTES])
{
    size_t len;
    char *text = asp_tune_table_text(table, &len);

    if (!text)
        return -1;
    asp_sha256(text, len, digest);
    free(text);
    return 0;
}
