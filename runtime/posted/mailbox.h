/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory in which the processes of a node put what they post, for others to
 * read when they have time: of a non-blocking collective its ranks, and the
 * ghost that joins nodes; of messages a rank and its ghost. Each participant
 * has a list of entries, in the order in which they were posted, that it alone
 * extends and that is never full; so a post waits for nobody.
 *
 *   participant p:  first -> entry 0 -> entry 1 -> ... -> the last (next = 0)
 *                              ^ oldest that a reader may still need
 *
 * An entry is published by a release-store of its offset to the `next` of the
 * one before; who loads it with acquire sees its contents. A reader keeps a
 * cursor in each list, and raises `passed` (a release) when it will read
 * nothing of the entries below any more; the owner looks at all of these
 * (acquire) before it uses the memory of an entry again. Who waits for an entry
 * sleeps at the event of its owner.
 *
 * The memory is open to stray stores of programs, and a ghost must survive
 * them: offsets, lengths and numbers are checked when they are read, and owners
 * keep what they need of their own entries themselves.
 *
 * Nothing here calls MPI or blocks. Threads: one at a time for a mailbox of a
 * process; who uses it has a lock. */
#ifndef ASPEN_RUNTIME_POSTED_MAILBOX_H
#define ASPEN_RUNTIME_POSTED_MAILBOX_H

#include "runtime/base/event.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ASPX_MAILBOX_LINE = 64, /* bytes that move between caches together */
    /* A region is cut into units; a large entry has some of its own, small ones
     * share one. */
    ASPX_MAILBOX_UNIT = 16384,
    /* Between ghosts: operations of a mailbox that are under way at once, the
     * tags of each, and so of a mailbox. */
    ASPX_MAILBOX_WINDOW = 16,
    ASPX_MAILBOX_MESSAGES = 16,
    ASPX_MAILBOX_TAGS = ASPX_MAILBOX_WINDOW * ASPX_MAILBOX_MESSAGES,
};

/* What an entry is about: a record of who posts it, which the mailbox only
 * hands on (of collectives: coll/nonblocking/operation.h; of messages:
 * p2p/posts.h). */
struct aspx_mailbox_label {
    _Alignas(8) unsigned char bytes[40];
};

struct aspx_mailbox_entry {
    _Atomic uint64_t next; /* offset in the mailbox; 0: not there yet */
    uint64_t number;       /* of the operation */
    uint64_t bytes;        /* of data */
    struct aspx_mailbox_label label;
    _Alignas(ASPX_MAILBOX_LINE) char data[];
};

/* An entry as a reader has it: the header was copied and checked once, since
 * its owner, or a stray store of a program, may change it at any time. */
struct aspx_mailbox_view {
    const char *data; /* NULL: it was not seen yet */
    uint64_t number, bytes;
    struct aspx_mailbox_label label;
};

/* Of one participant. */
struct aspx_mailbox_flags {
    _Alignas(ASPX_MAILBOX_LINE) struct aspx_event event;
    _Alignas(ASPX_MAILBOX_LINE) _Atomic uint64_t passed; /* entries below */
    _Atomic uint32_t has_no_room; /* what it gives waits for the others */
};

/* The state of a mailbox that a ghost serves, as the ghost tells it. */
enum aspx_mailbox_state {
    ASPX_MAILBOX_OPEN,
    ASPX_MAILBOX_CLOSED, /* after all of its users have let go */
    ASPX_MAILBOX_BROKEN, /* something in its memory is not what was written */
};

/* What a ghost has to know of the communicator; users need none of it. */
struct aspx_mailbox_nodes {
    uint32_t ranks, nodes, node; /* node: this one */
    int32_t tag;                 /* the first of those of the communicator */
    _Atomic uint32_t left;       /* members that have let go of the mailbox */
    _Atomic uint32_t state;      /* enum aspx_mailbox_state */
    uint32_t map[]; /* node of each rank, then the ghost of each node: its
                       number among all ghosts */
};

/* What one knows of a unit of its own region: only this is believed. */
struct aspx_mailbox_unit {
    uint64_t last; /* number of the last entry that was published in it */
    uint32_t open; /* entries that were taken, and are not published */
    bool taken;
};

