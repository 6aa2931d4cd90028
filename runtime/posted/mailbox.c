/* SPDX-License-Identifier: BSD-3-Clause */
/* Where things are in a mailbox:
 *
 *   head (line for its maker's number, sizes) | flags of each participant |
 *   map of nodes | to the page's end
 *   region of participant 0: first, entries ... | region of participant 1 ...
 */
#include "config.h"

#include "mailbox.h"

#include "runtime/base/memory_left.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    NONCE_BYTES = 16, /* its maker writes a random number there */
    /* So much memory at once is asked for, and not more than a quarter of what
     * is left: at the end of it the kernel ends a process, not the call. */
    CHECK_BYTES = 1 << 20,
    LEFT_SHARE = 4,
};

struct head {
    char nonce[NONCE_BYTES];
    struct aspx_mailbox_shape shape;
};

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static uint64_t map_at(uint32_t participants)
{
    return ASPX_MAILBOX_LINE +
           (uint64_t) participants * sizeof(struct aspx_mailbox_flags);
}

uint64_t aspx_mailbox_head_bytes(const struct aspx_mailbox_shape *shape)
{
    return round_up(
        map_at(shape->participants) + sizeof(struct aspx_mailbox_nodes) +
            sizeof(uint32_t) * ((uint64_t) shape->ranks + shape->nodes),
        (uint64_t) sysconf(_SC_PAGESIZE));
}

uint64_t aspx_mailbox_bytes(const struct aspx_mailbox_shape *shape)
{
    return aspx_mailbox_head_bytes(shape) + shape->participants * shape->region;
}

static struct aspx_mailbox_entry *at(const struct aspx_mailbox *mailbox,
                                     uint64_t offset)
{
    return (void *) (mailbox->base + offset);
}

static uint64_t region_of(const struct aspx_mailbox *mailbox,
                          uint32_t participant)
{
    return mailbox->head + participant * mailbox->region;
}

static uint64_t offset_of(const struct aspx_mailbox *mailbox,
                          const struct aspx_mailbox_entry *entry)
{
    return (uint64_t) ((const char *) entry - mailbox->base);
}

/* Take the memory of units now, so that where there is none (a full /dev/shm)
 * the call fails and not the process at its first store. Kernels before 5.14
 * cannot; there it is taken by the store. */
static bool populate(struct aspx_mailbox *mailbox, uint64_t end)
{
    char *from = (char *) mailbox->base + mailbox->head +
                 mailbox->me * mailbox->region +
                 mailbox->populated * ASPX_MAILBOX_UNIT;
    uint64_t units = end - mailbox->populated;

    if (end <= mailbox->populated)
        return true;
#ifdef MADV_POPULATE_WRITE
    if (madvise(from, units * ASPX_MAILBOX_UNIT, MADV_POPULATE_WRITE) != 0 &&
        errno != EINVAL)
        return false;
#else
    (void) from;
    (void) units;
#endif
    mailbox->populated = end;
    return true;
}

static bool take_tables(struct aspx_mailbox *mailbox)
{
    uint32_t participants = mailbox->participants;

    mailbox->cursor = calloc(participants, sizeof(*mailbox->cursor));
    mailbox->seen = calloc(participants, sizeof(*mailbox->seen));
    mailbox->others_passed = calloc(participants,
                                    sizeof(*mailbox->others_passed));
    mailbox->unit = calloc(mailbox->units, sizeof(*mailbox->unit));
    return mailbox->cursor && mailbox->seen && mailbox->others_passed &&
           mailbox->unit;
}

int aspx_mailbox_see(struct aspx_mailbox *mailbox, void *memory, uint32_t me,
                     const struct aspx_mailbox_shape *shape)
{
    uint32_t participants = shape->participants;

    *mailbox = (struct aspx_mailbox){
        .base = memory,
        .me = me,
        .participants = participants,
        .flags = (void *) ((char *) memory + ASPX_MAILBOX_LINE),
        .nodes = (void *) ((char *) memory + map_at(participants)),
        .head = aspx_mailbox_head_bytes(shape),
        .region = shape->region,
        .apart = shape->apart,
        .units = (uint32_t) (shape->region / ASPX_MAILBOX_UNIT),
    };
    if (!take_tables(mailbox) || !populate(mailbox, 1)) {
        aspx_mailbox_leave(mailbox);
        return -1;
    }
    /* Each list begins with an entry that is none. */
    for (uint32_t p = 0; p < participants; p++)
        mailbox->cursor[p] = at(mailbox, region_of(mailbox, p));
    mailbox->last = at(mailbox, region_of(mailbox, me));
    mailbox->fill = sizeof(struct aspx_mailbox_entry);
    mailbox->unit[0].taken = true;
    mailbox->top = 1;
    mailbox->used = ASPX_MAILBOX_UNIT;
    return 0;
}

