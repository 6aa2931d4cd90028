/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose help can take waiting away, by the MPI function that it was in: what a
 * run without helpers (mode off) suggests. It is a suggestion: why a rank waits
 * no function tells (docs/design/profile.md). */
#ifndef ASPEN_COMMON_BASE_ADVICE_H
#define ASPEN_COMMON_BASE_ADVICE_H

enum asp_advice_kind {
    ASP_ADVICE_NONE,   /* late partners, files, what happens once */
    ASP_ADVICE_GHOST,  /* operations on windows, whose target computes */
    ASP_ADVICE_THREAD, /* messages, non-blocking collectives */
};

/* The share of ranks' time in waiting from which a helper is worth trying. */
#define ASP_ADVICE_LEAST 0.02

/* Of "MPI_Win_flush". */
enum asp_advice_kind asp_advice_of(const char *function);

#endif
