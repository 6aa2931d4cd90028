/* SPDX-License-Identifier: BSD-3-Clause */
/* What is queued lies in bins, each a list in order, found by hash of an
 * envelope. A receive is in the bin of its own, wildcards included; a message
 * in four, of all envelopes of receives that match it. So a receive looks into
 * one bin, a message into four, and what is the earliest is the first of a
 * list: no list is ever searched.
 *
 * A bin holds receives or messages and never both, as they would match. It
 * exists only while it holds something. */
#include "config.h"

#include "match.h"

#include <mpi.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* An addition that finds no memory leaves the bin outside of the table. */
#define HASH_NONFATAL_OOM        1
#define HASH_KEYCMP(a, b, bytes) (!are_equal(a, b))
#include <uthash.h>

enum {
    ANY_SOURCE = 1, /* bits of a class */
    ANY_TAG = 2,
    CLASSES = ASPX_MATCH_CLASSES,
    BLOCK_BINS = 36, /* near 4 KiB */
};

struct aspx_match_bin {
    struct aspx_match_envelope envelope;
    struct aspx_match_link entries; /* a ring of which this is the end */
    bool has_receives;
    struct aspx_match_bin *next; /* spare */
    UT_hash_handle hh;
};

struct aspx_match_bin_block {
    struct aspx_match_bin_block *next;
    struct aspx_match_bin bins[BLOCK_BINS];
};

static bool are_equal(const struct aspx_match_envelope *a,
                      const struct aspx_match_envelope *b)
{
    return a->comm == b->comm && a->to == b->to && a->source == b->source &&
           a->tag == b->tag;
}

/* Uthash takes the lowest bits, which in a product depend on the least: so the
 * upper half. The factor is 2^64 over the golden ratio. */
static unsigned hash(const struct aspx_match_envelope *envelope)
{
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t mixed = envelope->comm * factor;

    mixed ^= (uint64_t) envelope->to << 32 | (uint32_t) envelope->source;
    mixed *= factor;
    mixed ^= mixed >> 32;
    mixed = (mixed + (uint32_t) envelope->tag) * factor;
    return (unsigned) (mixed >> 32);
}

static unsigned class_of_pattern(const struct aspx_match_envelope *pattern)
{
    return (pattern->source == MPI_ANY_SOURCE ? ANY_SOURCE : 0u) |
           (pattern->tag == MPI_ANY_TAG ? ANY_TAG : 0u);
}

/* The envelope of the receives of this class that match the message. */
static struct aspx_match_envelope pattern_of(
    const struct aspx_match_message *message, unsigned c)
{
    struct aspx_match_envelope pattern = message->envelope;

    if (c & ANY_SOURCE)
        pattern.source = MPI_ANY_SOURCE;
    if (c & ANY_TAG)
        pattern.tag = MPI_ANY_TAG;
    return pattern;
}

static struct aspx_match_bin *find_bin(
    const struct aspx_match *match, const struct aspx_match_envelope *pattern)
{
    unsigned value = hash(pattern);
    struct aspx_match_bin *bin;

    HASH_FIND_BYHASHVALUE(hh, match->bins, pattern, sizeof(*pattern), value,
                          bin);
    return bin;
}

static void spare(struct aspx_match *match, struct aspx_match_bin *bin)
{
    bin->next = match->spare;
    match->spare = bin;
}

static int grow_pool(struct aspx_match *match)
{
    struct aspx_match_bin_block *block = malloc(sizeof(*block));

    if (!block)
        return -1;
    block->next = match->blocks;
    match->blocks = block;
    for (int i = BLOCK_BINS - 1; i >= 0; i--)
        spare(match, &block->bins[i]);
    return 0;
}

static struct aspx_match_bin *make_bin(
    struct aspx_match *match, const struct aspx_match_envelope *pattern,
    bool has_receives)
{
    struct aspx_match_bin *bin;

    if (!match->spare && grow_pool(match))
        return NULL;
    bin = match->spare;
    bin->envelope = *pattern;
    bin->entries = (struct aspx_match_link){&bin->entries, &bin->entries};
    bin->has_receives = has_receives;
    HASH_ADD_KEYPTR_BYHASHVALUE(hh, match->bins, &bin->envelope,
                                sizeof(bin->envelope), hash(pattern), bin);
    if (!bin->hh.tbl)
        return NULL;
    match->spare = bin->next;
    return bin;
}

static void append(struct aspx_match_bin *bin, struct aspx_match_link *link)
{
    struct aspx_match_link *end = &bin->entries;

    *link = (struct aspx_match_link){end, end->prev};
    end->prev->next = link;
    end->prev = link;
}

