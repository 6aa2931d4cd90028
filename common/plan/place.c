/* SPDX-License-Identifier: BSD-3-Clause */
/* Cores for helpers and users of one node; the rules are in plan.h. Everything
 * goes by logical index and ties go to the lower one: the same input gives the
 * same places on every node. */
#include "place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A NUMA domain that has cores of the step. */
struct domain {
    uint32_t numa_log;
    uint32_t package_log;
    uint32_t ncores;
    uint32_t nhelpers;
};

/* Does the core count? With whole, only when all its CPUs are the step's. */
static bool available(const struct asp_core *core, bool whole)
{
    return whole ? core->nallowed == core->ncpus : core->nallowed > 0;
}

static uint32_t count_cores(const struct asp_topo *topo, bool whole)
{
    uint32_t count = 0;

    for (uint32_t c = 0; c < topo->ncores; c++)
        count += available(&topo->cores[c], whole);
    return count;
}

/* Cores come domain by domain: hwloc numbers both along the same tree. */
static uint32_t find_domains(const struct asp_topo *topo, bool whole,
                             struct domain *domains)
{
    uint32_t n = 0;

    for (uint32_t c = 0; c < topo->ncores; c++) {
        const struct asp_core *core = &topo->cores[c];

        if (!available(core, whole))
            continue;
        if (n == 0 || domains[n - 1].numa_log != core->numa_log) {
            domains[n].numa_log = core->numa_log;
            domains[n].package_log = core->package_log;
            n++;
        }
        domains[n - 1].ncores++;
    }
    return n;
}

static uint32_t helpers_of_package(const struct domain *domains,
                                   uint32_t ndomains, uint32_t package_log)
{
    uint32_t sum = 0;

    for (uint32_t d = 0; d < ndomains; d++) {
        if (domains[d].package_log == package_log)
            sum += domains[d].nhelpers;
    }
    return sum;
}

/* Is a the better domain for the next helper? First those without a helper
 * that keep a core for a user to serve; among them the package with the fewest
 * helpers, then the larger domain. After that, where most cores are left to
 * each helper. */
static bool better(const struct domain *domains, uint32_t ndomains,
                   const struct domain *a, const struct domain *b)
{
    bool new_a = !a->nhelpers && a->ncores >= 2;
    bool new_b = !b->nhelpers && b->ncores >= 2;

    if (a->nhelpers == a->ncores || b->nhelpers == b->ncores)
        return a->nhelpers < a->ncores;
    if (new_a != new_b)
        return new_a;
    if (new_a) {
        uint32_t in_a = helpers_of_package(domains, ndomains, a->package_log);
        uint32_t in_b = helpers_of_package(domains, ndomains, b->package_log);

        if (in_a != in_b)
            return in_a < in_b;
    }
    return (uint64_t) a->ncores * (b->nhelpers + 1) >
           (uint64_t) b->ncores * (a->nhelpers + 1);
}

static void spread_helpers(struct domain *domains, uint32_t ndomains,
                           uint32_t nhelpers)
{
    for (; nhelpers; nhelpers--) {
        struct domain *best = &domains[0];

        for (uint32_t d = 1; d < ndomains; d++) {
            if (better(domains, ndomains, &domains[d], best))
                best = &domains[d];
        }
        best->nhelpers++;
    }
}

static void pack_helpers(struct domain *domains, uint32_t ndomains,
                         uint32_t nhelpers)
{
    for (uint32_t d = ndomains; nhelpers && d > 0; d--) {
        struct domain *domain = &domains[d - 1];

        domain->nhelpers = nhelpers < domain->ncores ? nhelpers
                                                     : domain->ncores;
        nhelpers -= domain->nhelpers;
    }
}

/* The last core of the domain, if possible one whose CPUs are all the step's:
 * what runs on the others is not ours to know. */
static uint32_t last_core(const struct asp_topo *topo, uint32_t numa_log,
                          const bool *taken)
{
    uint32_t found = UINT32_MAX;

    for (uint32_t c = topo->ncores; c-- > 0;) {
        const struct asp_core *core = &topo->cores[c];

        if (core->numa_log != numa_log || !core->nallowed || taken[c])
            continue;
        if (available(core, true))
            return c;
        if (found == UINT32_MAX)
            found = c;
    }
    return found;
}

