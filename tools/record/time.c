/* SPDX-License-Identifier: BSD-3-Clause */
/* What a record measures: time in MPI, how busy ghosts were, what adaptation
 * did. Called by read.c. */
#include "config.h"

#include "parts.h"

#include "field.h"

#include <errno.h>
#include <stdlib.h>

#define SIZE(array) (sizeof(array) / sizeof((array)[0]))

static int longest_first(const void *a, const void *b)
{
    const struct aspt_call_time *left = a, *right = b;

    return (left->seconds < right->seconds) - (left->seconds > right->seconds);
}

static int read_call_times(struct aspt_time *time, json_t *calls,
                           const char *file, struct asp_err *err)
{
    static const struct aspt_field fields[] = {
        ASPT_FIELD(aspt_call_time, count, ASPT_COUNT),
        ASPT_FIELD(aspt_call_time, seconds, ASPT_SECONDS),
        ASPT_FIELD(aspt_call_time, wait_s, ASPT_SECONDS),
    };
    struct aspt_json_place place = {file, "time.calls", 0};
    const char *name;
    json_t *call;

    if (!json_is_object(calls))
        return asp_err_in(err, EINVAL, file, "time.calls: is not an object");
    time->calls = calloc(json_object_size(calls) + 1, sizeof(*time->calls));
    if (!time->calls)
        return asp_errf(err, ENOMEM, "out of memory");
    json_object_foreach(calls, name, call)
    {
        if (!json_is_object(call))
            return aspt_field_refuse(&place, name, err, "is not an object");
        time->calls[time->ncalls].name = name;
        if (aspt_fields_read(call, &place, fields, SIZE(fields),
                             &time->calls[time->ncalls++], err) < 0)
            return -1;
        place.index++;
    }
    qsort(time->calls, time->ncalls, sizeof(*time->calls), longest_first);
    return 0;
}

int aspt_part_time(struct aspt_record *record, const char *file,
                   struct asp_err *err)
{
    static const struct aspt_field fields[] = {
        ASPT_FIELD(aspt_time, wall_s, ASPT_SECONDS),
        ASPT_FIELD(aspt_time, mpi_s, ASPT_SECONDS),
        ASPT_FIELD(aspt_time, wait_s, ASPT_SECONDS),
        ASPT_FIELD(aspt_time, work_s, ASPT_SECONDS),
    };
    static const struct aspt_field rank[] = {
        ASPT_FIELD(aspt_rank_time, rank, ASPT_COUNT),
        ASPT_FIELD(aspt_rank_time, node, ASPT_COUNT),
        ASPT_FIELD(aspt_rank_time, mpi_s, ASPT_SECONDS),
        ASPT_FIELD(aspt_rank_time, wait_s, ASPT_SECONDS),
        ASPT_FIELD(aspt_rank_time, work_s, ASPT_SECONDS),
        ASPT_FIELD(aspt_rank_time, wall_s, ASPT_SECONDS),
        ASPT_FIELD(aspt_rank_time, threads, ASPT_COUNT),
    };
    static const struct aspt_items ranks = {"ranks", rank, SIZE(rank),
                                            sizeof(struct aspt_rank_time)};
    json_t *time = json_object_get(record->root, "time");
    struct aspt_json_place place = {file, "", 0};
    void *array;

    if (!time)
        return 0;
    if (!json_is_object(time))
        return aspt_field_refuse(&place, "time", err, "is not an object");
    if (aspt_fields_read(time, &place, fields, SIZE(fields), &record->time,
                         err) < 0 ||
        aspt_items_read(time, file, &ranks, &array, &record->time.nranks, err) <
            0)
        return -1;
    record->time.ranks = array;
    record->has_time = true;
    return read_call_times(&record->time, json_object_get(time, "calls"), file,
                           err);
}

int aspt_part_busy(struct aspt_record *record, const char *file,
                   struct asp_err *err)
{
    static const struct aspt_field fields[] = {
        ASPT_FIELD(aspt_busy, rank, ASPT_COUNT),
        ASPT_FIELD(aspt_busy, node, ASPT_COUNT),
        ASPT_FIELD(aspt_busy, busy_s, ASPT_SECONDS),
        ASPT_FIELD(aspt_busy, held_s, ASPT_SECONDS),
        ASPT_FIELD(aspt_busy, cpu_s, ASPT_SECONDS),
        {"start_cpu_s", ASPT_SECONDS, offsetof(struct aspt_busy, start_cpu_s),
         true}, /* not of older records */
        {"parked_s", ASPT_SECONDS, offsetof(struct aspt_busy, parked_s), true},
        {"parked_cpu_s", ASPT_SECONDS, offsetof(struct aspt_busy, parked_cpu_s),
         true},
        {"waits", ASPT_TEXT, offsetof(struct aspt_busy, waits), true},
        {"naps_why", ASPT_TEXT, offsetof(struct aspt_busy, naps_why), true},
    };
    static const struct aspt_items items = {"ghost_busy", fields, SIZE(fields),
                                            sizeof(struct aspt_busy)};
    void *array;

