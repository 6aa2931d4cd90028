/* SPDX-License-Identifier: BSD-3-Clause */
/* Who runs where: each rank says its rank, node and CPUs, and which ghosts
 * serve it. Nothing here is special to Aspen but the last part of the line: an
 * ordinary MPI program needs no change and does not read ASPEN_LAYOUT.
 *
 *   mpicc.mpich -o hello hello.c
 *   srun -N2 -n4 --async-progress=ghost:1 ./hello */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 512, LIST = 160 };

/* The CPUs this process may use, as "0-3,8". */
static void own_cpus(char *list, size_t size)
{
    cpu_set_t set;
    size_t used = 0;

    list[0] = '\0';
    if (sched_getaffinity(0, sizeof(set), &set) != 0)
        return;
    for (int c = 0; c < CPU_SETSIZE; c++) {
        int last = c;

        if (!CPU_ISSET(c, &set))
            continue;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set))
            last++;
        used += (size_t) snprintf(list + used, size - used,
                                  last > c ? "%s%d-%d" : "%s%d",
                                  used ? "," : "", c, last);
        if (used >= size)
            return;
        c = last;
    }
}

/* Read "task=RANK:ROLE:...:cCPUS". Returns 1 for a ghost; cpus gets its list,
 * or "" when the layout plans none. */
static int read_task(const char *word, char *cpus, size_t size)
{
    size_t length = strcspn(word, " ");
    const char *list = word + length;

    while (list > word && list[-1] != ':')
        list--;
    if (*list == 'c')
        list++;
    snprintf(cpus, size, "%.*s", (int) (word + length - list), list);
    return strstr(word, ":ghost:") && strstr(word, ":ghost:") < word + length;
}

/* What ASPEN_LAYOUT says of this rank's node. */
static void read_layout(char *text, size_t size)
{
    const char *layout = getenv("ASPEN_LAYOUT");
    const char *local = getenv("ASPEN_LOCAL");
    const char *word = layout ? strstr(layout, " task=") : NULL;
    char cpus[LIST], mine[LIST] = "", served[LIST] = "";
    int ghosts = 0;

    if (!word) {
        snprintf(text, size, "no ghosts");
        return;
    }
    for (int i = 0; word; word = strstr(word + 1, " task="), i++) {
        if (read_task(word + 1, cpus, sizeof(cpus))) {
            ghosts++;
            if (strlen(served) + strlen(cpus) + 2 > sizeof(served))
                continue;
            strcat(served, served[0] ? "," : "");
            strcat(served, cpus);
        } else if (local && atoi(local) == i) {
            snprintf(mine, sizeof(mine), "%s", cpus);
        }
    }
    snprintf(text, size, "%s%s%s%d ghost%s here%s%s",
             mine[0] ? "layout gives it CPU " : "", mine, mine[0] ? "; " : "",
             ghosts, ghosts == 1 ? "" : "s", served[0] ? " on CPU " : "",
             served);
}

int main(int argc, char **argv)
{
    char node[MPI_MAX_PROCESSOR_NAME], cpus[LIST], layout[2 * LIST];
    char line[LINE] = "", *lines = NULL;
    int rank, size, length;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(node, &length);
    own_cpus(cpus, sizeof(cpus));
    read_layout(layout, sizeof(layout));
    snprintf(line, sizeof(line), "rank %d of %d on %.64s, CPUs %s; %s", rank,
             size, node, cpus, layout);
    if (rank == 0)
        lines = malloc((size_t) size * LINE);
    if (rank == 0 && !lines)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Gather(line, LINE, MPI_CHAR, lines, LINE, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; i++)
        puts(lines + (size_t) i * LINE);
    free(lines);
    MPI_Finalize();
    return 0;
}