/* As one process sees it. What it depends on is in its own memory. */
struct aspx_mailbox {
    char *base;
    uint32_t me, participants;
    struct aspx_mailbox_flags *flags;
    struct aspx_mailbox_nodes *nodes;
    uint64_t head, region; /* bytes of the head; of a region */
    bool apart;            /* as in its shape */
    /* NULL, or what in the memory is not what a participant can have written;
     * nothing is taken or read any more. */
    const char *fault;
    uint32_t fault_of; /* the participant */
    /* as an owner of entries */
    struct aspx_mailbox_entry *last;
    uint64_t published;
    struct aspx_mailbox_unit *unit;
    uint32_t units, current, fill; /* small ones go to the unit `current`, of
                                      which so many bytes are taken */
    uint32_t top;                  /* units from this one on are free */
    uint64_t checked;              /* units for which there was memory */
    uint64_t populated;            /* units that have memory */
    uint64_t used;                 /* bytes of units taken, at most */
    bool has_no_room;              /* as told */
    uint64_t *others_passed;       /* as last read, by participant */
    /* as a reader */
    const struct aspx_mailbox_entry **cursor; /* by participant */
    uint64_t *seen;                           /* entries, by participant */
    uint64_t passed;                          /* as told */
};

/* What a mailbox is made for; the same in all its processes. */
struct aspx_mailbox_shape {
    uint32_t participants;
    uint32_t ranks, nodes; /* of the map; 0: there is none */
    /* Address space of each participant. Memory is taken from the system when
     * it is first written, so this only bounds what one may have posted while
     * another one has not looked. A multiple of the unit. */
    uint64_t region;
    /* Each reads only what the others give, and the entries of each are
     * numbered for themselves; else all number the same operations. */
    bool apart;
};

/* How much a mailbox takes: address space, and the part at its begin that holds
 * flags and map. */
uint64_t aspx_mailbox_bytes(const struct aspx_mailbox_shape *shape);
uint64_t aspx_mailbox_head_bytes(const struct aspx_mailbox_shape *shape);

/* See a mailbox in memory that was zeroed and is shared.
 *   me  own number among the participants
 * Returns 0, or -1: no memory. */
int aspx_mailbox_see(struct aspx_mailbox *mailbox, void *memory, uint32_t me,
                     const struct aspx_mailbox_shape *shape);

/* Tell the shape to those that know only the address; they find it there. */
void aspx_mailbox_introduce(void *memory,
                            const struct aspx_mailbox_shape *shape);
void aspx_mailbox_find(const void *memory, struct aspx_mailbox_shape *shape_p);

/* This participant reads nothing any more: nobody keeps anything for it. */
void aspx_mailbox_retire(struct aspx_mailbox *mailbox);

/* Forget it; the memory stays. Takes zeros. */
void aspx_mailbox_leave(struct aspx_mailbox *mailbox);

/* A new entry with room for so many bytes, or NULL: there is no room, or no
 * memory, now. What was taken is published, with the same bytes, in any order.
 */
struct aspx_mailbox_entry *aspx_mailbox_take(struct aspx_mailbox *mailbox,
                                             uint64_t bytes);
void aspx_mailbox_publish(struct aspx_mailbox *mailbox,
                          struct aspx_mailbox_entry *entry, uint64_t bytes);

/* Bytes of a region that an entry with so many bytes takes at most. */
uint64_t aspx_mailbox_footprint(uint64_t bytes);

/* Are more bytes of the own region than these taken? */
bool aspx_mailbox_uses_more(struct aspx_mailbox *mailbox, uint64_t bytes);

/* Does anyone have no room, so that it helps to let go of entries early? */
bool aspx_mailbox_is_short(const struct aspx_mailbox *mailbox);

/* See the next entry of a participant. Returns false when there is none, or
 * when it is not what the participant can have written (see fault). */
bool aspx_mailbox_next(struct aspx_mailbox *mailbox, uint32_t participant,
                       struct aspx_mailbox_view *view_p);

/* Entries of operations below `needed` are not read any more. */
void aspx_mailbox_pass(struct aspx_mailbox *mailbox, uint64_t needed);

#endif
