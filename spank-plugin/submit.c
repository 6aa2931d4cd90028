/* SPDX-License-Identifier: BSD-3-Clause */
/* Ask `aspen request`: all parsing of what users write is there, none here. */
#include "config.h"

#include "submit.h"

#include "special.h"

#include "common/base/child.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { REQUEST_TIMEOUT_MS = 10000, MESSAGE_MAX = 4096 };

/* Line by line, as an error or as a remark. */
static void log_lines(const char *text, bool error)
{
    char line[1024];

    while (*text) {
        size_t len = strcspn(text, "\n");

        snprintf(line, sizeof(line), "%.*s", (int) len, text);
        if (len > 0 && error)
            slurm_error("aspen: %s", line);
        else if (len > 0)
            slurm_spank_log("aspen: %s", line);
        text += len + (text[len] == '\n');
    }
}

void asps_submit_refuse(const char *text)
{
    const char *status = getenv("SLURM_EXIT_ERROR");
    int code = status != NULL ? atoi(status) : 0;

    log_lines(text, true);
    exit(code > 0 && code < 256 ? code : EXIT_FAILURE);
}

enum { WORDS = 6 + ASPS_FACTS_MAX, WORD_BYTES = ASP_SPEC_MAX + 32 };

/* Words of the command; buffers belong to the caller. */
static void make_argv(const struct asps_settings *settings,
                      const struct asps_submit *submit, const char *no_ghosts,
                      char *words, char **argv)
{
    const struct {
        const char *prefix;
        const char *value;
    } parts[] = {{"", settings->command},
                 {"", "request"},
                 {"--site-policy=", settings->policy},
                 {"--progress=", submit->options.progress},
                 {"--policy=", submit->options.policy},
                 {"--no-ghosts=", no_ghosts}};
    int n = 0;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (*parts[i].value == '\0')
            continue;
        argv[n] = words + (size_t) n * WORD_BYTES;
        snprintf(argv[n], WORD_BYTES, "%s%s", parts[i].prefix, parts[i].value);
        n++;
    }
    for (int i = 0; i < submit->filter.nfacts; i++) {
        argv[n] = words + (size_t) n * WORD_BYTES;
        snprintf(argv[n], WORD_BYTES, "%s", submit->filter.facts[i]);
        n++;
    }
    argv[n] = NULL;
}

static void refuse_broken(const struct asps_settings *settings, int rc,
                          int status, const char *err)
{
    char text[MESSAGE_MAX + ASPS_PATH_MAX];

    if (rc < 0)
        snprintf(text, sizeof(text), "%s request: %s", settings->command,
                 strerror(errno));
    else if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        snprintf(text, sizeof(text),
                 "cannot run %s: install it on this node, or leave "
                 "--async-progress out",
                 settings->command);
    else if (*err)
        snprintf(text, sizeof(text), "%s", err);
    else
        snprintf(text, sizeof(text), "%s request failed, status 0x%x",
                 settings->command, (unsigned) status);
    asps_submit_refuse(text);
}

bool asps_submit_is_off(const struct asps_submit *submit)
{
    return strcmp(submit->spec.mode, "off") == 0;
}

/* Ask, and parse the answer.
 *   no_ghosts  why there cannot be any, or "" */
static void ask_aspen(const struct asps_settings *settings,
                      struct asps_submit *out_p, const char *no_ghosts)
{
    char *argv[WORDS + 1];
    char *words = malloc((size_t) WORDS * WORD_BYTES);
    char err[MESSAGE_MAX];
    int status = 0, rc;

    if (words == NULL)
        asps_submit_refuse("out of memory");
    make_argv(settings, out_p, no_ghosts, words, argv);
    rc = asp_child_run(argv, REQUEST_TIMEOUT_MS, out_p->text,
                       sizeof(out_p->text), err, sizeof(err), &status);
    free(words);
    if (rc < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        refuse_broken(settings, rc, status, err);
    if (strchr(out_p->text, '\n') == NULL)
        asps_submit_refuse("the request is too long: put it into a policy file "
                           "(--async-policy)");
    out_p->text[strcspn(out_p->text, "\n")] = '\0';
    if (asp_request_spec_parse(out_p->text, &out_p->spec) < 0) {
        snprintf(err, sizeof(err),
                 "%s request printed \"%.200s\", which this plugin does not "
                 "understand: plugin and command come from different "
                 "installations",
                 settings->command, out_p->text);
        asps_submit_refuse(err);
    }
    snprintf(out_p->remarks, sizeof(out_p->remarks), "%s", err);
}

/* cli_filter.lua says so before it adds tasks, where there is one. */
static void check_container(struct asps_submit *submit)
{
    if (submit->spec.ghosts > 0 && submit->filter.refusal[0] == '\0' &&
        (getenv("SLURM_CONTAINER") != NULL ||
         getenv("SLURM_CONTAINER_ID") != NULL))
        strcpy(submit->filter.refusal, ASPS_NO_CONTAINER);
}

bool asps_submit_check(const struct asps_settings *settings,
                       struct asps_submit *out_p)
{
    asps_filter_read(&out_p->filter);
    if (!asps_options_effective(&out_p->options))
        return false;
    if (strcmp(out_p->options.progress, "off") == 0) {
        strcpy(out_p->text, "off"); /* whatever policies say */
        return asp_request_spec_parse(out_p->text, &out_p->spec) == 0;
    }
    ask_aspen(settings, out_p, "");
    check_container(out_p);
    if (!asps_submit_is_off(out_p) && out_p->filter.refusal[0] != '\0') {
        /* If auto chose the ghosts, it chooses anew. */
        ask_aspen(settings, out_p, out_p->filter.refusal);
        if (!asps_submit_is_off(out_p))
            asps_submit_refuse(out_p->filter.refusal);
    }
    log_lines(out_p->remarks, false); /* what auto chose, what limits changed */
    return !asps_submit_is_off(out_p) ||
           asp_spec_helps_without_helpers(out_p->text) ||
           asps_report_wanted(out_p->options.report);
}
