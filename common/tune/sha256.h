/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA-256 of some bytes, by which ranks tell whether they hold the same table.
 * Ours, because the runtime depends on nothing but the C library, and 60 lines
 * with the standard's examples as tests are less to carry into every program
 * than a library of cryptography. Nothing secret depends on it.
 * Source: FIPS 180-4, sections 4.1.2, 4.2.2, 5.1.1, 5.3.3 and 6.2. */
#ifndef ASPEN_COMMON_TUNE_SHA256_H
#define ASPEN_COMMON_TUNE_SHA256_H

#include <stddef.h>

enum { ASP_SHA256_BYTES = 32, ASP_SHA256_HEX = 65 };

/* Threads: reentrant.  Cost: no allocation. */
void asp_sha256(const void *bytes, size_t len,
                unsigned char digest[ASP_SHA256_BYTES]);

/* The digest in hexadecimal digits, with a NUL. Returns buf. */
const char *asp_sha256_hex(const unsigned char digest[ASP_SHA256_BYTES],
                           char buf[ASP_SHA256_HEX]);

#endif
