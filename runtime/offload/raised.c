/* SPDX-License-Identifier: BSD-3-Clause */
/* A list, since errors are rare. What MPI gives to a handler are the addresses
 * of a handle and of a code, both its own: they are copied. */
#include "config.h"

#include "raised.h"

#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct aspx_raised {
    struct aspx_raised *next;
    const struct aspx_command *by;
    const struct aspx_callback *handler;
    long words[ASPX_CALLBACK_WORDS];
    MPI_File handle; /* the largest; others are an int at its beginning */
    int code;
};

struct aspx_raising aspx_raising;

/* MPI's calls succeed when they have called a handler. */
static atomic_bool handled_is_success;

static struct aspx_raised *noted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void append_to(struct aspx_raised **list, struct aspx_raised *raised)
{
    while (*list)
        list = &(*list)->next;
    *list = raised;
}

/* Among the words; that of the code is the next. */
static int place_of_handle(const struct aspx_callback *handler)
{
    return handler->kind == ASPX_CALLBACK_HANDLER_CXX ? 1 : 0;
}

bool aspx_raised_note(const struct aspx_callback *handler, const long *words)
{
    struct aspx_raised *raised = malloc(sizeof(*raised));
    int first = place_of_handle(handler);

    if (!raised)
        return false;
    *raised = (struct aspx_raised){.by = aspx_raising.by,
                                   .handler = handler,
                                   .code = *(const int *) words[first + 1]};
    memcpy(raised->words, words, sizeof(raised->words));
    memcpy(&raised->handle, (const void *) words[first],
           sizeof(raised->handle));
    pthread_mutex_lock(&lock);
    append_to(&noted, raised);
    atomic_fetch_add(&aspx_callbacks.raised, 1);
    pthread_mutex_unlock(&lock);
    return true;
}

int aspx_raised_find(const struct aspx_command *command)
{
    struct aspx_raised *raised;
    int code = MPI_SUCCESS;

    pthread_mutex_lock(&lock);
    for (raised = noted; raised && raised->by != command; raised = raised->next)
        ;
    if (raised)
        code = raised->code;
    pthread_mutex_unlock(&lock);
    if (raised)
        atomic_store(&handled_is_success, true);
    return code;
}

struct aspx_raised *aspx_raised_take(const struct aspx_command *command)
{
    struct aspx_raised **at = &noted, *taken = NULL;

    pthread_mutex_lock(&lock);
    while (*at) {
        struct aspx_raised *raised = *at;

        if (raised->by != command) {
            at = &raised->next;
            continue;
        }
        *at = raised->next;
        raised->next = NULL;
        append_to(&taken, raised);
        atomic_fetch_sub(&aspx_callbacks.raised, 1);
    }
    pthread_mutex_unlock(&lock);
    return taken;
}

/* Nothing is kept across the call, which may not return. */
int aspx_raised_call(struct aspx_raised *raised, int code)
{
    while (raised) {
        struct aspx_raised now = *raised;
        int first = place_of_handle(now.handler);

        free(raised);
        raised = now.next;
        now.words[first] = (long) &now.handle;
        now.words[first + 1] = (long) &now.code;
        aspx_callback_call(now.handler, now.words);
        if (code != MPI_SUCCESS)
            code = atomic_load(&handled_is_success) ? MPI_SUCCESS : now.code;
    }
    return code;
}

void aspx_raised_drop(struct aspx_raised *raised)
{
    while (raised) {
        struct aspx_raised *next = raised->next;

        free(raised);
        raised = next;
    }
}
