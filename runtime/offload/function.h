/* SPDX-License-Identifier: BSD-3-Clause */
/* A function of the program that MPI calls. */
#ifndef ASPEN_RUNTIME_OFFLOAD_FUNCTION_H
#define ASPEN_RUNTIME_OFFLOAD_FUNCTION_H

#include <stddef.h>

typedef void aspx_function_f(void);

enum aspx_callback_kind {
    ASPX_CALLBACK_OP,
    ASPX_CALLBACK_FUNCTION,    /* another: MPI goes on with what it did */
    ASPX_CALLBACK_HANDLER,     /* of errors: MPI is about to return */
    ASPX_CALLBACK_HANDLER_CXX, /* what MPI's C++ library calls one with */
};

struct aspx_callback {
    aspx_function_f *function;
    enum aspx_callback_kind kind;
};

/* Arguments, as words: no callback of MPI has more, in C or Fortran, or any
 * that is not an integer or a pointer. */
enum { ASPX_CALLBACK_WORDS = 8 };

/* Call it, in this thread. */
static inline long aspx_callback_call(const struct aspx_callback *callback,
                                      const long *w)
{
    typedef long word_f(long, long, long, long, long, long, long, long);
    typedef void handler_f(void *handle, int *code, ...);

    if (callback->kind == ASPX_CALLBACK_HANDLER) {
        ((handler_f *) callback->function)((void *) w[0], (int *) w[1], NULL);
        return 0;
    }
    return ((word_f *) callback->function)(w[0], w[1], w[2], w[3], w[4], w[5],
                                           w[6], w[7]);
}

#endif
