/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the shared memory of a node's collectives; see area.h. Nothing that
 * another user of the node can do is believed: a file is used only if it
 * belongs to this user, is as long as it must be, and begins with the random
 * number that its maker has told through MPI. */
#include "config.h"

#include "flags.h"
#include "stale.h"

#include "runtime/base/memory_left.h"
#include "runtime/base/shared_file.h"
#include "runtime/mpi/real.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    CARD_TAG = 30021,
    POLL_TAG = 30022, /* nobody sends with it */
    NONCE_BYTES = 16,
    LEFT_SHARE = 4, /* of the memory that is left, a quarter at most: at the
                       end of it the kernel ends a process, not the call */
};

/* What the maker tells the others of its node. */
struct handle {
    struct aspx_shared_file file;
    unsigned char nonce[NONCE_BYTES];
};

/* Memory that is being made. */
struct making {
    const struct aspx_node_place *place;
    void *map;
    size_t bytes, filled; /* of the file; of it with memory from the start */
    struct handle handle; /* of the maker */
    int fd;
    bool has_memory;
    const char *what; /* that failed here; NULL: nothing */
    int why;          /* its errno */
};

/* A way to have a file. */
struct source {
    int (*create)(struct making *making);
    int (*open)(struct making *making);
    void (*forget_name)(struct making *making); /* all have it open */
};

static bool is_maker(const struct making *making)
{
    return making->place->index == 0;
}

/* -- the two sources -- */

