/* SPDX-License-Identifier: BSD-3-Clause */
/* Random participants of a mailbox against a model. What a reader may still
 * read stays as it was written, whatever is taken meanwhile; and when all have
 * read all, next to nothing is taken. */
#include "config.h"

#include "mailbox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

enum {
    MOST = 3, /* participants */
    MAILBOXES = 60,
    STEPS = 4000,
    ENTRIES = STEPS + 2,
    OPEN = 20,       /* taken at once, and not published */
    UNITS_MOST = 12, /* of a region: many a take finds no room */
    LOOKS = 30,      /* entries that are read at once */
    TAKEN = 0xee,    /* what fills an entry before it is published */
};

struct given {
    struct aspx_mailbox_entry *entry;
    uint64_t bytes;
    unsigned char value;
};

struct participant {
    struct aspx_mailbox mailbox;
    struct given given[ENTRIES]; /* by number */
    struct given open[OPEN];
    uint32_t n, nopen;
    uint64_t needed;
};

static struct participant all[MOST];
static uint32_t n;
static bool apart;
static unsigned seed = 49;

static uint32_t draw(uint32_t below)
{
    return (uint32_t) rand_r(&seed) % below;
}

static bool reads(uint32_t reader, uint32_t giver)
{
    return !apart || reader != giver;
}

/* ---- what a participant does -------------------------------------------------- */

/* Below a unit, near one, and of several. */
static uint64_t draw_bytes(void)
{
    switch (draw(8)) {
    case 0:
        return draw(3 * ASPX_MAILBOX_UNIT);
    case 1:
        return ASPX_MAILBOX_UNIT - draw(4) * ASPX_MAILBOX_LINE;
    default:
        return draw(1000);
    }
}

static void take(struct participant *p, uint64_t bytes)
{
    struct given given = {.bytes = bytes, .value = (unsigned char) draw(128)};

    if (p->nopen == OPEN || p->n + p->nopen + MOST >= ENTRIES)
        return;
    given.entry = aspx_mailbox_take(&p->mailbox, bytes);
    if (!given.entry)
        return;
    memset(given.entry->data, TAKEN, bytes);
    p->open[p->nopen++] = given;
}

/* In any order. */
static void publish(struct participant *p)
{
    uint32_t which;

    if (p->nopen == 0)
        return;
    which = draw(p->nopen);
    p->given[p->n] = p->open[which];
    p->open[which] = p->open[--p->nopen];
    memset(p->given[p->n].entry->data, p->given[p->n].value,
           p->given[p->n].bytes);
    aspx_mailbox_publish(&p->mailbox, p->given[p->n].entry,
                         p->given[p->n].bytes);
    p->n++;
}

static void check(const struct given *given)
{
    for (uint64_t i = 0; i < given->bytes; i++)
        if ((unsigned char) given->entry->data[i] != given->value)
            fail_msg("byte %u of an entry is %x, not %x", (unsigned) i,
                     (unsigned char) given->entry->data[i], given->value);
}

static void read_some(uint32_t me, uint32_t looks)
{
    struct aspx_mailbox_view view;

    for (uint32_t q = 0; q < n; q++)
        for (uint32_t i = 0; reads(me, q) && i < looks &&
                             aspx_mailbox_next(&all[me].mailbox, q, &view);
             i++) {
            const struct given *given = &all[q].given[view.number];

            assert_ptr_equal(view.data, given->entry->data);
            assert_int_equal(view.bytes, given->bytes);
            check(given);
        }
    assert_null(all[me].mailbox.fault);
}

/* Of a mailbox whose participants number for themselves all that was seen is
 * passed; else what all have given. */
static void pass(uint32_t me, bool whole)
{
    struct participant *p = &all[me];
    uint64_t seen = UINT64_MAX;

    for (uint32_t q = 0; q < n; q++)
        if (reads(me, q) && p->mailbox.seen[q] < seen)
            seen = p->mailbox.seen[q];
    if (apart || whole)
        p->needed = seen;
    else
        p->needed += draw((uint32_t) (seen - p->needed) + 1);
    aspx_mailbox_pass(&p->mailbox, p->needed);
}

/* ---- the model ---------------------------------------------------------------- */

static void check_needed(uint32_t me)
{
    for (uint32_t q = 0; q < n; q++) {
        uint64_t seen = reads(me, q) ? all[me].mailbox.seen[q] : 0;

        for (uint64_t i = all[me].needed; i < seen; i++)
            check(&all[q].given[i]);
    }
}

