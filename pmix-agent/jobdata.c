/* SPDX-License-Identifier: BSD-3-Clause */
/* Layout -> PMIx job data. Called once by serve.c.
 *
 * Processes of other nodes get no entries of their own: a client derives
 * their place from the maps, and their role from aspen.layout. Every entry is
 * sent to every client at PMIx_Init, so their number is what start-up costs.
 * The maps cost most: a client of OpenPMIx 4.2 makes entries of its own for
 * every rank in them, 7 us and 2.7 KB each. In large steps they therefore
 * name this node only; sizes and aspen.layout still speak of the whole step.
 */
#include "config.h"

#include "jobdata.h"
#include "serve.h"

#include "common/base/strbuf.h"

#include <errno.h>
#include <inttypes.h>
#include <pmix.h>
#include <pmix_server.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nodes first..end-1 are in the maps. */
struct range {
    uint32_t first;
    uint32_t end;
};

static struct range mapped_nodes(const struct asp_layout *layout)
{
    if (layout->size_world <= ASPA_DETAILED_RANKS_MAX)
        return (struct range){0, layout->nnodes};
    return (struct range){layout->node, layout->node + 1};
}

/* A list under construction that remembers its first failure. */
struct list {
    void *items;
    pmix_status_t status;
};

static void list_add(struct list *list, const char *key, const void *value,
                     pmix_data_type_t type)
{
    if (list->status == PMIX_SUCCESS)
        list->status = PMIx_Info_list_add(list->items, key, value, type);
}

static void list_add_u32(struct list *list, const char *key, uint32_t value)
{
    list_add(list, key, &value, PMIX_UINT32);
}

static void list_add_u16(struct list *list, const char *key, uint32_t value)
{
    uint16_t value16 = (uint16_t) value;

    list_add(list, key, &value16, PMIX_UINT16);
}

static void list_add_rank(struct list *list, const char *key, uint32_t rank)
{
    pmix_rank_t value = rank;

    list_add(list, key, &value, PMIX_PROC_RANK);
}

void aspa_jobdata_node(const struct asp_layout *layout, uint32_t n, char *buf,
                       size_t size)
{
    if (layout->nodes[n].name[0] != '\0')
        snprintf(buf, size, "%s", layout->nodes[n].name);
    else
        snprintf(buf, size, "node%u", (unsigned) n);
}

/* "n1,n2": names of the nodes, comma-separated. NULL on ENOMEM. */
static char *node_names(const struct asp_layout *layout, struct range range)
{
    char name[ASP_NAME_MAX + 16];
    struct asp_strbuf out = ASP_STRBUF_GROWING;

    for (uint32_t n = range.first; n < range.end; n++) {
        aspa_jobdata_node(layout, n, name, sizeof(name));
        asp_strbuf_add(&out, "%s%s", n > range.first ? "," : "", name);
    }
    return asp_strbuf_take(&out);
}

/* OpenPMIx 4.2 finds the pattern of a name with a buffer of 50 bytes for the
 * letters that it begins with, writes on beyond, and takes the number behind
 * them for an int. */
static bool has_pattern(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t before = strspn(name, letters);

    return before < 50 && strspn(name + before, "0123456789") < 10;
}

/* Where one name has none, none is sought. NULL on failure. */
static char *node_map(const struct asp_layout *layout, struct range range,
                      const char *names)
{
    char *map = NULL;
    bool patterns = true;

    for (uint32_t n = range.first; n < range.end; n++)
        patterns &= has_pattern(layout->nodes[n].name);
    if (patterns)
        return PMIx_generate_regex(names, &map) == PMIX_SUCCESS ? map : NULL;
    return asprintf(&map, "pmix[%s]", names) < 0 ? NULL : map;
}

/* "0,1,2;3,4,5": ranks of the nodes. NULL on ENOMEM. */
static char *node_ranks(const struct asp_layout *layout, struct range range)
{
    struct asp_strbuf out = ASP_STRBUF_GROWING;

    for (uint32_t n = range.first; n < range.end; n++) {
        const struct asp_layout_node *node = &layout->nodes[n];

        asp_strbuf_add(&out, "%s", n > range.first ? ";" : "");
        for (uint32_t i = 0; i < node->ntasks; i++)
            asp_strbuf_add(&out, "%s%" PRIu32, i > 0 ? "," : "",
                           node->ranks_world[i]);
    }
    return asp_strbuf_take(&out);
}

static void add_maps(struct list *list, const struct asp_layout *layout)
{
    struct range all = mapped_nodes(layout);
    struct range here = {layout->node, layout->node + 1};
    char *names = node_names(layout, all);
    char *ranks = node_ranks(layout, all);
    char *peers = node_ranks(layout, here);
    char *nodes = names != NULL ? node_map(layout, all, names) : NULL;
    char *proc_map = NULL;

    if (nodes == NULL || ranks == NULL || peers == NULL)
        list->status = PMIX_ERR_NOMEM;
    if (list->status == PMIX_SUCCESS)
        list->status = PMIx_generate_ppn(ranks, &proc_map);
    if (list->status == PMIX_SUCCESS) {
        list_add(list, PMIX_NODE_MAP, nodes, PMIX_REGEX);
        list_add(list, PMIX_PROC_MAP, proc_map, PMIX_REGEX);
        list_add(list, PMIX_LOCAL_PEERS, peers, PMIX_STRING);
    }
    free(names);
    free(ranks);
    free(peers);
    free(nodes);
    free(proc_map);
}

