/* SPDX-License-Identifier: BSD-3-Clause */
/* One reduction per window makes every process decide alike: it brings the
 * number of the window, whether all came from matching call sites, and whether
 * what rules promise of sizes is true. Only in jobs that have rules or want a
 * record. */
#include "config.h"

#include "hints.h"
#include "registry.h"
#include "rules.h"
#include "runtime/base/log.h"
#include "runtime/casper/arena/engine.h"

#include "runtime/mpi/real.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const struct asp_objrules none;
static const struct asp_objrules *rules = &none;
static bool active, listed_too, call_sites;

/* Windows made, as far as this process can tell: a new window is one more than
 * what any of its processes has counted, so all of them agree. */
static _Atomic uint64_t counted;

/* What is reduced, by MPI_MAX; ~x brings the minimum. */
enum {
    COUNTED,
    MOST,
    LEAST,
    UNIT_MOST,
    UNIT_LEAST,
    MISSED,
    WORDS = MISSED + ASP_OBJRULES_MAX
};

const struct asp_objrules *aspx_rules_all(void)
{
    return rules;
}

bool aspx_rules_active(void)
{
    return active;
}

void aspx_rules_start(const struct aspx_world *world, bool listed)
{
    uint64_t mine[4], all[4];

    mine[0] = asp_objrules_digest(&world->layout->rules[ASP_OBJ_WINDOW]);
    mine[1] = ~mine[0];
    mine[2] = listed;
    mine[3] = !listed;
    aspx_real.MPI_Allreduce(mine, all, 4, MPI_UINT64_T, MPI_MAX, world->users);
    if (all[0] == ~all[1])
        rules = &world->layout->rules[ASP_OBJ_WINDOW];
    else if (world->rank_user == 0)
        aspx_log(ASPX_LOG_WARNING,
                 "the rules for windows are left out: the nodes "
                 "do not have the same ones");
    listed_too = !all[3];
    active = rules->n > 0 || listed_too;
    for (uint32_t r = 0; r < rules->n; r++)
        call_sites = call_sites || rules->rule[r].site[0];
}

/* Fill verdict->order and so on from what all processes said. */
static void fill_verdict(struct aspx_verdict *verdict, const uint64_t *all)
{
    uint64_t seen = atomic_load(&counted);

    verdict->order = (uint32_t) all[COUNTED] + 1;
    while (seen < verdict->order &&
           !atomic_compare_exchange_weak(&counted, &seen, verdict->order))
        ;
    verdict->most = all[MOST];
    verdict->least = ~all[LEAST];
    for (uint32_t r = 0; r < rules->n; r++) {
        const struct asp_objrule *rule = &rules->rule[r];

        if (all[MISSED + r] || !asp_objrange_has(rule->order, verdict->order))
            continue;
        verdict->could |= UINT32_C(1) << r;
        if (!rule->name[0])
            verdict->holds |= UINT32_C(1) << r;
    }
}

const struct asp_objrule *aspx_rules_last(uint32_t holds, enum asp_winkey_id id)
{
    return asp_objrules_last(rules, holds, id);
}

const char *aspx_rules_value(uint32_t holds, enum asp_winkey_id id)
{
    const struct asp_objrule *rule = aspx_rules_last(holds, id);

    return rule ? rule->value[id] : NULL;
}

static bool is_true(uint32_t holds, enum asp_winkey_id id)
{
    const char *value = aspx_rules_value(holds, id);

    return value && strcmp(value, "true") == 0;
}

static unsigned forbidden_epochs(uint32_t holds)
{
    static const struct {
        const char *word;
        enum aspx_epoch epoch;
    } epochs[] = {{"fence", ASPX_EPOCH_FENCE},
                  {"pscw", ASPX_EPOCH_PSCW},
                  {"lock", ASPX_EPOCH_LOCK},
                  {"lockall", ASPX_EPOCH_LOCK_ALL}};
    const char *used = aspx_rules_value(holds, ASP_WIN_EPOCHS_USED);
    unsigned forbidden = 0;

    for (unsigned e = 0; used && e < sizeof(epochs) / sizeof(*epochs); e++)
        if (!aspx_hints_list_has(used, epochs[e].word))
            forbidden |= epochs[e].epoch;
    if (is_true(holds, ASP_WIN_NO_LOCKS))
        forbidden |= ASPX_EPOCH_LOCK | ASPX_EPOCH_LOCK_ALL;
    return forbidden;
}

