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
 * MPI calls the program's error handlers inside, and these may post and wait
 * themselves: such an inner poll looks only at what came after the outer one
 * began, and the outer one hands MPI a copy of its window. */
#include "config.h"

#include "flight.h"

#include "offload.h"
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 64, ROOM_FIRST = 256 };

static MPI_Request *reals;
static struct aspx_slot **slots;
static uint32_t count, room, start;
static uint32_t outer; /* that many belong to polls that are under way */

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

void aspx_flight_add(struct aspx_slot *slot)
{
    if (count == room) {
        room = room ? 2 * room : ROOM_FIRST;
        reals = resized(reals, room * sizeof(*reals));
        slots = resized(slots, room * sizeof(*slots));
    }
    reals[count] = slot->real;
    slots[count] = slot;
    count++;
    aspx_offload_counts.posted++;
}

static void take_out(uint32_t i)
{
    count--;
    reals[i] = reals[count];
    slots[i] = slots[count];
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

/* As MPI_Testsome, with a code for each. */
static int test_each(int n, MPI_Request *window, int *ended, int *which,
                     MPI_Status *statuses)
{
    *ended = 0;
    for (int i = 0; i < n; i++) {
        MPI_Status *status = &statuses[*ended];
        int flag = 0, rc = aspx_behind.MPI_Test(&window[i], &flag, status);

        if (flag || rc != MPI_SUCCESS) {
            status->MPI_ERROR = rc;
            which[(*ended)++] = i;
        }
    }
    return MPI_ERR_IN_STATUS;
}

static int by_index(const void *a, const void *b)
{
    return *(const int *) b - *(const int *) a; /* highest first */
}

static uint32_t poll_window(uint32_t from, uint32_t n)
{
    MPI_Request window[WINDOW];
    MPI_Status statuses[WINDOW];
    int which[WINDOW], ended = 0, rc;

    for (uint32_t i = 0; i < n; i++)
        statuses[i].MPI_ERROR = ASPX_ERROR_UNTOUCHED;
    memcpy(window, &reals[from], n * sizeof(window[0]));
    rc = (aspx_offload_wants_codes() ? test_each : aspx_behind.MPI_Testsome)(
        (int) n, window, &ended, which, statuses);
    if (ended == MPI_UNDEFINED || ended <= 0)
        return 0;
    for (int i = 0; i < ended; i++)
        which[i] = which[i] * WINDOW + i; /* keep the status's place */
    /* What is taken out is filled from behind, so the last goes first. */
    qsort(which, (size_t) ended, sizeof(which[0]), by_index);
    for (int i = 0; i < ended; i++) {
        const MPI_Status *status = &statuses[which[i] % WINDOW];
        uint32_t place = (uint32_t) (which[i] / WINDOW);

        reals[from + place] = window[place];
        end(from + place, status,
            rc == MPI_ERR_IN_STATUS ? status->MPI_ERROR : MPI_SUCCESS);
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
        ended = poll_window(from, n);
        outer = before;
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
