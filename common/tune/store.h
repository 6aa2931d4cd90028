/* SPDX-License-Identifier: BSD-3-Clause */
/* A table's file, which several jobs may save to at once: who has the store
 * reads it, adds to it and writes it, and no other does meanwhile.
 *
 *    open --- read, merge --- write --- close
 */
#ifndef ASPEN_COMMON_TUNE_STORE_H
#define ASPEN_COMMON_TUNE_STORE_H

#include <stdbool.h>
#include <stddef.h>

/* The others' turn takes milliseconds; whoever has stopped in his is not waited
 * for. */
enum { ASP_TUNE_STORE_MS = 3000 };

struct asp_tune_store {
    const char *path; /* borrowed */
    char *lock_path;  /* owned; NULL: not locked */
    int lock;         /* a descriptor, close-on-exec; -1: not locked */
};

/* Wait for the store, for at most so long. It is usable in any case: without
 * the lock (a folder where nothing can be made, a file system without locks,
 * time is up) rows of two jobs that save at the same moment may be lost, never
 * half a file seen. Returns whether it is locked. */
bool asp_tune_store_open(struct asp_tune_store *store, const char *path,
                         int timeout_ms);

/* Put a file of these bytes in place of what was there, in one piece: a reader
 * sees the old one or the new one. Returns 0, or -1 with errno of open(),
 * write() or rename(). */
int asp_tune_store_write(const struct asp_tune_store *store, const char *text,
                         size_t bytes);

void asp_tune_store_close(struct asp_tune_store *store);

#endif
