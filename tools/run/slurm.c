/* SPDX-License-Identifier: BSD-3-Clause */
/* What the plugin's srun side and cli_filter.lua do together. */
#include "config.h"

#include "slurm.h"

#include "tools/base/program.h"

#include "common/base/words.h"
#include "common/expand/expand.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HELP_LIMIT_MS = 5000,
    HELP_BYTES = 256 * 1024,
    ANSWER_MAX = 8192,
};

bool aspt_slurm_has_plugin(const char *srun)
{
    static const char *const help[] = {"--help", NULL};
    char *text = malloc(HELP_BYTES);
    bool found;
    int status;

    found = text &&
            aspt_child_output(srun, help, HELP_LIMIT_MS, text, HELP_BYTES,
                              &status) == 0 &&
            strstr(text, "--async-progress") != NULL;
    free(text);
    return found;
}

/* ---- what cannot be ------------------------------------------------------------------ */

static const struct {
    const char *option, *why;
} refused[] = {
    {"multi-prog",
     "--multi-prog names programs in a file, where aspen run cannot put "
     "anything before them: start them with one srun each"},
    {"bcast",
     "--bcast would send aspen-task to the nodes instead of the program: use "
     "sbcast before"},
    {"container", "--container starts programs where aspen-task is not: use "
                  "--async-progress=off"},
};

int aspt_slurm_check(const struct aspt_srun *srun, struct asp_err *err)
{
    const char *doubt = aspt_srun_doubt(srun);

    if (!*srun->program)
        return asp_errf(err, EINVAL, "srun is given no program to run");
    if (doubt)
        return asp_errf(err, EINVAL,
                        "srun's option %.80s is not known to aspen run, which "
                        "cannot tell if \"%.60s\" is its value or the program: "
                        "write %.80s=VALUE, or \"--\" before the program",
                        doubt, *srun->program, doubt);
    for (char **word = srun->program; *word; word++)
        if (strcmp(*word, ":") == 0)
            return asp_errf(err, EINVAL,
                            "heterogeneous steps (\"srun ... : ...\") are not "
                            "supported: use one srun per component, or "
                            "--async-progress=off");
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        if (aspt_srun_find(srun, refused[i].option))
            return asp_errf(err, EINVAL, "%s", refused[i].why);
    return 0;
}

static bool is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           access(path, X_OK) == 0;
}

void aspt_slurm_find_program(struct aspt_srun *srun)
{
    const struct aspt_srun_option *chdir = aspt_srun_find(srun, "chdir");
    const char *dir = chdir && chdir->value ? chdir->value : ".";
    const char *name = srun->program[0];
    char path[PATH_MAX], *found = NULL;

    if (strchr(name, '/'))
        return;
    if (aspt_program_find(name, path))
        found = strdup(path);
    else if (snprintf(path, sizeof(path), "%s/%s", dir, name) <
                 (int) sizeof(path) &&
             is_program(path) && asprintf(&found, "./%s", name) < 0)
        found = NULL;
    if (found)
        srun->program[0] = found;
}

/* "verbose,cores" is cores, verbosely. */
const char *aspt_slurm_cpu_bind(const struct aspt_srun *srun)
{
    const struct aspt_srun_option *option = aspt_srun_find(srun, "cpu-bind");
    const char *kind;

    if (!option)
        option = aspt_srun_find(srun, "cpu_bind");
    kind = option && option->value ? option->value : "";
    while (*kind) {
        size_t len = strcspn(kind, ",");

        if (!asp_is_among(kind, len, "verbose|quiet|v|q"))
            break;
        kind += len + (kind[len] == ',');
    }
    return kind;
}

/* ---- counting -------------------------------------------------------------------------- */

/* The answer of common/expand for a request. */
static int expand(struct aspt_slurm_words *words, const char *spec,
                  char answer[ANSWER_MAX], struct asp_err *err)
{
    char *word;
    int rc;

    if (asprintf(&word, "spec=%s", spec) < 0)
        return asp_errf(err, ENOMEM, "out of memory");
    words->words[words->n] = word; /* there is room for one more */
    rc = asp_expand_words(words->n + 1, (const char *const *) words->words,
                          answer, ANSWER_MAX, err);
    words->words[words->n] = NULL;
    free(word);
    return rc;
}

/* Rules can ask for nodes and tasks per node, which ghosts do not change: find
 * them with one ghost. */
static int count_facts(struct aspt_slurm_words *words, struct asp_err *err)
{
    char answer[ANSWER_MAX];
    const char *grown;
    uint32_t users, nodes;

    if (expand(words, "ghost:1", answer, err) < 0)
        return -1;
    grown = strstr(answer, "\ngrown ");
    if (grown &&
        sscanf(grown, "\ngrown users=%" SCNu32 " ghosts=1 nodes=%" SCNu32,
               &users, &nodes) == 2 &&
        nodes > 0) {
        words->facts.nodes = nodes;
        words->facts.tasks_per_node = (users + nodes - 1) / nodes;
    }
    return 0;
}

static const char *refusal(const char *answer)
{
    return asp_after(answer, "refuse ");
}

/* Where ghosts have no room, auto may have chosen one more than the earlier run
 * had: then as many as that. */
