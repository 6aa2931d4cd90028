/* SPDX-License-Identifier: BSD-3-Clause */
/* See memory_left.h. */
#include "config.h"

#include "memory_left.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN UINT64_MAX

enum { KIB = 1024, LINE = PATH_MAX + 64 };

/* Where cgroups say what is left. */
static const struct hierarchy {
    const char *controller; /* in /proc/self/cgroup: ":memory:" */
    const char *mount;
    const char *limit, *usage;
} hierarchies[] = {
    {"::", "/sys/fs/cgroup", "memory.max", "memory.current"},
    {"::", "/sys/fs/cgroup/unified", "memory.max", "memory.current"},
    {":memory:", "/sys/fs/cgroup/memory", "memory.limit_in_bytes",
     "memory.usage_in_bytes"},
};

/* The number behind a word at the begin of a line ("": the first line). */
static uint64_t read_number(const char *path, const char *word)
{
    FILE *file = fopen(path, "re");
    char line[256], *end;
    uint64_t number = UNKNOWN;

    while (file && number == UNKNOWN && fgets(line, sizeof(line), file)) {
        const char *at = line + strlen(word);

        if (strncmp(line, word, strlen(word)) != 0)
            continue;
        number = strtoull(at, &end, 10);
        if (end == at)
            number = UNKNOWN; /* "max" */
    }
    if (file)
        fclose(file);
    return number;
}

static uint64_t read_in(const char *folder, const char *name, const char *word)
{
    char path[LINE + 96];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return read_number(path, word);
}

static uint64_t left_in(const char *folder, const struct hierarchy *hierarchy)
{
    uint64_t limit = read_in(folder, hierarchy->limit, "");
    uint64_t usage = read_in(folder, hierarchy->usage, "");
    uint64_t inactive = read_in(folder, "memory.stat", "inactive_file ");
    uint64_t active = read_in(folder, "memory.stat", "active_file ");

    if (limit == UNKNOWN || usage == UNKNOWN || limit > INT64_MAX)
        return UNKNOWN;
    usage -= inactive < usage ? inactive : 0;
    usage -= active < usage ? active : 0;
    return limit > usage ? limit - usage : 0;
}

/* "4:memory:/job/step" -> "MOUNT/job/step". */
static bool find_folder(const struct hierarchy *hierarchy, char *folder)
{
    FILE *file = fopen("/proc/self/cgroup", "re");
    char line[LINE], *at;
    bool found = false;

    while (file && !found && fgets(line, sizeof(line), file)) {
        at = strstr(line, hierarchy->controller);
        if (!at)
            continue;
        at += strlen(hierarchy->controller);
        at[strcspn(at, "\n")] = '\0';
        snprintf(folder, LINE, "%s%.*s", hierarchy->mount, PATH_MAX, at);
        found = true;
    }
    if (file)
        fclose(file);
    return found;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* From its own group up to the mount. */
static uint64_t left_in_hierarchy(const struct hierarchy *hierarchy)
{
    size_t mount = strlen(hierarchy->mount);
    char folder[LINE + 32];
    uint64_t left = UNKNOWN;

    if (!find_folder(hierarchy, folder))
        return UNKNOWN;
    for (;;) {
        left = least(left, left_in(folder, hierarchy));
        if (strlen(folder) <= mount)
            return left;
        *strrchr(folder, '/') = '\0';
    }
}

uint64_t aspx_memory_left(void)
{
    uint64_t left = read_number("/proc/meminfo", "MemAvailable:");

    if (left != UNKNOWN)
        left *= KIB;
    for (size_t i = 0; i < sizeof(hierarchies) / sizeof(hierarchies[0]); i++)
        left = least(left, left_in_hierarchy(&hierarchies[i]));
    return left;
}
