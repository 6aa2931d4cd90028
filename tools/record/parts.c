/* SPDX-License-Identifier: BSD-3-Clause */
/* What a record counts; called by read.c. */
#include "config.h"

#include "parts.h"

#include "field.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SIZE(array) (sizeof(array) / sizeof((array)[0]))

static const char no_cpus[] = "is not a list of CPUs such as 0-3,8";

/* "...": a list that was too long to write. */
static int read_cpus(const char *list, struct asp_cpuset *cpus)
{
    return strcmp(list, "...") ? asp_cpuset_parse(list, strlen(list), cpus) : 0;
}

int aspt_part_tasks(struct aspt_record *record, const char *file,
                    struct asp_err *err)
{
    static const struct aspt_field fields[] = {
        ASPT_FIELD(aspt_recorded_task, local, ASPT_COUNT),
        ASPT_FIELD(aspt_recorded_task, role, ASPT_TEXT),
        {"cpus", ASPT_TEXT, offsetof(struct aspt_recorded_task, cpu_list),
         false},
        ASPT_FIELD(aspt_recorded_task, numa, ASPT_NUMBER),
        ASPT_FIELD(aspt_recorded_task, helper_cpu, ASPT_NUMBER),
    };
    static const struct aspt_items items = {"first_node", fields, SIZE(fields),
                                            sizeof(struct aspt_recorded_task)};
    struct aspt_json_place top = {file, "", 0}, place = {file, items.key, 0};
    void *array;

    if (read_cpus(record->service_list, &record->service) < 0)
        return aspt_field_refuse(&top, "service_cpus", err, no_cpus);
    if (aspt_items_read(record->root, file, &items, &array, &record->ntasks,
                        err) < 0)
        return -1;
    record->tasks = array;
    for (; place.index < record->ntasks; place.index++) {
        struct aspt_recorded_task *task = &record->tasks[place.index];

        task->ghost = strcmp(task->role, "ghost") == 0;
        if (!task->ghost && strcmp(task->role, "user") != 0)
            return aspt_field_refuse(&place, "role", err,
                                     "is neither user nor ghost");
        if (read_cpus(task->cpu_list, &task->cpus) < 0)
            return aspt_field_refuse(&place, "cpus", err, no_cpus);
        if (task->numa >= ASP_CPUS_MAX)
            return aspt_field_refuse(&place, "numa", err,
                                     "is not the number of a NUMA domain");
        if (task->helper_cpu >= ASP_CPUS_MAX)
            return aspt_field_refuse(&place, "helper_cpu", err,
                                     "is not the number of a CPU");
    }
    return 0;
}

/* The column of a handling; ASPT_HANDLINGS_MAX when there are too many. */
static size_t handling_index(struct aspt_record *record, const char *handling)
{
    for (size_t w = 0; w < record->nhandlings; w++)
        if (strcmp(record->handlings[w], handling) == 0)
            return w;
    if (record->nhandlings < ASPT_HANDLINGS_MAX)
        record->handlings[record->nhandlings++] = handling;
    else
        return ASPT_HANDLINGS_MAX;
    return record->nhandlings - 1;
}

static int add_call(struct aspt_record *record, const char *name,
                    const json_t *handlings,
                    const struct aspt_json_place *place, struct asp_err *err)
{
    struct aspt_call *call = &record->calls[record->ncalls];
    const char *handling;
    json_t *count;

    if (!json_is_object(handlings) || record->ncalls == ASPT_CALLS_MAX)
        return aspt_field_refuse(
            place, name, err,
            json_is_object(handlings) ? "is one too many" : "is not an object");
    call->name = name;
    json_object_foreach((json_t *) handlings, handling, count)
    {
        size_t w = handling_index(record, handling);

        if (w == ASPT_HANDLINGS_MAX)
            return aspt_field_refuse(place, handling, err,
                                     "is one handling too many");
        if (!json_is_integer(count) || json_integer_value(count) < 0 ||
            json_integer_value(count) >
                INT64_MAX / ASPT_CALLS_MAX / ASPT_HANDLINGS_MAX)
            return aspt_field_refuse(place, handling, err, "is not a count");
        call->count[w] = (uint64_t) json_integer_value(count);
        call->sum += call->count[w];
    }
    record->ncalls++;
    return 0;
}

static int read_loads(struct aspt_record *record, const char *file,
                      struct asp_err *err)
{
    static const struct aspt_field fields[] = {
        ASPT_FIELD(aspt_load, rank, ASPT_COUNT),
        ASPT_FIELD(aspt_load, node, ASPT_COUNT),
        ASPT_FIELD(aspt_load, ops, ASPT_COUNT),
        ASPT_FIELD(aspt_load, bytes, ASPT_COUNT),
    };
    static const struct aspt_items items = {"ghost_load", fields, SIZE(fields),
                                            sizeof(struct aspt_load)};
    void *array;

    if (aspt_items_read(record->root, file, &items, &array, &record->nloads,
                        err) < 0)
        return -1;
    record->loads = array;
    return 0;
}

