/* SPDX-License-Identifier: BSD-3-Clause */
/* A stray store: rank 0 looks for what it gave to a non-blocking broadcast in
 * all memory that it shares, and overwrites where the next entry would be.
 * Whoever finds that must end the job, by name and soon.
 *
 * Prints "overwritten: N" (places), and "not found out" when the next
 * broadcasts end all the same. */
#define _GNU_SOURCE
#include "runtime/posted/mailbox.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { FIRST = 12, WORDS = 32, LATER = 20, PAGE = 4096, CHUNK = 64 << 20 };

static int rank;
static unsigned long long words[WORDS];

static void broadcast(unsigned long long seed)
{
    MPI_Request request;

    for (int i = 0; i < WORDS && rank == 0; i++)
        words[i] = seed * 0x9e3779b97f4a7c15ULL + (unsigned long long) i;
    MPI_Ibcast(words, WORDS, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD,
               &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Entries begin at lines. */
static int overwrite_page(char *page)
{
    int found = 0;

    for (char *at = page; at < page + PAGE; at += ASPX_MAILBOX_LINE) {
        struct aspx_mailbox_entry *entry = (void *) at;

        if (at + sizeof(*entry) + sizeof(words) > page + PAGE ||
            entry->bytes != sizeof(words) ||
            memcmp(entry->data, words, sizeof(words)) != 0)
            continue;
        atomic_store(&entry->next, 12345);
        found++;
    }
    return found;
}

/* Pages that exist: the memory of ghosts is 64 GiB of address space. */
static int overwrite(char *from, const char *end)
{
    static unsigned char there[CHUNK / PAGE];
    int found = 0;

    for (; from < end; from += CHUNK) {
        size_t bytes = end - from < CHUNK ? (size_t) (end - from) : CHUNK;

        if (mincore(from, bytes, there) != 0)
            continue;
        for (size_t at = 0; at < bytes; at += PAGE)
            if (there[at / PAGE] & 1)
                found += overwrite_page(from + at);
    }
    return found;
}

static int overwrite_all(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512], rights[8];
    int found = 0;
    void *from, *end;

    while (maps && fgets(line, sizeof(line), maps))
        if (sscanf(line, "%p-%p %7s", &from, &end, rights) == 3 &&
            strcmp(rights, "rw-s") == 0 && strstr(line, "aspen"))
            found += overwrite(from, end);
    if (maps)
        fclose(maps);
    return found;
}

int main(int argc, char **argv)
{
    int sum;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < FIRST; i++) {
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        broadcast((unsigned long long) i + 1);
    }
    if (rank == 0) {
        printf("overwritten: %d\n", overwrite_all());
        fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < LATER; i++)
        broadcast((unsigned long long) i + 100);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        puts("not found out");
    MPI_Finalize();
    return 0;
}
