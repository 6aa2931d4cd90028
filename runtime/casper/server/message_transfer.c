/* SPDX-License-Identifier: BSD-3-Clause */
/* Of a message from another node the ghost asks for pieces (ASPX_WIRE_PULL) and
 * posts receives for them, each into memory that it has taken for it. */
#include "config.h"

#include "message_transfer.h"

#include "message_wire.h"

#include "runtime/mpi/real.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* Pieces from other nodes under way, of all messages: they take no more
     * memory than this many, and each has its tag. */
    SLOTS = 64,
    /* of one message: the next is on its way while one is copied */
    AHEAD = 2,
};

struct transfer {
    struct aspx_ghost_message *message;
    struct aspx_ghost_receive *receive;
    uint64_t total;           /* bytes to be moved */
    uint64_t asked, done;     /* of these */
    uint32_t open;            /* pieces under way */
    bool has_failed, is_told; /* is_told: the sender, of a piece of 0 bytes */
    struct transfer *next;
};

struct slot {
    struct transfer *transfer;        /* NULL: free */
    struct aspx_mailbox_entry *entry; /* NULL: into the arena's buffer */
    uint64_t offset, bytes;
    MPI_Request request;
};

static struct transfer *transfers, **last = &transfers;
static struct slot slots[SLOTS];
static uint32_t nslots; /* in use */

#define ALL aspx_ghost_messages

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

int aspx_transfer_begin(struct aspx_ghost_message *message,
                        struct aspx_ghost_receive *receive)
{
    struct transfer *transfer = calloc(1, sizeof(*transfer));

    if (!transfer)
        return -1;
    transfer->message = message;
    transfer->receive = receive;
    transfer->total = least(message->bytes, receive->room);
    *last = transfer;
    last = &transfer->next;
    return 0;
}

bool aspx_transfer_is_busy(void)
{
    return transfers;
}

/* ---- pieces ------------------------------------------------------------------- */

/* Where a piece goes: the buffer, or a new entry. NULL: no room now. */
static void *target(struct transfer *t, uint64_t offset, uint64_t bytes,
                    struct aspx_mailbox_entry **entry_p)
{
    struct aspx_ghost_receive *receive = t->receive;

    *entry_p = NULL;
    if (receive->offset != ASPX_P2P_NOWHERE)
        return ALL.engine->arena.base + receive->offset + offset;
    *entry_p = aspx_mailbox_take(&receive->user->mailbox, bytes);
    if (*entry_p)
        return (*entry_p)->data;
    ALL.has_no_room = true;
    return NULL;
}

static void landed(struct transfer *t, struct aspx_mailbox_entry *entry,
                   uint64_t offset, uint64_t bytes)
{
    struct aspx_p2p_news news = aspx_ghost_news_of(t->receive, t->message,
                                                   ASPX_P2P_LANDED);

    t->done += bytes;
    if (!entry)
        return;
    news.offset = offset;
    memcpy(&entry->label, &news, sizeof(news));
    aspx_mailbox_publish(&t->receive->user->mailbox, entry, bytes);
}

/* Both ends are told. Returns 0 or -1. */
static int finish(struct transfer *t)
{
    struct aspx_p2p_news news = aspx_ghost_news_of(t->receive, t->message,
                                                   ASPX_P2P_RECEIVED);
    struct aspx_ghost_send *send = t->message->send;
    int rc;

    if (t->has_failed)
        news.flags |= ASPX_P2P_FAILED;
    if (t->receive->offset != ASPX_P2P_NOWHERE)
        news.flags |= ASPX_P2P_DIRECT;
    rc = aspx_ghost_tell(t->receive->user, &news, NULL, 0);
    if (send) {
        send->has_failed = t->has_failed;
        rc |= aspx_ghost_send_over(send);
    }
    aspx_ghost_receive_free(t->receive);
    aspx_ghost_message_free(t->message);
    free(t);
    return rc;
}

/* ---- on this node ------------------------------------------------------------- */

