/* SPDX-License-Identifier: BSD-3-Clause */
/* One phase, from this process: epochs of all windows, opened, used and closed
 * in an order that cannot deadlock.
 *
 *   fill        the target's own stores; then a barrier where passive
 *   open        post; fence; start; locks held one by one, used and released;
 *               locks held together, in ascending order
 *   rounds      operations of all windows mixed; then flushes, fences, handoffs
 *   close       unlock; complete; fence, wait, barrier in the order of windows
 *   compare */
#include "random.h"

enum whim {
    FILL_LOCKED = 1,
    ASSERTS = 2,
    TEST_LOOP = 4,
    CHECK_LOCKED = 8,
    SKIP_EMPTY = 16,
    REVERSE_UNLOCK = 32
};

/* Where redirection may be switched, by points of a window in a phase. */
enum { POINT_BEGIN = MAX_ROUNDS + 1, POINT_END, POINTS };

/* Redirection off or on, from here or from the next fence on; the same for all
 * targets, or for each as it likes. It changes no result. Drawn apart, so that
 * a program is what it was without. More than the key symmetric promises:
 * nobody has completed anything before. */
static void reconfigure(const struct program *p, const struct window *w,
                        int point, int symmetric)
{
    struct prng prng = {
        p->seed * 0x9e3779b9u +
        (uint64_t) ((p->number * MAX_PHASES + p->phase) * MAX_WINDOWS +
                    (w - p->window)) *
            POINTS * 2 +
        (unsigned) (point * 2 + symmetric)};
    int roll, all, mine = 0;
    MPI_Info info;

    if (!options.switches)
        return;
    roll = prng_below(&prng, 100);
    all = prng_below(&prng, 3);
    for (int r = 0; r <= w->comm->me; r++)
        mine = prng_below(&prng, 3);
    if (roll >= 60)
        return;
    MPI_Info_create(&info);
    MPI_Info_set(info, "async_config",
                 (const char *[]){"off", "on", "auto"}[roll < 20 ? all : mine]);
    MPI_Info_set(info, "symmetric", symmetric ? "true" : "false");
    MPI_Win_set_info(w->mpi, info);
    MPI_Info_free(&info);
}

static int is_whim(const struct window *w, enum whim whim)
{
    return (w->whim[w->comm->me] & whim) != 0;
}

static int is_mine(const struct window *w)
{
    return w->alive && w->comm->me >= 0;
}

/* ---- what the assertions may say */

static int stores(const struct program *p, const struct window *w, int round)
{
    for (int i = 0; i < p->n_ops; i++)
        if (p->op[i].window == w && p->op[i].kind == STORE &&
            p->op[i].origin == w->comm->me && p->op[i].round == round)
            return 1;
    return 0;
}

static int updated(const struct program *p, const struct window *w, int round)
{
    for (int i = 0; i < p->n_ops; i++) {
        const struct op *op = &p->op[i];

        if (op->window == w && op->target == w->comm->me &&
            op->round == round && op->kind != GET && op->kind != LOAD &&
            op->kind != STORE)
            return 1;
    }
    return 0;
}

static int filled(const struct window *w)
{
    const struct side *side = &w->side[w->comm->me];

    for (int i = 0; i < side->regions; i++)
        if (side->region[i].filled)
            return 1;
    return 0;
}

/* The fence before round `next`; after the last round next is w->rounds. */
static void fence(const struct program *p, const struct window *w, int next)
{
    int assert = 0;

    if (is_whim(w, ASSERTS)) {
        if (next == 0 ? !filled(w) : !stores(p, w, next - 1))
            assert |= MPI_MODE_NOSTORE;
        if (next == w->rounds || !updated(p, w, next))
            assert |= MPI_MODE_NOPUT;
    }
    if (w->nocheck && next == 0)
        assert |= MPI_MODE_NOPRECEDE;
    if (w->nocheck && next == w->rounds)
        assert |= MPI_MODE_NOSUCCEED;
    reconfigure(p, w, next, 0);
    MPI_Win_fence(assert, w->mpi);
}

/* ---- post, start, complete, wait */

static unsigned exposed_to(const struct window *w)
{
    unsigned set = 0;

    for (int o = 0; o < w->comm->n; o++)
        set |= (w->may[o] >> w->comm->me & 1) << o;
    return set;
}

static MPI_Group group_of(const struct window *w, unsigned set)
{
    int ranks[MAX_RANKS], n = 0;
    MPI_Group all, some;

    for (int r = 0; r < w->comm->n; r++)
        if (set >> r & 1)
            ranks[n++] = r;
    MPI_Win_get_group(w->mpi, &all);
    MPI_Group_incl(all, n, ranks, &some);
    MPI_Group_free(&all);
    return some;
}

static int skips(const struct window *w, unsigned set)
{
    return set == 0 && is_whim(w, SKIP_EMPTY);
}

