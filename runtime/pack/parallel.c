/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides from the size and the measured cost of a byte how many threads a copy
 * is worth, splits the stream into chunks, and learns the cost for blocks of
 * that size from what it took. */
#include "config.h"

#include "parallel.h"

#include "openmp.h"

#include "runtime/base/clock.h"

#include <stdatomic.h>
#include <stddef.h>

enum {
    /* To make a task and have it taken, by LLVM's runtime; gcc's takes half
     * (tasks by 4 threads: 4 and 9.5 us). */
    TASK_NS = 3200,
    WAKE_NS = 5000, /* until a thread that waits has begun */
    /* Ten bytes in a nanosecond: less is known to be slower only. */
    UNKNOWN_PS = 100,
    /* Chunks of a thread: who comes late, or is slow, leaves some to others. */
    CHUNKS_EACH = 4,
    CHUNK_MIN = 8 << 10,   /* some us */
    CHUNK_MAX = 256 << 10, /* its lines stay in the second cache */
    CHUNK_ALIGN = 64,      /* of the stream: a line is one thread's */
    CLASSES = 21,          /* of blocks up to 1 MiB */
    LEARNT = 8,            /* so many measures, of which the least counts */
};

/* ---- what a byte costs ------------------------------------------------------ */

static struct {
    _Atomic uint32_t ps; /* for a byte; 0: not known */
    _Atomic uint32_t measures;
} costs[CLASSES];

static unsigned class_of(const struct aspx_typemap *typemap)
{
    const struct aspx_node *node = typemap->node;
    uint64_t block = typemap->size;
    unsigned log2;

    while (node) {
        if (node->kind == ASPX_NODE_PARTS) {
            block = node->parts[1].before;
            node = node->children ? node->children[0] : NULL;
        } else {
            block = node->each;
            node = node->child;
        }
    }
    log2 = block ? 63 - (unsigned) __builtin_clzll(block) : 0;
    return log2 < CLASSES ? log2 : CLASSES - 1;
}

static void learn(unsigned class, uint64_t ns, uint64_t bytes)
{
    uint64_t ps = 1000 * ns / bytes;
    uint32_t known = atomic_load_explicit(&costs[class].ps,
                                          memory_order_relaxed);

    if (ps == 0 || ps > UINT32_MAX)
        return;
    if (known == 0 || ps < known)
        atomic_store_explicit(&costs[class].ps, (uint32_t) ps,
                              memory_order_relaxed);
    atomic_fetch_add_explicit(&costs[class].measures, 1, memory_order_relaxed);
}

unsigned aspx_parallel_choose(uint64_t bytes, uint64_t ps_per_byte,
                              unsigned idle)
{
    uint64_t alone_ns = bytes * ps_per_byte / 1000;
    uint64_t most = bytes / ASPX_PARALLEL_EACH_MIN, threads = idle + 1;

    if (threads > most)
        threads = most;
    if (bytes < ASPX_PARALLEL_MIN || threads < 2)
        return 1;
    return alone_ns - alone_ns / threads > (threads - 1) * TASK_NS + WAKE_NS
               ? (unsigned) threads
               : 1;
}

unsigned aspx_parallel_threads(const struct aspx_typemap *typemap,
                               uint64_t bytes)
{
    uint32_t ps;

    if (bytes < ASPX_PARALLEL_MIN)
        return 1;
    ps = atomic_load_explicit(&costs[class_of(typemap)].ps,
                              memory_order_relaxed);
    return aspx_parallel_choose(bytes, ps ? ps : UNKNOWN_PS,
                                aspx_openmp_idle());
}

/* ---- copying ---------------------------------------------------------------- */

static struct {
    _Atomic uint64_t buffers, bytes, chunks, helpers, ns;
} counts;

struct copy {
    const struct aspx_typemap *typemap;
    char *buffer, *stream;
    uint64_t count, bytes, chunk;
    bool unpack;
};

