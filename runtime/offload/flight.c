/* SPDX-License-Identifier: BSD-3-Clause */
/* Two arrays side by side, because MPI_Testsome wants the requests alone. It
 * gets a window of them, so that a thousand receives that wait for ever do not
 * make a poll slow; the window moves on at each poll.
 *
 * An operation that fails inside MPI_Testsome is raised on MPI_COMM_WORLD, one
 * that fails inside MPI_Test on its own communicator. As long as the program
 * has set no error handler both end the job; after that each request gets a
 * test of its own.
 *
 * MPI calls the program's error handlers inside that test, and these may post,
 * wait and free themselves. Such an inner poll looks only at what came after
 * the outer one began; what is older is tested by the Wait that is for it.
 * Nothing older moves meanwhile: what is taken out leaves a hole, which the
 * outermost poll closes, and the outer one looks for holes before each test. */
#include "config.h"

#include "flight.h"

#include "offload.h"
#include "report.h"

#include "runtime/mpi/handle.h"
#include "runtime/prefetch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 64, ROOM_FIRST = 256 };

static MPI_Request *reals;
static struct aspx_slot **slots;
static uint32_t count, room, start;
static uint32_t outer; /* that many belong to polls that are under way */
static uint32_t holes, holes_end; /* among them, and where the last one is */

static void *resized(void *array, size_t bytes)
{
    void *larger = realloc(array, bytes);

    if (!larger) {
        fprintf(stderr, "aspen: no memory for %u requests of this rank\n",
                room);
        abort();
    }
    return larger;
}

/* Before anything else that ends later: MPI_Waitany of a small send and of the
 * receive that answers it gives the send first. MPI does not look around in a wait
 * for what is over. */
static void end_at_once(struct aspx_slot *slot)
{
    int rc;

    slot->status.MPI_ERROR = ASPX_ERROR_UNTOUCHED;
    rc = aspx_behind.MPI_Wait(&slot->real, &slot->status);
    aspx_offload_counts.ended++;
    aspx_slot_ended(slot, rc);
}

void aspx_flight_add(struct aspx_slot *slot)
{
    aspx_offload_counts.posted++;
    if (aspx_handle_is_over(slot->real)) {
        end_at_once(slot);
        return;
    }
    if (count == room) {
        room = room ? 2 * room : ROOM_FIRST;
        reals = resized(reals, room * sizeof(*reals));
        slots = resized(slots, room * sizeof(*slots));
    }
    reals[count] = slot->real;
    slots[count] = slot;
    count++;
}

static void fill(uint32_t i)
{
    count--;
    reals[i] = reals[count];
    slots[i] = slots[count];
}

static void take_out(uint32_t i)
{
    if (i >= outer) {
        fill(i);
        return;
    }
    reals[i] = MPI_REQUEST_NULL;
    slots[i] = NULL;
    holes++;
    if (holes_end <= i)
        holes_end = i + 1;
}

/* What fills a hole comes from behind, so the last goes first. */
static void close_holes(void)
{
    for (uint32_t i = holes_end; holes && i-- > 0;) {
        if (!slots[i]) {
            fill(i);
            holes--;
        }
    }
    holes_end = 0;
}

void aspx_flight_remove(const struct aspx_slot *slot)
{
    for (uint32_t i = 0; i < count; i++) {
        if (slots[i] == slot) {
            take_out(i);
            return;
        }
    }
}

uint32_t aspx_flight_count(void)
{
    return count;
}

void aspx_flight_forget(void)
{
    for (uint32_t i = 0; i < outer; i++) {
        if (slots[i])
            take_out(i);
    }
    count = outer;
    start = 0;
}

/* MPI keeps a persistent request's handle, and takes back any other. */
static void end(uint32_t i, const MPI_Status *status, int rc)
{
    struct aspx_slot *slot = slots[i];

    slot->real = reals[i];
    slot->status = *status;
    take_out(i);
    aspx_offload_counts.ended++;
    aspx_slot_ended(slot, rc);
}

static bool test_one(uint32_t i)
{
    struct aspx_slot *slot = slots[i];
    MPI_Status status = {.MPI_ERROR = ASPX_ERROR_UNTOUCHED};
    int flag = 0, rc;

    slot->tested = true;
    rc = aspx_behind.MPI_Test(&slot->real, &flag, &status);
    slot->tested = false;
    if (!flag && rc == MPI_SUCCESS)
        return false;
    reals[i] = slot->real;
    end(i, &status, rc);
    return true;
}

static uint32_t test_each(uint32_t from, uint32_t n)
{
    uint32_t ended = 0;

    for (uint32_t i = from; i < from + n; i++)
        ended += slots[i] && test_one(i);
    return ended;
}

void aspx_flight_test_older(const struct aspx_slot *slot)
{
    for (uint32_t i = 0; i < outer; i++) {
        if (slots[i] == slot) {
            (void) test_one(i);
            return;
        }
    }
}

static uint32_t test_some(uint32_t from, uint32_t n)
{
    MPI_Request window[WINDOW];
    MPI_Status statuses[WINDOW];
    int which[WINDOW], ended = 0, rc;

    for (uint32_t i = 0; i < n; i++)
        statuses[i].MPI_ERROR = ASPX_ERROR_UNTOUCHED;
    memcpy(window, &reals[from], n * sizeof(window[0]));
    rc = aspx_behind.MPI_Testsome((int) n, window, &ended, which, statuses);
    if (ended == MPI_UNDEFINED || ended <= 0)
        return 0;
    for (int i = 0; i < ended; i++)
        aspx_prefetch_to_write(slots[from + (uint32_t) which[i]]);
    for (int i = 0; i < ended; i++) {
        uint32_t place = from + (uint32_t) which[i];

        reals[place] = window[which[i]];
        end(place, &statuses[i],
            rc == MPI_ERR_IN_STATUS ? statuses[i].MPI_ERROR : MPI_SUCCESS);
    }
    return (uint32_t) ended;
}

uint32_t aspx_flight_poll(void)
{
    uint32_t taken = aspx_command_taken(), before = outer, from, n, ended = 0;

    if (count > before) {
        from = start >= before && start < count ? start : before;
        n = count - from < WINDOW ? count - from : WINDOW;
        start = from + n;
        if (n < count)
            taken--; /* not all of them */
        outer = count;
        aspx_slot_next_moment();
        ended = aspx_offload_wants_codes() ? test_each(from, n)
                                           : test_some(from, n);
        outer = before;
        if (outer == 0)
            close_holes();
    }
    aspx_command_looked(taken);
    return ended;
}

uint32_t aspx_flight_poll_all(void)
{
    uint32_t taken = aspx_command_taken(), ended = 0;

    for (uint32_t seen = 0; seen < count; seen += WINDOW)
        ended += aspx_flight_poll();
    aspx_command_looked(taken);
    return ended;
}
