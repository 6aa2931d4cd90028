/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the program's OpenMP runtime by its symbols, counts the threads that
 * are idle, and hands chunks to them as tasks or in a region. The caller copies
 * chunks itself until none is left, then waits for helpers that still copy. */
#include "config.h"

#include "openmp.h"

#include "runtime/base/await.h"
#include "runtime/base/clock.h"
#include "runtime/mpi/helper_thread.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* So many times in a row nobody is idle, because tasks have not begun: then
 * they may be lost, as those of a canceled region are, and others are made. */
enum { LOST_AFTER = 4096 };

/* ---- the program's runtime -------------------------------------------------- */

struct runtime {
    /* gcc's entries (libgomp_g.h of gcc 12) */
    void (*task)(void (*work)(void *), void *data, void (*copy)(void *, void *),
                 long size, long align, bool deferred, unsigned flags,
                 void **depend, int priority, void *detach);
    void (*parallel)(void (*work)(void *), void *data, unsigned threads,
                     unsigned flags);
    /* OpenMP's own */
    int (*level)(void), (*threads)(void), (*max_threads)(void);
    int (*dynamic)(void), (*final)(void);
};

static struct runtime omp; /* empty: none */

static const struct {
    const char *name;
    size_t at;
} names[] = {
    {"GOMP_task", offsetof(struct runtime, task)},
    {"GOMP_parallel", offsetof(struct runtime, parallel)},
    {"omp_get_level", offsetof(struct runtime, level)},
    {"omp_get_num_threads", offsetof(struct runtime, threads)},
    {"omp_get_max_threads", offsetof(struct runtime, max_threads)},
    {"omp_get_dynamic", offsetof(struct runtime, dynamic)},
    {"omp_in_final", offsetof(struct runtime, final)},
};

/* The address at which its object is loaded. */
static const void *object_of(const void *function)
{
    Dl_info info;

    return dladdr(function, &info) ? info.dli_fbase : NULL;
}

/* All of one runtime: gcc's beside LLVM's would not know what the other's
 * threads do. */
static bool find_runtime(void)
{
    const void *object = NULL, *fork_call;
    struct runtime found;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        void *function = dlsym(RTLD_DEFAULT, names[i].name);

        if (!function || (object && object_of(function) != object))
            return false;
        object = object_of(function);
        *(void **) (void *) ((char *) &found + names[i].at) = function;
    }
    fork_call = dlsym(RTLD_DEFAULT, "__kmpc_fork_call");
    if (fork_call && object_of(fork_call) != object)
        return false;
    omp = found;
    return true;
}

/* ---- threads of the process ------------------------------------------------- */

static int before_mpi; /* threads before MPI_Init */
static int not_openmp; /* those that MPI_Init has brought, without our helper */

/* A directory's links are itself, its parent's, and one for each thread in it.
 * 0: it cannot be seen. */
static int count_threads(void)
{
    struct stat tasks;

    return stat("/proc/self/task", &tasks) == 0 ? (int) tasks.st_nlink - 2 : 0;
}

static int count_helper(void)
{
    return aspx_helper_thread_runs() ? 1 : 0;
}

void aspx_openmp_prepare(void)
{
    before_mpi = count_threads();
}

bool aspx_openmp_start(void)
{
    not_openmp = count_threads() - before_mpi - count_helper();
    return find_runtime();
}

/* ---- work, and who carries it out ------------------------------------------- */

struct current {
    const struct aspx_openmp_work *work;
    struct current *next;
    _Atomic uint64_t claimed;
    unsigned joined, most;   /* helpers that ever were inside */
    _Atomic unsigned inside; /* helpers that are */
    _Atomic unsigned came;   /* helpers that got a chunk */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static struct current *all;      /* each on the stack of its caller */
static unsigned generation;      /* of tasks */
static _Atomic unsigned waiting; /* tasks of it that have not begun */
static _Atomic unsigned full;    /* as many as waited when the last were made */
static _Atomic unsigned in_vain; /* nobody has begun one, so often in a row */

/* This thread has work of its own: where a task cannot wait, GOMP_task()
 * carries it out at once. */
static _Thread_local bool is_caller __attribute__((tls_model("initial-exec")));

static bool claim(struct current *current, uint64_t *i)
{
    *i = atomic_fetch_add_explicit(&current->claimed, 1, memory_order_relaxed);
    return *i < current->work->chunks;
}

static void claim_chunks(struct current *current)
{
    const struct aspx_openmp_work *work = current->work;
    uint64_t i;

    while (claim(current, &i))
        work->chunk(work->data, i);
}

static void help(struct current *current)
{
    uint64_t i;

    if (!claim(current, &i))
        return;
    atomic_fetch_add(&current->came, 1);
    current->work->chunk(current->work->data, i);
    claim_chunks(current);
}

static struct current *find_work(void)
{
    struct current *current = all;

    while (current && (current->joined >= current->most ||
                       atomic_load(&current->claimed) >= current->work->chunks))
        current = current->next;
    return current;
}

static struct current *join(void)
{
    struct current *current = is_caller ? NULL : find_work();

