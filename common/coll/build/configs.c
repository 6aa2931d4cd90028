/* SPDX-License-Identifier: BSD-3-Clause */
/* All configurations to solve a problem, one after the other. The choices of a
 * row are numbered, for each across: a parameter is a digit, the first the
 * lowest. */
#include "common/coll/build/rows.h"

#include <string.h>

/* Bytes that are worth a segment of their own, and segments of a message. */
enum {
    SEGMENT_FIRST = 4096,
    SEGMENT_FACTOR = 4,
    SEGMENTS = 5,
    PARTS_MAX = 2048
};

/* Powers of two from low to the first that is at least n. */
static uint32_t count_powers(uint32_t low, uint32_t n)
{
    uint32_t count = 1;

    for (uint64_t k = low; k < n; k *= 2)
        count++;
    return count;
}

/* The lowest digit of a choice, and the choice without it. */
static uint32_t digit(uint32_t *choice, uint32_t base)
{
    uint32_t value = *choice % base;

    *choice /= base;
    return value;
}

/* A k-ary, k-nomial, fork or Bine tree of n ranks. False: no such box, or the
 * same tree as an earlier choice. */
static bool take_tree(struct asp_coll_config *config, uint32_t n,
                      uint32_t *choice)
{
    uint32_t kary = count_powers(1, n > 1 ? n - 1 : 1);
    uint32_t knomial = count_powers(2, n), forks = 2;
    uint32_t value = digit(choice, kary + knomial + forks + 1);

    if (value < kary) {
        config->tree.shape = ASP_COLL_KARY;
        config->tree.k = UINT32_C(1) << value;
        return true;
    }
    value -= kary;
    if (value < knomial) {
        config->tree.shape = ASP_COLL_KNOMIAL;
        config->tree.k = UINT32_C(2) << value;
        return config->tree.k < n; /* else it is flat, and kary was that, too */
    }
    value -= knomial;
    if (value == forks) {
        config->tree.shape = ASP_COLL_BINE;
        return n > 3; /* else it is flat */
    }
    config->tree.shape = ASP_COLL_FORK;
    return asp_coll_tree_box(n, value + 2, config->tree.dims);
}

/* What a tree moves in segments: the blocks of all ranks together, in
 * operations that go up and down one. */
static size_t segmented(const struct asp_coll_problem *problem)
{
    const struct asp_coll_form *form = &asp_coll_forms[problem->op];

    return form->counts == ASP_COLL_EQUAL
               ? asp_coll_most_blocks(form, problem->ranks) * problem->bytes
               : problem->bytes;
}

static bool take_segment(struct asp_coll_config *config, size_t bytes,
                         uint32_t *choice)
{
    uint32_t value = digit(choice, SEGMENTS + 1);

    if (!value)
        return true;
    config->segment = SEGMENT_FIRST;
    while (--value)
        config->segment *= SEGMENT_FACTOR;
    return config->segment < bytes && bytes / config->segment <= PARTS_MAX;
}

/* Set the parameters to choice. False when it is no configuration of its own;
 * *end_p is set when there are no more. */
static bool take(struct asp_coll_configs *configs,
                 const struct asp_coll_row *row,
                 const struct asp_coll_problem *problem, bool *end_p)
{
    uint32_t choice = configs->choice;
    uint32_t n = row->require & ASP_COLL_NODES ? configs->nodes
                                               : problem->ranks;
    struct asp_coll_config *config = &configs->config;
    unsigned params;
    bool good = true;

    *config = (struct asp_coll_config){.row = row, .across = configs->across};
    params = asp_coll_config_params(config);
    if (params & ASP_COLL_TREE)
        good = take_tree(config, n, &choice);
    else if (params & ASP_COLL_RADIX)
        config->tree.k = UINT32_C(2) << digit(&choice, count_powers(2, n));
    if (params & ASP_COLL_SEGMENT)
        good = take_segment(config, segmented(problem), &choice) && good;
    if (params & ASP_COLL_LEADERS)
        config->leaders = UINT32_C(1)
                          << digit(&choice, count_powers(1, configs->least));
    if (params & ASP_COLL_INNER)
        config->inner = UINT32_C(2)
                        << digit(&choice, count_powers(2, configs->most));
    *end_p = choice > 0;
    return good;
}

static bool count_nodes(struct asp_coll_configs *configs,
                        const struct asp_coll_problem *problem)
{
    struct asp_coll_nodes nodes;

    if (asp_coll_nodes_make(problem->node, problem->ranks, &nodes) < 0)
        return false;
    configs->nodes = nodes.n;
    configs->least = nodes.least;
    configs->most = nodes.most;
    asp_coll_nodes_destroy(&nodes);
    return true;
}

/* The next choice of a row with one across. */
static bool next_choice(struct asp_coll_configs *configs,
                        const struct asp_coll_row *row,
                        const struct asp_coll_problem *problem)
{
    bool end, good;

    for (;; configs->choice++) {
        good = take(configs, row, problem, &end);
        if (end)
            return false;
        if (good && asp_coll_fits(&configs->config, problem, NULL) == 0)
            break;
    }
    configs->choice++;
    return true;
}

/* The next of a row; configs->across is ASP_COLL_ACROSSES when there is none.
 */
static bool next_of_row(struct asp_coll_configs *configs,
                        const struct asp_coll_row *row,
                        const struct asp_coll_problem *problem)
{
    for (; configs->across < ASP_COLL_ACROSSES;
         configs->across++, configs->choice = 0) {
        unsigned legal = row->across ? row->across : 1;

        if (legal >> configs->across & 1 && next_choice(configs, row, problem))
            return true;
    }
    return false;
}

bool asp_coll_configs_next(struct asp_coll_configs *configs,
                           const struct asp_coll_problem *problem)
{
    if (!configs->nodes && !count_nodes(configs, problem))
        return false;
    for (; configs->row < asp_coll_row_count;
         configs->row++, configs->across = ASP_COLL_ACROSS_TREE) {
        const struct asp_coll_row *row = &asp_coll_row_table[configs->row];

        if (row->op == problem->op && next_of_row(configs, row, problem))
            return true;
    }
    return false;
}
