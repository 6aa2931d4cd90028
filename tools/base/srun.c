/* SPDX-License-Identifier: BSD-3-Clause */
/* srun's command line; srun.h. Options that are not in the table (of plugins)
 * take no argument, or one after "=", and are passed on as they are. */
#include "config.h"

#include "srun.h"

#include <stdlib.h>
#include <string.h>

enum argument { NONE, REQUIRED, OPTIONAL };

struct row {
    const char *name;
    char letter;
    enum argument argument;
    bool allocates;
};

/* From srun(1) and salloc(1) of Slurm 22.05 to 24.11. */
static const struct row rows[] = {
    {"accel-bind", 0, REQUIRED, false},
    {"account", 'A', REQUIRED, true},
    {"acctg-freq", 0, REQUIRED, true},
    {"async-policy", 0, REQUIRED, true},
    {"async-progress", 0, OPTIONAL, true},
    {"async-report", 0, OPTIONAL, false},
    {"bb", 0, REQUIRED, true},
    {"bbf", 0, REQUIRED, true},
    {"bcast", 0, OPTIONAL, false},
    {"bcast-exclude", 0, REQUIRED, false},
    {"begin", 'b', REQUIRED, true},
    {"chdir", 'D', REQUIRED, false},
    {"cluster-constraint", 0, REQUIRED, true},
    {"clusters", 'M', REQUIRED, true},
    {"comment", 0, REQUIRED, true},
    {"compress", 0, OPTIONAL, false},
    {"consolidate-segments", 0, NONE, true},
    {"constraint", 'C', REQUIRED, true},
    {"container", 0, REQUIRED, false},
    {"container-id", 0, REQUIRED, false},
    {"contiguous", 0, NONE, true},
    {"core-spec", 'S', REQUIRED, true},
    {"cores-per-socket", 0, REQUIRED, true},
    {"cpu-bind", 0, REQUIRED, false},
    {"cpu-freq", 0, REQUIRED, false},
    {"cpu_bind", 0, REQUIRED, false},
    {"cpus-per-gpu", 0, REQUIRED, true},
    {"cpus-per-task", 'c', REQUIRED, true},
    {"deadline", 0, REQUIRED, true},
    {"debugger-test", 0, NONE, false},
    {"delay-boot", 0, REQUIRED, true},
    {"dependency", 'd', REQUIRED, true},
    {"disable-status", 'X', NONE, false},
    {"distribution", 'm', REQUIRED, true},
    {"epilog", 0, REQUIRED, false},
    {"error", 'e', REQUIRED, false},
    {"exact", 0, NONE, false},
    {"exclude", 'x', REQUIRED, true},
    {"exclusive", 0, OPTIONAL, true},
    {"export", 0, REQUIRED, false},
    {"export-file", 0, REQUIRED, false},
    {"external-launcher", 0, NONE, false},
    {"extra", 0, REQUIRED, true},
    {"extra-node-info", 'B', REQUIRED, true},
    {"get-user-env", 0, OPTIONAL, true},
    {"gid", 0, REQUIRED, true},
    {"gpu-bind", 0, REQUIRED, true},
    {"gpu-freq", 0, REQUIRED, true},
    {"gpus", 'G', REQUIRED, true},
    {"gpus-per-node", 0, REQUIRED, true},
    {"gpus-per-socket", 0, REQUIRED, true},
    {"gpus-per-task", 0, REQUIRED, true},
    {"gres", 0, REQUIRED, true},
    {"gres-flags", 0, REQUIRED, true},
    {"help", 'h', NONE, false},
    {"het-group", 0, REQUIRED, false},
    {"hint", 0, REQUIRED, true},
    {"hold", 'H', NONE, true},
    {"immediate", 'I', OPTIONAL, true},
    {"input", 'i', REQUIRED, false},
    {"interactive", 0, NONE, false},
    {"job-name", 'J', REQUIRED, true},
    {"jobid", 0, REQUIRED, false},
    {"kill-on-bad-exit", 'K', OPTIONAL, false},
    {"label", 'l', NONE, false},
    {"launch-cmd", 0, NONE, false},
    {"launcher-opts", 0, REQUIRED, false},
    {"licenses", 'L', REQUIRED, true},
    {"mail-type", 0, REQUIRED, true},
    {"mail-user", 0, REQUIRED, true},
    {"max-exit-timeout", 0, REQUIRED, false},
    {"max-launch-time", 0, REQUIRED, false},
    {"mcs-label", 0, REQUIRED, true},
    {"mem", 0, REQUIRED, true},
    {"mem-bind", 0, REQUIRED, true},
    {"mem-per-cpu", 0, REQUIRED, true},
    {"mem-per-gpu", 0, REQUIRED, true},
    {"mem_bind", 0, REQUIRED, false},
    {"mincpus", 0, REQUIRED, true},
    {"mpi", 0, REQUIRED, false},
    {"msg-timeout", 0, REQUIRED, false},
    {"multi-prog", 0, NONE, false},
    {"network", 0, REQUIRED, true},
    {"nice", 0, OPTIONAL, true},
    {"no-allocate", 'Z', NONE, false},
    {"no-kill", 'k', OPTIONAL, true},
    {"nodefile", 'F', REQUIRED, true},
    {"nodelist", 'w', REQUIRED, true},
    {"nodes", 'N', REQUIRED, true},
    {"ntasks", 'n', REQUIRED, true},
    {"ntasks-per-core", 0, REQUIRED, true},
    {"ntasks-per-gpu", 0, REQUIRED, true},
    {"ntasks-per-node", 0, REQUIRED, true},
    {"ntasks-per-socket", 0, REQUIRED, true},
    {"ntasks-per-tres", 0, REQUIRED, true},
    {"oom-kill-step", 0, OPTIONAL, true},
    {"open-mode", 0, REQUIRED, false},
    {"output", 'o', REQUIRED, false},
    {"overcommit", 'O', NONE, true},
    {"overlap", 0, NONE, false},
    {"oversubscribe", 's', NONE, true},
    {"partition", 'p', REQUIRED, true},
    {"power", 0, REQUIRED, true},
    {"prefer", 0, REQUIRED, true},
    {"preserve-env", 'E', NONE, false},
    {"preserve-slurm-env", 0, NONE, false},
    {"priority", 0, REQUIRED, true},
    {"profile", 0, REQUIRED, true},
    {"prolog", 0, REQUIRED, false},
    {"propagate", 0, OPTIONAL, false},
    {"pty", 0, OPTIONAL, false},
    {"qos", 'q', REQUIRED, true},
    {"quiet", 'Q', NONE, false},
    {"quit-on-interrupt", 0, NONE, false},
    {"reboot", 0, NONE, true},
    {"relative", 'r', REQUIRED, false},
    {"reservation", 0, REQUIRED, true},
    {"resv-ports", 0, OPTIONAL, false},
    {"segment", 0, REQUIRED, true},
    {"send-libs", 0, OPTIONAL, false},
    {"share", 0, NONE, true},
    {"signal", 0, REQUIRED, false},
    {"slurmd-debug", 0, REQUIRED, false},
    {"sockets-per-node", 0, REQUIRED, true},
    {"spread-job", 0, NONE, true},
    {"stepmgr", 0, NONE, true},
    {"switches", 0, REQUIRED, true},
    {"task-epilog", 0, REQUIRED, false},
    {"task-prolog", 0, REQUIRED, false},
    {"test-only", 0, NONE, false},
    {"thread-spec", 0, REQUIRED, true},
    {"threads", 'T', REQUIRED, false},
    {"threads-per-core", 0, REQUIRED, true},
    {"time", 't', REQUIRED, true},
    {"time-min", 0, REQUIRED, true},
    {"tmp", 0, REQUIRED, true},
    {"treewidth", 0, REQUIRED, false},
    {"tres-bind", 0, REQUIRED, true},
    {"tres-per-task", 0, REQUIRED, true},
    {"uid", 0, REQUIRED, true},
    {"unbuffered", 'u', NONE, false},
    {"usage", 0, NONE, false},
    {"use-min-nodes", 0, NONE, true},
    {"verbose", 'v', NONE, false},
    {"version", 'V', NONE, false},
    {"wait", 'W', REQUIRED, false},
    {"wckey", 0, REQUIRED, true},
    {"whole", 0, NONE, false},
    {"x11", 0, OPTIONAL, false},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* By its name, or by a beginning that only one has, as getopt_long() does. */
static const struct row *row_named(const char *name, size_t length)
{
    const struct row *found = NULL;
    bool several = false;

    for (size_t i = 0; i < ROWS; i++) {
        if (strncmp(rows[i].name, name, length) != 0)
            continue;
        if (rows[i].name[length] == '\0')
            return &rows[i];
        several = found != NULL;
        if (several)
            break;
        found = &rows[i];
    }
    return several ? NULL : found;
}

static const struct row *row_of_letter(char letter)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].letter == letter)
            return &rows[i];
    return NULL;
}

