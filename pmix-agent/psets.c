/* SPDX-License-Identifier: BSD-3-Clause */
/* Called by serve.c: once at the start, then from PMIx's progress thread. */
#include "config.h"

#include "psets.h"

#include "jobdata.h"

#include <errno.h>
#include <pmix.h>
#include <stdlib.h>
#include <string.h>

/* By enum asp_role. */
static const char *const names[] = {ASPA_PSET_USERS, ASPA_PSET_GHOSTS};

/* Whose sets. */
struct step {
    const struct asp_layout *layout;
    const char *nspace;
};

/* Role of the i-th rank in a node's list: the last ones are ghosts. */
static enum asp_role role_at(const struct asp_layout *layout,
                             const struct asp_layout_node *node, uint32_t i)
{
    return i + layout->ghosts_per_node >= node->ntasks ? ASP_ROLE_GHOST
                                                       : ASP_ROLE_USER;
}

/* An array of members, freed with PMIX_DATA_ARRAY_FREE; NULL when there is no
 * memory. A set may be empty, for which OpenPMIx 5 makes no array. */
static pmix_data_array_t *make_array(size_t size)
{
    pmix_data_array_t *array;

    if (size == 0) {
        array = calloc(1, sizeof(*array));
        if (array != NULL)
            array->type = PMIX_PROC;
        return array;
    }
    PMIX_DATA_ARRAY_CREATE(array, size, PMIX_PROC);
    if (array != NULL && array->array == NULL)
        PMIX_DATA_ARRAY_FREE(array); /* and is NULL then */
    return array;
}

/* All ranks of the step in that role. NULL when there is no memory. */
static pmix_data_array_t *make_members(const struct step *step,
                                       enum asp_role role)
{
    const struct asp_layout *layout = step->layout;
    pmix_data_array_t *array;
    size_t used = 0;

    for (uint32_t n = 0; n < layout->nnodes; n++)
        for (uint32_t i = 0; i < layout->nodes[n].ntasks; i++)
            used += role_at(layout, &layout->nodes[n], i) == role;
    array = make_array(used);
    if (array == NULL)
        return NULL;
    used = 0;
    for (uint32_t n = 0; n < layout->nnodes; n++)
        for (uint32_t i = 0; i < layout->nodes[n].ntasks; i++)
            if (role_at(layout, &layout->nodes[n], i) == role) {
                pmix_proc_t *proc = (pmix_proc_t *) array->array + used++;

                PMIX_LOAD_PROCID(proc, step->nspace,
                                 layout->nodes[n].ranks_world[i]);
            }
    return array;
}

/* Every client gets an event with all members of each set, at its PMIx_Init():
 * 260 bytes per rank, so large steps go without the event. They can be asked
 * for in either case.
 *
 * In OpenPMIx 4.2 the status of a call that worked is not set to anything;
 * only "not initialised" is told apart. */
int aspa_psets_define(const struct asp_layout *layout, const char *nspace,
                      struct asp_err *err)
{
    struct step step = {layout, nspace};

    if (layout->size_world > ASPA_DETAILED_RANKS_MAX)
        return 0;
    for (int role = ASP_ROLE_USER; role <= ASP_ROLE_GHOST; role++) {
        pmix_data_array_t *members = make_members(&step, role);
        pmix_status_t status = PMIX_SUCCESS;

        if (members == NULL)
            return asp_errf(err, ENOMEM, "out of memory for process sets");
        if (members->size > 0)
            status = PMIx_server_define_process_set(members->array,
                                                    members->size, names[role]);
        PMIX_DATA_ARRAY_FREE(members);
        if (status == PMIX_ERR_INIT)
            return asp_errf(err, EIO, "PMIx does not take process set %s: %s",
                            names[role], PMIx_Error_string(status));
    }
    return 0;
}

/* Members of the set that the query's qualifier names. */
static bool answer_members(const struct step *step, const pmix_query_t *query,
                           pmix_value_t *value)
{
    const char *name = "";

    for (size_t i = 0; i < query->nqual; i++)
        if (PMIX_CHECK_KEY(&query->qualifiers[i], PMIX_PSET_NAME) &&
            query->qualifiers[i].value.type == PMIX_STRING &&
            query->qualifiers[i].value.data.string != NULL)
            name = query->qualifiers[i].value.data.string;
    for (int role = ASP_ROLE_USER; role <= ASP_ROLE_GHOST; role++) {
        if (strcmp(names[role], name) != 0)
            continue;
        value->type = PMIX_DATA_ARRAY;
        value->data.darray = make_members(step, role);
        return value->data.darray != NULL;
    }
    return false;
}

/* Answer one key. Returns false when it is not one of ours. */
static bool answer_key(const struct step *step, const pmix_query_t *query,
                       const char *key, pmix_info_t *info)
{
    PMIX_LOAD_KEY(info->key, key);
    if (strcmp(key, PMIX_QUERY_NUM_PSETS) == 0) {
        info->value.type = PMIX_SIZE;
        info->value.data.size = 2;
        return true;
    }
    if (strcmp(key, PMIX_QUERY_PSET_NAMES) == 0) {
        info->value.type = PMIX_STRING;
        info->value.data.string = strdup(ASPA_PSET_USERS "," ASPA_PSET_GHOSTS);
        return info->value.data.string != NULL;
    }
    if (strcmp(key, PMIX_QUERY_PSET_MEMBERSHIP) == 0)
        return answer_members(step, query, &info->value);
    return false;
}

static void free_infos(void *arg)
{
    pmix_data_array_t *array = arg;

    PMIX_DATA_ARRAY_FREE(array);
}

pmix_status_t aspa_psets_answer(const struct asp_layout *layout,
                                const char *nspace, const pmix_query_t *queries,
                                size_t nqueries, pmix_info_cbfunc_t done,
                                void *arg)
{
    struct step step = {layout, nspace};
    pmix_data_array_t *array;
    pmix_info_t *infos;
    size_t nkeys = 0;
    size_t n = 0;

    for (size_t i = 0; i < nqueries; i++)
        for (char **key = queries[i].keys; key != NULL && *key != NULL; key++)
            nkeys++;
    if (nkeys == 0 || nkeys > ASPA_QUERY_KEYS_MAX)
        return PMIX_ERR_BAD_PARAM;
    PMIX_DATA_ARRAY_CREATE(array, nkeys, PMIX_INFO);
    if (array == NULL)
        return PMIX_ERR_NOMEM;
    infos = array->array;
    for (size_t i = 0; infos != NULL && i < nqueries; i++)
        for (char **key = queries[i].keys; key != NULL && *key != NULL; key++)
            if (answer_key(&step, &queries[i], *key, &infos[n]))
                n++;
    if (n == 0) {
        PMIX_DATA_ARRAY_FREE(array);
        return infos == NULL ? PMIX_ERR_NOMEM : PMIX_ERR_NOT_FOUND;
    }
    /* Also where some keys are not ours: told of a partial success, clients of
     * 4.2 and 5.0 drop what they got. */
    done(PMIX_SUCCESS, infos, n, arg, free_infos, array);
    return PMIX_SUCCESS;
}