static void add_sizes(struct list *list, const struct asp_layout *layout)
{
    list_add_u32(list, PMIX_UNIV_SIZE, layout->size_world);
    list_add_u32(list, PMIX_JOB_SIZE, layout->size_world);
    list_add_u32(list, PMIX_APP_SIZE, layout->size_world);
    list_add_u32(list, PMIX_MAX_PROCS, layout->size_world);
    list_add_u32(list, PMIX_JOB_NUM_APPS, 1);
    list_add_u32(list, PMIX_NUM_NODES, layout->nnodes);
    list_add_u32(list, PMIX_NODE_SIZE, layout->ntasks);
    list_add_u32(list, PMIX_LOCAL_SIZE, layout->ntasks);
}

/* One array per local task under PMIX_PROC_INFO_ARRAY. */
static void add_task(struct list *list, const struct asp_layout *layout,
                     uint32_t p, const char *host)
{
    const struct asp_layout_task *task = &layout->tasks[p];
    struct list own = {PMIx_Info_list_start(), PMIX_SUCCESS};
    pmix_data_array_t array;

    if (list->status != PMIX_SUCCESS || own.items == NULL)
        return;
    list_add_rank(&own, PMIX_RANK, task->rank_world);
    list_add_u32(&own, PMIX_APPNUM, 0);
    list_add_u16(&own, PMIX_LOCAL_RANK, p);
    list_add_u16(&own, PMIX_NODE_RANK, p);
    list_add_u32(&own, PMIX_NODEID, layout->node);
    list_add_rank(&own, PMIX_GLOBAL_RANK, task->rank_world);
    list_add_rank(&own, PMIX_APP_RANK, task->rank_world);
    list_add(&own, PMIX_HOSTNAME, host, PMIX_STRING);
    list_add(&own, ASPA_KEY_ROLE, asp_role_name(task->role), PMIX_STRING);
    if (own.status == PMIX_SUCCESS)
        own.status = PMIx_Info_list_convert(own.items, &array);
    PMIx_Info_list_release(own.items);
    if (own.status != PMIX_SUCCESS) {
        list->status = own.status;
        return;
    }
    list_add(list, PMIX_PROC_INFO_ARRAY, &array, PMIX_DATA_ARRAY);
    PMIX_DATA_ARRAY_DESTRUCT(&array);
}

/* With maps of this node only, the last rank of the step may be unknown to the
 * library, and 4.2 then refuses every client ("NOT-FOUND", the result of its
 * loop over all ranks): tell it something about that rank. */
static void add_last(struct list *list, const struct asp_layout *layout)
{
    struct list own = {PMIx_Info_list_start(), PMIX_SUCCESS};
    pmix_data_array_t array;

    if (list->status != PMIX_SUCCESS || own.items == NULL)
        return;
    list_add_rank(&own, PMIX_RANK, layout->size_world - 1);
    list_add_u32(&own, PMIX_APPNUM, 0);
    if (own.status == PMIX_SUCCESS)
        own.status = PMIx_Info_list_convert(own.items, &array);
    PMIx_Info_list_release(own.items);
    if (own.status != PMIX_SUCCESS) {
        list->status = own.status;
        return;
    }
    list_add(list, PMIX_PROC_INFO_ARRAY, &array, PMIX_DATA_ARRAY);
    PMIX_DATA_ARRAY_DESTRUCT(&array);
}

static bool is_local(const struct asp_layout *layout, uint32_t rank)
{
    for (uint32_t p = 0; p < layout->ntasks; p++)
        if (layout->tasks[p].rank_world == rank)
            return true;
    return false;
}

int aspa_jobdata_make(const struct asp_layout *layout, const char *text,
                      const char *nspace, pmix_info_t **info_p, size_t *ninfo_p,
                      struct asp_err *err)
{
    struct list list = {PMIx_Info_list_start(), PMIX_SUCCESS};
    char host[ASP_NAME_MAX + 16];
    pmix_data_array_t array;

    if (list.items == NULL)
        return asp_errf(err, ENOMEM, "out of memory for PMIx job data");
    aspa_jobdata_node(layout, layout->node, host, sizeof(host));
    add_sizes(&list, layout);
    list_add(&list, PMIX_JOBID, nspace, PMIX_STRING);
    list_add_u32(&list, PMIX_NODEID, layout->node);
    list_add(&list, PMIX_HOSTNAME, host, PMIX_STRING);
    list_add_rank(&list, PMIX_LOCALLDR, layout->tasks[0].rank_world);
    add_maps(&list, layout);
    list_add(&list, ASPA_KEY_LAYOUT, text, PMIX_STRING);
    list_add(&list, ASPA_KEY_VERSION, PACKAGE_VERSION, PMIX_STRING);
    for (uint32_t p = 0; p < layout->ntasks; p++)
        add_task(&list, layout, p, host);
    if (!is_local(layout, layout->size_world - 1))
        add_last(&list, layout);
    if (list.status == PMIX_SUCCESS)
        list.status = PMIx_Info_list_convert(list.items, &array);
    PMIx_Info_list_release(list.items);
    if (list.status != PMIX_SUCCESS)
        return asp_errf(err, EIO, "cannot make PMIx job data: %s",
                        PMIx_Error_string(list.status));
    *info_p = array.array;
    *ninfo_p = array.size;
    return 0;
}
