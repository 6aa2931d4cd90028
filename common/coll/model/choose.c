/* SPDX-License-Identifier: BSD-3-Clause */
/* Choice: branch and bound. What MPICH has is simulated first; then a bound of
 * each configuration says in which order the others are, and where to stop. */
#include "common/coll/model/choose.h"
#include "common/coll/model/bound.h"
#include "common/coll/model/mpich.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t STEPS_DEFAULT = UINT64_C(1) << 22;

enum { WANTED_DEFAULT = 10 };

struct search {
    const struct asp_coll_machine *machine;
    const struct asp_coll_problem *problem;
    struct asp_coll_nodes nodes;
    struct asp_coll_candidate *list;
    uint32_t n;
    uint64_t max_steps;
    int64_t below;      /* ps; what takes longer is of no use */
    bool families;      /* the best of each is wanted, too */
    uint32_t *family;   /* by candidate: those of its row and across */
    int64_t *of_family; /* the shortest time of each */
    uint32_t wanted, nbest;
    int64_t
        best[ASP_COLL_WANTED_MAX]; /* the shortest times so far, ascending */
    int error;                     /* that ends the search */
    struct asp_err *err;
};

static bool add(struct search *s, const struct asp_coll_config *config)
{
    uint32_t capacity = 64;
    struct asp_coll_candidate *list = s->list;

    while (capacity <= s->n)
        capacity *= 2;
    if (!(s->n & (s->n - 1)) && (s->n >= 64 || !s->n))
        list = realloc(s->list, capacity * sizeof(*list));
    if (!list) {
        asp_errf(s->err, ENOMEM, "out of memory");
        return false;
    }
    s->list = list;
    s->list[s->n++] = (struct asp_coll_candidate){.config = *config};
    return true;
}

/* A candidate that takes longer is given up, ps. */
static int64_t limit_of(const struct search *s, uint32_t i)
{
    int64_t limit = s->nbest == s->wanted ? s->best[s->wanted - 1] : INT64_MAX;
    int64_t slower = s->nbest && s->best[0] < INT64_MAX / ASP_COLL_SLOWER
                         ? s->best[0] * ASP_COLL_SLOWER
                         : INT64_MAX;

    if (s->families && s->of_family[s->family[i]] > limit)
        limit = s->of_family[s->family[i]];
    limit = limit < slower ? limit : slower;
    return limit < s->below ? limit : s->below;
}

static void take_time(struct search *s, int64_t time)
{
    uint32_t i = s->nbest < s->wanted ? s->nbest++ : s->wanted - 1;

    for (; i && s->best[i - 1] > time; i--)
        s->best[i] = s->best[i - 1];
    s->best[i] = time;
}

static void simulate(struct search *s, uint32_t i)
{
    struct asp_coll_candidate *c = &s->list[i];

    if (asp_coll_predict_within(s->machine, &c->config, s->problem, 1,
                                limit_of(s, i), s->max_steps, &c->cost,
                                s->err) == 0) {
        c->fate = ASP_COLL_OK;
        take_time(s, c->cost.time);
        if (c->cost.time < s->of_family[s->family[i]])
            s->of_family[s->family[i]] = c->cost.time;
    } else if (errno == ETIME) {
        c->fate = ASP_COLL_SLOW;
    } else if (errno == E2BIG || errno == ERANGE) {
        c->fate = ASP_COLL_LARGE;
    } else {
        s->error = errno;
    }
}

static int64_t bound_of(const struct search *s, uint32_t i)
{
    int64_t limit = limit_of(s, i);

    if (limit == INT64_MAX)
        return 0;
    return asp_coll_bound(s->machine, &s->list[i].config, s->problem, &s->nodes,
                          limit);
}

static void try_one(struct search *s, uint32_t i, int64_t bound)
{
    if (bound > limit_of(s, i))
        s->list[i].fate = ASP_COLL_SLOW;
    else
        simulate(s, i);
}

/* A candidate that is still to be looked at. */
struct open {
    int64_t bound;
    uint32_t i;
};

static int by_bound(const void *one, const void *other)
{
    const struct open *a = one, *b = other;

    if (a->bound != b->bound)
        return a->bound < b->bound ? -1 : 1;
    return (a->i > b->i) - (a->i < b->i);
}

/* All: first those that can be the fastest, so that most of the others cannot
 * any more when their turn comes. */
static void search_all(struct search *s)
{
    struct open *open = malloc((s->n + 1) * sizeof(*open));
    uint32_t n = 0;

    if (!open) {
        s->error = ENOMEM;
        return;
    }
    for (uint32_t i = 0; i < s->n; i++)
        if (s->list[i].fate == ASP_COLL_UNTRIED)
            open[n++] = (struct open){bound_of(s, i), i};
    qsort(open, n, sizeof(*open), by_bound);
    for (uint32_t i = 0; i < n && !s->error; i++)
        try_one(s, open[i].i, open[i].bound);
    free(open);
}

