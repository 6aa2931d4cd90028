/* SPDX-License-Identifier: BSD-3-Clause */
/* What everybody asks of a layout: names, knobs, roles. Its text form is in
 * encode.c and decode.c; see layout.h. */
#include "layout.h"

#include "common/rules/commrule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MODE_NAME(ENUMERATOR, TEXT) [ENUMERATOR] = TEXT,

static const char *const mode_names[] = {ASP_WORDS_mode(MODE_NAME)};

const char *asp_mode_name(enum asp_mode mode)
{
    return (unsigned) mode < sizeof(mode_names) / sizeof(mode_names[0])
               ? mode_names[mode]
               : NULL;
}

int asp_mode_parse(const char *text, enum asp_mode *out_p)
{
    int word = asp_knob_word(ASP_KNOB_MODE, text);

    if (word < 0) {
        errno = EINVAL;
        return -1;
    }
    *out_p = (enum asp_mode) word;
    return 0;
}

const char *asp_role_name(enum asp_role role)
{
    switch (role) {
    case ASP_ROLE_USER:
        return "user";
    case ASP_ROLE_GHOST:
        return "ghost";
    }
    return NULL;
}

bool asp_layout_offloads(const struct asp_layout *layout)
{
    return layout->mode == ASP_MODE_OFFLOAD ||
           (layout->mode == ASP_MODE_GHOST && layout->knobs.offload);
}

bool asp_layout_carries(const struct asp_layout *layout)
{
    const struct asp_objrules *rules = &layout->rules[ASP_OBJ_COMM];

    if (layout->mode != ASP_MODE_GHOST || layout->knobs.offload)
        return false;
    if (layout->knobs.p2p != ASP_P2P_OFF)
        return true;
    for (uint32_t r = 0; r < rules->n; r++)
        if (asp_knob_word(ASP_KNOB_P2P, rules->rule[r].value[ASP_COMM_P2P]) >
            ASP_P2P_OFF)
            return true;
    return false;
}

static bool overlap(const struct asp_cpuset *a, const struct asp_cpuset *b)
{
    for (unsigned w = 0; w < ASP_CPUSET_WORDS; w++)
        if (a->word[w] & b->word[w])
            return true;
    return false;
}

bool asp_layout_alone(const struct asp_layout *layout, uint32_t rank_world)
{
    const struct asp_layout_task *it = NULL;

    for (uint32_t i = 0; i < layout->ntasks; i++)
        if (layout->tasks[i].rank_world == rank_world)
            it = &layout->tasks[i];
    if (!layout->bound || !it || asp_cpuset_count(&it->cpus) == 0)
        return false;
    for (uint32_t i = 0; i < layout->ntasks; i++)
        if (&layout->tasks[i] != it &&
            overlap(&layout->tasks[i].cpus, &it->cpus))
            return false;
    return true;
}

/* Number of entries below rank in an ascending list; *found_p says whether
 * rank itself is in it. */
static uint32_t ranks_below(const uint32_t *ranks, uint32_t count,
                            uint32_t rank, bool *found_p)
{
    uint32_t low = 0, high = count;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (ranks[mid] < rank)
            low = mid + 1;
        else
            high = mid;
    }
    *found_p = low < count && ranks[low] == rank;
    return low;
}

int asp_layout_role(const struct asp_layout *layout, uint32_t rank_world,
                    enum asp_role *role_p, uint32_t *rank_user_p)
{
    uint32_t rank_user = 0;
    bool known = false;
    enum asp_role role = ASP_ROLE_USER;

    for (uint32_t n = 0; layout->nodes && n < layout->nnodes; n++) {
        const struct asp_layout_node *node = &layout->nodes[n];
        uint32_t users = node->ntasks > layout->ghosts_per_node
                             ? node->ntasks - layout->ghosts_per_node
                             : 0;
        uint32_t below;
        bool found;

        below = ranks_below(node->ranks_world, node->ntasks, rank_world,
                            &found);
        if (found) {
            known = true;
            role = below < users ? ASP_ROLE_USER : ASP_ROLE_GHOST;
        }
        rank_user += below < users ? below : users;
    }
    if (!known) {
        errno = ENOENT;
        return -1;
    }
    *role_p = role;
    if (rank_user_p)
        *rank_user_p = role == ASP_ROLE_USER ? rank_user : ASP_RANK_NONE;
    return 0;
}

void asp_layout_destroy(struct asp_layout *layout)
{
    int saved = errno;

    if (!layout)
        return;
    for (uint32_t n = 0; layout->nodes && n < layout->nnodes; n++)
        free(layout->nodes[n].ranks_world);
    free(layout->nodes);
    free(layout->tasks);
    free(layout);
    errno = saved;
}
