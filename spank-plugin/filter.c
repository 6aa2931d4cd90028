/* SPDX-License-Identifier: BSD-3-Clause */
/* The file between cli_filter.lua and the plugin. Called in srun, sbatch and
 * salloc only. */
#include "config.h"

#include "filter.h"

#include "common/base/strbuf.h"
#include "common/base/words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TEXT_MAX = 8192 };

static const char command_env[] = ASPS_FILTER_ENV "_COMMAND",
                  site_env[] = ASPS_FILTER_ENV "_SITE",
                  progress_env[] = ASPS_FILTER_ENV "_PROGRESS",
                  policy_env[] = ASPS_FILTER_ENV "_POLICY",
                  plugin_env[] = ASPS_FILTER_ENV "_PLUGIN",
                  release_env[] = ASPS_FILTER_ENV "_SLURM";

static int filter_fd = -1;

static void take_back(void)
{
    unsetenv(ASPS_FILTER_ENV);
    unsetenv(command_env);
    unsetenv(site_env);
    unsetenv(progress_env);
    unsetenv(policy_env);
    unsetenv(plugin_env);
    unsetenv(release_env);
}

void asps_filter_publish(const struct asps_filter_request *request)
{
    char path[64];

    take_back();
    if (request == NULL)
        return;
    if (filter_fd < 0)
        filter_fd = memfd_create("aspen-filter", MFD_CLOEXEC);
    if (filter_fd < 0)
        return;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", filter_fd);
    setenv(ASPS_FILTER_ENV, path, 1);
    setenv(command_env, request->command, 1);
    setenv(site_env, request->site_policy, 1);
    setenv(progress_env, request->progress, 1);
    setenv(policy_env, request->policy, 1);
    setenv(release_env, request->release, 1);
    asps_filter_name_plugin(plugin_env);
}

/* One line that Lua passed on; others are for later versions. */
static void read_line(const char *line, struct asps_filter_answer *answer)
{
    if (strncmp(line, "refuse ", 7) == 0)
        snprintf(answer->refusal, ASPS_REFUSAL_MAX, "%s", line + 7);
    else if (strncmp(line, "grown ", 6) == 0)
        answer->is_grown = asps_grown_parse(line + 6, &answer->grown) == 0;
    else if (strncmp(line, "cpus ", 5) == 0)
        asps_cpus_parse(line + 5, &answer->cpus);
    else if (strncmp(line, "fact --", 7) == 0 &&
             answer->nfacts < ASPS_FACTS_MAX &&
             strlen(line + 5) < ASPS_FACT_MAX)
        strcpy(answer->facts[answer->nfacts++], line + 5);
}

void asps_filter_read(struct asps_filter_answer *out_p)
{
    char text[TEXT_MAX], *rest = text, *line;
    ssize_t got;

    memset(out_p, 0, sizeof(*out_p));
    take_back();
    if (filter_fd < 0)
        return;
    got = pread(filter_fd, text, sizeof(text) - 1, 0);
    close(filter_fd);
    filter_fd = -1;
    if (got <= 0)
        return;
    text[got] = '\0';
    while ((line = strsep(&rest, "\n")) != NULL)
        read_line(line, out_p);
}

/* Take "KEY" and a number of one to nine digits off the front of text; nothing
 * else is a number here, a sign least of all. Returns what follows, or NULL;
 * takes NULL, so that calls can be chained. */
static const char *take_field(const char *text, const char *key,
                              uint32_t *out_p)
{
    const char *digits = text ? asp_after(text, key) : NULL, *end = digits;

    if (digits == NULL || asp_take_number(&end, 999999999, out_p) < 0 ||
        end - digits > 9)
        return NULL;
    return end;
}

int asps_grown_parse(const char *text, struct asps_grown *out_p)
{
    struct asps_grown grown = {.plane = 0};

    text = take_field(text, "users=", &grown.users);
    text = take_field(text, " ghosts=", &grown.ghosts);
    text = take_field(text, " nodes=", &grown.nodes);
    text = take_field(text, " tasks=", &grown.tasks);
    text = take_field(text, " per_node=", &grown.per_node);
    if (text != NULL && *text != '\0') {
        text = take_field(text, " plane=", &grown.plane);
        if (grown.plane == 0)
            text = NULL;
    }
    if (text == NULL || *text != '\0' || grown.nodes == 0 ||
        (uint64_t) grown.users + (uint64_t) grown.ghosts * grown.nodes !=
            grown.tasks ||
        (grown.per_node != 0 && grown.per_node <= grown.ghosts)) {
        errno = EINVAL;
        return -1;
    }
    *out_p = grown;
    return 0;
}

int asps_grown_print(const struct asps_grown *grown, char *buf, size_t size)
{
    struct asp_strbuf out = asp_strbuf_on(buf, size);

    asp_strbuf_add(&out,
                   "users=%" PRIu32 " ghosts=%" PRIu32 " nodes=%" PRIu32
                   " tasks=%" PRIu32 " per_node=%" PRIu32,
                   grown->users, grown->ghosts, grown->nodes, grown->tasks,
                   grown->per_node);
    if (grown->plane)
        asp_strbuf_add(&out, " plane=%" PRIu32, grown->plane);
    return asp_strbuf_end(&out);
}

int asps_cpus_parse(const char *text, struct asps_cpus *out_p)
{
    struct asps_cpus cpus;

    memset(out_p, 0, sizeof(*out_p));
    text = take_field(text, "user=", &cpus.user);
    text = take_field(text, " total=", &cpus.total);
    if (text == NULL || *text != '\0' || cpus.total <= cpus.user) {
        errno = EINVAL;
        return -1;
    }
    *out_p = cpus;
    return 0;
}

int asps_cpus_print(const struct asps_cpus *cpus, char *buf, size_t size)
{
    struct asp_strbuf out = asp_strbuf_on(buf, size);

    asp_strbuf_add(&out, "user=%" PRIu32 " total=%" PRIu32, cpus->user,
                   cpus->total);
    return asp_strbuf_end(&out);
}
