/* SPDX-License-Identifier: BSD-3-Clause */
/* /etc/ld.so.cache, which ldconfig(8) makes: libraries by name. */
#ifndef ASPEN_TOOLS_BASE_LIBRARY_CACHE_H
#define ASPEN_TOOLS_BASE_LIBRARY_CACHE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct aspt_library_cache {
    char *text; /* the file, owned; NULL: there is none that can be read */
    size_t bytes, n;
};

void aspt_library_cache_read(struct aspt_library_cache *cache);
void aspt_library_cache_free(struct aspt_library_cache *cache);

/* The next file of a name, of whatever machine.
 *   from_p  0 at first
 * Returns false when there is none. */
bool aspt_library_cache_next(const struct aspt_library_cache *cache,
                             const char *name, size_t *from_p,
                             char path[PATH_MAX]);

#endif
