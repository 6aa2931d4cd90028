/* SPDX-License-Identifier: BSD-3-Clause */
/* The form that glibc has had since 2.2: a head, entries of 24 bytes, texts at
 * offsets from the begin. Caches that begin with the form before it, which
 * ldconfig has not written since glibc 2.32, are not read: the libraries of the
 * usual folders are found without. */
#include "config.h"

#include "library_cache.h"

#include "program.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CACHE_MAX = 16 << 20 }; /* bytes; a large installation has 0.3 million */

static const char magic[] = "glibc-ld.so.cache1.1";

enum { MAGIC = sizeof(magic) - 1 }; /* bytes; in the file without an end */

struct head {
    char magic[MAGIC];
    uint32_t n, text_bytes, unused[5];
};

struct entry {
    int32_t flags;
    uint32_t name, path; /* offsets */
    uint32_t os;
    uint64_t cpu; /* not 0: for CPUs with more than the least */
};

void aspt_library_cache_read(struct aspt_library_cache *cache)
{
    int fd = aspt_program_open("/etc/ld.so.cache");
    struct head head;
    struct stat st;

    memset(cache, 0, sizeof(*cache));
    if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size >= (off_t) sizeof(head) &&
        st.st_size <= CACHE_MAX &&
        (cache->text = malloc((size_t) st.st_size)) != NULL &&
        pread(fd, cache->text, (size_t) st.st_size, 0) == st.st_size) {
        memcpy(&head, cache->text, sizeof(head));
        cache->bytes = (size_t) st.st_size;
        if (memcmp(head.magic, magic, MAGIC) == 0 &&
            head.n <= (cache->bytes - sizeof(head)) / sizeof(struct entry))
            cache->n = head.n;
    }
    if (fd >= 0)
        close(fd);
}

void aspt_library_cache_free(struct aspt_library_cache *cache)
{
    free(cache->text);
    memset(cache, 0, sizeof(*cache));
}

static const char *text_at(const struct aspt_library_cache *cache, size_t at)
{
    return at < cache->bytes &&
                   memchr(cache->text + at, '\0', cache->bytes - at)
               ? cache->text + at
               : NULL;
}

bool aspt_library_cache_next(const struct aspt_library_cache *cache,
                             const char *name, size_t *from_p,
                             char path[PATH_MAX])
{
    while (*from_p < cache->n) {
        const char *key, *value;
        struct entry entry;

        memcpy(&entry,
               cache->text + sizeof(struct head) + (*from_p)++ * sizeof(entry),
               sizeof(entry));
        key = text_at(cache, entry.name);
        value = text_at(cache, entry.path);
        if (entry.cpu == 0 && key && value && strcmp(key, name) == 0 &&
            snprintf(path, PATH_MAX, "%s", value) < PATH_MAX)
            return true;
    }
    return false;
}
