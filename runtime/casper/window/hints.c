/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of the MPI standard (section 12.2.1) and of Casper (dissertation
 * section 4.5, which spells some in two ways). */
#include "config.h"

#include "hints.h"

#include "runtime/mpi/real.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { VALUE_MAX = 128 };

static bool get_hint(MPI_Info info, const char *key, char value[VALUE_MAX])
{
    int flag = 0;

    value[0] = '\0';
    aspx_real.MPI_Info_get(info, key, VALUE_MAX - 1, value, &flag);
    return flag;
}

static bool is_true(MPI_Info info, const char *key)
{
    char value[VALUE_MAX];

    return get_hint(info, key, value) && strcasecmp(value, "true") == 0;
}

bool aspx_hints_list_has(const char *list, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = list; *at; at += strspn(at, ", ")) {
        size_t n = strcspn(at, ", ");

        if (n == length && strncasecmp(at, word, n) == 0)
            return true;
        at += n;
    }
    return false;
}

/* A power of two, as the standard asks for, or it is not for us. */
uint64_t aspx_hints_align(MPI_Info info)
{
    char value[VALUE_MAX], *end;
    unsigned long long align;

    if (info == MPI_INFO_NULL ||
        !get_hint(info, "mpi_minimum_memory_alignment", value))
        return 1;
    errno = 0;
    align = strtoull(value, &end, 10);
    return errno == 0 && *end == '\0' && align && !(align & (align - 1)) ? align
                                                                         : 1;
}

void aspx_hints_read(struct aspx_hints *hints, MPI_Info info)
{
    char value[VALUE_MAX];

    *hints = (struct aspx_hints){.align = aspx_hints_align(info)};
    if (info == MPI_INFO_NULL)
        return;
    if (get_hint(info, "async_config", value))
        hints->async = aspx_async_read(value);
    hints->symmetric = is_true(info, "symmetric");
    hints->no_locks = is_true(info, "no_locks") ||
                      ((get_hint(info, "epochs_used", value) ||
                        get_hint(info, "epoch_type", value)) &&
                       !aspx_hints_list_has(value, "lock"));
    hints->noncontig = is_true(info, "alloc_shared_noncontig");
}