static int create_memfd(struct making *making)
{
    (void) making;
    return memfd_create("aspen-coll", MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

static int open_memfd(struct making *making)
{
    return aspx_shared_file_open(&making->handle.file);
}

static void forget_nothing(struct making *making)
{
    (void) making;
}

/* 128 random bits that only the job knows. */
static void name_object(const struct making *making, char *name, size_t size)
{
    int used = snprintf(name, size, "/aspen-");

    for (int i = 0; i < NONCE_BYTES; i++)
        used += snprintf(name + used, size - (size_t) used, "%02x",
                         making->handle.nonce[i]);
}

static int open_named(struct making *making, int flags)
{
    char name[16 + 2 * NONCE_BYTES];

    name_object(making, name, sizeof(name));
    return shm_open(name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
}

/* A rank that is killed before all have it open leaves the name to the next. */
static int create_object(struct making *making)
{
    int fd;

    aspx_node_stale_clean();
    fd = open_named(making, O_CREAT | O_EXCL);
    if (fd >= 0)
        aspx_node_stale_hold(fd);
    return fd;
}

static int open_object(struct making *making)
{
    int fd;

    if (making->handle.file.bytes == 0) {
        errno = ENOENT;
        return -1;
    }
    fd = open_named(making, 0);
    if (fd >= 0 && !aspx_shared_file_fits(fd, making->handle.file.inode,
                                          making->handle.file.bytes)) {
        close(fd);
        errno = ESTALE;
        return -1;
    }
    return fd;
}

static void unlink_object(struct making *making)
{
    char name[16 + 2 * NONCE_BYTES];

    name_object(making, name, sizeof(name));
    (void) shm_unlink(name);
}

static const struct source sources[] = {
    {create_memfd, open_memfd, forget_nothing},
    {create_object, open_object, unlink_object},
};

/* -- on this rank -- */

static int fail(struct making *making, int why, const char *what)
{
    making->what = what;
    making->why = why;
    return -1;
}

/* A longer file would end the process by SIGXFSZ. */
static bool is_too_long(size_t bytes)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
           limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur;
}

/* All of its memory now: what is allocated cannot be missing later. */
static int fill_file(struct making *making)
{
    int rc;

    if (is_too_long(making->bytes))
        return fail(making, EFBIG, "length of files is limited");
    if (making->filled > aspx_memory_left() / LEFT_SHARE)
        return fail(making, ENOMEM, "no shared memory");
    do
        rc = posix_fallocate(making->fd, 0, (off_t) making->filled);
    while (rc == EINTR);
    if (rc == 0 && making->bytes > making->filled &&
        ftruncate(making->fd, (off_t) making->bytes) != 0)
        rc = errno;
    if (rc != 0)
        return fail(making, rc, "no shared memory");
    /* Nobody can take it away again; an object of /dev/shm has no seals. */
    (void) fcntl(making->fd, F_ADD_SEALS,
                 F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    return 0;
}

static int map_file(struct making *making)
{
    void *map = mmap(NULL, making->bytes, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_NORESERVE, making->fd, 0);

    if (map == MAP_FAILED)
        return fail(making, errno, "cannot map shared memory");
    (void) madvise(map, making->bytes, MADV_DONTDUMP);
    making->map = map;
    return 0;
}

static void create(struct making *making, const struct source *source)
{
    if (getrandom(making->handle.nonce, NONCE_BYTES, 0) == NONCE_BYTES)
        making->fd = source->create(making);
    if (making->fd < 0)
        (void) fail(making, errno, "cannot make shared memory");
    if (making->fd < 0 || fill_file(making) != 0 || map_file(making) != 0)
        return;
    memcpy(making->map, making->handle.nonce, NONCE_BYTES);
    if (aspx_shared_file_describe(making->fd, &making->handle.file) != 0)
        (void) fail(making, errno, "cannot describe shared memory");
}

static void open_created(struct making *making, const struct source *source)
{
    if (making->handle.file.bytes != making->bytes) {
        making->what = ""; /* its maker has the reason */
        return;
    }
    making->fd = source->open(making);
    if (making->fd < 0)
        (void) fail(making, errno, "cannot open shared memory");
    else if (map_file(making) == 0 &&
             memcmp(making->map, making->handle.nonce, NONCE_BYTES) != 0)
        (void) fail(making, ESTALE, "found other shared memory");
}

static void unmap(struct making *making)
{
    aspx_node_memory_free(making->map, making->bytes);
    making->map = NULL;
}

/* -- together -- */

static const struct aspx_real *mpi_of(const struct aspx_node_place *place)
{
    return place->mpi ? place->mpi : &aspx_real;
}

/* The maker's handle to the others of its node; one of 0 bytes when it could
 * not. Returns 0, or -1 when MPI failed. */
static int pass_handle(struct making *making)
{
    const struct aspx_node_place *place = making->place;
    const int bytes = (int) sizeof(making->handle);
    int rc = MPI_SUCCESS;

    if (!is_maker(making))
        return mpi_of(place)->MPI_Recv(&making->handle, bytes, MPI_BYTE,
                                       place->members[0], CARD_TAG, place->comm,
                                       MPI_STATUS_IGNORE) == MPI_SUCCESS
                   ? 0
                   : -1;
    for (uint32_t i = 1; i < place->count; i++)
        rc |= mpi_of(place)->MPI_Send(&making->handle, bytes, MPI_BYTE,
                                      place->members[i], CARD_TAG, place->comm);
    return rc == MPI_SUCCESS ? 0 : -1;
}

/* Has it worked on all? */
static bool agree(struct making *making)
{
    int mine = making->what == NULL, all = 0;

    return mpi_of(making->place)
                   ->MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN,
                                   making->place->comm) == MPI_SUCCESS &&
           all;
}

static void make_or_open(struct making *making, const struct source *source)
{
    if (is_maker(making) && !making->what)
        create(making, source);
    if (pass_handle(making) != 0)
        (void) fail(making, EIO, "MPI failed");
    else if (!is_maker(making) && !making->what)
        open_created(making, source);
}

static bool try_source(struct making *making, const struct source *source)
{
    bool made;

    making->handle = (struct handle){.file = {.bytes = 0}};
    making->what = NULL;
    making->fd = -1;
    if (!making->has_memory)
        (void) fail(making, ENOMEM, "no memory");
    make_or_open(making, source);
    made = agree(making);
    if (making->fd >= 0) {
        if (is_maker(making))
            source->forget_name(making);
        close(making->fd);
    }
    if (!made)
        unmap(making);
    return made;
}

static void iprobe(void *arg)
{
    const struct aspx_node_area *area = arg;
    int flag;

    (void) area->mpi->MPI_Iprobe(MPI_ANY_SOURCE, POLL_TAG, area->comm, &flag,
                                 MPI_STATUS_IGNORE);
}

static int say_why_not(const struct making *making, struct asp_err *err)
{
    if (!making->what || !making->what[0])
        return asp_errf(err, EPROTO,
                        "another rank of the communicator could not");
    return asp_errf(err, making->why, "%s: %s (%zu KiB)", making->what,
                    strerror(making->why), making->bytes / 1024);
}

/* A file whose pages get memory later must not be an object of /dev/shm, which
 * may be full then. */
static bool make_memory(struct making *making, struct asp_err *err)
{
    size_t n = making->bytes > making->filled
                   ? 1
                   : sizeof(sources) / sizeof(sources[0]);

    for (size_t i = 0; i < n; i++)
        if (try_source(making, &sources[i]))
            return true;
    (void) say_why_not(making, err);
    return false;
}

void *aspx_node_memory_make(const struct aspx_node_place *place, size_t bytes,
                            size_t filled, struct asp_err *err)
{
    struct making making = {
        .place = place,
        .bytes = bytes,
        .filled = filled,
        .has_memory = true,
    };

    return make_memory(&making, err) ? making.map : NULL;
}

void aspx_node_memory_free(void *memory, size_t bytes)
{
    if (memory)
        (void) munmap(memory, bytes);
}

struct aspx_node_area *aspx_node_area_make(const struct aspx_node_place *place,
                                           size_t slot_bytes,
                                           struct asp_err *err)
{
    struct aspx_node_area *area = malloc(sizeof(*area));
    struct aspx_node_area draft = {
        .index = place->index,
        .count = place->count,
        .comm = place->comm,
        .mpi = mpi_of(place),
        .poll = iprobe,
    };
    struct making making = {.place = place, .has_memory = area != NULL};

    aspx_node_lay_out(&draft, slot_bytes);
    making.bytes = making.filled = draft.map_bytes;
    if (!make_memory(&making, err)) {
        free(area);
        return NULL;
    }
    aspx_node_find_parts(&draft, making.map);
    *area = draft;
    area->poll_arg = area;
    return area;
}

void aspx_node_area_set_poll(struct aspx_node_area *area,
                             void (*poll)(void *arg), void *arg)
{
    area->poll = poll;
    area->poll_arg = arg;
}

void aspx_node_area_free(struct aspx_node_area *area)
{
    if (!area)
        return;
    aspx_node_memory_free(area->map, area->map_bytes);
    free(area);
}
