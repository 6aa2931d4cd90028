/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors that MPI has raised in the offload thread, until their caller calls
 * the program's handler: in its own thread, when MPI's call is over. The
 * handler may leave it by longjmp or an exception. */
#ifndef ASPEN_RUNTIME_OFFLOAD_RAISED_H
#define ASPEN_RUNTIME_OFFLOAD_RAISED_H

#include "function.h"
#include "state.h"

#include <mpi.h>

struct aspx_command;
struct aspx_raised;

/* For the thread: it carries out this command, or asks MPI for this slot's
 * operation. It writes that each time, so nobody else reads this line. */
extern struct aspx_raising {
    _Alignas(64) const struct aspx_command *by;
} aspx_raising;

/* For the thread: MPI calls an error handler. False: there is no memory. */
bool aspx_raised_note(const struct aspx_callback *handler, const long *words);

/* For the thread: how a call of MPI's for this command has ended, which
 * returned rc. From MPICH 4.3 on that is success where a handler was called:
 * then the code that the handler was given. */
int aspx_raised_find(const struct aspx_command *command);
static inline int aspx_raised_code(const struct aspx_command *command, int rc)
{
    if (rc == MPI_SUCCESS &&
        atomic_load_explicit(&aspx_callbacks.raised, memory_order_relaxed))
        return aspx_raised_find(command);
    return rc;
}

/* What a command has raised, which is done; to be called, or dropped, when the
 * command is not needed any more. Threads: any. */
struct aspx_raised *aspx_raised_take(const struct aspx_command *command);

/* code: how MPI's call has ended. Returns what it is to return: of a failed
 * call the code that the handler left, or success, as MPI has it. */
int aspx_raised_call(struct aspx_raised *raised, int code);
void aspx_raised_drop(struct aspx_raised *raised);

static inline int aspx_raised_call_of(const struct aspx_command *command,
                                      int code)
{
    if (atomic_load_explicit(&aspx_callbacks.raised, memory_order_relaxed))
        return aspx_raised_call(aspx_raised_take(command), code);
    return code;
}

#endif
