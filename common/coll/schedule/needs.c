/* SPDX-License-Identifier: BSD-3-Clause */
/* Needs: while the steps pass by in their order, each buffer is kept as a
 * sorted array of pieces, each with the step that wrote it last and the steps
 * that have read it since. A reader needs the writer. A writer needs the
 * readers, or if there are none the writer before it: that one is a need of
 * each reader already. */
#include "common/coll/schedule/needs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PIECES_FIRST = 16 };

static const uint32_t NONE = UINT32_MAX;

/* A list of readers. When a piece is cut in two, both go on from one list: what
 * is on it never changes. */
struct reader {
    uint32_t step;
    uint32_t next; /* index in tracker.readers, or NONE */
};

struct piece {
    size_t start, end;
    uint32_t writer;  /* step, or NONE */
    uint32_t readers; /* index in tracker.readers, or NONE */
};

struct track {
    struct piece *pieces; /* disjoint, ascending */
    uint32_t n, capacity;
};

struct tracker {
    struct asp_coll_schedule *s;
    struct track tracks[ASP_COLL_BUFFERS];
    struct reader *readers;
    uint32_t nreaders, readers_max;
    uint32_t *seen; /* by step: the last step that was said to need it */
    bool failed;
};

/* Room for one more of size bytes in an array that grows by doubling. */
static void *grow(struct tracker *t, void *array, uint32_t n,
                  uint32_t *capacity_p, size_t size)
{
    uint32_t capacity = *capacity_p ? 2 * *capacity_p : PIECES_FIRST;
    void *larger;

    if (n < *capacity_p)
        return array;
    larger = realloc(array, capacity * size);
    if (!larger) {
        t->failed = true;
        return array;
    }
    *capacity_p = capacity;
    return larger;
}

static void need(struct tracker *t, uint32_t step, uint32_t earlier)
{
    struct asp_coll_schedule *s = t->s;

    if (earlier == NONE || t->seen[earlier] == step)
        return;
    t->seen[earlier] = step;
    s->needs = grow(t, s->needs, s->nneeds, &s->needs_max, sizeof(*s->needs));
    if (t->failed)
        return;
    s->needs[s->nneeds++] = earlier;
    s->steps[step].nneeds++;
}

static uint32_t add_reader(struct tracker *t, uint32_t step, uint32_t next)
{
    t->readers = grow(t, t->readers, t->nreaders, &t->readers_max,
                      sizeof(*t->readers));
    if (t->failed)
        return NONE;
    t->readers[t->nreaders] = (struct reader){step, next};
    return t->nreaders++;
}

/* The first piece that ends after at. */
static uint32_t find(const struct track *track, size_t at)
{
    uint32_t low = 0, high = track->n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (track->pieces[middle].end > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void insert(struct tracker *t, struct track *track, uint32_t at,
                   struct piece piece)
{
    track->pieces = grow(t, track->pieces, track->n, &track->capacity,
                         sizeof(*track->pieces));
    if (t->failed)
        return;
    memmove(&track->pieces[at + 1], &track->pieces[at],
            (track->n - at) * sizeof(piece));
    track->pieces[at] = piece;
    track->n++;
}

/* Cut the piece that at is inside of. */
static void cut(struct tracker *t, struct track *track, size_t at)
{
    uint32_t i = find(track, at);
    struct piece head;

    if (i == track->n || track->pieces[i].start >= at)
        return;
    head = track->pieces[i];
    head.end = at;
    insert(t, track, i, head);
    if (!t->failed)
        track->pieces[i + 1].start = at;
}

static void read_piece(struct tracker *t, uint32_t step, struct piece *piece)
{
    uint32_t reader;

    need(t, step, piece->writer);
    reader = add_reader(t, step, piece->readers);
    piece->readers = reader;
}

static void read_range(struct tracker *t, uint32_t step, struct track *track,
                       size_t start, size_t end)
{
    uint32_t i;

    cut(t, track, start);
    cut(t, track, end);
    for (i = find(track, start); start < end && !t->failed; i++) {
        bool here = i < track->n && track->pieces[i].start < end;

        if (!here || track->pieces[i].start > start)
            insert(t, track, i,
                   (struct piece){start, here ? track->pieces[i].start : end,
                                  NONE, NONE});
        if (t->failed)
            return;
        read_piece(t, step, &track->pieces[i]);
        start = track->pieces[i].end;
    }
}

static void need_all(struct tracker *t, uint32_t step,
                     const struct piece *piece)
{
    if (piece->readers == NONE)
        need(t, step, piece->writer);
    for (uint32_t r = piece->readers; r != NONE; r = t->readers[r].next)
        need(t, step, t->readers[r].step);
}

static void write_range(struct tracker *t, uint32_t step, struct track *track,
                        size_t start, size_t end)
{
    uint32_t first, last;

    cut(t, track, start);
    cut(t, track, end);
    if (t->failed)
        return;
    first = find(track, start);
    for (last = first; last < track->n && track->pieces[last].start < end;
         last++)
        need_all(t, step, &track->pieces[last]);
    if (last == first) {
        insert(t, track, first, (struct piece){start, end, step, NONE});
        return;
    }
    track->pieces[first] = (struct piece){start, end, step, NONE};
    memmove(&track->pieces[first + 1], &track->pieces[last],
            (track->n - last) * sizeof(struct piece));
    track->n -= last - first - 1;
}

static void take_step(struct tracker *t, uint32_t i)
{
    struct asp_coll_step *step = &t->s->steps[i];

    step->needs_first = t->s->nneeds;
    step->nneeds = 0;
    if (step->behind)
        need(t, i, i - step->behind);
    if (step->action != ASP_COLL_RECV)
        read_range(t, i, &t->tracks[step->from_buffer], step->from,
                   step->from + step->bytes);
    if (step->action != ASP_COLL_SEND)
        write_range(t, i, &t->tracks[step->to_buffer], step->to,
                    step->to + step->bytes);
}

int asp_coll_needs(struct asp_coll_schedule *s)
{
    struct tracker t = {.s = s};

    s->nneeds = 0;
    t.seen = malloc((s->nsteps + 1) * sizeof(*t.seen));
    t.failed = !t.seen;
    if (!t.failed)
        memset(t.seen, 0xff, s->nsteps * sizeof(*t.seen));
    for (uint32_t i = 0; i < s->nsteps && !t.failed; i++)
        take_step(&t, i);
    for (int b = 0; b < ASP_COLL_BUFFERS; b++)
        free(t.tracks[b].pieces);
    free(t.readers);
    free(t.seen);
    if (!t.failed)
        return 0;
    errno = ENOMEM;
    return -1;
}