/* Only the end of a ring is alone in it, and that is in a bin. */
static void unlink_entry(struct aspx_match *match, struct aspx_match_link *link)
{
    struct aspx_match_link *next = link->next;
    struct aspx_match_bin *bin;

    next->prev = link->prev;
    link->prev->next = next;
    *link = (struct aspx_match_link){NULL, NULL};
    if (next->next != next)
        return;
    bin = (void *) ((char *) next - offsetof(struct aspx_match_bin, entries));
    HASH_DEL(match->bins, bin);
    spare(match, bin);
}

/* Uthash frees its table with the last bin of it, and its growth is lost: so
 * there is one bin for ever, of an envelope that nothing has. */
int aspx_match_start(struct aspx_match *match)
{
    const struct aspx_match_envelope none = {.tag = INT32_MIN};

    *match = (struct aspx_match){.bins = NULL};
    if (make_bin(match, &none, true))
        return 0;
    aspx_match_stop(match);
    return -1;
}

void aspx_match_stop(struct aspx_match *match)
{
    HASH_CLEAR(hh, match->bins);
    while (match->blocks) {
        struct aspx_match_bin_block *block = match->blocks;

        match->blocks = block->next;
        free(block);
    }
    *match = (struct aspx_match){.bins = NULL};
}

static struct aspx_match_receive *first_receive(
    const struct aspx_match *match, const struct aspx_match_message *message,
    unsigned c)
{
    const struct aspx_match_envelope pattern = pattern_of(message, c);
    const struct aspx_match_bin *bin = find_bin(match, &pattern);

    if (!bin || !bin->has_receives)
        return NULL;
    return (void *) ((char *) bin->entries.next -
                     offsetof(struct aspx_match_receive, link));
}

static struct aspx_match_receive *earliest_receive(
    const struct aspx_match *match, const struct aspx_match_message *message)
{
    struct aspx_match_receive *earliest = NULL, *receive;

    for (unsigned c = 0; c < CLASSES; c++) {
        if (match->posted_of[c] == 0)
            continue;
        receive = first_receive(match, message, c);
        if (receive && (!earliest || receive->sequence < earliest->sequence))
            earliest = receive;
    }
    return earliest;
}

static int queue_message(struct aspx_match *match,
                         struct aspx_match_message *message)
{
    for (unsigned c = 0; c < CLASSES; c++) {
        const struct aspx_match_envelope pattern = pattern_of(message, c);
        struct aspx_match_bin *bin = find_bin(match, &pattern);

        if (!bin)
            bin = make_bin(match, &pattern, false);
        if (!bin) {
            while (c-- > 0)
                unlink_entry(match, &message->links[c]);
            return -1;
        }
        append(bin, &message->links[c]);
    }
    if (++match->unexpected > match->unexpected_most)
        match->unexpected_most = match->unexpected;
    return 0;
}

int aspx_match_arrive(struct aspx_match *match,
                      struct aspx_match_message *message,
                      struct aspx_match_receive **taken)
{
    *taken = earliest_receive(match, message);
    if (!*taken)
        return queue_message(match, message);
    aspx_match_remove_receive(match, *taken);
    return 0;
}

static struct aspx_match_message *first_message(
    const struct aspx_match_bin *bin, unsigned c)
{
    return (void *) ((char *) bin->entries.next -
                     offsetof(struct aspx_match_message, links[c]));
}

static int queue_receive(struct aspx_match *match,
                         struct aspx_match_receive *receive,
                         struct aspx_match_bin *bin, unsigned c)
{
    if (!bin)
        bin = make_bin(match, &receive->envelope, true);
    if (!bin)
        return -1;
    receive->sequence = ++match->sequence;
    append(bin, &receive->link);
    if (++match->posted > match->posted_most)
        match->posted_most = match->posted;
    match->posted_of[c]++;
    return 0;
}

int aspx_match_post(struct aspx_match *match,
                    struct aspx_match_receive *receive,
                    struct aspx_match_message **found)
{
    struct aspx_match_bin *bin = find_bin(match, &receive->envelope);
    unsigned c = class_of_pattern(&receive->envelope);

    *found = NULL;
    if (!bin || bin->has_receives)
        return queue_receive(match, receive, bin, c);
    *found = first_message(bin, c);
    if (!receive->looks)
        aspx_match_remove_message(match, *found);
    return 0;
}

struct aspx_match_message *aspx_match_find(
    const struct aspx_match *match, const struct aspx_match_envelope *pattern)
{
    const struct aspx_match_bin *bin = find_bin(match, pattern);

    if (!bin || bin->has_receives)
        return NULL;
    return first_message(bin, class_of_pattern(pattern));
}

void aspx_match_remove_message(struct aspx_match *match,
                               struct aspx_match_message *message)
{
    for (unsigned c = 0; c < CLASSES; c++)
        unlink_entry(match, &message->links[c]);
    match->unexpected--;
}

void aspx_match_remove_receive(struct aspx_match *match,
                               struct aspx_match_receive *receive)
{
    unlink_entry(match, &receive->link);
    match->posted--;
    match->posted_of[class_of_pattern(&receive->envelope)]--;
}
