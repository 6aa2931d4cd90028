/* SPDX-License-Identifier: BSD-3-Clause */
#include "program.h"
#include "bytes.h"

#include <stdint.h>

/* ---- messages --------------------------------------------------------------- */

/* The halves are the even and the odd ranks, the last rank first. */
int comm_rank(int comm, int world_rank, int size)
{
    int members = (size + 1 - world_rank % 2) / 2;

    return comm == HALVES ? members - 1 - world_rank / 2 : world_rank;
}

/* Most are about as long as what may be copied at the post. */
static int draw_bytes(struct prng *all)
{
    switch (prng_below(all, 20)) {
    case 0:
        return 0;
    case 1:
    case 2:
    case 3:
        return prng_below(all, 2 * SMALL_BYTES);
    case 4:
    case 5:
        return prng_below(all, 3000);
    case 6:
        return prng_range(all, 5000, 70000);
    case 7:
        return prng_chance(all, 20) ? prng_range(all, 70000, 1 << 20) : 65536;
    default:
        return prng_range(all, 4080, 4112);
    }
}

int bytes_of(const struct message *m)
{
    return m->units * m->unit;
}

/* What its receiver could not tell from this one by envelope and length. */
static bool has_twin(const struct phase *phase, int number)
{
    const struct message *m = &phase->messages[number];

    for (int i = 0; i < number; i++) {
        const struct message *other = &phase->messages[i];

        if (other->comm == m->comm && other->from == m->from &&
            other->to == m->to && other->tag == m->tag &&
            other->units == m->units)
            return true;
    }
    return false;
}

static enum send_kind draw_kind(struct prng *all, const struct message *m,
                                bool posted)
{
    for (;;) {
        enum send_kind kind = (enum send_kind) prng_below(all, SEND_KINDS);
        bool buffered = kind == BSEND || kind == IBSEND || kind == PERSISTENT_B;
        bool needs_receive = kind <= RSEND || kind == IRSEND ||
                             kind == PERSISTENT_R;

        if ((posted || !needs_receive) &&
            (!buffered || bytes_of(m) <= BUFFERED_MOST))
            return kind;
    }
}

static void draw_ranks(struct message *m, struct prng *all, int size)
{
    m->from = prng_below(all, size);
    do {
        m->to = prng_below(all, size);
    } while (m->comm == HALVES && m->from % 2 != m->to % 2);
    m->source = comm_rank(m->comm, m->from, size);
    m->dest = comm_rank(m->comm, m->to, size);
}

/* The last message before this one of the same sender, or -1. */
static int one_before(const struct phase *phase, int number)
{
    int i = number - 1;

    while (i >= 0 && phase->messages[i].from != phase->messages[number].from)
        i--;
    return i;
}

/* Now and then, started together with the one before. */
static void draw_group(struct phase *phase, int number, struct prng *all)
{
    int before = one_before(phase, number);
    struct message *m = &phase->messages[number];

    m->group = number;
    if (before >= 0 && m->kind >= PERSISTENT &&
        phase->messages[before].kind >= PERSISTENT && prng_chance(all, 60))
        m->group = phase->messages[before].group;
}

void phase_draw(struct phase *phase, struct prng *all, int size, bool posted)
{
    int units[COMMS];

    *phase = (struct phase){.key = prng_next(all), .posted = posted};
    phase->n = prng_range(all, size, 10 * size);
    if (phase->n > MESSAGES_MOST)
        phase->n = MESSAGES_MOST;
    for (int c = 0; c < COMMS; c++)
        units[c] = prng_chance(all, 50) ? 1 : 4;
    for (int i = 0; i < phase->n; i++) {
        struct message *m = &phase->messages[i];

        m->comm = prng_below(all, posted ? COMMS : DOOMED);
        draw_ranks(m, all, size);
        m->tag = posted && prng_chance(all, 15) ? UNIQUE_TAG + i
                                                : prng_below(all, TAGS);
        m->unit = units[m->comm];
        m->units = draw_bytes(all) / m->unit;
        if (bytes_of(m) < SMALL_BYTES && has_twin(phase, i))
            m->units = SMALL_BYTES / m->unit;
        m->kind = draw_kind(all, m, posted);
        draw_group(phase, i, all);
    }
}

unsigned char *message_bytes(const struct phase *phase, int number)
{
    size_t bytes = (size_t) bytes_of(&phase->messages[number]);
    uint32_t key = (uint32_t) phase->key ^ (uint32_t) number * 7919u;
    unsigned char *at = malloc(bytes + 1);

    if (!at)
        abort();
    buffer_fill(at, bytes, key);
    if (bytes >= SMALL_BYTES)
        memcpy(at, &number, sizeof(number));
    return at;
}

/* ---- the reference ---------------------------------------------------------- */

bool fits(const struct receive *r, const struct message *m)
{
    return r->comm == m->comm &&
           (r->source == MPI_ANY_SOURCE || r->source == m->source) &&
           (r->tag == MPI_ANY_TAG || r->tag == m->tag);
}

/* Must `a` have been matched before `b`? For `b` got a message that `a`, posted
 * before, was waiting for, too; or a message that its sender had sent after
 * that of `a`, which `b` was waiting for, too (MPI 4.0, 3.5: order). */
static bool was_before(const struct phase *phase, const struct receive *a,
                       const struct receive *b)
{
    const struct message *of_a = &phase->messages[a->got];
    const struct message *of_b = &phase->messages[b->got];

    return (a->posted < b->posted && fits(a, of_b)) ||
           (of_a->from == of_b->from && of_a->group < of_b->group &&
            fits(b, of_a));
}

/* A receive that was still waiting when `b` was seen to have ended would have
 * got its message. */
static bool passed_over(const struct phase *phase, const struct receive *a,
                        const struct receive *b)
{
    return a->got < 0 && a->cancelled && a->posted < b->posted &&
           b->ended < a->revoked && fits(a, &phase->messages[b->got]);
}

/* MPI could have matched one after the other if there is an order with all that
 * was before each: take away those with nothing before, as long as there are.
 */
static bool has_order(const struct phase *phase, const struct receive *r, int n)
{
    bool gone[2 * MESSAGES_MOST] = {false};
    int left = 0;
    bool found = true;

    for (int i = 0; i < n; i++)
        left += !(gone[i] = r[i].got < 0);
    while (left > 0 && found) {
        found = false;
        for (int b = 0; b < n; b++) {
            bool is_first = !gone[b];

            for (int a = 0; a < n && is_first; a++)
                is_first = gone[a] || a == b ||
                           !was_before(phase, &r[a], &r[b]);
            gone[b] |= is_first;
            left -= is_first;
            found |= is_first;
        }
    }
    return left == 0;
}

const char *matching_fault(const struct phase *phase, const struct receive *r,
                           int n)
{
    for (int i = 0; i < n; i++) {
        if (r[i].got >= 0 && !fits(&r[i], &phase->messages[r[i].got]))
            return "a receive got what it did not ask for";
        for (int j = 0; j < n; j++)
            if (r[i].got >= 0 && passed_over(phase, &r[j], &r[i]))
                return "a receive was passed over";
    }
    return has_order(phase, r, n) ? NULL : "messages overtook each other";
}
