/* SPDX-License-Identifier: BSD-3-Clause */
/* malloc and its kin under threads, around MPI_Init and MPI_Finalize, and
 * across fork. Knows nothing of Aspen. "large" blocks are those that a shared
 * heap would serve; how many of them lie in it is printed, from
 * /proc/self/maps, so that a test file can tell that it was in use.
 *
 * usage: rma_heap_stress threads ROUNDS
 *        rma_heap_stress end
 *        rma_heap_stress fork
 *        rma_heap_stress full MIB    that much in blocks of 1 MiB */
#include "rma.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, SLOTS = 12, LARGE = 1 << 20 };

/* The mapping of the arena that holds an address, if any. */
static bool is_shared(const void *addr)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    unsigned long begin, end, at = (unsigned long) (uintptr_t) addr;
    char line[512];
    bool found = false;

    while (maps && fgets(line, sizeof(line), maps))
        if (sscanf(line, "%lx-%lx", &begin, &end) == 2 && at >= begin &&
            at < end)
            found = strstr(line, "aspen-arena") != NULL;
    if (maps)
        fclose(maps);
    return found;
}

/* A block with a pattern of its own in every byte. */
struct slot {
    unsigned char *addr;
    size_t bytes;
    unsigned char seed;
};

static unsigned char pattern(const struct slot *slot, size_t i)
{
    return (unsigned char) (slot->seed + i * 7 + (i >> 12));
}

static void fill(struct slot *slot)
{
    for (size_t i = 0; i < slot->bytes; i++)
        slot->addr[i] = pattern(slot, i);
}

static void check(const struct slot *slot, size_t bytes, const char *when)
{
    size_t wrong = 0;

    for (size_t i = 0; i < bytes; i++)
        wrong += slot->addr[i] != pattern(slot, i);
    EXPECT(wrong == 0, "%s: %zu of %zu bytes wrong", when, wrong, bytes);
}

static bool all_zero(const unsigned char *addr, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (addr[i])
            return false;
    return true;
}

/* Half of them below any threshold, few of them really large. */
static size_t some_bytes(unsigned *state)
{
    unsigned kind = rma_random(state) % 8;

    if (kind < 4)
        return 1 + rma_random(state) % 8192;
    if (kind < 7)
        return 65536 + rma_random(state) % (256 << 10);
    return LARGE + rma_random(state) % (2 * LARGE);
}

static void allocate(struct slot *slot, unsigned *state)
{
    const size_t align = (size_t) 16 << rma_random(state) % 10;
    void *addr = NULL;
    unsigned variant = rma_random(state) % 4;

    slot->bytes = some_bytes(state);
    if (variant == 0) {
        addr = calloc(1, slot->bytes);
        EXPECT(all_zero(addr, slot->bytes), "calloc(%zu) is not zero",
               slot->bytes);
    } else if (variant == 1) {
        EXPECT(posix_memalign(&addr, align, slot->bytes) == 0 &&
                   (uintptr_t) addr % align == 0,
               "align %zu: %p", align, addr);
    } else if (variant == 2) {
        addr = memalign(align, slot->bytes);
        EXPECT((uintptr_t) addr % align == 0, "align %zu: %p", align, addr);
    } else {
        addr = malloc(slot->bytes);
    }
    EXPECT(addr && malloc_usable_size(addr) >= slot->bytes, "%zu usable of %zu",
           malloc_usable_size(addr), slot->bytes);
    slot->addr = addr;
    slot->seed = (unsigned char) rma_random(state);
    fill(slot);
}

static void *work(void *arg)
{
    unsigned state = (unsigned) (uintptr_t) arg;
    struct slot slots[SLOTS] = {0};
    int rounds = (int) (state >> 8);

    for (int i = 0; i < rounds; i++) {
        struct slot *slot = &slots[rma_random(&state) % SLOTS];
        size_t bytes;

        if (!slot->addr) {
            allocate(slot, &state);
        } else if (rma_random(&state) % 2) {
            bytes = some_bytes(&state);
            slot->addr = realloc(slot->addr, bytes);
            check(slot, bytes < slot->bytes ? bytes : slot->bytes, "realloc");
            slot->bytes = bytes;
            fill(slot);
        } else {
            check(slot, slot->bytes, "free");
            errno = 77;
            free(slot->addr);
            EXPECT(errno == 77, "free set errno to %d", errno);
            slot->addr = NULL;
        }
    }
    for (int i = 0; i < SLOTS; i++)
        free(slots[i].addr);
    return NULL;
}

