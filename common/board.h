/* SPDX-License-Identifier: BSD-3-Clause */
/* The board: one small shared page per node and step on which tasks tell
 * ghosts that they live, that they entered MPI, and that they are done. It is
 * what lets a ghost wait for MPI_Init of its users, and leave when they leave,
 * without any daemon.
 *
 * Life: the plugin makes a sealed memfd before the tasks are forked; every
 * task inherits it as descriptor ASPEN_BOARD_FD and, in task_init (already as
 * the user), writes its pid into its slot. aspen-ghost and the runtime map it.
 * Under `aspen run` the first task of a node makes it and passes it on
 * (tools/task/meet.h); for tests there is tests/boards.c.
 * Root never reads it, and nothing in it is trusted: a reader checks the
 * header against its layout and treats pids as hints (pidfd_open). */
#ifndef ASPEN_COMMON_BOARD_H
#define ASPEN_COMMON_BOARD_H

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define ASP_BOARD_MAGIC  UINT32_C(0x42505341) /* "ASPB" */
#define ASP_BOARD_FD_ENV "ASPEN_BOARD_FD"

/* Beside it, to a ghost: the descriptor of the task's stdout, which the plugin
 * puts aside until the TaskProlog has printed. */
#define ASP_STDOUT_FD_ENV "ASPEN_STDOUT_FD"

enum { ASP_BOARD_VERSION = 1, ASP_BOARD_SLOTS_MAX = 1024 };

enum asp_board_state {
    ASP_TASK_NONE,      /* not started yet */
    ASP_TASK_STARTED,   /* task_init ran; pid is set */
    ASP_TASK_INIT,      /* about to call MPI_Init: ghosts follow now */
    ASP_TASK_RUNNING,   /* MPI is up */
    ASP_TASK_FINALIZED, /* MPI_Finalize is over; a ghost: about to exit */
    ASP_TASK_ABORTING,  /* MPI_Abort was called: ghosts leave quietly */
    ASP_TASK_LEFT,      /* exits between MPI_Init and MPI_Finalize */
};

/* What the launcher does when a task is ASP_TASK_LEFT. */
enum asp_board_launcher {
    ASP_LAUNCHER_WAITS, /* for the other tasks: Slurm */
    ASP_LAUNCHER_KILLS, /* all of the job: mpiexec */
};

/* In `reported`, beside what the watchdogs of a ghost say of it: what it says
 * of itself. It is not needed at the moment, and sleeps. */
enum { ASP_REPORTED_PARKED = 1 << 8 };

/* One cache line per task: a store here disturbs nobody else. */
struct asp_board_slot {
    _Alignas(64) _Atomic int32_t pid; /* 0 until task_init */
    _Atomic uint32_t state;           /* enum asp_board_state */
    _Atomic uint32_t reported; /* ghosts: what users of the node told of it */
};

/* The variables that MPI reads, as the node's first user has them when it
 * enters MPI (runtime/world/settings.h): a program, or a script around it, may
 * have changed them since ghosts began. Behind the slots; the boards of an
 * older installation have none. */
struct asp_board_settings {
    _Atomic uint32_t state; /* 0: nobody has written them; see settings.c */
    uint32_t bytes;
    char text[16384 - 8]; /* NAME=VALUE, each with its null byte */
};

/* Does nothing to a process that does not expect it. */
enum { ASP_BOARD_SIGNAL = SIGWINCH };

struct asp_board {
    uint32_t magic;
    uint32_t version;
    uint32_t ntasks;   /* slots, by local task id */
    uint32_t nghosts;  /* the last ones are ghosts */
    uint32_t launcher; /* enum asp_board_launcher */
    /* Counts changes; FUTEX_WAIT on it to sleep until the next one. Ghosts that
     * wait for ends of processes, too, are sent ASP_BOARD_SIGNAL. */
    _Alignas(64) _Atomic uint32_t changes;
    struct asp_board_slot slots[];
};

/* Of its head and slots; of all of it. */
static inline size_t asp_board_slots_bytes(uint32_t ntasks)
{
    return sizeof(struct asp_board) + ntasks * sizeof(struct asp_board_slot);
}

static inline size_t asp_board_bytes(uint32_t ntasks)
{
    return asp_board_slots_bytes(ntasks) + sizeof(struct asp_board_settings);
}

/* Of a board of so many bytes whose header was checked; NULL: it has none. */
static inline struct asp_board_settings *asp_board_settings(
    struct asp_board *board, size_t bytes)
{
    return bytes < asp_board_bytes(board->ntasks)
               ? NULL
               : (void *) &board->slots[board->ntasks];
}

/* Make a sealed board. Returns its descriptor (close-on-exec), or -1 with
 * errno of memfd_create(), ftruncate(), pwrite() or fcntl(). */
int asp_board_create(uint32_t ntasks, uint32_t nghosts,
                     enum asp_board_launcher launcher);

/* In task `slot`, as the user: say that it runs, and wake whoever waits.
 * Returns 0, or -1 with errno of mmap(). */
int asp_board_enter(int board_fd, uint32_t ntasks, uint32_t slot);

#endif
