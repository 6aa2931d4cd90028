/* SPDX-License-Identifier: BSD-3-Clause */
/* Options from mpiexec(1) of MPICH 4.0 to 4.3. Hydra takes one dash or two,
 * upper case or lower, and "-name value" or "-name=value"; the first word that
 * is no option is the program, and ":" begins the next part. */
#include "config.h"

#include "hydra.h"

#include "common/base/words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NO_VALUE, VALUE, PAIR /* "NAME VALUE", or "NAME=VALUE" */ };

/* What `aspen run` does with an option, but to pass it on. */
enum use {
    PASS,
    COUNT,
    HOSTS,
    HOST_FILE,
    PPN,
    RMK,
    BIND,
    DIRECTORY,
    DEVICES,
    INFORM,
    REFUSE,
};

static const struct row {
    const char *name;
    int values;
    enum use use;
} rows[] = {
    {"binding", VALUE, BIND},
    {"bind-to", VALUE, BIND},
    {"bootstrap", VALUE, PASS},
    {"bootstrap-exec", VALUE, PASS},
    {"configfile", VALUE, REFUSE},
    {"debug", NO_VALUE, PASS},
    {"demux", VALUE, PASS},
    {"disable-auto-cleanup", NO_VALUE, PASS},
    {"disable-hostname-propagation", NO_VALUE, PASS},
    {"disable-x", NO_VALUE, PASS},
    {"enable-auto-cleanup", NO_VALUE, PASS},
    {"enable-hostname-propagation", NO_VALUE, PASS},
    {"enable-x", NO_VALUE, PASS},
    {"env", PAIR, PASS},
    {"envall", NO_VALUE, PASS},
    {"envlist", VALUE, PASS},
    {"envnone", NO_VALUE, PASS},
    {"errfile", VALUE, PASS},
    {"errfile-pattern", VALUE, PASS},
    {"f", VALUE, HOST_FILE},
    {"g", VALUE, DEVICES},
    {"genv", PAIR, PASS},
    {"genvall", NO_VALUE, PASS},
    {"genvlist", VALUE, PASS},
    {"genvnone", NO_VALUE, PASS},
    {"gpu-subdevs-per-proc", VALUE, DEVICES},
    {"gpus-per-proc", VALUE, DEVICES},
    {"h", NO_VALUE, INFORM},
    {"help", NO_VALUE, INFORM},
    {"host", VALUE, HOSTS},
    {"hostfile", VALUE, HOST_FILE},
    {"hostlist", VALUE, HOSTS},
    {"hosts", VALUE, HOSTS},
    {"hybrid-hosts", NO_VALUE, PASS},
    {"iface", VALUE, PASS},
    {"info", NO_VALUE, INFORM},
    {"l", NO_VALUE, PASS},
    {"launcher", VALUE, PASS},
    {"launcher-exec", VALUE, PASS},
    {"localhost", VALUE, PASS},
    {"machine", VALUE, HOSTS},
    {"machinefile", VALUE, HOST_FILE},
    {"machinelist", VALUE, HOSTS},
    {"machines", VALUE, HOSTS},
    {"map-by", VALUE, PASS},
    {"membind", VALUE, PASS},
    {"memory-alloc-kinds", VALUE, PASS},
    {"n", VALUE, COUNT},
    {"nameserver", VALUE, PASS},
    {"np", VALUE, COUNT},
    {"order-nodes", VALUE, REFUSE},
    {"outfile", VALUE, PASS},
    {"outfile-pattern", VALUE, PASS},
    {"output-from", VALUE, PASS},
    {"pmi-port", NO_VALUE, PASS},
    {"ppn", VALUE, PPN},
    {"prepend-pattern", VALUE, PASS},
    {"prepend-rank", NO_VALUE, PASS},
    {"print-all-exitcodes", NO_VALUE, PASS},
    {"profile", NO_VALUE, PASS},
    {"rankmap", VALUE, REFUSE},
    {"rmk", VALUE, RMK},
    {"skip-launch-node", NO_VALUE, REFUSE},
    {"topolib", VALUE, PASS},
    {"usize", VALUE, PASS},
    {"v", NO_VALUE, PASS},
    {"verbose", NO_VALUE, PASS},
    {"version", NO_VALUE, INFORM},
    {"wdir", VALUE, DIRECTORY},
};