static struct aspt_srun_option *add(struct aspt_srun *srun,
                                    const struct row *row, char *word)
{
    struct aspt_srun_option *option = &srun->options[srun->noptions++];

    option->name = row ? row->name : "";
    option->allocates = row && row->allocates;
    option->words[0] = strdup(word);
    return option;
}

/* The word behind an option, unless there is none. Returns words used. */
static int take_next(struct aspt_srun_option *option, char *next)
{
    if (!next)
        return 1;
    option->words[1] = strdup(next);
    option->value = option->words[1];
    return 2;
}

/* "--nodes=2", "--nodes 2". Returns words used. */
static int parse_long(struct aspt_srun *srun, char **argv)
{
    char *name = argv[0] + 2, *equals = strchr(name, '=');
    const struct row *row = row_named(name, equals ? (size_t) (equals - name)
                                                   : strlen(name));
    struct aspt_srun_option *option = add(srun, row, argv[0]);

    if (!option->words[0])
        return 1;
    if (equals)
        option->value = option->words[0] + (equals + 1 - argv[0]);
    else if (row && row->argument == REQUIRED)
        return take_next(option, argv[1]);
    return 1;
}

/* "-N2", "-N 2", "-lN2": each letter becomes a word. Returns words used. */
static int parse_letters(struct aspt_srun *srun, char **argv)
{
    for (char *c = argv[0] + 1; *c; c++) {
        const struct row *row = row_of_letter(*c);
        char word[3] = {'-', *c, '\0'}, *keep = c[1] ? c - 1 : NULL;
        struct aspt_srun_option *option;

        if (!row || row->argument == NONE) {
            add(srun, row, word);
            continue;
        }
        option = add(srun, row, word);
        if (!keep)
            return row->argument == REQUIRED ? take_next(option, argv[1]) : 1;
        free(option->words[0]);
        option->words[0] = malloc(strlen(keep) + 1);
        if (!option->words[0])
            return 1;
        strcpy(option->words[0], keep);
        option->words[0][0] = '-';
        option->value = option->words[0] + 2;
        return 1;
    }
    return 1;
}

