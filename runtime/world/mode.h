/* SPDX-License-Identifier: BSD-3-Clause */
/* A mode, as it registers in modes[] of start.c: what it does while MPI starts
 * and ends in a user rank. NULL stands for nothing to do.
 *
 *   before the real MPI_Init   wants, before_init, start_thread
 *   MPI_Init                   init (else the library's)
 *   MPI runs                   after_init or give_up; it is mended (mends.h);
 *                              then start_engine, use_entries
 *   inside MPI_Finalize        finalize
 *   MPI is over                after_finalize */
#ifndef ASPEN_RUNTIME_WORLD_MODE_H
#define ASPEN_RUNTIME_WORLD_MODE_H

#include "common/layout/layout.h"

#include <stdbool.h>
#include <stdint.h>

struct aspx_real;
struct aspx_section;

enum { ASPX_SECTIONS_MAX = 12 }; /* of a mode; ghosts have 11 */

struct aspx_mode {
    bool (*wants)(const struct asp_layout *layout);

    /* False: this process has no part in it.
     *   required  the thread level that the program asks for; NULL: none */
    bool (*before_init)(const struct asp_layout *layout, uint32_t local,
                        const int *required);

    /* For a mode that carries out the program's calls in a thread of its own,
     * with another mode behind it: start the thread, then MPI in it.
     *   required  as above
     *   runs      called when MPI runs: mends it, and may change the table of
     *             what the thread calls, which is the library's
     *   mode_behind  does it? Then the other mode writes the record
     * Returns NULL, or why it cannot be. */
    const char *(*start_thread)(const struct asp_layout *layout, uint32_t local,
                                const int *required,
                                void (*runs)(struct aspx_real *table),
                                bool mode_behind);
    int (*init)(int *argc, char ***argv, int *provided);

    /* MPI runs, and its world is the step's: come up. Returns NULL, or why it
     * cannot be; then the program runs plain, and takes part in the record. */
    const char *(*after_init)(const struct asp_layout *layout, uint32_t local);

    /* After that, with MPI mended. */
    void (*start_engine)(const struct asp_layout *layout, uint32_t local);

    /* Its world is another. What that means is said (`elsewhere`). */
    void (*give_up)(void);

    /* Send the program's calls there. */
    void (*use_entries)(const struct asp_layout *layout);

    /* MPI_Finalize has run the program's own callbacks, and MPI still works. */
    void (*finalize)(const struct asp_layout *layout);
    void (*after_finalize)(void);

    /* Without it ranks would be wrong: it comes up with any MPI, and does no
     * more than that where aspx_mpi_unknown() says why (mpi/build.h). */
    bool translates;

    const char *elsewhere;   /* NULL: "running without Aspen" */
    const char *no_sessions; /* what a program is told that opens a session
                                before MPI_Init; NULL: it may */

    /* Its parts of the record, in the order of the file (record/frame.h). */
    const struct aspx_section *sections[ASPX_SECTIONS_MAX];
};

#endif