int aspt_part_calls(struct aspt_record *record, const char *file,
                    struct asp_err *err)
{
    static const struct aspt_field redirected[] = {
        ASPT_FIELD(aspt_record, redirected, ASPT_COUNT),
    };
    json_t *calls = json_object_get(record->root, "calls"), *handlings;
    struct aspt_json_place top = {file, "", 0}, place = {file, "calls", 0};
    const char *name;

    if (!calls && strcmp(record->mode, "ghost") != 0)
        return 0;
    if (!json_is_object(calls))
        return aspt_field_refuse(&top, "calls", err,
                                 calls ? "is not an object" : "is missing");
    if (aspt_fields_read(record->root, &top, redirected, 1, record, err) < 0)
        return -1;
    json_object_foreach(calls, name, handlings)
    {
        if (add_call(record, name, handlings, &place, err) < 0)
            return -1;
        place.index++;
    }
    record->has_calls = true;
    return read_loads(record, file, err);
}

static int check_rules(const struct aspt_record *record, const char *file,
                       struct asp_err *err)
{
    struct aspt_json_place place = {file, "windows", 0};
    size_t i;
    json_t *rule;

    for (; place.index < record->nwindows; place.index++) {
        const json_t *rules = record->windows[place.index].rules;

        json_array_foreach((json_t *) rules, i, rule)
        {
            if (!json_is_integer(rule) || json_integer_value(rule) < 0 ||
                (uint64_t) json_integer_value(rule) >= record->nrules)
                return aspt_field_refuse(&place, "rules", err,
                                         "names a rule that is not there");
        }
    }
    return 0;
}

int aspt_part_windows(struct aspt_record *record, const char *file,
                      struct asp_err *err)
{
    static const struct aspt_field fields[] = {
        ASPT_FIELD(aspt_window, order, ASPT_COUNT),
        ASPT_FIELD(aspt_window, last, ASPT_COUNT),
        ASPT_FIELD(aspt_window, count, ASPT_COUNT),
        ASPT_FIELD(aspt_window, name, ASPT_TEXT),
        ASPT_FIELD(aspt_window, site, ASPT_TEXT),
        ASPT_FIELD(aspt_window, function, ASPT_TEXT),
        ASPT_FIELD(aspt_window, made_by, ASPT_TEXT),
        ASPT_FIELD(aspt_window, processes, ASPT_COUNT),
        ASPT_FIELD(aspt_window, bytes_least, ASPT_COUNT),
        ASPT_FIELD(aspt_window, bytes_most, ASPT_COUNT),
        {"way", ASPT_TEXT, offsetof(struct aspt_window, handling), false},
        ASPT_FIELD(aspt_window, switchable, ASPT_BOOL),
        ASPT_FIELD(aspt_window, rules, ASPT_LIST),
    };
    static const struct aspt_field rule_fields[] = {
        ASPT_FIELD(aspt_rule, from, ASPT_TEXT),
        ASPT_FIELD(aspt_rule, match, ASPT_TEXT),
        ASPT_FIELD(aspt_rule, set, ASPT_TEXT),
        {"windows", ASPT_COUNT, offsetof(struct aspt_rule, held), false},
    };
    static const struct aspt_items windows = {"windows", fields, SIZE(fields),
                                              sizeof(struct aspt_window)};
    static const struct aspt_items rules = {"window_rules", rule_fields,
                                            SIZE(rule_fields),
                                            sizeof(struct aspt_rule)};
    static const struct aspt_field more[] = {
        ASPT_FIELD(aspt_record, windows_more, ASPT_COUNT),
    };
    struct aspt_json_place top = {file, "", 0};
    void *array;

    if (!record->has_calls)
        return 0;
    if (aspt_items_read(record->root, file, &windows, &array, &record->nwindows,
                        err) < 0)
        return -1;
    record->windows = array;
    if (aspt_items_read(record->root, file, &rules, &array, &record->nrules,
                        err) < 0)
        return -1;
    record->rules = array;
    if (aspt_fields_read(record->root, &top, more, 1, record, err) < 0)
        return -1;
    return check_rules(record, file, err);
}

/* An object of numbers, named like its mode. Returns 1 when it is there. */
static int read_mode(const struct aspt_record *record, const char *file,
                     const char *key, const struct aspt_field *fields, size_t n,
                     void *out, struct asp_err *err)
{
    const json_t *object = json_object_get(record->root, key);
    struct aspt_json_place place = {file, "", 0};

    if (!object && strcmp(record->mode, key) != 0)
        return 0;
    if (!json_is_object(object))
        return aspt_field_refuse(&place, key, err,
                                 object ? "is not an object" : "is missing");
    return aspt_fields_read(object, &place, fields, n, out, err) < 0 ? -1 : 1;
}