static void post(const struct program *p, const struct window *w)
{
    unsigned set = exposed_to(w);
    MPI_Group group;
    int assert = w->nocheck ? MPI_MODE_NOCHECK : 0;

    if (skips(w, set))
        return;
    if (is_whim(w, ASSERTS)) {
        assert |= filled(w) ? 0 : MPI_MODE_NOSTORE;
        assert |= updated(p, w, 0) ? 0 : MPI_MODE_NOPUT;
    }
    group = group_of(w, set);
    MPI_Win_post(group, assert, w->mpi);
    MPI_Group_free(&group);
}

static void start(const struct window *w)
{
    unsigned set = w->may[w->comm->me];
    MPI_Group group;

    if (skips(w, set))
        return;
    group = group_of(w, set);
    MPI_Win_start(group, w->nocheck ? MPI_MODE_NOCHECK : 0, w->mpi);
    MPI_Group_free(&group);
}

static void wait(const struct window *w)
{
    int done = 0;

    if (skips(w, exposed_to(w)))
        return;
    if (!is_whim(w, TEST_LOOP))
        MPI_Win_wait(w->mpi);
    else
        while (!done)
            MPI_Win_test(w->mpi, &done);
}

/* ---- locks */

static void lock(const struct window *w, int t)
{
    int me = w->comm->me;

    MPI_Win_lock(
        w->lock[me][t] == LOCK_EXCLUSIVE ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED,
        t, w->lock_nocheck[me] >> t & 1 ? MPI_MODE_NOCHECK : 0, w->mpi);
}

static void locks_open(const struct window *w)
{
    int me = w->comm->me;

    if (w->access[me] == LOCK_ALL)
        MPI_Win_lock_all(
            w->lock_nocheck[me] == w->may[me] ? MPI_MODE_NOCHECK : 0, w->mpi);
    for (int t = 0; w->access[me] == HELD && t < w->comm->n; t++)
        if (w->may[me] >> t & 1)
            lock(w, t);
}

static void locks_close(const struct window *w)
{
    int me = w->comm->me, n = w->comm->n;

    if (w->access[me] == LOCK_ALL)
        MPI_Win_unlock_all(w->mpi);
    for (int i = 0; w->access[me] == HELD && i < n; i++) {
        int t = is_whim(w, REVERSE_UNLOCK) ? n - 1 - i : i;

        if (w->may[me] >> t & 1)
            MPI_Win_unlock(t, w->mpi);
    }
}

/* ---- operations */

/* target < 0: any */
static int is_own(const struct op *op, const struct window *w, int target)
{
    return op->window == w && op->origin == w->comm->me &&
           (target < 0 || op->target == target);
}

/* Everything issued is complete at the origin. */
static void finish(struct program *p, const struct window *w, int target)
{
    for (int i = 0; i < p->n_ops; i++)
        if (is_own(&p->op[i], w, target) && p->op[i].issued)
            op_finish(p, &p->op[i]);
}

static void finish_requests(struct program *p, const struct window *w)
{
    for (int i = 0; i < p->n_ops; i++)
        if (is_own(&p->op[i], w, -1) && p->op[i].issued && p->op[i].request)
            op_finish(p, &p->op[i]);
}

static void separate_one(struct program *p, const struct window *w, int round,
                         int t)
{
    switch (w->separator[w->comm->me][round]) {
    case NOTHING:
        return;
    case FLUSH:
        MPI_Win_flush(t, w->mpi);
        break;
    case FLUSH_ALL:
        MPI_Win_flush_all(w->mpi);
        break;
    case FLUSH_LOCAL:
        MPI_Win_flush_local(t, w->mpi);
        break;
    case FLUSH_LOCAL_ALL:
        MPI_Win_flush_local_all(w->mpi);
        break;
    }
    finish(p, w, t);
}

static void separate(struct program *p, const struct window *w, int round)
{
    for (int t = 0; t < w->comm->n; t++)
        if (w->may[w->comm->me] >> t & 1)
            separate_one(p, w, round, t);
}

/* Complete everything, then let others use what I used. */
static void hand_over(struct program *p, const struct window *w)
{
    if (w->may[w->comm->me])
        MPI_Win_flush_all(w->mpi);
    finish(p, w, -1);
    if (w->may[w->comm->me]) /* MPICH allows it inside an epoch only */
        MPI_Win_sync(w->mpi);
    MPI_Barrier(w->comm->mpi);
    if (w->may[w->comm->me])
        MPI_Win_sync(w->mpi);
}

static int one_by_one(const struct window *w)
{
    return w->epoch == PASSIVE && w->access[w->comm->me] == ONE_BY_ONE;
}

static void session(struct program *p, struct window *w, int t, int first)
{
    lock(w, t);
    for (int round = 0; round < w->rounds; round++) {
        for (int i = 0; i < p->n_ops; i++) {
            struct op *op = &p->op[i];

            if (op->round == round &&
                (is_own(op, w, t) ||
                 (first && is_own(op, w, -1) && op->target < 0)))
                op_issue(p, op);
        }
        finish_requests(p, w);
        if (round + 1 < w->rounds)
            separate_one(p, w, round, t);
    }
    MPI_Win_unlock(t, w->mpi);
    finish(p, w, first ? -1 : t);
}

