/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that MPI calls in place of the program's. MPI gives most of
 * them nothing by which one could tell of whom it is, so there is one for each.
 * They hand on eight words whatever was given: on the ABIs that we know
 * integers and pointers are words, in registers or just above the return
 * address, so that it is safe to read some that are not there. */
#include "config.h"

#include "callback.h"

#include "runtime/base/log.h"
#include "runtime/mpi/real.h"

#include <pthread.h>
#include <stddef.h>

static struct aspx_callback callbacks[0x100];

#define STUB(N)                                                                \
    static long stub_##N(long a, long b, long c, long d, long e, long f,       \
                         long g, long h)                                       \
    {                                                                          \
        const long words[ASPX_CALLBACK_WORDS] = {a, b, c, d, e, f, g, h};      \
                                                                               \
        return aspx_callback_called(&callbacks[0x##N], words);                 \
    }
/* clang-format off */
#define NAME(N) (aspx_function_f *) stub_##N,
#define ROW(DO, H)                                                            \
    DO(H##0) DO(H##1) DO(H##2) DO(H##3) DO(H##4) DO(H##5) DO(H##6) DO(H##7)   \
    DO(H##8) DO(H##9) DO(H##a) DO(H##b) DO(H##c) DO(H##d) DO(H##e) DO(H##f)
#define ALL(DO)                                                               \
    ROW(DO, 0) ROW(DO, 1) ROW(DO, 2) ROW(DO, 3) ROW(DO, 4) ROW(DO, 5)         \
    ROW(DO, 6) ROW(DO, 7) ROW(DO, 8) ROW(DO, 9) ROW(DO, a) ROW(DO, b)         \
    ROW(DO, c) ROW(DO, d) ROW(DO, e) ROW(DO, f)
/* clang-format on */

ALL(STUB)

static aspx_function_f *const stubs[] = {ALL(NAME)};

enum { STUBS = sizeof(stubs) / sizeof(stubs[0]) };

_Static_assert(STUBS == sizeof(callbacks) / sizeof(callbacks[0]),
               "one for each");

/* The stub of a function that has none yet; or the function. */
static aspx_function_f *take(unsigned i, aspx_function_f *function,
                             enum aspx_callback_kind kind)
{
    static bool told;

    if (i < STUBS) {
        callbacks[i] = (struct aspx_callback){function, kind};
        return stubs[i];
    }
    if (!told)
        aspx_log(ASPX_LOG_WARNING,
                 "this rank gave MPI more than %d functions to call; "
                 "further ones run in its offload thread",
                 (int) STUBS);
    told = true;
    return function;
}

aspx_function_f *aspx_callback_stub(aspx_function_f *function,
                                    enum aspx_callback_kind kind)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    aspx_function_f *stub = NULL;
    unsigned i;

    if (!function || aspx_real_has((const void *) function))
        return function;
    pthread_mutex_lock(&lock);
    for (i = 0; i < STUBS && callbacks[i].function && !stub; i++)
        if (callbacks[i].function == function && callbacks[i].kind == kind)
            stub = stubs[i];
    if (!stub)
        stub = take(i, function, kind);
    pthread_mutex_unlock(&lock);
    return stub;
}