void aspx_mailbox_introduce(void *memory,
                            const struct aspx_mailbox_shape *shape)
{
    struct head *head = memory;

    head->shape = *shape;
}

void aspx_mailbox_find(const void *memory, struct aspx_mailbox_shape *shape_p)
{
    const struct head *head = memory;

    *shape_p = head->shape;
}

void aspx_mailbox_leave(struct aspx_mailbox *mailbox)
{
    free(mailbox->cursor);
    free(mailbox->seen);
    free(mailbox->others_passed);
    free(mailbox->unit);
    mailbox->cursor = NULL;
    mailbox->seen = NULL;
    mailbox->others_passed = NULL;
    mailbox->unit = NULL;
}

/* ---- memory of entries -------------------------------------------------------- */

/* Entries are passed in the order in which they were published, more or less,
 * so what is free is soon in one piece again; it is looked for where the
 * current unit is full. */

static uint64_t bytes_of(uint64_t data)
{
    return round_up(sizeof(struct aspx_mailbox_entry) + data,
                    ASPX_MAILBOX_LINE);
}

static uint32_t units_of(uint64_t bytes)
{
    return (uint32_t) ((bytes + ASPX_MAILBOX_UNIT - 1) / ASPX_MAILBOX_UNIT);
}

uint64_t aspx_mailbox_footprint(uint64_t bytes)
{
    uint64_t all = bytes_of(bytes);

    return all > ASPX_MAILBOX_UNIT
               ? (uint64_t) units_of(all) * ASPX_MAILBOX_UNIT
               : all;
}

static void find_fault(struct aspx_mailbox *mailbox, uint32_t participant,
                       const char *field)
{
    if (mailbox->fault)
        return;
    mailbox->fault = field;
    mailbox->fault_of = participant;
}

/* Does this process read what a participant gives, and that what this gives? */
static bool reads(const struct aspx_mailbox *mailbox, uint32_t participant)
{
    return !mailbox->apart || participant != mailbox->me;
}

/* A participant passes what it has seen, and never less than before. */
static uint64_t passed_of(struct aspx_mailbox *mailbox, uint32_t participant)
{
    uint64_t passed = atomic_load_explicit(&mailbox->flags[participant].passed,
                                           memory_order_acquire);

    if (passed < mailbox->others_passed[participant] ||
        (passed > mailbox->published && passed != UINT64_MAX)) {
        find_fault(mailbox, participant, "passed");
        return 0;
    }
    mailbox->others_passed[participant] = passed;
    return passed;
}

/* Entries below the result are read by nobody any more. */
static uint64_t all_passed(struct aspx_mailbox *mailbox)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t p = 0; p < mailbox->participants; p++)
        if (reads(mailbox, p)) {
            uint64_t passed = passed_of(mailbox, p);

            least = passed < least ? passed : least;
        }
    return least;
}

/* Units are free again as soon as all of their entries are passed. The last
 * entry of all stays, for its `next`. */
static void reclaim(struct aspx_mailbox *mailbox)
{
    uint64_t passed = all_passed(mailbox);
    uint32_t top = mailbox->top;

    if (mailbox->published == 0)
        return;
    if (passed > mailbox->published - 1)
        passed = mailbox->published - 1;
    mailbox->top = 0;
    for (uint32_t u = 0; u < top; u++) {
        struct aspx_mailbox_unit *unit = &mailbox->unit[u];
        bool is_free = !unit->open && unit->last < passed;

        if (is_free && u == mailbox->current) {
            mailbox->fill = 0;
        } else if (is_free && unit->taken) {
            unit->taken = false;
            mailbox->used -= ASPX_MAILBOX_UNIT;
        }
        if (unit->taken)
            mailbox->top = u + 1;
    }
}

