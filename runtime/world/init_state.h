/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program itself has begun and ended of MPI.
 *
 * A program of the session model gets a hidden MPI_Init at its first session:
 * ghosts need the world, and MPICH has no network to make progress on before
 * its first communicator. MPI_Initialized and MPI_Finalized hide it:
 *
 *   MPI_Session_init      first: MPI is started hidden
 *   MPI_Init              adopts what was started hidden, else starts MPI
 *   MPI_Finalize          ends MPI
 *   MPI_Session_finalize  last, and nobody has adopted: ends MPI, or not:
 *   exit()                ends what stays
 *
 * Where a program may begin sessions again after that (MPICH 4.2 and later) MPI
 * stays. Threads: any. */
#ifndef ASPEN_RUNTIME_WORLD_INIT_STATE_H
#define ASPEN_RUNTIME_WORLD_INIT_STATE_H

#include <stdbool.h>

/* MPI_Init or its kin came through our entries; and: did it? */
void aspx_init_see(void);
bool aspx_init_seen(void);

/* The program calls MPI_Init. True: that has happened already, hidden. */
bool aspx_init_adopt(void);

/* MPI was started, for the program or hidden; and ended by MPI_Finalize. */
void aspx_init_note_start(bool hidden);
void aspx_init_note_finalize(void);

/* A session was begun; one was ended. Returns whether MPI, started hidden,
 * ends with it. */
void aspx_init_note_session(void);
void aspx_init_stay(void); /* it does not end with the last session */
bool aspx_init_end_session(void);

/* Was MPI started; and was it started hidden, adopted or not? */
bool aspx_init_is_started(void);
bool aspx_init_is_hidden(void);

/* Is nobody in MPI that stays? */
bool aspx_init_is_left_open(void);

/* Has the program ended all that it began? */
bool aspx_init_is_over(void);

#endif
