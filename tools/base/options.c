/* SPDX-License-Identifier: BSD-3-Clause */
/* What getopt_long() would say itself, in our words. */
#include "config.h"

#include "options.h"

#include "command.h"

#include "common/base/nearest.h"

#include <stdio.h>
#include <string.h>

enum { OPTIONS_MAX = 64 }; /* of a subcommand; the largest has 17 */

/* The option of the table that was meant by a word with dashes, or NULL. */
static const char *meant(const struct option *table, const char *word,
                         size_t len)
{
    const char *names[OPTIONS_MAX];
    char name[64];
    size_t n = 0;

    if (len >= sizeof(name))
        return NULL;
    memcpy(name, word, len);
    name[len] = '\0';
    for (; table[n].name && n < OPTIONS_MAX; n++)
        names[n] = table[n].name;
    return asp_nearest(name, names, n);
}

/* An option that is not in the table; or one that is, with a value that it does
 * not take.
 *   word  "--name", "--name=value" */
static void say_unknown(const struct aspt_options *options, const char *word)
{
    const size_t len = strcspn(word + 2, "=");
    const char *near = meant(options->table, word + 2, len);

    if (near && strlen(near) == len && strncmp(near, word + 2, len) == 0)
        fprintf(stderr, "aspen: option --%s takes no value; see %s --help\n",
                near, options->command);
    else if (near)
        fprintf(stderr,
                "aspen: unknown option \"--%.*s\": did you mean \"--%s\"? see "
                "%s --help\n",
                (int) len, word + 2, near, options->command);
    else
        fprintf(stderr, "aspen: unknown option \"%.80s\": see %s --help\n",
                word, options->command);
}

/*   found  what getopt_long() returned: '?' or ':' */
static int complain(const struct aspt_options *options, int found,
                    const char *word)
{
    if (found == ':')
        fprintf(stderr, "aspen: option %.80s lacks a value; see %s --help\n",
                word, options->command);
    else if (strncmp(word, "--", 2) == 0)
        say_unknown(options, word);
    else
        fprintf(stderr, "aspen: unknown option \"-%c\": see %s --help\n",
                optopt, options->command);
    return ASPT_REFUSED;
}

static int refuse(const struct aspt_options *options, const struct asp_err *err)
{
    if (err->text[0] != '\0')
        return aspt_complain(err);
    fputs(options->usage, stderr);
    return ASPT_REFUSED;
}

int aspt_options_read(const struct aspt_options *options, int argc, char **argv,
                      void *data)
{
    optind = 1;
    for (;;) {
        struct asp_err err = {.text = ""};
        int at = optind, rc, option;

        option = getopt_long(argc, argv, options->letters, options->table,
                             NULL);
        if (option == -1)
            return -1;
        if (option == '?' || option == ':')
            return complain(options, option, argv[at]);
        if (option == ASPT_OPTION_HELP) {
            fputs(options->usage, stdout);
            return ASPT_OK;
        }
        rc = options->take(option, optarg, data, &err);
        if (rc != 0)
            return rc < 0 ? refuse(options, &err) : ASPT_OK;
    }
}