static const struct row *row_of(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strncasecmp(rows[i].name, name, len) == 0 &&
            rows[i].name[len] == '\0')
            return &rows[i];
    return NULL;
}

/* ---- reading -------------------------------------------------------------------- */

/* An option and its values, of words that it may take up to `words`. */
struct option {
    const struct row *row;
    const char *value; /* the first; NULL: none */
    int words;
};

static int refuse_unknown(const char *word, struct asp_err *err)
{
    return asp_errf(err, EINVAL,
                    "mpiexec's option %.80s is not known to aspen run, which "
                    "cannot tell where the program begins: if it is right, "
                    "give its setting by mpiexec's environment instead",
                    word);
}

static int read_option(char **argv, struct option *out, struct asp_err *err)
{
    const char *name = argv[0] + strspn(argv[0], "-");
    size_t len = strcspn(name, "=");
    int wanted;

    out->row = row_of(name, len);
    if (!out->row)
        return refuse_unknown(argv[0], err);
    wanted = out->row->values;
    out->value = name[len] ? name + len + 1 : NULL;
    out->words = 1;
    if (wanted == NO_VALUE)
        return 0;
    if (!out->value)
        out->value = argv[out->words++];
    /* -genv NAME VALUE, but -genv NAME=VALUE */
    if (wanted == PAIR && out->value && !strchr(out->value, '=') &&
        argv[out->words - 1])
        out->words++;
    if (!out->value || !argv[out->words - 1])
        return asp_errf(err, EINVAL, "mpiexec's option %.80s lacks a value",
                        argv[0]);
    return 0;
}

static int refuse(const struct option *option, struct asp_err *err)
{
    return asp_errf(err, EINVAL,
                    "mpiexec's option -%s changes where ranks start, which "
                    "aspen run has to know: name the hosts with -hosts or -f, "
                    "and the programs on the command line",
                    option->row->name);
}

/* Hydra refuses it too, but would not see it: these are written anew. */
static int refuse_second(const struct option *option, struct asp_err *err)
{
    return asp_errf(err, EINVAL,
                    "mpiexec's option -%s, or its like, is given twice",
                    option->row->name);
}

static int take_number(const struct option *option, uint32_t *out_p,
                       struct asp_err *err)
{
    if (*out_p)
        return refuse_second(option, err);
    if (asp_parse_number(option->value, ASP_RANKS_MAX, out_p) == 0 && *out_p)
        return 0;
    return asp_errf(err, EINVAL, "mpiexec's -%s wants a number, not \"%.60s\"",
                    option->row->name, option->value);
}

static int take_hosts(const struct aspt_hydra *hydra,
                      const struct option *option, const char **out_p,
                      struct asp_err *err)
{
    if (hydra->hosts || hydra->file)
        return refuse_second(option, err);
    *out_p = option->value;
    return 0;
}

static void pass(struct aspt_hydra_part *part, char **argv, int words)
{
    for (int i = 0; i < words; i++)
        part->options[part->noptions++] = argv[i];
}

static int take_option(struct aspt_hydra *hydra, struct aspt_hydra_part *part,
                       char **argv, const struct option *option,
                       struct asp_err *err)
{
    switch (option->row->use) {
    case COUNT:
        return take_number(option, &part->count, err);
    case PPN:
        return take_number(option, &hydra->ppn, err);
    case HOSTS:
        return take_hosts(hydra, option, &hydra->hosts, err);
    case HOST_FILE:
        return take_hosts(hydra, option, &hydra->file, err);
    case REFUSE:
        return refuse(option, err);
    case RMK:
        hydra->rmk = option->value;
        break;
    case BIND:
        hydra->binding = option->value;
        break;
    case DIRECTORY:
        if (hydra->nparts == 1)
            hydra->dir = option->value;
        break;
    case INFORM:
        hydra->informs = true;
        break;
    case DEVICES:
        hydra->per_device = true;
        break;
    case PASS:
        break;
    }
    pass(part, argv, option->words);
    return 0;
}