static void check_units(const struct aspx_mailbox *mailbox)
{
    uint64_t taken = 0;

    for (uint32_t u = 0; u < mailbox->units; u++) {
        taken += mailbox->unit[u].taken;
        assert_true(mailbox->unit[u].taken || mailbox->unit[u].open == 0);
        assert_true(mailbox->unit[u].taken ? u < mailbox->top : true);
    }
    assert_int_equal(taken * ASPX_MAILBOX_UNIT, mailbox->used);
    assert_true(mailbox->unit[mailbox->current].taken);
}

static void step(uint32_t me)
{
    switch (draw(8)) {
    case 0:
    case 1:
    case 2:
        take(&all[me], draw_bytes());
        break;
    case 3:
    case 4:
        publish(&all[me]);
        break;
    case 5:
        read_some(me, draw(LOOKS));
        break;
    case 6:
        pass(me, false);
        break;
    default:
        check_needed(me);
        check_units(&all[me].mailbox);
    }
}

/* Lists of one length, whose last entries, which stay, are small. */
static void finish(void)
{
    uint32_t longest = 0;

    for (uint32_t p = 0; p < n; p++) {
        while (all[p].nopen)
            publish(&all[p]);
        if (all[p].n > longest)
            longest = all[p].n;
    }
    for (uint32_t round = 0; round < ENTRIES; round++)
        for (uint32_t p = 0; p < n; p++) {
            read_some(p, ENTRIES);
            pass(p, true);
            if (all[p].n < longest + 2) {
                take(&all[p], 0);
                publish(&all[p]);
            }
        }
    for (uint32_t p = 0; p < n; p++)
        assert_false(
            aspx_mailbox_uses_more(&all[p].mailbox, 2 * ASPX_MAILBOX_UNIT));
}

static void play(void)
{
    struct aspx_mailbox_shape shape = {
        .region = (2 + draw(UNITS_MOST - 1)) * ASPX_MAILBOX_UNIT,
        .participants = n,
        .apart = apart,
    };
    size_t bytes = aspx_mailbox_bytes(&shape);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    assert_ptr_not_equal(memory, MAP_FAILED);
    for (uint32_t p = 0; p < n; p++) {
        all[p] = (struct participant){0};
        assert_int_equal(aspx_mailbox_see(&all[p].mailbox, memory, p, &shape),
                         0);
    }
    for (int i = 0; i < STEPS; i++)
        step(draw(n));
    finish();
    for (uint32_t p = 0; p < n; p++)
        aspx_mailbox_leave(&all[p].mailbox);
    munmap(memory, bytes);
}

static void test_random_participants(void **state)
{
    (void) state;
    for (int i = 0; i < MAILBOXES; i++) {
        apart = i % 2;
        n = apart ? 2 : 1 + draw(MOST);
        play();
    }
}

/* Who reads nothing any more keeps nothing; but the last entry stays, for its
 * `next`, which is written when there is one more. Each has a unit of its own.
 */
static void test_retired(void **state)
{
    (void) state;
    struct aspx_mailbox_shape shape = {
        .region = 3 * ASPX_MAILBOX_UNIT, .participants = 2, .apart = true};
    const uint64_t bytes = ASPX_MAILBOX_UNIT * 3 / 4;
    char *memory = mmap(NULL, aspx_mailbox_bytes(&shape),
                        PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                        0);
    struct aspx_mailbox owner, reader;
    struct aspx_mailbox_entry *entry;

    assert_int_equal(aspx_mailbox_see(&owner, memory, 0, &shape), 0);
    assert_int_equal(aspx_mailbox_see(&reader, memory, 1, &shape), 0);
    while ((entry = aspx_mailbox_take(&owner, bytes)) != NULL)
        aspx_mailbox_publish(&owner, entry, bytes);
    assert_true(aspx_mailbox_is_short(&reader));
    aspx_mailbox_retire(&reader);
    for (int i = 0; i < STEPS; i++) {
        entry = aspx_mailbox_take(&owner, bytes);
        assert_non_null(entry);
        aspx_mailbox_publish(&owner, entry, bytes);
        assert_int_equal(entry->next, 0);
    }
    assert_false(aspx_mailbox_is_short(&reader));
    aspx_mailbox_leave(&owner);
    aspx_mailbox_leave(&reader);
    munmap(memory, aspx_mailbox_bytes(&shape));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_participants),
        cmocka_unit_test(test_retired),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
