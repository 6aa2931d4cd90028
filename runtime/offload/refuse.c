/* SPDX-License-Identifier: BSD-3-Clause */
/* The offload thread makes a call of MPI with the wrong argument, or calls the
 * error handler of the communicator. Both run as commands, because MPI is the
 * thread's. */
#include "config.h"

#include "refuse.h"

#include "command.h"
#include "state.h"

#include "runtime/base/log.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static void refuse_wait(void *code)
{
    *(int *) code = aspx_behind.MPI_Waitall(-1, NULL, NULL);
}

int aspx_refuse_arguments(void)
{
    int code = MPI_ERR_ARG;

    return aspx_command_answer_in_thread(refuse_wait, &code, &code);
}

struct stray {
    MPI_Request request;
    int code;
};

static void wait_for_stray(void *argument)
{
    struct stray *stray = argument;

    stray->code = aspx_behind.MPI_Wait(&stray->request, MPI_STATUS_IGNORE);
}

int aspx_refuse_request(MPI_Request request)
{
    struct stray stray = {.request = request};

    return aspx_command_answer_in_thread(wait_for_stray, &stray, &stray.code);
}

struct raise {
    MPI_Comm comm;
    int code;
};

static void raise_on(void *argument)
{
    const struct raise *raise = argument;

    aspx_behind.MPI_Comm_call_errhandler(raise->comm, raise->code);
}

static int raise_code_on(MPI_Comm comm, int code)
{
    struct raise raise = {comm, code};

    return aspx_command_answer_in_thread(raise_on, &raise, &raise.code);
}

int aspx_raise_code(int code)
{
    return raise_code_on(MPI_COMM_WORLD, code);
}

int aspx_offload_refuse(MPI_Comm comm, const char *call, const char *why)
{
    static atomic_bool said;

    if (!atomic_exchange(&said, true))
        aspx_log(ASPX_LOG_ERROR,
                 "%s fails beside an offload thread: %s; use "
                 "--async-progress=ghost, thread or off",
                 call, why);
    return raise_code_on(comm, MPI_ERR_UNSUPPORTED_OPERATION);
}