    if (current) {
        current->joined++;
        atomic_fetch_add(&current->inside, 1);
    }
    return current;
}

/* It must not be touched then: its caller goes on. */
static void leave(struct current *current)
{
    atomic_fetch_sub_explicit(&current->inside, 1, memory_order_release);
}

static void publish(struct current *current)
{
    pthread_mutex_lock(&lock);
    current->next = all;
    all = current;
    pthread_mutex_unlock(&lock);
}

static void withdraw(struct current *current)
{
    struct current **at = &all;

    pthread_mutex_lock(&lock);
    while (*at != current)
        at = &(*at)->next;
    *at = current->next;
    pthread_mutex_unlock(&lock);
}

static bool is_alone(void *arg)
{
    const struct current *current = arg;

    return !atomic_load_explicit(&current->inside, memory_order_acquire);
}

static void await_helpers(struct current *current)
{
    static const struct aspx_await how = {
        .look = is_alone, .row = &aspx_wait_table[ASPX_WAIT_OPENMP]};

    aspx_await(&how, current);
}

/* ---- inside a region -------------------------------------------------------- */

static void run_task(void *data)
{
    struct current *current;

    pthread_mutex_lock(&lock);
    if (*(const unsigned *) data == generation)
        atomic_fetch_sub(&waiting, 1);
    atomic_store(&in_vain, 0);
    current = join();
    pthread_mutex_unlock(&lock);
    if (!current)
        return;
    help(current);
    leave(current);
}

/* As many as are missing to so many. */
static void make_tasks(unsigned wanted)
{
    unsigned made, of;

    pthread_mutex_lock(&lock);
    made = atomic_load(&waiting) < wanted ? wanted - atomic_load(&waiting) : 0;
    atomic_store(&full, atomic_fetch_add(&waiting, made) + made);
    of = generation;
    pthread_mutex_unlock(&lock);
    while (made--)
        omp.task(run_task, &of, NULL, sizeof(of), _Alignof(unsigned), true, 0,
                 NULL, 0, NULL);
}

static void forget_tasks(void)
{
    pthread_mutex_lock(&lock);
    generation++;
    atomic_store(&waiting, 0);
    atomic_store(&in_vain, 0);
    pthread_mutex_unlock(&lock);
}

bool aspx_openmp_all_compute(void)
{
    unsigned wait = atomic_load_explicit(&waiting, memory_order_relaxed);

    if (wait == 0 || wait < atomic_load_explicit(&full, memory_order_relaxed))
        return false;
    if (atomic_fetch_add_explicit(&in_vain, 1, memory_order_relaxed) <
        LOST_AFTER)
        return true;
    forget_tasks();
    return false;
}

static unsigned idle_inside(void)
{
    unsigned others = (unsigned) omp.threads() - 1;
    unsigned compute = atomic_load_explicit(&waiting, memory_order_relaxed);

    return compute < others ? others - compute : 0;
}

/* ---- outside ---------------------------------------------------------------- */

static bool made_threads; /* a region of ours has */

/* Regions of ours in a row in which nobody came in time, as where threads have
 * no processor: all the same their end waited for all. So many calls are passed
 * over then, twice as many each time. The main thread's. */
enum { PASSED_OVER_MAX = 63 };
static unsigned pass_over, passed_over;

static bool is_main_thread(void)
{
    return gettid() == getpid();
}

/* The threads of the last region, if they are all that there are. libgomp ends
 * those that a smaller region does not need. */
static unsigned idle_outside(void)
{
    int threads = omp.max_threads();

    if (threads < 2 || omp.dynamic() || !is_main_thread() || made_threads)
        return 0;
    if (passed_over < pass_over) {
        passed_over++;
        return 0;
    }
    if (count_threads() - not_openmp - count_helper() != threads)
        return 0;
    return (unsigned) threads - 1;
}

/* The master of the region is the caller. */
static void run_in_region(void *data)
{
    if (is_main_thread())
        claim_chunks(data);
    else
        help(data);
}

/* ---- both ------------------------------------------------------------------- */

unsigned aspx_openmp_idle(void)
{
    int level;

    if (!omp.task)
        return 0;
    level = omp.level();
    if (level == 0)
        return idle_outside();
    return level == 1 && !omp.final() ? idle_inside() : 0;
}

static void run_outside(struct current *current)
{
    int before = count_threads();

    omp.parallel(run_in_region, current, 0, 0);
    made_threads = count_threads() > before;
    passed_over = 0;
    if (atomic_load(&current->came))
        pass_over = 0;
    else if (pass_over < PASSED_OVER_MAX)
        pass_over = 2 * pass_over + 1;
}

static void run_inside(struct current *current, unsigned helpers)
{
    is_caller = true;
    publish(current);
    make_tasks(helpers);
    claim_chunks(current);
    withdraw(current);
    is_caller = false;
    await_helpers(current);
}

unsigned aspx_openmp_run(const struct aspx_openmp_work *work, unsigned helpers)
{
    struct current current = {
        .work = work, .claimed = work->first, .most = helpers};

    if (helpers && omp.level() == 0)
        run_outside(&current);
    else if (helpers)
        run_inside(&current, helpers);
    else
        claim_chunks(&current);
    return current.came;
}
