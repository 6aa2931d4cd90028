/* SPDX-License-Identifier: BSD-3-Clause */
/* What Aspen's thread in this rank does while there is nothing to do: the rank
 * sleeps for SETTLE seconds, then for MEASURE more, and each prints a line
 *     N wake-ups, U us of CPU time in MEASURE s
 * of the second part, from the thread's switches and CPU time in /proc. Knows
 * of Aspen only the names of its threads.
 *
 * usage: idle_app [SETTLE [MEASURE]]      (3 and 10) */
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct use {
    unsigned long long cpu_ns;
    long wakeups;
};

static FILE *open_of(const char *thread, const char *file)
{
    char path[300];

    snprintf(path, sizeof(path), "/proc/self/task/%s/%s", thread, file);
    return fopen(path, "r");
}

static int is_helper(const char *thread)
{
    FILE *in = open_of(thread, "comm");
    char name[32] = "";

    if (!in)
        return 0;
    (void) !fgets(name, sizeof(name), in);
    fclose(in);
    return strncmp(name, "aspen-", 6) == 0;
}

static void add_use(const char *thread, struct use *use)
{
    FILE *in = open_of(thread, "schedstat");
    unsigned long long ns = 0;
    char line[80];
    long sleeps;

    if (in && fscanf(in, "%llu", &ns) == 1)
        use->cpu_ns += ns;
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

static struct use used(void)
{
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *task;
    struct use use = {0, 0};
    int helpers = 0;

    while (tasks && (task = readdir(tasks))) {
        if (!is_helper(task->d_name))
            continue;
        helpers++;
        add_use(task->d_name, &use);
    }
    if (tasks)
        closedir(tasks);
    if (helpers != 1) {
        fprintf(stderr, "%d helpers in this rank\n", helpers);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return use;
}

int main(int argc, char **argv)
{
    unsigned settle = argc > 1 ? (unsigned) atoi(argv[1]) : 3;
    unsigned measure = argc > 2 ? (unsigned) atoi(argv[2]) : 10;
    struct use before, after;

    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    sleep(settle);
    before = used();
    sleep(measure);
    after = used();
    printf("%ld wake-ups, %llu us of CPU time in %u s\n",
           after.wakeups - before.wakeups,
           (after.cpu_ns - before.cpu_ns) / 1000, measure);
    MPI_Finalize();
    return 0;
}