static void sessions(struct program *p, struct window *w)
{
    int first = 1;

    for (int t = 0; t < w->comm->n; t++)
        if (w->may[w->comm->me] >> t & 1) {
            session(p, w, t, first);
            first = 0;
        }
}

/* ---- the phase */

#define EACH_WINDOW(w)                                                         \
    for (struct window *w = p->window; w < p->window + p->n_windows; w++)      \
        if (is_mine(w))

/* Around loads and stores while nobody else may access the window: a real lock
 * or only the epoch that MPI_Win_sync needs. */
static void self_lock(const struct window *w, enum whim whim)
{
    if (w->epoch != PASSIVE)
        return;
    if (w->promise == ALL_OR_FENCE) {
        MPI_Win_lock_all(0, w->mpi);
        MPI_Win_sync(w->mpi);
    } else if (is_whim(w, whim)) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->comm->me, 0, w->mpi);
    } else {
        MPI_Win_lock(MPI_LOCK_SHARED, w->comm->me,
                     may_be_plain(w) ? 0 : MPI_MODE_NOCHECK, w->mpi);
        MPI_Win_sync(w->mpi);
    }
}

static void self_unlock(const struct window *w)
{
    if (w->epoch == PASSIVE && w->promise == ALL_OR_FENCE)
        MPI_Win_unlock_all(w->mpi);
    else if (w->epoch == PASSIVE)
        MPI_Win_unlock(w->comm->me, w->mpi);
}

static void fill(struct program *p)
{
    EACH_WINDOW(w)
    {
        const struct side *side = &w->side[w->comm->me];

        self_lock(w, FILL_LOCKED);
        for (int i = 0; i < side->regions; i++) {
            const struct region *region = &side->region[i];

            if (region->filled)
                memcpy(w->base + region->at, side->start + region->at,
                       (size_t) region->bytes);
        }
        self_unlock(w);
    }
    EACH_WINDOW(w)
    reconfigure(p, w, POINT_BEGIN, 1);
    /* Plain MPICH counts posts whoever they come from: one for the next epoch
     * must not arrive during the start of this one. */
    EACH_WINDOW(w)
    if (w->epoch == PASSIVE || (w->epoch == PSCW && !options.early_posts))
        MPI_Barrier(w->comm->mpi);
}

static void open(struct program *p)
{
    EACH_WINDOW(w)
    if (w->epoch == PSCW)
        post(p, w);
    EACH_WINDOW(w)
    {
        if (w->epoch == PSCW && w->nocheck)
            MPI_Barrier(w->comm->mpi);
        if (w->epoch == FENCE)
            fence(p, w, 0);
    }
    EACH_WINDOW(w)
    if (w->epoch == PSCW)
        start(w);
    EACH_WINDOW(w)
    if (one_by_one(w))
        sessions(p, w);
    EACH_WINDOW(w)
    if (w->epoch == PASSIVE)
        locks_open(w);
}

static void rounds(struct program *p)
{
    for (int round = 0; round < MAX_ROUNDS; round++) {
        for (int i = 0; i < p->n_ops; i++) {
            struct op *op = &p->op[i];

            if (op->round == round && is_mine(op->window) &&
                is_own(op, op->window, -1) && !one_by_one(op->window))
                op_issue(p, op);
        }
        EACH_WINDOW(w)
        {
            /* whoever waits for an exclusive lock would not come */
            if (round < w->rounds && !w->exclusive)
                reconfigure(p, w, round, 1);
            if (round + 1 >= w->rounds || one_by_one(w))
                continue;
            finish_requests(p, w);
            if (w->epoch == FENCE) {
                fence(p, w, round + 1);
                finish(p, w, -1);
            } else if (w->epoch == PASSIVE) {
                separate(p, w, round);
                if (w->handoff)
                    hand_over(p, w);
            }
        }
    }
}

static void close_all(struct program *p)
{
    EACH_WINDOW(w)
    if (w->epoch == PASSIVE) {
        finish_requests(p, w);
        locks_close(w);
        finish(p, w, -1);
    }
    EACH_WINDOW(w)
    if (w->epoch == PSCW && !skips(w, w->may[w->comm->me])) {
        MPI_Win_complete(w->mpi);
        finish(p, w, -1);
    }
    EACH_WINDOW(w)
    switch (w->epoch) {
    case FENCE:
        fence(p, w, w->rounds);
        finish(p, w, -1);
        break;
    case PSCW:
        wait(w);
        break;
    case PASSIVE:
        MPI_Barrier(w->comm->mpi);
        break;
    }
    EACH_WINDOW(w)
    reconfigure(p, w, POINT_END, 1);
}

static void compare(struct program *p)
{
    EACH_WINDOW(w)
    {
        self_lock(w, CHECK_LOCKED);
        check_memory(p, w);
        self_unlock(w);
    }
}

void phase_execute(struct program *p)
{
    static const struct {
        const char *name;
        void (*run)(struct program *p);
    } stages[] = {{"fill", fill},
                  {"open", open},
                  {"operations", rounds},
                  {"close", close_all},
                  {"compare", compare}};

    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
        p->stage = stages[i].name;
        stages[i].run(p);
    }
}