static void copy_range(const struct copy *copy, uint64_t from, uint64_t bytes)
{
    if (copy->unpack)
        aspx_typemap_unpack(copy->typemap, copy->buffer, copy->count, from,
                            copy->stream + from, bytes);
    else
        aspx_typemap_pack(copy->typemap, copy->buffer, copy->count, from,
                          copy->stream + from, bytes);
}

static void copy_chunk(void *data, uint64_t i)
{
    const struct copy *copy = data;
    uint64_t from = i * copy->chunk, left = copy->bytes - from;

    copy_range(copy, from, left < copy->chunk ? left : copy->chunk);
}

static uint64_t chunk_bytes(uint64_t bytes, unsigned threads)
{
    uint64_t chunk = bytes / (threads * CHUNKS_EACH);

    chunk = chunk < CHUNK_MIN ? CHUNK_MIN : chunk;
    chunk = chunk > CHUNK_MAX ? CHUNK_MAX : chunk;
    return (chunk + CHUNK_ALIGN - 1) / CHUNK_ALIGN * CHUNK_ALIGN;
}

/* The caller's first chunk is measured, a few times for each class. */
static uint64_t copy_measured(const struct copy *copy)
{
    unsigned class = class_of(copy->typemap);
    uint64_t began;

    if (atomic_load_explicit(&costs[class].measures, memory_order_relaxed) >=
        LEARNT)
        return 0;
    began = aspx_clock_ns(CLOCK_MONOTONIC);
    copy_range(copy, 0, copy->chunk);
    learn(class, aspx_clock_ns(CLOCK_MONOTONIC) - began, copy->chunk);
    return copy->chunk;
}

static void count(const struct copy *copy, uint64_t chunks, unsigned helpers,
                  uint64_t ns)
{
    atomic_fetch_add(&counts.buffers, 1);
    atomic_fetch_add(&counts.bytes, copy->bytes);
    atomic_fetch_add(&counts.chunks, chunks);
    atomic_fetch_add(&counts.helpers, helpers);
    atomic_fetch_add(&counts.ns, ns);
}

static void copy_by_threads(struct copy copy, unsigned threads)
{
    struct aspx_openmp_work work = {.chunk = copy_chunk, .data = &copy};
    uint64_t began = aspx_clock_ns(CLOCK_MONOTONIC), done;
    const uint64_t all = copy.bytes;
    unsigned helpers;

    copy.chunk = chunk_bytes(all, threads);
    done = copy_measured(&copy);
    work.chunks = (all + copy.chunk - 1) / copy.chunk;
    work.first = done / copy.chunk;
    helpers = aspx_openmp_run(&work, threads - 1);
    if (helpers)
        count(&copy, work.chunks, helpers,
              aspx_clock_ns(CLOCK_MONOTONIC) - began);
}

/* The casts only take const away of what is read. */
void aspx_parallel_pack(const struct aspx_typemap *typemap, const void *buffer,
                        uint64_t count, void *stream, uint64_t bytes,
                        unsigned threads)
{
    struct copy copy = {.typemap = typemap,
                        .buffer = (char *) (uintptr_t) buffer,
                        .count = count,
                        .stream = stream,
                        .bytes = bytes};

    if (threads > 1)
        copy_by_threads(copy, threads);
    else
        copy_range(&copy, 0, bytes);
}

void aspx_parallel_unpack(const struct aspx_typemap *typemap, void *buffer,
                          uint64_t count, const void *stream, uint64_t bytes,
                          unsigned threads)
{
    struct copy copy = {.typemap = typemap,
                        .buffer = buffer,
                        .count = count,
                        .stream = (char *) (uintptr_t) stream,
                        .bytes = bytes,
                        .unpack = true};

    if (threads > 1)
        copy_by_threads(copy, threads);
    else
        copy_range(&copy, 0, bytes);
}

struct aspx_parallel_counts aspx_parallel_counts(void)
{
    return (struct aspx_parallel_counts){
        .buffers = atomic_load(&counts.buffers),
        .bytes = atomic_load(&counts.bytes),
        .chunks = atomic_load(&counts.chunks),
        .helpers = atomic_load(&counts.helpers),
        .ns = atomic_load(&counts.ns),
    };
}
