/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and rewrites the list member by member. Only the number of CPUs is
 * looked at; the rest is copied as it is. */
#include "tres.h"

#include "strbuf.h"
#include "words.h"

#include <inttypes.h>
#include <string.h>

/* Behind "cpu=" or "cpu:"; NULL: this member is something else. */
static const char *number_of_cpus(const char *member)
{
    const char *number = asp_after(member, "cpu");

    return number != NULL && (*number == '=' || *number == ':') ? number + 1
                                                                : NULL;
}

/* The next member, of length *len_p, at *text_p. */
static const char *next_member(const char **text_p, size_t *len_p)
{
    const char *member = *text_p + (**text_p == ',');

    *len_p = strcspn(member, ",");
    *text_p = member + *len_p;
    return *len_p ? member : NULL;
}

uint32_t asp_tres_cpus(const char *text, bool *others_p)
{
    const char *member, *number;
    uint32_t cpus = 0;
    size_t len;

    *others_p = false;
    while ((member = next_member(&text, &len)) != NULL) {
        number = number_of_cpus(member);
        if (number == NULL || asp_take_number(&number, UINT32_MAX, &cpus) < 0)
            *others_p = true;
    }
    return cpus;
}

int asp_tres_set_cpus(const char *text, uint32_t to, char *buf, size_t size)
{
    struct asp_strbuf out = asp_strbuf_on(buf, size);
    const char *member, *comma = "";
    size_t len;

    while ((member = next_member(&text, &len)) != NULL) {
        bool is_cpus = number_of_cpus(member) != NULL;

        if (is_cpus && to == 0)
            continue;
        if (is_cpus)
            asp_strbuf_add(&out, "%scpu%c%" PRIu32, comma, member[3], to);
        else
            asp_strbuf_add(&out, "%s%.*s", comma, (int) len, member);
        comma = ",";
    }
    return asp_strbuf_end(&out);
}
