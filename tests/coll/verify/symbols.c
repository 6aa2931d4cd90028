/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers of symbols. */
#include "tests/coll/verify/symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Room for more; what it holds stays. */
static bool reserve(struct asp_coll_symbols *s, uint32_t more)
{
    uint32_t capacity = s->capacity ? s->capacity : 8;
    struct asp_coll_symbol *list;

    while (capacity < s->n + more)
        capacity *= 2;
    if (capacity == s->capacity)
        return true;
    list = realloc(s->list, capacity * sizeof(*list));
    if (!list) {
        errno = ENOMEM;
        return false;
    }
    s->list = list;
    s->capacity = capacity;
    return true;
}

bool asp_coll_symbols_add(struct asp_coll_symbols *to,
                          struct asp_coll_symbol symbol)
{
    struct asp_coll_symbol *last = to->n ? &to->list[to->n - 1] : NULL;

    if (last && last->end == symbol.start && last->ranks == symbol.ranks &&
        last->expression == symbol.expression &&
        last->offset + (last->end - last->start) == symbol.offset) {
        last->end = symbol.end;
        return true;
    }
    if (!reserve(to, 1))
        return false;
    to->list[to->n++] = symbol;
    return true;
}

/* The first that ends after at. */
static uint32_t find(const struct asp_coll_symbols *s, size_t at)
{
    uint32_t low = 0, high = s->n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (s->list[middle].end > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Cut off what lies before start and from end on. */
static struct asp_coll_symbol clip(struct asp_coll_symbol symbol, size_t start,
                                   size_t end)
{
    if (symbol.start < start) {
        symbol.offset += start - symbol.start;
        symbol.start = start;
    }
    if (symbol.end > end)
        symbol.end = end;
    return symbol;
}

bool asp_coll_symbols_read(const struct asp_coll_symbols *from, size_t start,
                           size_t end, size_t at, struct asp_coll_symbols *to)
{
    size_t done = start;

    for (uint32_t i = find(from, start); done < end; i++) {
        struct asp_coll_symbol symbol;

        if (i == from->n || from->list[i].start > done) {
            errno = ENODATA;
            return false;
        }
        symbol = clip(from->list[i], start, end);
        done = symbol.end;
        symbol.start += at - start;
        symbol.end += at - start;
        if (!asp_coll_symbols_add(to, symbol))
            return false;
    }
    return true;
}

bool asp_coll_symbols_write(struct asp_coll_symbols *to, size_t start,
                            size_t end, const struct asp_coll_symbols *what)
{
    uint32_t first = find(to, start), last = first, n = what->n;
    struct asp_coll_symbol before = {0}, after = {0};

    if (!reserve(to, n + 2))
        return false;
    while (last < to->n && to->list[last].start < end)
        last++;
    if (first < last && to->list[first].start < start)
        before = clip(to->list[first], 0, start);
    if (first < last && to->list[last - 1].end > end)
        after = clip(to->list[last - 1], end, SIZE_MAX);
    n += (before.end ? 1u : 0u) + (after.end ? 1u : 0u);
    memmove(to->list + first + n, to->list + last,
            (to->n - last) * sizeof(*to->list));
    to->n += n - (last - first);
    if (before.end)
        to->list[first++] = before;
    memcpy(to->list + first, what->list, what->n * sizeof(*what->list));
    if (after.end)
        to->list[first + what->n] = after;
    return true;
}

/* The finalizer of splitmix64: no bit of the result is that of a sum or xor. */
static uint64_t scramble(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint64_t reduced(uint64_t left, uint64_t right, bool commutative)
{
    bool swap = commutative && left > right;

    return scramble(scramble(swap ? right : left) + (swap ? left : right));
}

/* Is one interval of ranks followed by another? */
static bool follows(uint64_t left, uint64_t right)
{
    int last = 63 - __builtin_clzll(left), first = __builtin_ctzll(right);

    return last + 1 == first;
}

static const char *illegal(const struct asp_coll_symbol *left,
                           const struct asp_coll_symbol *right,
                           size_t element_size, bool commutative)
{
    if (left->offset != right->offset)
        return "reduces elements of different places";
    if (left->offset % element_size)
        return "reduces a part of an element";
    if (left->ranks & right->ranks)
        return "reduces a contribution twice";
    if (!commutative && !follows(left->ranks, right->ranks))
        return "reduces out of the order of ranks";
    return NULL;
}

bool asp_coll_symbols_reduce(const struct asp_coll_symbols *left,
                             const struct asp_coll_symbols *right,
                             size_t element_size, bool commutative,
                             struct asp_coll_symbols *into, const char **why_p)
{
    uint32_t i = 0, j = 0;
    size_t done = left->list[0].start;

    *why_p = NULL;
    while (i < left->n && j < right->n) {
        size_t end = left->list[i].end < right->list[j].end
                         ? left->list[i].end
                         : right->list[j].end;
        struct asp_coll_symbol l = clip(left->list[i], done, end);
        struct asp_coll_symbol r = clip(right->list[j], done, end);

        *why_p = illegal(&l, &r, element_size, commutative);
        l.ranks |= r.ranks;
        l.expression = reduced(l.expression, r.expression, commutative);
        if (*why_p || !asp_coll_symbols_add(into, l))
            return false;
        i += left->list[i].end == end;
        j += right->list[j].end == end;
        done = end;
    }
    if ((left->list[left->n - 1].end - left->list[0].start) % element_size)
        *why_p = "reduces a part of an element";
    return !*why_p;
}
