/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the plugstack.conf line. Called by every context's init. */
#include "config.h"

#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_MAX_S = 600 };

/* One row per argument that is a path; the only place its name is. */
struct path_row {
    const char *name;
    size_t offset;
};

#define FIELD(member) offsetof(struct asps_settings, member)

static const struct path_row paths[] = {
    {"agent", FIELD(agent)},     {"ghost", FIELD(ghost)},
    {"runtime", FIELD(runtime)}, {"command", FIELD(command)},
    {"policy", FIELD(policy)},   {"ghost_preload", FIELD(ghost_preload)},
    {"heap", FIELD(heap)},
};

static int read_path(const char *arg, struct asps_settings *settings)
{
    const char *value = strchr(arg, '=');
    size_t len;

    if (value == NULL)
        return -1;
    len = (size_t) (value - arg);
    value++;
    if (value[0] != '/')
        return -1;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        if (strlen(paths[i].name) == len &&
            strncmp(arg, paths[i].name, len) == 0) {
            memcpy((char *) settings + paths[i].offset, &value, sizeof(value));
            return 0;
        }
    return -1;
}

static int read_timeout(const char *arg, struct asps_settings *settings)
{
    static const char name[] = "agent_timeout=";
    char *end;
    long seconds;

    if (strncmp(arg, name, sizeof(name) - 1) != 0)
        return -1;
    arg += sizeof(name) - 1;
    errno = 0;
    seconds = strtol(arg, &end, 10);
    if (errno || end == arg || *end != '\0' || seconds < 1 ||
        seconds > TIMEOUT_MAX_S)
        return -1;
    settings->agent_timeout_ms = (int) seconds * 1000;
    return 0;
}

int asps_settings_read(int argc, char **argv, struct asps_settings *out_p,
                       char *why, size_t why_bytes)
{
    struct asps_settings settings = {
        .agent = ASPEN_LIBEXECDIR "/aspen-agent",
        .ghost = ASPEN_LIBEXECDIR "/aspen-ghost",
        .runtime = ASPEN_LIBDIR "/libaspen.so",
        .heap = ASPEN_LIBDIR "/libaspenheap.so",
        .command = ASPEN_BINDIR "/aspen",
        .policy = ASPEN_SYSCONFDIR "/policy.yaml",
        .agent_timeout_ms = 5000,
    };
    int rc = 0;

    for (int i = 0; i < argc; i++) {
        if (read_timeout(argv[i], &settings) == 0 ||
            read_path(argv[i], &settings) == 0)
            continue;
        if (rc == 0)
            snprintf(
                why, why_bytes,
                "plugstack.conf: argument \"%.200s\" not understood; "
                "known are agent=, ghost=, runtime=, heap=, command=, "
                "policy=, ghost_preload= (absolute paths) and agent_timeout= "
                "(1-%d seconds)",
                argv[i], TIMEOUT_MAX_S);
        rc = -1;
    }
    *out_p = settings;
    if (rc != 0)
        errno = EINVAL;
    return rc;
}
