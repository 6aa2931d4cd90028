/* SPDX-License-Identifier: BSD-3-Clause */
/* Both ways by one table. */
#include "config.h"

#include "arguments.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW(field) {#field "=", offsetof(struct aspt_task_arguments, field)},

static const struct row {
    const char *key; /* with its "=" */
    size_t offset;
} rows[] = {ASPT_TASK_ARGUMENTS(ROW)};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static const char **field(const struct row *row,
                          const struct aspt_task_arguments *arguments)
{
    return (const char **) (void *) ((char *) arguments + row->offset);
}

void aspt_task_arguments_init(struct aspt_task_arguments *arguments)
{
    arguments->program = NULL;
    for (size_t i = 0; i < ROWS; i++)
        *field(&rows[i], arguments) = "";
}

static int read_word(const char *word, struct aspt_task_arguments *arguments)
{
    for (size_t i = 0; i < ROWS; i++) {
        size_t len = strlen(rows[i].key);

        if (strncmp(word, rows[i].key, len) != 0)
            continue;
        *field(&rows[i], arguments) = word + len;
        return 0;
    }
    return -1;
}

int aspt_task_arguments_read(char **words, struct aspt_task_arguments *out_p,
                             struct asp_err *err)
{
    aspt_task_arguments_init(out_p);
    for (; *words && strcmp(*words, "--") != 0; words++)
        if (read_word(*words, out_p) < 0)
            return asp_errf(err, EINVAL,
                            "aspen-task does not know the word \"%.60s\": it "
                            "is started by aspen run, of the same installation",
                            *words);
    if (!*words || !words[1])
        return asp_errf(err, EINVAL, "aspen-task is started by aspen run");
    out_p->program = words + 1;
    return 0;
}

char **aspt_task_arguments_write(const struct aspt_task_arguments *arguments)
{
    char **words = calloc(ROWS + 2, sizeof(*words));
    size_t n = 0;

    for (size_t i = 0; words && i < ROWS; i++) {
        const char *value = *field(&rows[i], arguments);

        if (*value == '\0')
            continue;
        if (asprintf(&words[n], "%s%s", rows[i].key, value) < 0)
            goto err;
        n++;
    }
    if (words && (words[n] = strdup("--")))
        return words;
err:
    for (size_t i = 0; words && i < n; i++)
        free(words[i]);
    free(words);
    errno = ENOMEM;
    return NULL;
}
