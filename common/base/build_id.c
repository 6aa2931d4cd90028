/* SPDX-License-Identifier: BSD-3-Clause */
/* Build ids from ELF notes and version texts; see build_id.h. */
#include "build_id.h"

#include "hash.h"

#include <elf.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char id_prefix[] = "build-id:", version_prefix[] = "version:";

enum { ID_MAX = (ASP_BUILD_MAX - sizeof(id_prefix)) / 2 };

static size_t round_up(size_t n)
{
    return (n + 3) / 4 * 4;
}

static void put_id(const unsigned char *id, size_t bytes,
                   char out[ASP_BUILD_MAX])
{
    char *at = out + sizeof(id_prefix) - 1;

    memcpy(out, id_prefix, sizeof(id_prefix));
    for (size_t i = 0; i < bytes && i < ID_MAX; i++, at += 2)
        snprintf(at, 3, "%02x", id[i]);
}

bool asp_build_of_notes(const void *notes, size_t bytes,
                        char out[ASP_BUILD_MAX])
{
    const unsigned char *at = notes;
    Elf64_Nhdr note; /* the same in 32-bit files */

    while (bytes > sizeof(note)) {
        size_t name, text;

        memcpy(&note, at, sizeof(note));
        at += sizeof(note);
        bytes -= sizeof(note);
        name = round_up(note.n_namesz);
        text = round_up(note.n_descsz);
        if (name > bytes || text > bytes - name)
            return false;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
            note.n_descsz > 0 && memcmp(at, "GNU", 4) == 0) {
            put_id(at + name, note.n_descsz, out);
            return true;
        }
        at += name + text;
        bytes -= name + text;
    }
    return false;
}

void asp_build_of_version(const char *text, char out[ASP_BUILD_MAX])
{
    snprintf(out, ASP_BUILD_MAX, "%s%016" PRIx64, version_prefix,
             asp_hash(ASP_HASH_START, text, strlen(text)));
}

static bool is_kind(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool asp_build_differs(const char *one, const char *other)
{
    if (!(is_kind(one, id_prefix) && is_kind(other, id_prefix)) &&
        !(is_kind(one, version_prefix) && is_kind(other, version_prefix)))
        return false;
    return strcmp(one, other) != 0;
}
