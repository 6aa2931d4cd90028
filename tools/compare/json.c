/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict for programs; aspen(1) names the keys that others may use. */
#include "config.h"

#include "compare.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

static json_t *texts(char *const *words)
{
    json_t *list = json_array();

    for (; words && *words; words++)
        json_array_append_new(list, json_string(*words));
    return list;
}

static json_t *numbers(const double *values, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_real(values[i]));
    return list;
}

static json_t *side_of(const struct aspt_compare *compare, int which)
{
    const struct aspt_side *side = &compare->side[which];
    json_t *out = json_object();

    json_object_set_new(out, "command", texts(side->argv));
    json_object_set_new(out, "wall_s", numbers(side->wall_s, side->n));
    if (compare->is_clocked)
        json_object_set_new(out, "program_s",
                            numbers(side->program_s, side->n));
    if (compare->metric)
        json_object_set_new(out, "metric", numbers(side->metric, side->n));
    if (compare->is_timed) {
        json_object_set_new(out, "ranks_s", numbers(side->ranks_s, side->n));
        json_object_set_new(out, "mpi_s", numbers(side->mpi_s, side->n));
        json_object_set_new(out, "wait_s", numbers(side->wait_s, side->n));
    }
    return out;
}

static void set_effect(json_t *out, const struct aspt_effect *effect)
{
    json_object_set_new(out, "verdict",
                        json_string(aspt_verdict_name(effect->verdict)));
    if (effect->ratio > 0)
        json_object_set_new(out, "ratio", json_real(effect->ratio));
    if (effect->verdict == ASPT_TOO_FEW)
        return;
    json_object_set_new(out, "low", json_real(effect->low));
    json_object_set_new(out, "high", json_real(effect->high));
    json_object_set_new(out, "confidence", json_real(effect->confidence));
}

static void set_saved(json_t *out, const struct aspt_compare *compare)
{
    double cost = aspt_helpers_cost(compare);
    struct aspt_saved saved;
    json_t *object;

    if (!aspt_saved(compare, &saved))
        return;
    object = json_pack("{s:f}", "wait_s", saved.s);
    if (saved.confidence > 0) {
        json_object_set_new(object, "low", json_real(saved.low));
        json_object_set_new(object, "high", json_real(saved.high));
        json_object_set_new(object, "confidence", json_real(saved.confidence));
    }
    json_object_set_new(out, "saved", object);
    if (cost >= 0)
        json_object_set_new(out,
                            compare->facts.holds_cores ? "helpers_core_s"
                                                       : "helpers_cpu_s",
                            json_real(cost));
}

static void set_facts(json_t *out, const struct aspt_facts *facts)
{
    json_object_set_new(out, "mode", json_string(facts->mode));
    json_object_set_new(out, "users", json_integer(facts->users));
    json_object_set_new(out, "ghosts", json_integer(facts->ghosts));
    json_object_set_new(out, "nodes", json_integer(facts->nodes));
    if (facts->redirected >= 0)
        json_object_set_new(out, "redirected", json_integer(facts->redirected));
    if (facts->mpi_s >= 0)
        json_object_set_new(out, "mpi_wall_s", json_real(facts->mpi_s));
}

int aspt_compare_json(const struct aspt_compare *compare, struct asp_err *err)
{
    const char *compared = compare->metric       ? "metric"
                           : compare->is_clocked ? "program_s"
                                                 : "wall_s";
    json_t *out;
    FILE *to;
    bool good;

    if (!compare->json)
        return 0;
    to = strcmp(compare->json, "-") ? fopen(compare->json, "we") : stdout;
    if (!to)
        return asp_errf(err, errno, "cannot write %s: %s", compare->json,
                        strerror(errno));
    out = json_pack("{s:i, s:s, s:s, s:s*, s:I, s:b}", "aspen_compare", 1,
                    "version", PACKAGE_VERSION, "compared", compared, "regex",
                    compare->metric, "cpus", (json_int_t) compare->cpus, "fill",
                    compare->fill);
    set_effect(out, &compare->effect);
    if (compare->has_facts)
        set_facts(out, &compare->facts);
    set_saved(out, compare);
    for (int i = 0; i < ASPT_SIDES; i++)
        json_object_set_new(out, compare->side[i].name, side_of(compare, i));
    good = json_dumpf(out, to, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) == 0;
    json_decref(out);
    fputc('\n', to);
    if ((to == stdout ? fflush(to) : fclose(to)) != 0 || !good)
        return asp_errf(err, errno, "cannot write %s: %s", compare->json,
                        strerror(errno));
    return 0;
}