static int try_fewer(const struct aspt_settled *settled,
                     struct aspt_slurm_words *words, struct aspt_answer *fewer,
                     struct aspt_answer *request, char answer[ANSWER_MAX],
                     struct asp_err *err)
{
    char second[ANSWER_MAX];

    words->facts.no_more_ghosts = true;
    if (aspt_settled_ask(settled, &words->facts, fewer, err) < 0 ||
        expand(words, fewer->counting, second, err) < 0)
        return -1;
    words->facts.no_more_ghosts = false;
    if (strcmp(fewer->counting, request->counting) == 0 || refusal(second))
        return 0;
    *request = *fewer;
    memcpy(answer, second, ANSWER_MAX);
    return 0;
}

static int ask_for_fewer(const struct aspt_settled *settled,
                         struct aspt_slurm_words *words,
                         struct aspt_answer *request, char answer[ANSWER_MAX],
                         struct asp_err *err)
{
    struct aspt_answer *fewer = malloc(sizeof(*fewer));
    int rc = fewer ? try_fewer(settled, words, fewer, request, answer, err)
                   : asp_errf(err, ENOMEM, "out of memory");

    free(fewer);
    return rc;
}

/* Still impossible: where auto chose the ghosts, it chooses anew. */
static int ask_for_none(const struct aspt_settled *settled,
                        struct aspt_slurm_words *words,
                        struct aspt_answer *request, char answer[ANSWER_MAX],
                        struct asp_err *err)
{
    char why[ANSWER_MAX];

    snprintf(why, sizeof(why), "%.*s", (int) strcspn(refusal(answer), "\n"),
             refusal(answer));
    words->facts.no_ghosts = why;
    if (aspt_settled_ask(settled, &words->facts, request, err) < 0)
        return -1;
    words->facts.no_ghosts = NULL;
    if (strcmp(request->spec, asp_mode_name(ASP_MODE_OFF)) != 0)
        return asp_errf(err, ERANGE, "%s", why);
    answer[0] = '\0';
    return 0;
}

static int settle(const struct aspt_settled *settled,
                  struct aspt_slurm_words *words, struct aspt_answer *request,
                  char answer[ANSWER_MAX], struct asp_err *err)
{
    if (count_facts(words, err) < 0 ||
        aspt_settled_ask(settled, &words->facts, request, err) < 0 ||
        expand(words, request->counting, answer, err) < 0)
        return -1;
    if (refusal(answer) &&
        ask_for_fewer(settled, words, request, answer, err) < 0)
        return -1;
    return refusal(answer) ? ask_for_none(settled, words, request, answer, err)
                           : 0;
}

/* A line of the answer. */
static int take_line(const char *line, struct aspt_slurm_change *change,
                     size_t *used)
{
    char name[64], value[64];
    uint32_t user, total;

    if (sscanf(line, "set %63s %63s", name, value) == 2 &&
        *used + 1 < sizeof(change->added) / sizeof(change->added[0]))
        return asprintf(&change->added[(*used)++], "--%s=%s", name, value) < 0
                   ? -1
                   : 0;
    if (sscanf(line, "cpus user=%" SCNu32 " total=%" SCNu32, &user, &total) ==
        2)
        snprintf(change->cpus, sizeof(change->cpus), "%" PRIu32 "+%" PRIu32,
                 user, total);
    return 0;
}

int aspt_slurm_expand(const struct aspt_settled *settled,
                      struct aspt_slurm_words *words,
                      struct aspt_answer *answer_p,
                      struct aspt_slurm_change *out_p, struct asp_err *err)
{
    char answer[ANSWER_MAX], *line, *save = NULL;
    size_t used = 0;

    *out_p = (struct aspt_slurm_change){.cpus = ""};
    if (settle(settled, words, answer_p, answer, err) < 0)
        return -1;
    for (line = strtok_r(answer, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save))
        if (take_line(line, out_p, &used) < 0)
            return asp_errf(err, ENOMEM, "out of memory");
    return 0;
}

/* ---- the command ------------------------------------------------------------------------- */

/* Options whose names the change has, and ours, which srun does not know. */
static void replaced(const struct aspt_slurm_change *change, const char **names,
                     char buffer[][64])
{
    static const char *const ours[] = {"async-progress", "async-policy",
                                       "async-report"};
    size_t n = 0;

    for (; n < sizeof(ours) / sizeof(ours[0]); n++)
        names[n] = ours[n];
    for (size_t i = 0; change->added[i]; i++) {
        snprintf(buffer[i], 64, "%.*s",
                 (int) strcspn(change->added[i] + 2, "="),
                 change->added[i] + 2);
        names[n++] = buffer[i];
    }
    names[n] = NULL;
}

char **aspt_slurm_make(const struct aspt_srun *srun,
                       const struct aspt_slurm_change *change, char **before)
{
    size_t nbefore = asp_words_count(before);
    size_t nprogram = asp_words_count(srun->program);
    char **program = calloc(nbefore + nprogram + 1, sizeof(*program)), **argv;
    struct aspt_srun with = *srun;
    const char *names[12];
    char buffer[8][64];

    if (!program)
        return NULL;
    memcpy(program, before, nbefore * sizeof(*program));
    memcpy(program + nbefore, srun->program, nprogram * sizeof(*program));
    with.program = program;
    replaced(change, names, buffer);
    argv = aspt_srun_make(&with, change->added, names);
    free(program);
    return argv;
}