static int move_here(struct transfer *t)
{
    uint64_t bytes = least(t->total - t->done, ASPX_P2P_PIECE);
    struct aspx_mailbox_entry *entry;
    uint64_t offset = t->done;
    void *to;

    if (bytes == 0)
        return 0;
    to = target(t, offset, bytes, &entry);
    if (!to)
        return 0;
    if (!aspx_ghost_read(t->message->send, offset, to, bytes)) {
        t->has_failed = true;
        bytes = t->total - t->done;
    }
    t->asked += bytes;
    landed(t, entry, offset, least(bytes, ASPX_P2P_PIECE));
    t->done = t->asked;
    return 1;
}

/* ---- between nodes ------------------------------------------------------------ */

static struct slot *free_slot(void)
{
    for (uint32_t i = 0; i < SLOTS; i++)
        if (!slots[i].transfer)
            return &slots[i];
    return NULL;
}

/* Ask for the next piece; of none, where the receive has no room, so that its
 * sender knows. Returns whether it was, or -1. */
static int pull(struct transfer *t)
{
    struct slot *slot = free_slot();
    struct aspx_wire wire = {
        .verb = ASPX_WIRE_PULL,
        .number = t->message->number,
        .offset = t->asked,
        .bytes = least(t->total - t->asked, ASPX_P2P_PIECE),
    };
    void *to;

    if (!slot)
        return 0;
    to = target(t, wire.offset, wire.bytes, &slot->entry);
    if (!to)
        return 0;
    slot->transfer = t;
    slot->offset = wire.offset;
    slot->bytes = wire.bytes;
    t->asked += wire.bytes;
    t->open++;
    nslots++;
    wire.tag_data = (uint16_t) (1 + (slot - slots));
    wire.flags = t->asked == t->total;
    if (aspx_real.MPI_Irecv(to, (int) wire.bytes, MPI_BYTE, t->message->ghost,
                            wire.tag_data, ALL.comm,
                            &slot->request) != MPI_SUCCESS)
        return -1;
    return aspx_wire_send(t->message->ghost, &wire, NULL, 0) == 0 ? 1 : -1;
}

/* What has come. */
static int land(void)
{
    int any = 0;

    for (uint32_t i = 0; nslots > 0 && i < SLOTS; i++) {
        struct slot *slot = &slots[i];
        struct transfer *t = slot->transfer;
        MPI_Status status;
        int flag = 0, got = 0;

        if (!t)
            continue;
        if (aspx_real.MPI_Test(&slot->request, &flag, &status) != MPI_SUCCESS)
            return -1;
        if (!flag)
            continue;
        aspx_real.MPI_Get_count(&status, MPI_BYTE, &got);
        t->has_failed |= (uint64_t) got != slot->bytes;
        landed(t, slot->entry, slot->offset, slot->bytes);
        t->open--;
        slot->transfer = NULL;
        nslots--;
        any = 1;
    }
    return any;
}

static int move_from_elsewhere(struct transfer *t)
{
    int any = 0, asked = 1;

    while (asked == 1 && t->open < AHEAD &&
           (t->asked < t->total || (t->total == 0 && !t->is_told))) {
        asked = pull(t);
        t->is_told |= asked == 1;
        any |= asked;
    }
    return asked < 0 ? -1 : any;
}

int aspx_transfer_step(void)
{
    int any = land();

    for (struct transfer **at = &transfers; *at && any >= 0;) {
        struct transfer *t = *at;
        int moved = t->message->ghost < 0 ? move_here(t)
                                          : move_from_elsewhere(t);

        if (moved < 0)
            return -1;
        any |= moved;
        if (t->done < t->total || t->open > 0 ||
            (t->message->ghost >= 0 && t->total == 0 && !t->is_told)) {
            at = &t->next;
            continue;
        }
        *at = t->next;
        if (last == &t->next)
            last = at;
        if (finish(t) != 0)
            return -1;
        any = 1;
    }
    return any;
}