bool aspx_mailbox_uses_more(struct aspx_mailbox *mailbox, uint64_t bytes)
{
    if (mailbox->used > bytes)
        reclaim(mailbox);
    return mailbox->used > bytes;
}

static bool has_memory(struct aspx_mailbox *mailbox, uint32_t end)
{
    uint32_t more;

    if (end <= mailbox->checked)
        return true;
    more = (uint32_t) round_up(end - mailbox->checked,
                               CHECK_BYTES / ASPX_MAILBOX_UNIT);
    if ((uint64_t) more * ASPX_MAILBOX_UNIT > aspx_memory_left() / LEFT_SHARE)
        return false;
    mailbox->checked += more;
    return true;
}

/* The first of so many free units that follow one another. Returns false when
 * there are none. */
static bool find_units(struct aspx_mailbox *mailbox, uint32_t units,
                       uint32_t *unit)
{
    uint32_t free = 0;

    for (uint32_t u = 0; u < mailbox->units; u++) {
        free = mailbox->unit[u].taken ? 0 : free + 1;
        if (free < units)
            continue;
        if (!has_memory(mailbox, u + 1) || !populate(mailbox, u + 1))
            return false;
        *unit = u + 1 - units;
        for (uint32_t t = *unit; t <= u; t++)
            mailbox->unit[t].taken = true;
        if (mailbox->top < u + 1)
            mailbox->top = u + 1;
        mailbox->used += (uint64_t) units * ASPX_MAILBOX_UNIT;
        return true;
    }
    return false;
}

/* The current unit has no room: another one is, or it is used again. */
static bool turn_over(struct aspx_mailbox *mailbox)
{
    uint32_t unit;

    if (mailbox->fill == 0)
        return true;
    if (!find_units(mailbox, 1, &unit))
        return false;
    mailbox->current = unit;
    mailbox->fill = 0;
    return true;
}

/* Those that an entry is in: so many from this one on. */
static struct aspx_mailbox_unit *units_at(
    struct aspx_mailbox *mailbox, const struct aspx_mailbox_entry *entry,
    uint64_t bytes, uint32_t *n)
{
    uint64_t place = offset_of(mailbox, entry) -
                     region_of(mailbox, mailbox->me);

    *n = units_of(bytes_of(bytes));
    return &mailbox->unit[place / ASPX_MAILBOX_UNIT];
}

static struct aspx_mailbox_entry *entry_in(struct aspx_mailbox *mailbox,
                                           uint32_t unit, uint32_t offset,
                                           uint64_t bytes)
{
    struct aspx_mailbox_entry *entry = at(
        mailbox, region_of(mailbox, mailbox->me) +
                     (uint64_t) unit * ASPX_MAILBOX_UNIT + offset);
    uint32_t n;
    struct aspx_mailbox_unit *its = units_at(mailbox, entry, bytes, &n);

    for (uint32_t u = 0; u < n; u++)
        its[u].open++;
    entry->bytes = bytes;
    atomic_store_explicit(&entry->next, 0, memory_order_relaxed);
    return entry;
}

static struct aspx_mailbox_entry *take(struct aspx_mailbox *mailbox,
                                       uint64_t bytes)
{
    uint64_t all = bytes_of(bytes);
    struct aspx_mailbox_entry *entry;
    uint32_t unit;

    if (mailbox->fault)
        return NULL;
    if (mailbox->fill + all > ASPX_MAILBOX_UNIT)
        reclaim(mailbox);
    if (all > ASPX_MAILBOX_UNIT)
        return !mailbox->fault && find_units(mailbox, units_of(all), &unit)
                   ? entry_in(mailbox, unit, 0, bytes)
                   : NULL;
    if (mailbox->fill + all > ASPX_MAILBOX_UNIT &&
        (mailbox->fault || !turn_over(mailbox)))
        return NULL;
    entry = entry_in(mailbox, mailbox->current, mailbox->fill, bytes);
    mailbox->fill += (uint32_t) all;
    return entry;
}

