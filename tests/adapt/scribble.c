/* SPDX-License-Identifier: BSD-3-Clause */
/* What ghosts and ranks tell each other in the arena is overwritten, as by a
 * wild store of the program, at the end of the job: it ends as it should, and
 * its record can be read.
 * usage: scribble BYTE */
#include "tests/rma/rma.h"

#include "common/layout/layout.h"
#include "runtime/adapt/node_status_page.h"
#include "runtime/casper/arena/arena.h"

#include <inttypes.h>

static struct aspx_node_status_page *find_page(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512], *base = NULL;
    uintptr_t address;

    while (maps && !base && fgets(line, sizeof(line), maps))
        if (strstr(line, "aspen-arena") &&
            sscanf(line, "%" SCNxPTR, &address) == 1)
            base = (char *) address;
    if (maps)
        fclose(maps);
    EXPECT(base, "no arena in /proc/self/maps");
    return base ? (void *) (base + ASP_TASKS_MAX * sizeof(struct aspx_doorbell))
                : NULL;
}

/* Only what is told for the record: pulses, for instance, are read all the
 * time, and what a ghost is to make of nonsense is another question. */
static void scribble(struct aspx_node_status_page *page, int byte)
{
    memset((void *) &page->decisions, byte, sizeof(page->decisions));
    for (int u = 0; u < rma_size; u++) {
        memset(&page->slots[u].trace, byte, sizeof(page->slots[u].trace));
        atomic_store(&page->slots[u].edition, 2);
    }
}

int main(int argc, char **argv)
{
    int byte = argc > 1 ? (int) strtol(argv[1], NULL, 0) : 0xff;
    struct aspx_node_status_page *page;
    MPI_Win win;
    void *base;

    rma_begin(&argc, &argv);
    MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_free(&win);
    page = find_page();
    if (page && rma_rank == 0)
        scribble(page, byte);
    return rma_end("scribble");
}