int aspt_part_helpers(struct aspt_record *record, const char *file,
                      struct asp_err *err)
{
    static const struct aspt_field offload[] = {
        ASPT_FIELD(aspt_offload, threads, ASPT_COUNT),
        ASPT_FIELD(aspt_offload, commands, ASPT_COUNT),
        ASPT_FIELD(aspt_offload, posted, ASPT_COUNT),
        ASPT_FIELD(aspt_offload, ended, ASPT_COUNT),
        ASPT_FIELD(aspt_offload, naps, ASPT_COUNT),
        ASPT_FIELD(aspt_offload, callbacks, ASPT_COUNT),
        ASPT_FIELD(aspt_offload, cpu_seconds, ASPT_SECONDS),
        ASPT_FIELD(aspt_offload, core_seconds, ASPT_SECONDS),
    };
    static const struct aspt_field thread[] = {
        ASPT_FIELD(aspt_thread, threads, ASPT_COUNT),
        ASPT_FIELD(aspt_thread, watched, ASPT_COUNT),
        ASPT_FIELD(aspt_thread, wakes, ASPT_COUNT),
        ASPT_FIELD(aspt_thread, polls, ASPT_COUNT),
        ASPT_FIELD(aspt_thread, busy_polls, ASPT_COUNT),
        ASPT_FIELD(aspt_thread, kept_out, ASPT_COUNT),
        ASPT_FIELD(aspt_thread, held_back, ASPT_COUNT),
        ASPT_FIELD(aspt_thread, confined, ASPT_COUNT),
        ASPT_FIELD(aspt_thread, cpu_seconds, ASPT_SECONDS),
    };
    static const struct aspt_field typed[] = {
        ASPT_FIELD(aspt_typed, described, ASPT_COUNT),
        ASPT_FIELD(aspt_typed, undescribed, ASPT_COUNT),
        ASPT_FIELD(aspt_typed, bytes, ASPT_COUNT),
        ASPT_FIELD(aspt_typed, pieces, ASPT_COUNT),
        ASPT_FIELD(aspt_typed, types_refused, ASPT_COUNT),
        ASPT_FIELD(aspt_typed, threaded, ASPT_COUNT),
        ASPT_FIELD(aspt_typed, threaded_bytes, ASPT_COUNT),
        ASPT_FIELD(aspt_typed, threaded_chunks, ASPT_COUNT),
        ASPT_FIELD(aspt_typed, threaded_helpers, ASPT_COUNT),
        ASPT_FIELD(aspt_typed, threaded_us, ASPT_COUNT),
    };
    int has_offload, has_thread, has_typed;

    has_offload = read_mode(record, file, "offload", offload, SIZE(offload),
                            &record->offload, err);
    has_thread = has_offload < 0
                     ? -1
                     : read_mode(record, file, "thread", thread, SIZE(thread),
                                 &record->thread, err);
    has_typed = has_thread < 0 ? -1
                               : read_mode(record, file, "typed", typed,
                                           SIZE(typed), &record->typed, err);
    record->has_offload = has_offload > 0;
    record->has_thread = has_thread > 0;
    record->has_typed = has_typed > 0;
    return has_typed < 0 ? -1 : 0;
}

int aspt_part_messages(struct aspt_record *record, const char *file,
                       struct asp_err *err)
{
    static const struct aspt_field fields[] = {
        ASPT_FIELD(aspt_messages, reason, ASPT_TEXT),
        ASPT_FIELD(aspt_messages, communicators, ASPT_COUNT),
        ASPT_FIELD(aspt_messages, communicators_left, ASPT_COUNT),
        ASPT_FIELD(aspt_messages, large_as_all, ASPT_COUNT),
        ASPT_FIELD(aspt_messages, sent, ASPT_COUNT),
        ASPT_FIELD(aspt_messages, bytes_sent, ASPT_COUNT),
        ASPT_FIELD(aspt_messages, received, ASPT_COUNT),
        ASPT_FIELD(aspt_messages, bytes_received, ASPT_COUNT),
        ASPT_FIELD(aspt_messages, bytes_direct, ASPT_COUNT),
        ASPT_FIELD(aspt_messages, bytes_landed, ASPT_COUNT),
        ASPT_FIELD(aspt_messages, bytes_copied, ASPT_COUNT),
        ASPT_FIELD(aspt_messages, posted_most, ASPT_COUNT),
        ASPT_FIELD(aspt_messages, unexpected_most, ASPT_COUNT),
        ASPT_FIELD(aspt_messages, given_back_ms, ASPT_COUNT),
    };
    static const struct aspt_field rule_fields[] = {
        ASPT_FIELD(aspt_rule, from, ASPT_TEXT),
        ASPT_FIELD(aspt_rule, match, ASPT_TEXT),
        ASPT_FIELD(aspt_rule, set, ASPT_TEXT),
        {"communicators", ASPT_COUNT, offsetof(struct aspt_rule, held), false},
    };
    static const struct aspt_items rules = {
        "rules", rule_fields, SIZE(rule_fields), sizeof(struct aspt_rule)};
    struct aspt_messages *out = &record->messages;
    int there = read_mode(record, file, "messages", fields, SIZE(fields), out,
                          err);
    void *array;

    if (there <= 0)
        return there;
    if (aspt_items_read(json_object_get(record->root, "messages"), file, &rules,
                        &array, &out->nrules, err) < 0)
        return -1;
    out->rules = array;
    record->has_messages = true;
    return 0;
}
