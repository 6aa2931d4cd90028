/* SPDX-License-Identifier: BSD-3-Clause */
/* What one rank does in a collective operation, as data: a list of steps over
 * ranges of bytes. The same list is carried out (runtime), timed (simulate.h),
 * proved (tests/coll/verify) and drawn (aspen explain coll).
 *
 * A step may begin as soon as all earlier steps of its schedule have ended that
 * touch the same bytes, unless both only read them, and the one that it is to
 * be behind (asp_coll_behind()); asp_coll_finish() works these needs out. So
 * the order of the list is the meaning, and what does not conflict may happen
 * in any order, or at once.
 *
 * A SEND ends when its bytes may be overwritten, which may be as late as when
 * they were received: no schedule may count on a message being buffered.
 * A message and its receiver meet by (sender, receiver, tag).
 *
 * Threads: a schedule belongs to one; finished and unchanged, to any number. */
#ifndef ASPEN_COMMON_COLL_SCHEDULE_SCHEDULE_H
#define ASPEN_COMMON_COLL_SCHEDULE_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum asp_coll_buffer {
    ASP_COLL_IN,      /* the caller's send buffer: never written */
    ASP_COLL_OUT,     /* the caller's receive buffer */
    ASP_COLL_SCRATCH, /* schedule.scratch bytes, undefined at the start */
    /* schedule.signals cells that exist for the needs alone: a message from or
     * into them has no bytes. "Send after the signals 0 to 2 have come" is a
     * SEND from cells 0 to 2. */
    ASP_COLL_SIGNAL,
    ASP_COLL_BUFFERS,
};

enum asp_coll_action {
    ASP_COLL_SEND, /* from -> peer */
    ASP_COLL_RECV, /* peer -> to */
    ASP_COLL_COPY, /* from -> to; the ranges never overlap */
    /* to := from op to. That is MPI_Reduce_local(from, to): from is the LEFT
     * operand. Both are whole elements (the element size of index.h). */
    ASP_COLL_REDUCE_LOCAL,
};

/* A place in a buffer; offset in bytes, in cells of ASP_COLL_SIGNAL. */
struct asp_coll_place {
    size_t offset;
    enum asp_coll_buffer buffer;
};

/* 48 bytes: large simulations hold tens of millions of them. */
struct asp_coll_step {
    uint8_t action;      /* enum asp_coll_action */
    uint8_t from_buffer; /* enum asp_coll_buffer; SEND, COPY, REDUCE */
    uint8_t to_buffer;   /* RECV, COPY, REDUCE */
    uint8_t behind;      /* see asp_coll_behind(); 0: none */
    uint32_t peer;       /* rank of the communicator; SEND, RECV */
    /* Of SEND and RECV: names the message among those of the two ranks. Set by
     * the builder, the same on both sides, unique in its direction. */
    uint32_t round;
    /* The same made small: its number by round among the messages from this
     * sender to this receiver, from 0. Set by asp_coll_finish(). */
    uint32_t tag;
    uint32_t needs_first; /* in schedule.needs; asp_coll_finish() */
    uint32_t nneeds;
    size_t from, to; /* offsets in bytes, in cells of ASP_COLL_SIGNAL */
    size_t bytes;    /* > 0; cells of ASP_COLL_SIGNAL */
};

struct asp_coll_schedule {
    struct asp_coll_step *steps;
    uint32_t nsteps;
    uint32_t steps_max; /* has memory for so many */
    uint32_t *needs;    /* indexes of earlier steps, each once per step */
    uint32_t nneeds;
    uint32_t needs_max;
    size_t scratch;   /* bytes of ASP_COLL_SCRATCH */
    uint32_t signals; /* cells of ASP_COLL_SIGNAL */
    int error;        /* errno of the first addition that failed, or 0 */
};

/* Messages of one pair of ranks and direction: tag < this. */
enum { ASP_COLL_TAGS = 16384 };

/* Bytes that a SEND or RECV moves: none for a signal. */
static inline size_t asp_coll_payload(const struct asp_coll_step *step)
{
    uint8_t buffer = step->action == ASP_COLL_SEND ? step->from_buffer
                                                   : step->to_buffer;

    return buffer == ASP_COLL_SIGNAL ? 0 : step->bytes;
}

static inline struct asp_coll_place asp_coll_at(enum asp_coll_buffer buffer,
                                                size_t offset)
{
    return (struct asp_coll_place){offset, buffer};
}

/* The place that is so many bytes after another. */
static inline struct asp_coll_place asp_coll_past(struct asp_coll_place place,
                                                  size_t bytes)
{
    place.offset += bytes;
    return place;
}

/* An empty schedule is all zeros: struct asp_coll_schedule s = {0}.
 *
 * Additions at the end. One of no bytes adds nothing. When memory is short
 * schedule.error is set, and asp_coll_finish() fails; so additions need no look
 * each. */
void asp_coll_send(struct asp_coll_schedule *s, uint32_t peer, uint32_t round,
                   struct asp_coll_place from, size_t bytes);
void asp_coll_recv(struct asp_coll_schedule *s, uint32_t peer, uint32_t round,
                   struct asp_coll_place to, size_t bytes);
void asp_coll_copy(struct asp_coll_schedule *s, struct asp_coll_place from,
                   struct asp_coll_place to, size_t bytes);
void asp_coll_reduce_local(struct asp_coll_schedule *s,
                           struct asp_coll_place from, struct asp_coll_place to,
                           size_t bytes);

/* The step that was added last begins after another one of this list has ended,
 * whatever the two touch: so not everything is under way at once. One that is
 * more than 255 steps back is not waited for.
 *   earlier  its index; it may not be a step that waits for the last one */
void asp_coll_behind(struct asp_coll_schedule *s, uint32_t earlier);

/* New scratch bytes, at a multiple of 64 so that any element is aligned. */
struct asp_coll_place asp_coll_scratch(struct asp_coll_schedule *s,
                                       size_t bytes);

/* New signal cells. */
struct asp_coll_place asp_coll_signals(struct asp_coll_schedule *s,
                                       uint32_t cells);

/* Work out needs and tags; the schedule is then complete.
 * Returns 0, or -1 with errno ENOMEM, EINVAL (two messages of a round between
 * the same ranks in the same direction) or ERANGE (more than ASP_COLL_TAGS).
 * Cost: O(n log n + needs) for n steps, if the ranges are as regular as those
 * of collectives; a range that is read by many is kept once. */
int asp_coll_finish(struct asp_coll_schedule *s);

/* Forget the steps, keep the memory. */
void asp_coll_reset(struct asp_coll_schedule *s);

/* Free the memory; the schedule is empty again. */
void asp_coll_destroy(struct asp_coll_schedule *s);

#endif