/* One part, of the words at *argv_p, which moves behind its ":". */
static int read_part(struct aspt_hydra *hydra, char ***argv_p,
                     struct asp_err *err)
{
    struct aspt_hydra_part *part = &hydra->parts[hydra->nparts++];
    char **argv = *argv_p;
    struct option option = {.words = 1};

    part->options = calloc(asp_words_count(argv) + 1, sizeof(*part->options));
    if (!part->options)
        return asp_errf(err, ENOMEM, "out of memory");
    while (*argv && argv[0][0] == '-') {
        if (read_option(argv, &option, err) < 0 ||
            take_option(hydra, part, argv, &option, err) < 0)
            return -1;
        if (hydra->informs)
            return 0;
        argv += option.words;
    }
    part->program = argv;
    while (*argv && strcmp(*argv, ":") != 0)
        argv++;
    part->nprogram = (uint32_t) (argv - part->program);
    if (part->nprogram == 0)
        return asp_errf(err, EINVAL, "mpiexec is given no program to run");
    *argv_p = *argv ? argv + 1 : argv;
    return 0;
}

int aspt_hydra_parse(char **argv, struct aspt_hydra *out_p, struct asp_err *err)
{
    *out_p = (struct aspt_hydra){.command = argv[0]};
    /* Each part has a word at least. */
    out_p->parts = calloc(asp_words_count(argv) + 1, sizeof(*out_p->parts));
    if (!out_p->parts)
        return asp_errf(err, ENOMEM, "out of memory");
    argv++;
    do
        if (read_part(out_p, &argv, err) < 0)
            return -1;
    while (*argv && !out_p->informs);
    return 0;
}

void aspt_hydra_clear(struct aspt_hydra *hydra)
{
    for (uint32_t i = 0; i < hydra->nparts; i++)
        free(hydra->parts[i].options);
    free(hydra->parts);
    *hydra = (struct aspt_hydra){.parts = NULL};
}

/* ---- hosts ------------------------------------------------------------------------ */

