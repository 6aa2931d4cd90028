/* SPDX-License-Identifier: BSD-3-Clause */
/* The few other calls that are more than a trip to the thread. */
#include "config.h"

#include "callback.h"
#include "command.h"
#include "raised.h"
#include "request.h"

#include "mpi_wrap.h"

/* A probe has no twin that waits. With one thread in MPI at a time it may block
 * in the offload thread; with many it asks again and again, so that the others
 * are served between. */
struct probe {
    struct aspx_command head;
    int source, tag;
    MPI_Comm comm;
    MPI_Message *message; /* NULL: MPI_Probe */
    MPI_Status *status;
    int flag, rc;
};

static void run_blocking(struct aspx_command *head)
{
    struct probe *p = (void *) head;

    p->rc = p->message
                ? aspx_behind.MPI_Mprobe(p->source, p->tag, p->comm, p->message,
                                         p->status)
                : aspx_behind.MPI_Probe(p->source, p->tag, p->comm, p->status);
    aspx_command_done(head);
}

static void run_asking(struct aspx_command *head)
{
    struct probe *p = (void *) head;

    p->rc = p->message
                ? aspx_behind.MPI_Improbe(p->source, p->tag, p->comm, &p->flag,
                                          p->message, p->status)
                : aspx_behind.MPI_Iprobe(p->source, p->tag, p->comm, &p->flag,
                                         p->status);
    p->rc = aspx_raised_code(head, p->rc); /* failed is not: nothing found */
    aspx_command_done(head);
}

static int probe(struct probe *probe)
{
    if (!aspx_offload_twins()) {
        probe->head.run = run_blocking;
        return aspx_command_answer(&probe->head, &probe->rc);
    }
    probe->head.run = run_asking;
    for (;;) {
        int rc = aspx_command_answer(&probe->head, &probe->rc);

        if (probe->flag || probe->rc != MPI_SUCCESS)
            return rc;
        aspx_request_found_nothing();
    }
}

int aspx_offload_MPI_Probe(int source, int tag, MPI_Comm comm,
                           MPI_Status *status)
{
    struct probe it = {
        .source = source, .tag = tag, .comm = comm, .status = status};

    return probe(&it);
}

int aspx_offload_MPI_Mprobe(int source, int tag, MPI_Comm comm,
                            MPI_Message *message, MPI_Status *status)
{
    struct probe it = {.source = source,
                       .tag = tag,
                       .comm = comm,
                       .message = message,
                       .status = status};

    if (!message)
        return aspx_refuse_arguments();
    return probe(&it);
}

/* The thread may be in a call that never ends, which is why the program gives
 * up; and MPI_Abort may be called at any time. */
int aspx_offload_MPI_Abort(MPI_Comm comm, int errorcode)
{
    return aspx_behind.MPI_Abort(comm, errorcode);
}

/* Error handlers: from the first one on, each request is tested by itself, so
 * that MPI raises an error where the program expects it. */
struct setting {
    MPI_Comm comm;
    MPI_Errhandler errhandler;
    int rc;
};

static void set_errhandler(void *argument)
{
    struct setting *s = argument;

    atomic_store(&aspx_offload_handlers_set, true);
    s->rc = aspx_behind.MPI_Comm_set_errhandler(s->comm, s->errhandler);
}

int aspx_offload_MPI_Comm_set_errhandler(MPI_Comm comm,
                                         MPI_Errhandler errhandler)
{
    struct setting setting = {.comm = comm, .errhandler = errhandler};

    aspx_command_in_thread(set_errhandler, &setting);
    return setting.rc;
}

/* MPICH's C++ library calls handlers through a function of its own, with an
 * object on its stack: that function, too, is called in the caller. */
static struct aspx_callback cxx = {.kind = ASPX_CALLBACK_HANDLER_CXX};

static void call_cxx(int kind, int *handle, int *code, void (*user)(void))
{
    const long words[ASPX_CALLBACK_WORDS] = {kind, (long) handle, (long) code,
                                             (long) user};

    (void) aspx_callback_called(&cxx, words);
}

static void set_cxx(void *errhandler)
{
    aspx_behind.MPII_Errhandler_set_cxx(*(MPI_Errhandler *) errhandler,
                                        call_cxx);
}

void aspx_offload_MPII_Errhandler_set_cxx(MPI_Errhandler errhandler,
                                          aspx_errcall_proxy_f *errcall)
{
    cxx.function = (aspx_function_f *) errcall;
    aspx_command_in_thread(set_cxx, &errhandler);
}

int aspx_offload_MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return aspx_offload_MPI_Comm_set_errhandler(comm, errhandler);
}
