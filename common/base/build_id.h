/* SPDX-License-Identifier: BSD-3-Clause */
/* Which build of MPI a program runs with, as a text for records to compare:
 * "build-id:" and the GNU build id of its library in hexadecimal digits; where
 * the library has none "version:" and a digest of what it says of itself. */
#ifndef ASPEN_COMMON_BASE_BUILD_ID_H
#define ASPEN_COMMON_BASE_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>

enum { ASP_BUILD_MAX = 96 };

/* From the notes of an ELF file or segment, in the machine's own byte order.
 *   notes  aligned to 4 bytes
 * Returns false when there is no build id among them. */
bool asp_build_of_notes(const void *notes, size_t bytes,
                        char out[ASP_BUILD_MAX]);

/* From the text of MPI_Get_library_version(). */
void asp_build_of_version(const char *text, char out[ASP_BUILD_MAX]);

/* Can the two be compared, and are they different? Texts of different kinds,
 * and empty ones, cannot. */
bool asp_build_differs(const char *one, const char *other);

#endif
