/* SPDX-License-Identifier: BSD-3-Clause */
/* What is told to users, which sends are not over, and how the bytes of one are
 * read: in the arena, or in its process. */
#include "config.h"

#include "message.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

struct aspx_ghost_messages aspx_ghost_messages;

#define ALL aspx_ghost_messages

/* ---- news --------------------------------------------------------------------- */

static bool publish(struct aspx_ghost_user *user,
                    const struct aspx_p2p_news *news, const void *data,
                    uint64_t bytes)
{
    struct aspx_mailbox_entry *entry = aspx_mailbox_take(&user->mailbox, bytes);

    if (!entry)
        return false;
    memcpy(&entry->label, news, sizeof(*news));
    if (bytes)
        memcpy(entry->data, data, bytes);
    aspx_mailbox_publish(&user->mailbox, entry, bytes);
    return true;
}

bool aspx_ghost_tell_kept(struct aspx_ghost_user *user)
{
    bool any = false;

    while (user->first) {
        struct aspx_ghost_news *kept = user->first;

        if (!publish(user, &kept->news, kept->data, kept->bytes))
            break;
        user->first = kept->next;
        free(kept);
        any = true;
    }
    if (!user->first)
        user->end = &user->first;
    else
        ALL.has_no_room = true;
    return any;
}

int aspx_ghost_tell(struct aspx_ghost_user *user,
                    const struct aspx_p2p_news *news, const void *data,
                    uint64_t bytes)
{
    struct aspx_ghost_news *kept;

    if (!user->first && publish(user, news, data, bytes))
        return 0;
    kept = malloc(sizeof(*kept) + bytes);
    if (!kept)
        return -1;
    *kept = (struct aspx_ghost_news){.news = *news, .bytes = bytes};
    if (bytes)
        memcpy(kept->data, data, bytes);
    *user->end = kept;
    user->end = &kept->next;
    ALL.has_no_room = true;
    return 0;
}

struct aspx_p2p_news aspx_ghost_news_of(
    const struct aspx_ghost_receive *receive,
    const struct aspx_ghost_message *message, enum aspx_p2p_news_verb verb)
{
    return (struct aspx_p2p_news){
        .verb = (uint8_t) verb,
        .request = receive->request,
        .source = message->match.envelope.source,
        .tag = message->match.envelope.tag,
        .bytes = message->bytes,
        .posted = ALL.match.posted_most,
        .unexpected = ALL.match.unexpected_most,
    };
}

/* ---- sends -------------------------------------------------------------------- */

struct aspx_ghost_send *aspx_ghost_send_at(uint32_t number)
{
    return number < ALL.nsends ? ALL.sends[number] : NULL;
}

/* A free number. Returns false: no memory. */
static bool number_send(struct aspx_ghost_send *send)
{
    struct aspx_ghost_send **more;

    for (uint32_t i = 0; i < ALL.nsends; i++) {
        uint32_t number = (ALL.next_send + i) % ALL.nsends;

        if (ALL.sends[number])
            continue;
        send->number = number;
        ALL.next_send = number + 1;
        ALL.sends[number] = send;
        return true;
    }
    more = realloc(ALL.sends, (2 * (size_t) ALL.nsends + 64) * sizeof(*more));
    if (!more)
        return false;
    memset(more + ALL.nsends, 0, ((size_t) ALL.nsends + 64) * sizeof(*more));
    ALL.sends = more;
    ALL.next_send = ALL.nsends;
    ALL.nsends = 2 * ALL.nsends + 64;
    return number_send(send);
}

struct aspx_ghost_send *aspx_ghost_send_new(struct aspx_ghost_user *user,
                                            const struct aspx_p2p_post *post,
                                            const struct aspx_p2p_place *place)
{
    struct aspx_ghost_send *send = malloc(sizeof(*send));

    if (!send)
        return NULL;
    *send = (struct aspx_ghost_send){
        .user = user,
        .request = post->request,
        .ghost = -1,
        .bytes = post->bytes,
        .place = *place,
        .next = user->sends,
    };
    if (!number_send(send)) {
        free(send);
        return NULL;
    }
    if (user->sends)
        user->sends->prev = send;
    user->sends = send;
    return send;
}

static void free_send(struct aspx_ghost_send *send)
{
    if (send->prev)
        send->prev->next = send->next;
    else
        send->user->sends = send->next;
    if (send->next)
        send->next->prev = send->prev;
    ALL.sends[send->number] = NULL;
    free(send);
}

static int end_send(struct aspx_ghost_send *send, enum aspx_p2p_news_verb verb)
{
    const struct aspx_p2p_news news = {
        .verb = (uint8_t) verb,
        .flags = send->has_failed ? ASPX_P2P_FAILED : 0,
        .request = send->request};
    int rc = aspx_ghost_tell(send->user, &news, NULL, 0);

    free_send(send);
    return rc;
}

int aspx_ghost_send_over(struct aspx_ghost_send *send)
{
    return end_send(send, ASPX_P2P_SENT);
}

int aspx_ghost_send_cancelled(struct aspx_ghost_send *send)
{
    return end_send(send, ASPX_P2P_CANCELLED);
}

bool aspx_ghost_read(const struct aspx_ghost_send *send, uint64_t offset,
                     void *to, uint64_t bytes)
{
    if (send->place.offset != ASPX_P2P_NOWHERE) {
        memcpy(to, ALL.engine->arena.base + send->place.offset + offset, bytes);
        return true;
    }
    for (uint64_t done = 0; done < bytes;) {
        struct iovec here = {(char *) to + done, bytes - done};
        struct iovec there = {
            (void *) (uintptr_t) (send->place.address + offset + done),
            bytes - done};
        ssize_t got = process_vm_readv(send->user->pid, &here, 1, &there, 1, 0);

        if (got <= 0)
            return false;
        done += (uint64_t) got;
    }
    return true;
}

/* ---- messages and receives ----------------------------------------------------- */

void aspx_ghost_message_free(struct aspx_ghost_message *message)
{
    free(message->data);
    free(message);
}

void aspx_ghost_receive_unlist(struct aspx_ghost_receive *receive)
{
    if (receive->prev)
        receive->prev->next = receive->next;
    else if (receive->user->receives == receive)
        receive->user->receives = receive->next;
    if (receive->next)
        receive->next->prev = receive->prev;
    receive->prev = receive->next = NULL;
}

void aspx_ghost_receive_free(struct aspx_ghost_receive *receive)
{
    aspx_ghost_receive_unlist(receive);
    free(receive);
}

/* They are few, and soon received. */
uint64_t aspx_ghost_claim(struct aspx_ghost_user *user,
                          struct aspx_ghost_message *message)
{
    message->claim = ++user->claims;
    message->next = user->claimed;
    user->claimed = message;
    return message->claim;
}

struct aspx_ghost_message *aspx_ghost_claimed(struct aspx_ghost_user *user,
                                              uint64_t claim)
{
    struct aspx_ghost_message **at = &user->claimed, *message;

    while (*at && (*at)->claim != claim)
        at = &(*at)->next;
    message = *at;
    if (message) {
        *at = message->next;
        message->next = NULL;
    }
    return message;
}
