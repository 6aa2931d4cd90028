/* SPDX-License-Identifier: BSD-3-Clause */
/* The request of a job, and other programs' answers. */
#include "config.h"

#include "run.h"

#include "tools/base/installed.h"
#include "tools/base/program.h"

#include "common/base/child.h"
#include "common/base/words.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ARGS_MAX = 8 };

int aspt_settled_ask(const struct aspt_settled *settled,
                     struct asp_facts *facts, struct aspt_answer *out_p,
                     struct asp_err *err)
{
    struct passwd *user = getpwuid(getuid());
    struct aspt_request request = {.progress = settled->progress,
                                   .policy = settled->policy};

    out_p->remarks[0] = '\0';
    if (settled->off) {
        strcpy(out_p->spec, asp_mode_name(ASP_MODE_OFF));
        strcpy(out_p->counting, out_p->spec);
        return 0;
    }
    facts->user = user ? user->pw_name : NULL;
    request.facts = *facts;
    return aspt_request_answer(&request, out_p, err);
}

void aspt_answer_remark(const struct aspt_answer *answer)
{
    const char *text = answer->remarks;

    while (*text) {
        int len = (int) strcspn(text, "\n");

        if (len > 0)
            fprintf(stderr, "aspen: %.*s\n", len, text);
        text += len + (text[len] == '\n');
    }
}

char **aspt_task_words(const struct aspt_task_arguments *arguments)
{
    char **words = aspt_task_arguments_write(arguments), **all;
    char path[PATH_MAX];
    size_t n = 0;

    aspt_installed(ASPT_FILE_TASK, path);
    if (words)
        n = asp_words_count(words);
    all = words ? calloc(n + 2, sizeof(*all)) : NULL;
    if (all && (all[0] = strdup(path)))
        memcpy(all + 1, words, n * sizeof(*words));
    free(words);
    return all;
}

int aspt_child_output(const char *program, const char *const args[],
                      int timeout_ms, char *out, size_t size, int *status_p)
{
    char path[PATH_MAX], *argv[ARGS_MAX + 2] = {path};
    size_t used;
    int status, n = 0;

    if (!aspt_program_find(program, path))
        return -1;
    for (; args[n] && n < ARGS_MAX; n++)
        argv[n + 1] = (char *) args[n]; /* execv() does not change them */
    if (asp_child_run(argv, timeout_ms, out, size / 2, out + size / 2,
                      size - size / 2, &status) < 0 ||
        !WIFEXITED(status))
        return -1;
    used = strlen(out);
    memmove(out + used, out + size / 2, strlen(out + size / 2) + 1);
    *status_p = WEXITSTATUS(status);
    return 0;
}