/* What other resource managers leave behind; hydra reads it, we do not. */
static const char *other_manager(void)
{
    static const char *const names[] = {"PBS_NODEFILE", "LSB_MCPU_HOSTS",
                                        "PE_HOSTFILE", "COBALT_NODEFILE",
                                        "LOADL_HOSTFILE"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (asp_variable(names[i]))
            return names[i];
    return NULL;
}

static int add_this_machine(struct aspt_hosts *hosts, struct asp_err *err)
{
    char name[ASP_NAME_MAX] = "localhost";

    gethostname(name, sizeof(name) - 1);
    return aspt_hosts_add_list(hosts, name, err);
}

/* Of the resource manager, unless the user said that there is none. */
static int add_managed(const struct aspt_hydra *hydra, struct aspt_hosts *hosts,
                       struct asp_err *err)
{
    const char *names = asp_variable("SLURM_NODELIST");
    const char *counts = asp_variable("SLURM_TASKS_PER_NODE");
    const char *rmk = hydra->rmk ? hydra->rmk : asp_variable("HYDRA_RMK");
    const char *other = other_manager();

    if (rmk && strcmp(rmk, "user") == 0)
        return add_this_machine(hosts, err);
    if (!names)
        names = asp_variable("SLURM_JOB_NODELIST");
    if (names && counts && asp_variable("SLURM_NNODES"))
        return aspt_hosts_add_slurm(hosts, names, counts, err);
    if (other)
        return asp_errf(err, EINVAL,
                        "mpiexec would take its hosts from %s, which aspen run "
                        "does not read: name them with -hosts or -f",
                        other);
    return add_this_machine(hosts, err);
}

int aspt_hydra_hosts(const struct aspt_hydra *hydra, struct aspt_hosts *out_p,
                     struct asp_err *err)
{
    const char *file = hydra->file ? hydra->file
                                   : asp_variable("HYDRA_HOST_FILE");
    int rc;

    *out_p = (struct aspt_hosts){.list = NULL};
    if (hydra->hosts)
        rc = aspt_hosts_add_list(out_p, hydra->hosts, err);
    else if (file && strcmp(file, "HYDRA_USE_LOCALHOST") != 0)
        rc = aspt_hosts_add_file(out_p, file, err);
    else if (file)
        rc = add_this_machine(out_p, err);
    else
        rc = add_managed(hydra, out_p, err);
    for (uint32_t i = 0; hydra->ppn && i < out_p->n; i++)
        out_p->list[i].cores = hydra->ppn;
    return rc;
}

const char *aspt_hydra_binding(const struct aspt_hydra *hydra)
{
    const char *how = hydra->binding ? hydra->binding
                                     : asp_variable("HYDRA_BINDING");

    if (!how || strcmp(how, "none") == 0)
        return "";
    return hydra->binding ? "-bind-to was given" : "HYDRA_BINDING is set";
}

int aspt_hydra_check_files(struct asp_err *err)
{
    const char *file = asp_variable("HYDRA_CONFIG_FILE"),
               *home = asp_variable("HOME");
    char own[4096];

    if (file && strcmp(file, "/dev/null") == 0)
        return 0;
    snprintf(own, sizeof(own), "%s/.mpiexec.hydra.conf", home ? home : "");
    if (!file)
        file = home && access(own, R_OK) == 0 ? own : "/etc/mpiexec.hydra.conf";
    if (access(file, R_OK) < 0)
        return 0;
    return asp_errf(err, EINVAL,
                    "%.200s has options of mpiexec that aspen run does not "
                    "read: give them on the command line, and set "
                    "HYDRA_CONFIG_FILE=/dev/null",
                    file);
}

/* ---- writing ------------------------------------------------------------------------ */

static char *number_word(uint32_t number)
{
    char *word = NULL;

    return asprintf(&word, "%u", (unsigned) number) < 0 ? NULL : word;
}

/* One part at `to`. Returns the words used, or -1. */
static int make_part(const struct aspt_hydra_part *part, uint32_t ranks,
                     const char *hosts, char **before, char **to)
{
    static char count[] = "-n", list[] = "-hosts";
    int n = 0;

    if (hosts) {
        to[n++] = list;
        to[n++] = (char *) hosts; /* execvp() does not change it */
    }
    for (uint32_t i = 0; i < part->noptions; i++)
        to[n++] = part->options[i];
    to[n++] = count;
    to[n] = number_word(ranks);
    if (!to[n++])
        return -1;
    for (; *before; before++)
        to[n++] = *before;
    for (uint32_t i = 0; i < part->nprogram; i++)
        to[n++] = part->program[i];
    return n;
}

char **aspt_hydra_make(const struct aspt_hydra *hydra, const uint32_t *ranks,
                       const char *hosts, char **before)
{
    static char next[] = ":";
    size_t capacity = 2, n = 0, each = 5 + asp_words_count(before);
    char **argv;

    for (uint32_t i = 0; i < hydra->nparts; i++)
        capacity += each + hydra->parts[i].noptions + hydra->parts[i].nprogram;
    argv = calloc(capacity, sizeof(*argv));
    if (!argv)
        return NULL;
    argv[n++] = hydra->command;
    for (uint32_t i = 0; i < hydra->nparts; i++) {
        int words = make_part(&hydra->parts[i], ranks[i], i ? NULL : hosts,
                              before, argv + n);

        if (words < 0) {
            free(argv);
            return NULL;
        }
        n += (size_t) words;
        if (i + 1 < hydra->nparts)
            argv[n++] = next;
    }
    return argv;
}