bool aspt_is_srun(char **argv)
{
    const char *slash = strrchr(argv[0], '/');

    return strcmp(slash ? slash + 1 : argv[0], "srun") == 0;
}

static size_t letters_in(char **argv)
{
    size_t n = 0;

    for (; *argv; argv++)
        n += strlen(*argv) + 1;
    return n;
}

static bool is_complete(const struct aspt_srun *srun)
{
    for (size_t i = 0; i < srun->noptions; i++)
        if (!srun->options[i].words[0])
            return false;
    return true;
}

int aspt_srun_parse(char **argv, struct aspt_srun *out_p)
{
    struct aspt_srun srun = {.command = argv[0]};

    /* No word gives more options than it has letters. */
    srun.options = calloc(letters_in(argv), sizeof(*srun.options));
    if (!srun.options)
        return -1;
    for (argv++; *argv && argv[0][0] == '-' && argv[0][1];) {
        if (strcmp(*argv, "--") == 0) {
            argv++;
            break;
        }
        argv += argv[0][1] == '-' ? parse_long(&srun, argv)
                                  : parse_letters(&srun, argv);
    }
    srun.program = argv;
    if (!is_complete(&srun)) {
        aspt_srun_clear(&srun);
        return -1;
    }
    *out_p = srun;
    return 0;
}