static int compare_cores(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *) a, right = *(const uint32_t *) b;

    return (left > right) - (left < right);
}

static void take_cores(const struct asp_topo *topo,
                       const struct domain *domains, uint32_t ndomains,
                       bool *taken, struct asp_place *place)
{
    uint32_t n = 0;

    for (uint32_t d = 0; d < ndomains; d++) {
        for (uint32_t i = 0; i < domains[d].nhelpers; i++) {
            uint32_t core = last_core(topo, domains[d].numa_log, taken);

            taken[core] = true;
            place->helpers[n++] = core;
        }
    }
    qsort(place->helpers, n, sizeof(place->helpers[0]), compare_cores);
}

static void free_cores(const struct asp_topo *topo, const bool *taken,
                       struct asp_place *place)
{
    for (uint32_t c = 0; c < topo->ncores; c++) {
        if (available(&topo->cores[c], place->whole) &&
            (place->shared || !taken[c]))
            place->free_cores[place->nfree++] = c;
    }
}

/* What a user's run of cores should not leave, from small to large. */
enum level { LEVEL_L3, LEVEL_NUMA, LEVEL_PACKAGE, LEVEL_NODE };

static bool same_group(const struct asp_core *a, const struct asp_core *b,
                       enum level level)
{
    switch (level) {
    case LEVEL_L3: /* may be the larger one, with sub-NUMA clusters */
        return a->l3_log == b->l3_log && a->numa_log == b->numa_log;
    case LEVEL_NUMA:
        return a->numa_log == b->numa_log;
    case LEVEL_PACKAGE:
        return a->package_log == b->package_log;
    case LEVEL_NODE:
        break;
    }
    return true;
}

/* Free cores from index at on that are of one group. */
static uint32_t group_size(const struct asp_topo *topo,
                           const struct asp_place *place, uint32_t at,
                           enum level level)
{
    const struct asp_core *cores = topo->cores;
    const struct asp_core *first = &cores[place->free_cores[at]];
    uint32_t end = at + 1;

    while (end < place->nfree &&
           same_group(first, &cores[place->free_cores[end]], level))
        end++;
    return end - at;
}

/* Cores next to each other that one level holds together. */
struct group {
    uint32_t at;       /* index into free_cores */
    uint32_t capacity; /* for so many users */
    uint32_t users;
    uint32_t numa_log;
};

/* What dealing users needs to know, beside the place. */
struct deal {
    struct group *groups;
    uint32_t ngroups;
    uint32_t *users_of_numa;
    bool *helper_in_numa;
};

/* Is a the better group for one more user? Even over the groups, then over
 * the domains (each has so much memory bandwidth), then near a helper. */
static bool better_group(const struct deal *deal, const struct group *a,
                         const struct group *b)
{
    uint32_t of_a = deal->users_of_numa[a->numa_log];
    uint32_t of_b = deal->users_of_numa[b->numa_log];

    if (a->users == a->capacity || b->users == b->capacity)
        return a->users < a->capacity;
    if (a->users != b->users)
        return a->users < b->users;
    if (of_a != of_b)
        return of_a < of_b;
    return deal->helper_in_numa[a->numa_log] &&
           !deal->helper_in_numa[b->numa_log];
}

/* Returns the capacity that the groups of a level have. */
static uint32_t find_groups(const struct asp_topo *topo,
                            const struct asp_place *place, enum level level,
                            struct deal *deal)
{
    uint32_t capacity = 0, size;

    deal->ngroups = 0;
    for (uint32_t at = 0; at < place->nfree; at += size) {
        struct group *group = &deal->groups[deal->ngroups++];

        size = group_size(topo, place, at, level);
        memset(group, 0, sizeof(*group));
        group->at = at;
        group->capacity = size / place->run;
        group->numa_log = topo->cores[place->free_cores[at]].numa_log;
        capacity += group->capacity;
    }
    return capacity;
}

/* Deal the users over the groups found; runs go to them in rank order. */
static void deal_users(struct asp_place *place, struct deal *deal)
{
    uint32_t user = 0;

    for (uint32_t u = 0; u < place->nusers; u++) {
        struct group *best = &deal->groups[0];

        for (uint32_t g = 1; g < deal->ngroups; g++) {
            if (better_group(deal, &deal->groups[g], best))
                best = &deal->groups[g];
        }
        best->users++;
        deal->users_of_numa[best->numa_log]++;
    }
    for (uint32_t g = 0; g < deal->ngroups; g++) {
        for (uint32_t i = 0; i < deal->groups[g].users; i++)
            place->first[user++] = deal->groups[g].at + i * place->run;
    }
}

