/* SPDX-License-Identifier: BSD-3-Clause */
/* The program aspen-ghost, in its parts. */
#ifndef ASPEN_RUNTIME_CASPER_SERVER_GHOST_H
#define ASPEN_RUNTIME_CASPER_SERVER_GHOST_H

#include "runtime/casper/arena/engine.h"

#include <stdbool.h>
#include <sys/types.h>

/* Leave a stdin that is a pipe or a socket to a child that reads it to its end,
 * and have /dev/null instead; have the task's stdout. Call it first, before
 * there are threads. */
void aspx_ghost_take_stdio(void);

/* Map the board of ASPEN_BOARD_FD and watch the users of this node from a
 * thread: once all of them are gone, or one aborts, the process ends with
 * status 0, wherever it is.
 * Returns true when there is a board, false when there is none to watch. */
bool aspx_ghost_watch(void);

/* Sleep until a user of this node is about to call MPI_Init. Returns at once
 * without a board. */
void aspx_ghost_await_users(void);

/* After that: load the MPI library of the users, and fill aspx_real from it.
 * Returns 0, or -1 with errno. */
int aspx_ghost_load_mpi(struct asp_err *err);

/* The real MPI_Init or MPI_Init_thread, as the users call it. Returns its
 * result. */
int aspx_ghost_init_mpi(void);

/* When MPI_Init has returned, with all ranks of the step, all users have come
 * to theirs; and those that have our library have said so on the board before.
 * How many of this node have not? They would find ghosts among their ranks, and
 * never join.
 *   first_p  out: local id of the first of them
 * The first ghost of a node counts for all: in others it is 0. */
uint32_t aspx_ghost_count_lost(uint32_t *first_p);

/* Look for processes of this step on this node that wait in MPI_Init without
 * our library. Call it only while no user of the node has come to MPI.
 *   end  end each, and say so
 * Returns whether there are any. */
bool aspx_ghost_strangers(bool end);

/* What can be seen of a task that does not come. */
enum aspx_ghost_sight {
    ASPX_SIGHT_CLEAR,
    ASPX_SIGHT_HIDDEN, /* the kernel does not tell: it may be in MPI */
    ASPX_SIGHT_LOST,   /* it has MPI mapped without our library */
};

/* Look at a task and at what it started.
 *   task    its pid; a hint
 *   mapped  look for those that are lost, too
 *   pid_p   out: the process that is hidden or lost */
enum aspx_ghost_sight aspx_ghost_look(pid_t task, bool mapped, pid_t *pid_p);

/* Say it of a hidden process where it has other rights than its user. */
void aspx_ghost_say_hidden(pid_t pid);

/* Tell who asks for the job's status that this ghost is parked, or no more. */
void aspx_ghost_parked(bool parked);

/* Tell the watchdogs of the node that this process is about to exit and should.
 */
void aspx_ghost_gone(void);

/* Serve: MPI progress, locks, goodbyes. Returns 0 when every user of this
 * node said goodbye, or -1 when MPI failed. */
int aspx_ghost_serve(const struct aspx_engine *engine);

#endif
