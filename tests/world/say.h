/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs in this folder print what an MPI program can see. Their tests run
 * them without Aspen and with ghosts and compare the sorted output. */
#ifndef ASPEN_TESTS_WORLD_SAY_H
#define ASPEN_TESTS_WORLD_SAY_H

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>

static int say_rank = -1;

/* One line of output with our rank in front. */
__attribute__((format(printf, 1, 2))) static inline void say(const char *format,
                                                             ...)
{
    char line[512];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    printf("%d: %s\n", say_rank, line);
    fflush(stdout);
}

/* What a handle is to the program. */
static inline const char *comm_word(MPI_Comm comm)
{
    return comm == MPI_COMM_WORLD  ? "world"
           : comm == MPI_COMM_SELF ? "self"
           : comm == MPI_COMM_NULL ? "null"
                                   : "other";
}

static inline int error_class(int code)
{
    int class;

    MPI_Error_class(code, &class);
    return class;
}

#endif