static bool is_mpich(const struct search *s,
                     const struct asp_coll_config *config)
{
    const char *const *texts = asp_coll_mpich_configs(s->problem->op);
    char text[ASP_COLL_CONFIG_TEXT];

    asp_coll_config_text(config, text);
    for (; *texts; texts++)
        if (strcmp(*texts, text) == 0)
            return true;
    return false;
}

/* What MPICH has comes first. */
static void try_mpich(struct search *s)
{
    for (uint32_t i = 0; i < s->n && !s->error; i++)
        if (is_mpich(s, &s->list[i].config))
            try_one(s, i, bound_of(s, i));
}

static int rank_of(enum asp_coll_fate fate)
{
    static const int ranks[] = {
        [ASP_COLL_OK] = 0,
        [ASP_COLL_SLOW] = 1,
        [ASP_COLL_LARGE] = 2,
        [ASP_COLL_UNTRIED] = 3,
    };

    return ranks[fate];
}

/* Stable, for few things that are nearly all in order. */
static void sort(struct asp_coll_candidate *list, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        struct asp_coll_candidate c = list[i];
        uint32_t j = i;

        for (;
             j && (rank_of(c.fate) < rank_of(list[j - 1].fate) ||
                   (c.fate == ASP_COLL_OK && list[j - 1].fate == ASP_COLL_OK &&
                    c.cost.time < list[j - 1].cost.time));
             j--)
            list[j] = list[j - 1];
        list[j] = c;
    }
}

static int list_configs(struct search *s)
{
    const struct asp_coll_problem *p = s->problem;
    struct asp_coll_configs configs = {0};

    if (p->ranks < 1 || asp_coll_nodes_make(p->node, p->ranks, &s->nodes) < 0)
        return asp_errf(s->err, EINVAL, "nodes of %u ranks",
                        (unsigned) p->ranks);
    while (asp_coll_configs_next(&configs, p))
        if (!add(s, &configs.config))
            return -1;
    if (!s->n)
        return asp_errf(s->err, ENOTSUP, "no algorithm can do this");
    return 0;
}

/* Configurations of a row with an across follow one another. */
static int number_families(struct search *s)
{
    uint32_t n = 0;

    s->family = calloc(s->n, sizeof(*s->family));
    s->of_family = calloc(s->n, sizeof(*s->of_family));
    if (!s->family || !s->of_family)
        return asp_errf(s->err, ENOMEM, "out of memory");
    for (uint32_t i = 0; i < s->n; i++) {
        const struct asp_coll_config *config = &s->list[i].config;

        n += i && (config->row != s->list[i - 1].config.row ||
                   config->across != s->list[i - 1].config.across);
        s->family[i] = n;
        s->of_family[n] = INT64_MAX;
    }
    return 0;
}

static int search(struct search *s)
{
    bool any = s->below == INT64_MAX;

    if (list_configs(s) < 0 || number_families(s) < 0)
        return -1;
    if (any)
        try_mpich(s);
    if (!s->error)
        search_all(s);
    sort(s->list, s->n);
    if (s->error) {
        errno = s->error;
        return -1;
    }
    if (any && s->list[0].fate != ASP_COLL_OK)
        return asp_errf(s->err, E2BIG, "too many ranks to simulate");
    return 0;
}

int asp_coll_choose(const struct asp_coll_machine *machine,
                    const struct asp_coll_problem *problem,
                    const struct asp_coll_effort *effort,
                    struct asp_coll_candidate **candidates_p, uint32_t *n_p,
                    struct asp_err *err)
{
    static const struct asp_coll_effort usual = {0};
    struct search s = {.machine = machine, .problem = problem, .err = err};
    int rc;

    effort = effort ? effort : &usual;
    s.max_steps = effort->max_steps ? effort->max_steps : STEPS_DEFAULT;
    s.families = !effort->wanted;
    s.wanted = effort->wanted ? effort->wanted : WANTED_DEFAULT;
    s.wanted = s.wanted < ASP_COLL_WANTED_MAX ? s.wanted : ASP_COLL_WANTED_MAX;
    s.below = effort->below ? effort->below - 1 : INT64_MAX;
    rc = search(&s);
    asp_coll_nodes_destroy(&s.nodes);
    free(s.family);
    free(s.of_family);
    if (rc < 0) {
        free(s.list);
        return -1;
    }
    *candidates_p = s.list;
    *n_p = s.n;
    return 0;
}