static void try_threads(int rounds)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        pthread_create(
            &threads[i], NULL, work,
            (void *) (uintptr_t) (rounds << 8 | (rma_rank * THREADS + i + 1)));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* A child that never execs: what it allocates and frees is its own, and the
 * parent's blocks stay what they are. */
static void try_fork(void)
{
    struct slot slot = {malloc(LARGE), LARGE, 3}, mine;
    unsigned char *doomed = malloc(LARGE);
    int status = -1;
    pid_t pid;

    fill(&slot);
    memset(doomed, 5, LARGE);
    printf("shared %d\n", is_shared(slot.addr));
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        /* Would be the next pages of the arena in both processes. */
        mine = (struct slot){malloc(LARGE), LARGE, 9};
        fill(&mine);
        free(doomed);
        slot.addr = realloc(slot.addr, 2 * LARGE);
        check(&slot, LARGE, "realloc in the child");
        memset(slot.addr, 0, 2 * LARGE);
        slot.addr = realloc(slot.addr, 100);
        usleep(100000);
        check(&mine, LARGE, "the child's block");
        _exit(rma_failures || is_shared(mine.addr) ? 1 : 0);
    }
    mine = (struct slot){malloc(LARGE), LARGE, 21};
    fill(&mine);
    waitpid(pid, &status, 0);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child: %#x",
           (unsigned) status);
    check(&slot, LARGE, "the parent's block");
    check(&mine, LARGE, "the parent's new block");
    EXPECT(doomed[0] == 5 && doomed[LARGE - 1] == 5, "freed by the child");
    EXPECT(system("exec sort /dev/null") == 0, "system()");
    free(slot.addr);
    free(mine.addr);
    free(doomed);
}

static void try_full(int mib)
{
    struct slot *slots = calloc((size_t) mib, sizeof(*slots));
    int nshared = 0;

    for (int i = 0; i < mib; i++) {
        slots[i] = (struct slot){malloc(LARGE), LARGE, (unsigned char) i};
        EXPECT(slots[i].addr, "block %d", i);
        if (!slots[i].addr)
            break;
        fill(&slots[i]);
        nshared += is_shared(slots[i].addr);
    }
    for (int i = 0; i < mib; i++)
        check(&slots[i], LARGE, "full");
    for (int i = 0; i < mib; i++)
        free(slots[i].addr);
    free(slots);
    printf("of %d blocks %d shared\n", mib, nshared);
}

/* Memory that outlives MPI. */
static int try_end(void)
{
    struct slot slot = {malloc(LARGE), LARGE, 11}, other = slot;
    int rc;

    fill(&slot);
    other.addr = malloc(LARGE);
    fill(&other);
    printf("shared %d\n", is_shared(slot.addr));
    rc = rma_end("heap_stress");
    check(&slot, LARGE, "after MPI_Finalize");
    free(other.addr);
    slot.addr = realloc(slot.addr, 3 * LARGE);
    check(&slot, LARGE, "realloc after MPI_Finalize");
    slot.bytes = 3 * LARGE;
    fill(&slot);
    other.addr = malloc(LARGE);
    fill(&other);
    check(&slot, 3 * LARGE, "grown after MPI_Finalize");
    check(&other, LARGE, "malloc after MPI_Finalize");
    free(slot.addr);
    free(other.addr);
    return rc || rma_failures;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "threads";
    const int number = argc > 2 ? atoi(argv[2]) : 100;
    void *early = malloc(LARGE);

    rma_begin(&argc, &argv);
    EXPECT(!is_shared(early), "memory from before MPI_Init is shared");
    early = realloc(early, 2 * LARGE);
    if (strcmp(what, "threads") == 0)
        try_threads(number);
    else if (strcmp(what, "fork") == 0)
        try_fork();
    else if (strcmp(what, "full") == 0)
        try_full(number);
    free(early);
    if (strcmp(what, "end") == 0)
        return try_end();
    return rma_end("heap_stress");
}
