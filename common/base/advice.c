/* SPDX-License-Identifier: BSD-3-Clause */
#include "advice.h"

#include <stddef.h>
#include <string.h>

/* MPI_Win_wait and the like wait for other ranks to arrive. A blocking
 * collective does so too, and nobody can arrive for them. */
static const char *const ghosts[] = {
    "Accumulate",      "Compare_and_swap",
    "Fetch_and_op",    "Get",
    "Get_accumulate",  "Put",
    "Raccumulate",     "Rget",
    "Rget_accumulate", "Rput",
    "Win_complete",    "Win_fence",
    "Win_flush",       "Win_flush_all",
    "Win_flush_local", "Win_flush_local_all",
    "Win_lock",        "Win_lock_all",
    "Win_unlock",      "Win_unlock_all",
};

static const char *const threads[] = {
    "Bsend",
    "Ibsend",
    "Improbe",
    "Imrecv",
    "Iprobe",
    "Irecv",
    "Irsend",
    "Isend",
    "Isendrecv",
    "Isendrecv_replace",
    "Issend",
    "Mprobe",
    "Mrecv",
    "Probe",
    "Recv",
    "Rsend",
    "Send",
    "Sendrecv",
    "Sendrecv_replace",
    "Ssend",
    "Test",
    "Testall",
    "Testany",
    "Testsome",
    "Wait",
    "Waitall",
    "Waitany",
    "Waitsome",
};

#define SIZE(array) (sizeof(array) / sizeof((array)[0]))

static int is_among(const char *name, size_t len, const char *const *names,
                    size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strncmp(names[i], name, len) == 0 && names[i][len] == '\0')
            return 1;
    return 0;
}

enum asp_advice_kind asp_advice_of(const char *function)
{
    static const char prefix[] = "MPI_";
    size_t len;

    if (strncmp(function, prefix, sizeof(prefix) - 1) != 0)
        return ASP_ADVICE_NONE;
    function += sizeof(prefix) - 1;
    len = strlen(function);
    if (len > 2 && strcmp(function + len - 2, "_c") == 0)
        len -= 2;
    if (is_among(function, len, ghosts, SIZE(ghosts)))
        return ASP_ADVICE_GHOST;
    if (is_among(function, len, threads, SIZE(threads)))
        return ASP_ADVICE_THREAD;
    return ASP_ADVICE_NONE;
}