static int place_users(const struct asp_topo *topo, struct asp_place *place)
{
    struct deal deal = {
        .groups = calloc(place->nfree + 1, sizeof(struct group)),
        .users_of_numa = calloc(topo->nnumas + 1, sizeof(uint32_t)),
        .helper_in_numa = calloc(topo->nnumas + 1, sizeof(bool)),
    };
    int rc = -1;

    if (!deal.groups || !deal.users_of_numa || !deal.helper_in_numa)
        goto out;
    for (uint32_t h = 0; h < place->nhelpers; h++)
        deal.helper_in_numa[topo->cores[place->helpers[h]].numa_log] = true;
    place->run = place->nfree / place->nusers;
    /* On the last level all cores are one group, and there they fit. */
    for (int level = LEVEL_L3; level <= LEVEL_NODE; level++) {
        if (find_groups(topo, place, (enum level) level, &deal) >=
            place->nusers)
            break;
    }
    deal_users(place, &deal);
    rc = 0;
out:
    free(deal.groups);
    free(deal.users_of_numa);
    free(deal.helper_in_numa);
    return rc;
}

static int place_all(const struct asp_topo *topo, enum asp_spread spread,
                     struct domain *domains, bool *taken,
                     struct asp_place *place)
{
    uint32_t ndomains = find_domains(topo, place->whole, domains);

    if (spread == ASP_SPREAD_PACK)
        pack_helpers(domains, ndomains, place->nhelpers);
    else
        spread_helpers(domains, ndomains, place->nhelpers);
    take_cores(topo, domains, ndomains, taken, place);
    free_cores(topo, taken, place);
    return place->nusers ? place_users(topo, place) : 0;
}

/* How many cores each user gets from so many; 0 when it does not fit. Tells
 * whether the helpers have to sit on users' cores for that. */
static uint32_t run_length(const struct asp_place *place, uint32_t cores,
                           bool share, bool *shared_p)
{
    uint32_t users = place->nusers ? place->nusers : 1;
    uint32_t helpers = place->nhelpers;
    uint32_t apart = cores > helpers ? (cores - helpers) / users : 0;

    *shared_p = share && !apart && helpers <= cores;
    return *shared_p ? cores / users : apart;
}

/* Cores that the step has only in part make unequal users: leave them idle
 * when that costs nobody a core. Returns false when nothing fits. */
static bool choose_cores(const struct asp_topo *topo, bool share,
                         struct asp_place *place)
{
    uint32_t whole = count_cores(topo, true), run;
    bool shared;

    place->ncores = count_cores(topo, false);
    run = run_length(place, place->ncores, share, &place->shared);
    place->whole = run_length(place, whole, share, &shared) == run &&
                   shared == place->shared;
    return run > 0;
}

int asp_place(const struct asp_topo *topo, uint32_t nusers, uint32_t nhelpers,
              enum asp_spread spread, bool share, struct asp_place *out_p)
{
    struct domain *domains;
    bool *taken;
    int rc = -1;

    out_p->nusers = nusers;
    out_p->nhelpers = nhelpers;
    if (!choose_cores(topo, share, out_p)) {
        errno = ENOSPC;
        return -1;
    }
    domains = calloc(topo->ncores, sizeof(*domains));
    taken = calloc(topo->ncores, sizeof(*taken));
    out_p->helpers = calloc(nhelpers + 1, sizeof(out_p->helpers[0]));
    out_p->free_cores = calloc(topo->ncores, sizeof(out_p->free_cores[0]));
    out_p->first = calloc(nusers + 1, sizeof(out_p->first[0]));
    if (domains && taken && out_p->helpers && out_p->free_cores && out_p->first)
        rc = place_all(topo, spread, domains, taken, out_p);
    free(domains);
    free(taken);
    return rc;
}

void asp_place_clear(struct asp_place *place)
{
    free(place->helpers);
    free(place->free_cores);
    free(place->first);
    memset(place, 0, sizeof(*place));
}