/* MPI learns the keys too: it may gain by them on windows of its own. */
static void set_info(struct aspx_win_request *request)
{
    struct aspx_verdict *verdict = &request->verdict;

    for (enum asp_winkey_id id = 0; id < ASP_WINKEY_COUNT; id++) {
        const char *value = aspx_rules_value(verdict->holds, id);

        if (!value || asp_winkeys[id].flags & ASP_OBJ_KNOB)
            continue;
        if (!verdict->own_info && request->info == MPI_INFO_NULL)
            aspx_real.MPI_Info_create(&verdict->info);
        else if (!verdict->own_info)
            aspx_real.MPI_Info_dup(request->info, &verdict->info);
        verdict->own_info = true;
        request->info = verdict->info;
        aspx_real.MPI_Info_set(request->info, asp_winkeys[id].name, value);
    }
}

static int refuse_arguments(const struct aspx_win_request *request,
                            enum asp_winkey_id id, int errclass)
{
    const struct asp_objrule *rule = aspx_rules_last(request->verdict.holds,
                                                     id);
    int rank;

    aspx_real.MPI_Comm_rank(request->comm, &rank);
    if (rank != 0)
        return errclass;
    aspx_log(ASPX_LOG_ERROR,
             "the rule at %s says %s=true, but the processes of "
             "window %u differ",
             rule->origin, asp_winkeys[id].name, request->verdict.order);
    aspx_registry_count_rules(request->verdict.holds);
    return errclass;
}

int aspx_rules_choose(struct aspx_win_request *request)
{
    struct aspx_verdict *verdict = &request->verdict;
    uint64_t mine[WORDS] = {0}, all[WORDS];

    if (!active || !aspx_world_holds(aspx_engine.world, request->comm))
        return MPI_SUCCESS;
    if (call_sites || listed_too)
        aspx_call_site_find(&verdict->call_site);
    mine[COUNTED] = atomic_load(&counted);
    mine[MOST] = (uint64_t) request->bytes;
    mine[LEAST] = ~mine[MOST];
    mine[UNIT_MOST] = (uint64_t) request->disp_unit;
    mine[UNIT_LEAST] = ~mine[UNIT_MOST];
    for (uint32_t r = 0; r < rules->n; r++)
        mine[MISSED + r] = !asp_objrule_site_holds(&rules->rule[r],
                                                   verdict->call_site.place,
                                                   verdict->call_site.function);
    if (aspx_real.MPI_Allreduce(mine, all, WORDS, MPI_UINT64_T, MPI_MAX,
                                request->comm) != MPI_SUCCESS)
        return MPI_SUCCESS; /* what comes next will fail, too */
    fill_verdict(verdict, all);
    if (is_true(verdict->holds, ASP_WIN_SAME_SIZE) && all[MOST] != ~all[LEAST])
        return refuse_arguments(request, ASP_WIN_SAME_SIZE, MPI_ERR_SIZE);
    if (is_true(verdict->holds, ASP_WIN_SAME_DISP_UNIT) &&
        all[UNIT_MOST] != ~all[UNIT_LEAST])
        return refuse_arguments(request, ASP_WIN_SAME_DISP_UNIT, MPI_ERR_DISP);
    verdict->forbidden = forbidden_epochs(verdict->holds);
    set_info(request);
    return MPI_SUCCESS;
}

void aspx_rules_done(struct aspx_verdict *verdict)
{
    if (verdict->own_info)
        aspx_real.MPI_Info_free(&verdict->info);
    verdict->own_info = false;
}

uint32_t aspx_rules_named(uint32_t could, const char *name)
{
    uint32_t holds = 0;

    for (uint32_t r = 0; r < rules->n; r++)
        if (could >> r & 1 && asp_objrule_name_holds(&rules->rule[r], name))
            holds |= UINT32_C(1) << r;
    return holds;
}
