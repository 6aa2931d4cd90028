/* SPDX-License-Identifier: BSD-3-Clause */
/* What was chosen for collective operations; called by read.c. */
#include "config.h"

#include "parts.h"

#include "field.h"

#define SIZE(array) (sizeof(array) / sizeof((array)[0]))

int aspt_part_collectives(struct aspt_record *record, const char *file,
                          struct asp_err *err)
{
    static const struct aspt_field fields[] = {
        ASPT_FIELD(aspt_collectives, communicators, ASPT_COUNT),
        ASPT_FIELD(aspt_collectives, posted_in_memory, ASPT_COUNT),
        ASPT_FIELD(aspt_collectives, posted_to_ghosts, ASPT_COUNT),
        ASPT_FIELD(aspt_collectives, kinds, ASPT_COUNT),
        ASPT_FIELD(aspt_collectives, reused, ASPT_COUNT),
        ASPT_FIELD(aspt_collectives, probe_ms, ASPT_SECONDS),
    };
    static const struct aspt_field link[] = {
        ASPT_FIELD(aspt_link, where, ASPT_TEXT),
        ASPT_FIELD(aspt_link, from, ASPT_TEXT),
        ASPT_FIELD(aspt_link, latency_us, ASPT_SECONDS),
        ASPT_FIELD(aspt_link, overhead_us, ASPT_SECONDS),
        ASPT_FIELD(aspt_link, gap_us, ASPT_SECONDS),
        ASPT_FIELD(aspt_link, byte_ns, ASPT_SECONDS),
    };
    static const struct aspt_field found[] = {
        ASPT_FIELD(aspt_chosen, key, ASPT_TEXT),
        {"way", ASPT_TEXT, offsetof(struct aspt_chosen, config), false},
        ASPT_FIELD(aspt_chosen, end, ASPT_TEXT),
        ASPT_FIELD(aspt_chosen, candidates, ASPT_COUNT),
        ASPT_FIELD(aspt_chosen, tried, ASPT_COUNT),
        ASPT_FIELD(aspt_chosen, trials, ASPT_COUNT),
        ASPT_FIELD(aspt_chosen, agreements, ASPT_COUNT),
        ASPT_FIELD(aspt_chosen, model_rank, ASPT_COUNT),
        ASPT_FIELD(aspt_chosen, spent_us, ASPT_SECONDS),
        ASPT_FIELD(aspt_chosen, best_us, ASPT_SECONDS),
        ASPT_FIELD(aspt_chosen, default_us, ASPT_SECONDS),
    };
    static const struct aspt_items items = {"found", found, SIZE(found),
                                            sizeof(struct aspt_chosen)};
    static const struct aspt_items links = {"links", link, SIZE(link),
                                            sizeof(struct aspt_link)};
    struct aspt_collectives *out = &record->collectives;
    json_t *part = json_object_get(record->root, "collectives");
    struct aspt_json_place place = {file, "", 0};
    void *array;

    if (!part)
        return 0;
    if (!json_is_object(part))
        return aspt_field_refuse(&place, "collectives", err,
                                 "is not an object");
    if (aspt_fields_read(part, &place, fields, SIZE(fields), out, err) < 0 ||
        aspt_items_read(part, file, &links, &array, &out->nlinks, err) < 0)
        return -1;
    out->links = array;
    if (aspt_items_read(part, file, &items, &array, &out->nfound, err) < 0)
        return -1;
    out->found = array;
    record->has_collectives = true;
    return 0;
}
