/* SPDX-License-Identifier: BSD-3-Clause */
/* For test programs: what Aspen's threads in this process have used, from
 * /proc. Knows of Aspen only the names of its threads. */
#ifndef ASPEN_TESTS_HELPER_THREADS_H
#define ASPEN_TESTS_HELPER_THREADS_H

#include <dirent.h>
#include <stdio.h>
#include <string.h>

struct helper_use {
    int threads;
    unsigned long long cpu_ns, runs; /* how often they got a CPU */
    long wakeups;                    /* so often they had gone to sleep */
};

/* Open a file of one of our threads in /proc. */
static FILE *open_of(const char *thread, const char *file)
{
    char path[300];

    snprintf(path, sizeof(path), "/proc/self/task/%s/%s", thread, file);
    return fopen(path, "r");
}

static int is_named(const char *thread, const char *prefix)
{
    FILE *in = open_of(thread, "comm");
    char name[32] = "";
    int got = in && fgets(name, sizeof(name), in);

    if (in)
        fclose(in);
    return got && strncmp(name, prefix, strlen(prefix)) == 0;
}

static void add_use(const char *thread, struct helper_use *use)
{
    FILE *in = open_of(thread, "schedstat");
    unsigned long long ns = 0, runs = 0;
    char line[80];
    long sleeps;

    if (in && fscanf(in, "%llu %*u %llu", &ns, &runs) == 2) {
        use->threads++;
        use->cpu_ns += ns;
        use->runs += runs;
    }
    if (in)
        fclose(in);
    in = open_of(thread, "status");
    while (in && fgets(line, sizeof(line), in)) {
        if (sscanf(line, "voluntary_ctxt_switches: %ld", &sleeps) == 1)
            use->wakeups += sleeps;
    }
    if (in)
        fclose(in);
}

/* Of all threads whose names begin so: "aspen-", "aspen-progress". */
static struct helper_use helper_use(const char *prefix)
{
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *task;
    struct helper_use use = {0, 0, 0, 0};

    while (tasks && (task = readdir(tasks))) {
        if (is_named(task->d_name, prefix))
            add_use(task->d_name, &use);
    }
    if (tasks)
        closedir(tasks);
    return use;
}

#endif
