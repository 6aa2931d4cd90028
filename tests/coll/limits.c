/* SPDX-License-Identifier: BSD-3-Clause */
/* Where there is no memory, and where ranks do not fit together. */
#include "coll.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 300000 };

/* What the runtime finds in place of the C library's. */
static bool no_memfd;

int memfd_create(const char *name, unsigned flags)
{
    if (!no_memfd)
        return (int) syscall(SYS_memfd_create, name, flags);
    errno = EPERM;
    return -1;
}

/* None is made, on no rank, with a reason; and no signal. */
void coll_no_memory(struct prng *all, long n)
{
    struct rlimit limit, none;
    struct asp_err err;

    (void) all;
    (void) n;
    getrlimit(RLIMIT_FSIZE, &limit);
    none = limit;
    none.rlim_cur = 1 << 20;
    if (coll_rank == 0)
        setrlimit(RLIMIT_FSIZE, &none);
    EXPECT(!coll_make_area(16 << 20, &err), "made");
    setrlimit(RLIMIT_FSIZE, &limit);
    if (coll_rank == 0)
        printf("%s\n", err.text);
    EXPECT(!coll_make_area((size_t) 1 << 46, &err), "made");
    if (coll_rank == 0)
        printf("%s\n", err.text);
}

/* Names of a rank that was killed an hour ago; of one that is at it; of now;
 * and what is not ours. */
static const struct {
    const char *name;
    bool old, held, goes;
} left_names[] = {
    {"/aspen-00000000000000000000000000000001", true, false, true},
    {"/aspen-00000000000000000000000000000002", true, true, false},
    {"/aspen-00000000000000000000000000000003", false, false, false},
    {"/aspen-0000000000000000000000000000000", true, false, false},
};
enum { LEFT_NAMES = sizeof(left_names) / sizeof(left_names[0]) };

static void leave_names(int *fds)
{
    const struct timespec hour_ago[2] = {{.tv_sec = time(NULL) - 3600},
                                         {.tv_sec = time(NULL) - 3600}};

    for (int i = 0; i < LEFT_NAMES; i++) {
        fds[i] = shm_open(left_names[i].name, O_RDWR | O_CREAT, 0600);
        if (left_names[i].held)
            flock(fds[i], LOCK_EX);
        if (left_names[i].old)
            futimens(fds[i], hour_ago);
    }
}

static void expect_names(const int *fds)
{
    for (int i = 0; i < LEFT_NAMES; i++) {
        EXPECT((shm_unlink(left_names[i].name) != 0) == left_names[i].goes,
               "%s", left_names[i].name);
        close(fds[i]);
    }
}

/* Without memfds, by an object of /dev/shm that leaves no name behind. */
void coll_fallback(struct prng *all, long n)
{
    struct aspx_node_area *usual = coll_area;
    struct asp_err err;
    glob_t found;
    int fds[LEFT_NAMES];

    no_memfd = true;
    if (coll_rank == 0)
        leave_names(fds);
    for (long i = 0; i < n; i++) {
        struct aspx_node_config config = coll_any_config(all);
        uint64_t number = 42 + (uint64_t) i;

        coll_area = coll_make_area(ASPX_NODE_SLOT_BYTES, &err);
        EXPECT(coll_area, "%s", err.text);
        if (!coll_area)
            break;
        if (coll_rank > 0)
            number = 0;
        EXPECT(!aspx_node_bcast(coll_area, &config, &number, sizeof(number), 0),
               "bcast");
        EXPECT(number == 42 + (uint64_t) i, "bcast");
        EXPECT(!aspx_node_barrier(coll_area, &config), "barrier");
        aspx_node_area_free(coll_area);
    }
    no_memfd = false;
    if (coll_rank == 0)
        expect_names(fds);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(glob("/dev/shm/aspen-*", 0, NULL, &found) == GLOB_NOMATCH,
           "a name was left: %s", found.gl_pathv[0]);
    coll_area = usual;
}

static int reduce_sum(void *inout, const void *in, size_t count, void *arg)
{
    const uint32_t *from = in;
    uint32_t *to = inout;

    (void) arg;
    for (size_t i = 0; i < count; i++)
        to[i] += from[i];
    return MPI_SUCCESS;
}

static int differ(int kind, const struct aspx_node_config *config, size_t bytes,
                  char *in, char *out, uint32_t root)
{
    const struct aspx_node_blocks blocks = {.size = bytes};
    const struct aspx_node_operator sum = {
        .reduce = reduce_sum,
        .element = 4,
        .is_commutative = root % 2,
    };

    switch (kind) {
    case 0:
        return aspx_node_bcast(coll_area, config, in, bytes, root);
    case 1:
        return aspx_node_scatter(coll_area, config, in, &blocks, out, bytes,
                                 root);
    case 2:
        return aspx_node_gather(coll_area, config, in, bytes, out, &blocks,
                                root);
    case 3:
        return aspx_node_allgather(coll_area, config, in, bytes, out, &blocks);
    case 4:
        return aspx_node_reduce(coll_area, config, &sum, in, out, bytes / 4,
                                root);
    default:
        return aspx_node_allreduce(coll_area, config, &sum, in, out, bytes / 4);
    }
}

static uint32_t sum_of_all(const struct aspx_node_config *config, uint32_t mine)
{
    const struct aspx_node_operator sum = {.reduce = reduce_sum, .element = 4};

    EXPECT(!aspx_node_allreduce(coll_area, config, &sum, &mine, &mine, 1),
           "sum");
    return mine;
}

/* One rank gives another size: all come back, at least one with an error, and
 * what follows is right. */
void coll_mismatch(struct prng *all, long n)
{
    struct prng own = {.state = (uint64_t) coll_rank + 3};
    size_t most_bytes = (size_t) coll_size * MOST;
    char *in = calloc(1, most_bytes), *out = calloc(1, most_bytes);

    for (long i = 0; i < n; i++) {
        struct aspx_node_config config = coll_any_config(all);
        int kind = prng_below(all, 6), odd = prng_below(all, coll_size);
        uint32_t root = (uint32_t) prng_below(all, coll_size), errors;
        int most = prng_chance(all, 50) ? MOST / 4 : 25;
        size_t bytes = (size_t) prng_below(all, most) * 4;
        size_t other = (size_t) prng_below(all, most) * 4;
        int rc;

        coll_dawdle(&own);
        rc = differ(kind, &config, coll_rank == odd ? other : bytes, in, out,
                    root);
        errors = sum_of_all(&config, rc != MPI_SUCCESS);
        EXPECT((errors > 0) == (bytes != other && coll_size > 1),
               "%ld: kind %d, %zu and %zu bytes, %u errors", i, kind, bytes,
               other, errors);
        EXPECT(sum_of_all(&config, 1) == (uint32_t) coll_size, "after %ld", i);
    }
    free(in);
    free(out);
}