void aspt_srun_clear(struct aspt_srun *srun)
{
    for (size_t i = 0; i < srun->noptions; i++) {
        free(srun->options[i].words[0]);
        free(srun->options[i].words[1]);
    }
    free(srun->options);
    srun->options = NULL;
    srun->noptions = 0;
}

const struct aspt_srun_option *aspt_srun_find(const struct aspt_srun *srun,
                                              const char *name)
{
    for (size_t i = srun->noptions; i-- > 0;)
        if (strcmp(srun->options[i].name, name) == 0)
            return &srun->options[i];
    return NULL;
}

const char *aspt_srun_doubt(const struct aspt_srun *srun)
{
    const struct aspt_srun_option *last = srun->options + srun->noptions - 1;

    if (srun->noptions == 0 || last->name[0] != '\0' || last->value ||
        !*srun->program || strcmp(srun->program[-1], "--") == 0)
        return NULL;
    return last->words[0];
}

static bool is_among(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

char **aspt_srun_make(const struct aspt_srun *srun, char *const *added,
                      const char *const *left_out)
{
    size_t n = 0, capacity = 2 + 2 * srun->noptions;
    char **argv;

    for (char *const *word = added; *word; word++)
        capacity++;
    for (char **word = srun->program; *word; word++)
        capacity++;
    argv = calloc(capacity, sizeof(*argv));
    if (!argv)
        return NULL;
    argv[n++] = srun->command;
    for (; *added; added++)
        argv[n++] = *added;
    for (size_t i = 0; i < srun->noptions; i++)
        for (int w = 0; w < 2; w++)
            if (srun->options[i].words[w] &&
                !is_among(srun->options[i].name, left_out))
                argv[n++] = srun->options[i].words[w];
    for (char **word = srun->program; *word; word++)
        argv[n++] = *word;
    return argv;
}

unsigned long aspt_srun_minutes(const char *text)
{
    unsigned long part[4] = {0}, days = 0, seconds;
    const char *dash = strchr(text, '-');
    int n = 0;
    char *end;

    for (const char *c = text; n < 4; c = end + 1) {
        part[n++] = strtoul(c, &end, 10);
        if (*c < '0' || *c > '9' || (*end && *end != ':' && end != dash))
            return 0;
        if (!*end)
            break;
        if (end == dash) {
            if (n != 1)
                return 0;
            days = part[0];
            n = 0;
        }
    }
    if (*end)
        return 0;
    if (dash) /* days-hours[:minutes[:seconds]] */
        seconds = part[0] * 3600 + (n > 1 ? part[1] * 60 : 0) +
                  (n > 2 ? part[2] : 0);
    else if (n == 3) /* hours:minutes:seconds */
        seconds = part[0] * 3600 + part[1] * 60 + part[2];
    else /* minutes[:seconds] */
        seconds = part[0] * 60 + (n > 1 ? part[1] : 0);
    return days * 24 * 60 + (seconds + 59) / 60;
}

long aspt_srun_cpus(const char *text)
{
    long cpus = 0;

    while (*text) {
        char *end;
        long here = strtol(text, &end, 10), times = 1;

        if (end == text)
            return 0;
        if (strncmp(end, "(x", 2) == 0) {
            times = strtol(end + 2, &end, 10);
            if (*end++ != ')')
                return 0;
        }
        cpus += here * times;
        if (*end && *end != ',')
            return 0;
        text = end + (*end == ',');
    }
    return cpus;
}
