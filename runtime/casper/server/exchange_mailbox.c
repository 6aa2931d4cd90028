/* SPDX-License-Identifier: BSD-3-Clause */
/* What a ghost believes of a mailbox: its members and nodes, copied and checked
 * once. A rank of the node can write there at any time. */
#include "config.h"

#include "exchange.h"

#include <stdlib.h>
#include <string.h>

static int says(struct aspx_exchange_mailbox *mailbox, const char *field)
{
    mailbox->mailbox.fault = field;
    return 1;
}

/* NULL, or the field of the header that is wrong.
 *   bytes  from the mailbox on that are mapped */
static const char *wrong_shape(const struct aspx_mailbox_shape *shape,
                               uint32_t me, uint64_t bytes,
                               const struct aspx_exchange_job *job)
{
    if (me == 0 || me > job->users || shape->participants != me + 1)
        return "participants";
    if (shape->ranks <= me || shape->ranks > job->users)
        return "ranks";
    if (shape->nodes < 2 || shape->nodes > job->ghosts)
        return "nodes";
    if (shape->region == 0 || shape->region % ASPX_MAILBOX_UNIT ||
        shape->region > bytes / shape->participants ||
        aspx_mailbox_bytes(shape) > bytes)
        return "region";
    return NULL;
}

static const char *wrong_nodes(struct aspx_exchange_mailbox *mailbox,
                               const struct aspx_mailbox_nodes *nodes,
                               const struct aspx_mailbox_shape *shape,
                               const struct aspx_exchange_job *job)
{
    mailbox->ranks = shape->ranks;
    mailbox->nodes = shape->nodes;
    mailbox->node = *(const volatile uint32_t *) &nodes->node;
    mailbox->tag = *(const volatile int32_t *) &nodes->tag;
    if (nodes->ranks != shape->ranks)
        return "ranks";
    if (nodes->nodes != shape->nodes)
        return "nodes";
    if (mailbox->node >= mailbox->nodes)
        return "node";
    if (mailbox->tag < 0 || mailbox->tag % ASPX_MAILBOX_TAGS ||
        mailbox->tag > job->tag_most - ASPX_MAILBOX_TAGS)
        return "tag";
    return NULL;
}

/* The map's two parts. Returns 0, 1: wrong (fault), or -1: no memory. */
static int copy_map(struct aspx_exchange_mailbox *mailbox, const uint32_t *map)
{
    mailbox->node_of = calloc(mailbox->ranks, sizeof(*mailbox->node_of));
    mailbox->member_of = calloc(mailbox->ranks, sizeof(*mailbox->member_of));
    mailbox->ghosts = calloc(mailbox->nodes, sizeof(*mailbox->ghosts));
    if (!mailbox->node_of || !mailbox->member_of || !mailbox->ghosts)
        return -1;
    memcpy(mailbox->node_of, map, mailbox->ranks * sizeof(*map));
    memcpy(mailbox->ghosts, map + mailbox->ranks,
           mailbox->nodes * sizeof(*map));
    for (uint32_t r = 0; r < mailbox->ranks; r++)
        if (mailbox->node_of[r] >= mailbox->nodes)
            return says(mailbox, "map of nodes");
    return 0;
}

static int number_members(struct aspx_exchange_mailbox *mailbox)
{
    uint32_t *members = calloc(mailbox->nodes, sizeof(*members));
    bool right = members;

    for (uint32_t r = 0; members && r < mailbox->ranks; r++) {
        uint32_t node = mailbox->node_of[r];

        mailbox->member_of[r] = members[node]++;
        if (members[node] > mailbox->fullest)
            mailbox->fullest = members[node];
    }
    for (uint32_t n = 0; members && n < mailbox->nodes; n++)
        right &= members[n] > 0;
    right = right && members[mailbox->node] == mailbox->mailbox.me;
    free(members);
    if (!members)
        return -1;
    return right ? 0 : says(mailbox, "map of nodes");
}

static int check_ghosts(struct aspx_exchange_mailbox *mailbox,
                        const struct aspx_exchange_job *job)
{
    for (uint32_t n = 0; n < mailbox->nodes; n++)
        if (mailbox->ghosts[n] < 0 ||
            (uint32_t) mailbox->ghosts[n] >= job->ghosts ||
            ((uint32_t) mailbox->ghosts[n] == job->me) != (n == mailbox->node))
            return says(mailbox, "map of ghosts");
    return 0;
}

static int copy_nodes(struct aspx_exchange_mailbox *mailbox,
                      const struct aspx_mailbox_shape *shape,
                      const struct aspx_exchange_job *job)
{
    const struct aspx_mailbox_nodes *nodes = mailbox->mailbox.nodes;
    const char *wrong = wrong_nodes(mailbox, nodes, shape, job);
    int rc = wrong ? says(mailbox, wrong) : copy_map(mailbox, nodes->map);

    if (rc == 0)
        rc = number_members(mailbox);
    return rc ? rc : check_ghosts(mailbox, job);
}

int aspx_exchange_mailbox_see(struct aspx_exchange_mailbox *mailbox,
                              void *memory, uint64_t bytes, uint32_t me,
                              const struct aspx_exchange_job *job)
{
    struct aspx_mailbox_shape shape;
    const char *wrong = "place";
    int rc;

    *mailbox = (struct aspx_exchange_mailbox){.comm = job->comm};
    if (bytes >= ASPX_MAILBOX_LINE) {
        aspx_mailbox_find(memory, &shape);
        wrong = wrong_shape(&shape, me, bytes, job);
    }
    if (wrong)
        return says(mailbox, wrong);
    if (aspx_mailbox_see(&mailbox->mailbox, memory, me, &shape) != 0)
        return -1;
    rc = copy_nodes(mailbox, &shape, job);
    if (rc != 0)
        aspx_exchange_mailbox_leave(mailbox);
    return rc;
}

void aspx_exchange_mailbox_leave(struct aspx_exchange_mailbox *mailbox)
{
    aspx_mailbox_leave(&mailbox->mailbox);
    free(mailbox->node_of);
    free(mailbox->member_of);
    free(mailbox->ghosts);
    mailbox->node_of = mailbox->member_of = NULL;
    mailbox->ghosts = NULL;
}