static void tell_room(struct aspx_mailbox *mailbox, bool has_no_room)
{
    if (has_no_room == mailbox->has_no_room)
        return;
    mailbox->has_no_room = has_no_room;
    atomic_store_explicit(&mailbox->flags[mailbox->me].has_no_room, has_no_room,
                          memory_order_relaxed);
}

struct aspx_mailbox_entry *aspx_mailbox_take(struct aspx_mailbox *mailbox,
                                             uint64_t bytes)
{
    struct aspx_mailbox_entry *entry = take(mailbox, bytes);

    tell_room(mailbox, !entry);
    return entry;
}

bool aspx_mailbox_is_short(const struct aspx_mailbox *mailbox)
{
    for (uint32_t p = 0; p < mailbox->participants; p++)
        if (atomic_load_explicit(&mailbox->flags[p].has_no_room,
                                 memory_order_relaxed))
            return true;
    return false;
}

void aspx_mailbox_publish(struct aspx_mailbox *mailbox,
                          struct aspx_mailbox_entry *entry, uint64_t bytes)
{
    uint32_t n;
    struct aspx_mailbox_unit *its = units_at(mailbox, entry, bytes, &n);

    for (uint32_t u = 0; u < n; u++) {
        its[u].open--;
        its[u].last = mailbox->published;
    }
    entry->number = mailbox->published++;
    atomic_store_explicit(&mailbox->last->next, offset_of(mailbox, entry),
                          memory_order_release);
    mailbox->last = entry;
    aspx_event_notify(&mailbox->flags[mailbox->me].event);
}

/* ---- reading ------------------------------------------------------------------ */

/* Can a participant have an entry there? */
static bool is_entry(const struct aspx_mailbox *mailbox, uint32_t participant,
                     uint64_t offset)
{
    uint64_t region = region_of(mailbox, participant);

    return offset >= region && offset % ASPX_MAILBOX_LINE == 0 &&
           offset - region <=
               mailbox->region - sizeof(struct aspx_mailbox_entry);
}

/* How much may follow its header. */
static uint64_t most_data(const struct aspx_mailbox *mailbox,
                          uint32_t participant,
                          const struct aspx_mailbox_entry *entry)
{
    return region_of(mailbox, participant) + mailbox->region -
           offset_of(mailbox, entry) - sizeof(*entry);
}

bool aspx_mailbox_next(struct aspx_mailbox *mailbox, uint32_t participant,
                       struct aspx_mailbox_view *view_p)
{
    uint64_t next = atomic_load_explicit(&mailbox->cursor[participant]->next,
                                         memory_order_acquire);
    const struct aspx_mailbox_entry *entry;
    struct aspx_mailbox_view view;

    if (next == 0 || mailbox->fault)
        return false;
    if (!is_entry(mailbox, participant, next)) {
        find_fault(mailbox, participant, "next");
        return false;
    }
    entry = at(mailbox, next);
    view = (struct aspx_mailbox_view){
        .data = entry->data,
        .number = *(const volatile uint64_t *) &entry->number,
        .bytes = *(const volatile uint64_t *) &entry->bytes,
        .label = entry->label,
    };
    if (view.number != mailbox->seen[participant])
        find_fault(mailbox, participant, "number");
    else if (view.bytes > most_data(mailbox, participant, entry))
        find_fault(mailbox, participant, "bytes");
    if (mailbox->fault)
        return false;
    mailbox->seen[participant]++;
    mailbox->cursor[participant] = entry;
    *view_p = view;
    return true;
}

/* The entry that a cursor stands at is still needed for its `next`. */
void aspx_mailbox_pass(struct aspx_mailbox *mailbox, uint64_t needed)
{
    for (uint32_t p = 0; p < mailbox->participants; p++)
        if (reads(mailbox, p)) {
            uint64_t behind = mailbox->seen[p] ? mailbox->seen[p] - 1 : 0;

            needed = behind < needed ? behind : needed;
        }
    if (needed == mailbox->passed)
        return;
    mailbox->passed = needed;
    atomic_store_explicit(&mailbox->flags[mailbox->me].passed, needed,
                          memory_order_release);
}

void aspx_mailbox_retire(struct aspx_mailbox *mailbox)
{
    atomic_store_explicit(&mailbox->flags[mailbox->me].passed, UINT64_MAX,
                          memory_order_release);
}