    if (!json_object_get(record->root, items.key))
        return 0;
    if (aspt_items_read(record->root, file, &items, &array, &record->nbusy,
                        err) < 0)
        return -1;
    record->busy = array;
    record->has_busy = true;
    for (size_t i = 0; i < record->nbusy; i++)
        if (record->busy[i].start_cpu_s > record->busy[i].cpu_s)
            record->busy[i].start_cpu_s = record->busy[i].cpu_s;
    return 0;
}

int aspt_part_scaling(struct aspt_record *record, const char *file,
                      struct asp_err *err)
{
    static const struct aspt_field fields[] = {
        ASPT_FIELD(aspt_scaling, t_s, ASPT_SECONDS),
        ASPT_FIELD(aspt_scaling, node, ASPT_COUNT),
        ASPT_FIELD(aspt_scaling, active, ASPT_COUNT),
    };
    static const struct aspt_field more = {
        "active_ghosts_more", ASPT_COUNT,
        offsetof(struct aspt_record, scaling_more), true};
    static const struct aspt_items items = {
        "active_ghosts", fields, SIZE(fields), sizeof(struct aspt_scaling)};
    struct aspt_json_place place = {file, "", 0};
    void *array;

    if (!json_object_get(record->root, items.key))
        return 0;
    if (aspt_fields_read(record->root, &place, &more, 1, record, err) < 0 ||
        aspt_items_read(record->root, file, &items, &array, &record->nscaling,
                        err) < 0)
        return -1;
    record->scaling = array;
    record->has_scaling = true;
    return 0;
}

static int check_strips(const struct aspt_adaptation *adaptation,
                        const char *file, struct asp_err *err)
{
    struct aspt_json_place place = {file, "timeline", 0};
    size_t i;
    json_t *share;

    for (; place.index < adaptation->nstrips; place.index++) {
        struct aspt_strip *strip = &adaptation->strips[place.index];

        strip->n = json_array_size(strip->on);
        json_array_foreach((json_t *) strip->on, i, share)
        {
            double value = json_number_value(share);

            if (!json_is_number(share) || value < 0 || value > 1)
                return aspt_field_refuse(&place, "on", err,
                                         "is not a list of shares, 0 to 1");
        }
    }
    return 0;
}

int aspt_part_adaptation(struct aspt_record *record, const char *file,
                         struct asp_err *err)
{
    static const struct aspt_field fields[] = {
        ASPT_FIELD(aspt_adaptation, interval_s, ASPT_SECONDS),
        ASPT_FIELD(aspt_adaptation, bucket_s, ASPT_SECONDS),
        ASPT_FIELD(aspt_adaptation, mode, ASPT_TEXT),
        ASPT_FIELD(aspt_adaptation, switches_more, ASPT_COUNT),
        ASPT_FIELD(aspt_adaptation, decisions_more, ASPT_COUNT),
    };
    static const struct aspt_field decision[] = {
        ASPT_FIELD(aspt_adapt_decision, t_s, ASPT_SECONDS),
        ASPT_FIELD(aspt_adapt_decision, to, ASPT_TEXT),
        ASPT_FIELD(aspt_adapt_decision, why, ASPT_TEXT),
    };
    static const struct aspt_items decisions = {
        "decisions", decision, SIZE(decision),
        sizeof(struct aspt_adapt_decision)};
    static const struct aspt_field change[] = {
        ASPT_FIELD(aspt_switch, t_s, ASPT_SECONDS),
        ASPT_FIELD(aspt_switch, node, ASPT_COUNT),
        ASPT_FIELD(aspt_switch, rank, ASPT_COUNT),
        ASPT_FIELD(aspt_switch, window, ASPT_NUMBER),
        ASPT_FIELD(aspt_switch, to, ASPT_TEXT),
        ASPT_FIELD(aspt_switch, why, ASPT_TEXT),
    };
    static const struct aspt_field strip[] = {
        ASPT_FIELD(aspt_strip, node, ASPT_COUNT),
        ASPT_FIELD(aspt_strip, on, ASPT_LIST),
    };
    static const struct aspt_items switches = {"switches", change, SIZE(change),
                                               sizeof(struct aspt_switch)};
    static const struct aspt_items strips = {"timeline", strip, SIZE(strip),
                                             sizeof(struct aspt_strip)};
    struct aspt_adaptation *out = &record->adaptation;
    json_t *part = json_object_get(record->root, "adaptation");
    struct aspt_json_place place = {file, "", 0};
    void *array;

    if (!part)
        return 0;
    if (!json_is_object(part))
        return aspt_field_refuse(&place, "adaptation", err, "is not an object");
    if (aspt_fields_read(part, &place, fields, SIZE(fields), out, err) < 0 ||
        aspt_items_read(part, file, &switches, &array, &out->nswitches, err) <
            0)
        return -1;
    out->switches = array;
    if (aspt_items_read(part, file, &decisions, &array, &out->ndecisions, err) <
        0)
        return -1;
    out->decisions = array;
    if (aspt_items_read(part, file, &strips, &array, &out->nstrips, err) < 0)
        return -1;
    out->strips = array;
    record->has_adaptation = true;
    return check_strips(out, file, err);
}
