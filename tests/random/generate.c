/* SPDX-License-Identifier: BSD-3-Clause */
/* A random program: communicators, windows and the epochs of each phase. The
 * operations of a phase are drawn by operate.c.
 *
 * Nothing here may depend on the rank it runs on. */
#include "random.h"

static uint64_t mix(uint64_t seed, uint64_t number)
{
    struct prng prng = {seed ^ number * 0xd6e8feb86659fd93u};

    return prng_next(&prng);
}

/* Members in random order, the way MPI_Comm_create would order them. */
static struct comm *comm_add(struct program *p, const char *kind)
{
    struct comm *comm = &p->comm[p->n_comms++];

    *comm = (struct comm){.mpi = MPI_COMM_NULL, .kind = kind, .me = -1};
    return comm;
}

static void comm_member(struct comm *comm, int world)
{
    if (world == world_rank)
        comm->me = comm->n;
    comm->world[comm->n++] = world;
}

static void comm_world(struct program *p, const char *kind)
{
    struct comm *comm = comm_add(p, kind);

    for (int r = 0; r < world_size; r++)
        comm_member(comm, r);
}

/* Two colours, ranks in ascending or descending order. */
static void comm_split(struct program *p)
{
    struct comm *even = comm_add(p, "split"), *odd = comm_add(p, "split");
    uint64_t colours = prng_next(&p->prng);
    int down = prng_chance(&p->prng, 50);

    for (int i = 0; i < world_size; i++) {
        int r = down ? world_size - 1 - i : i;

        comm_member(colours >> r & 1 ? odd : even, r);
    }
}

static void comm_sub(struct program *p)
{
    struct comm *comm = comm_add(p, "sub");
    int first = prng_below(&p->prng, world_size);
    int n = prng_range(&p->prng, 1, world_size);

    for (int i = 0; i < n; i++)
        comm_member(comm, (first + i) % world_size);
}

/* Regions of multiples of ALIGN, the last one of any length. */
static void side_cut(struct side *side, struct prng *prng)
{
    int at = 0;

    while (at < side->bytes && side->regions < MAX_REGIONS) {
        struct region *region = &side->region[side->regions++];
        int bytes = ALIGN * prng_range(prng, 1, 3);

        if (side->regions == MAX_REGIONS || bytes > side->bytes - at)
            bytes = side->bytes - at;
        *region = (struct region){.at = at, .bytes = bytes};
        at += bytes;
    }
    side->model = calloc(3, (size_t) side->bytes + 1);
    side->known = calloc(1, (size_t) side->bytes + 1);
    if (!side->model || !side->known)
        abort();
    side->start = side->model + side->bytes;
    side->touched = side->start + side->bytes;
}

static void side_draw(struct window *w, int r, int private, struct prng *prng)
{
    static const int units[] = {1, 1, 2, 4, 8, 8, 16, 64, 3, 12};
    struct side *side = &w->side[r];

    *side = (struct side){0};
    side->unit = units[prng_below(prng, 10)];
    side->bytes = ALIGN * prng_below(prng, 9);
    if (prng_chance(prng, 5))
        side->bytes = ALIGN * prng_range(prng, 64, 512);
    side->source = prng_chance(prng, private) ? PRIVATE : ALLOC_MEM;
    /* plain MPICH over UCX misreads bases that are not aligned to 16 */
    if (!options.plain_safe && w->flavor != SHARED && prng_chance(prng, 30))
        side->bytes += prng_below(prng, ALIGN);
    if (!options.plain_safe && side->source == PRIVATE && prng_chance(prng, 50))
        side->lead = 8 * prng_below(prng, 4); /* the strictest C type */
    if (prng_chance(prng, 20) && w->flavor == ALLOCATE)
        side->reserve = 256;
    if (w->parent) {
        side->source = OTHER_WINDOW;
        if (side->bytes > w->parent->side[r].reserve)
            side->bytes = w->parent->side[r].reserve;
    }
    side_cut(side, prng);
}

static int one_node(const struct comm *comm)
{
    for (int i = 1; i < comm->n; i++)
        if (world_node[comm->world[i]] != world_node[comm->world[0]])
            return 0;
    return 1;
}

static enum promise promise_draw(struct prng *prng)
{
    int roll = prng_below(prng, 100);

    return roll < 60   ? NO_PROMISE
           : roll < 70 ? NO_LOCKS
           : roll < 75 ? ACTIVE_ONLY
           : roll < 90 ? ALL_OR_FENCE
                       : NO_GHOSTS;
}

static struct window *window_add(struct program *p, struct comm *comm)
{
    struct window *w = &p->window[p->n_windows++];
    struct prng *prng = &p->prng;
    int roll = prng_below(prng, 100);

    *w = (struct window){.comm = comm, .mpi = MPI_WIN_NULL};
    w->flavor = roll < 70 ? ALLOCATE : CREATE;
    if (roll >= 55 && roll < 70 && one_node(comm))
        w->flavor = SHARED;
    w->birth = prng_below(prng, p->phases);
    w->death = prng_range(prng, w->birth, p->phases - 1);
    w->noncontiguous = prng_chance(prng, 50);
    w->promise = promise_draw(prng);
    return w;
}

static void sides_draw(struct program *p, struct window *w)
{
    static const int percent[] = {0, 0, 50, 100};
    int private = percent[prng_below(&p->prng, 4)];

    for (int r = 0; r < w->comm->n; r++)
        side_draw(w, r, private, &p->prng);
}

/* A window whose memory is the reserve of another one. It lives inside the
 * other's life and is freed first. Plain MPICH over UCX takes the other one's
 * base for it. */
static void window_on(struct program *p, struct window *parent)
{
    struct window *w;
    int reserve = 0;

    for (int r = 0; r < parent->comm->n; r++)
        reserve |= parent->side[r].reserve;
    if (!reserve || options.plain_safe || parent->promise == NO_GHOSTS ||
        p->n_windows == MAX_WINDOWS)
        return;
    w = window_add(p, parent->comm);
    w->flavor = CREATE;
    w->parent = parent;
    if (w->promise == NO_GHOSTS)
        w->promise = NO_PROMISE;
    w->birth = prng_range(&p->prng, parent->birth, parent->death);
    w->death = prng_range(&p->prng, w->birth, parent->death);
    sides_draw(p, w);
}

static void windows_draw(struct program *p)
{
    int wanted = prng_range(&p->prng, 1, 3);

    while (wanted-- && p->n_windows < MAX_WINDOWS - 2) {
        int c = prng_below(&p->prng, p->n_comms), more = 1;
        struct window *w;

        if (strcmp(p->comm[c].kind, "split") == 0) {
            /* the other colour's window comes with it */
            c -= strcmp(p->comm[c - 1].kind, "split") == 0;
            more = 2;
        }
        for (int i = 0; i < more; i++) {
            if (p->comm[c + i].n == 0)
                continue;
            w = window_add(p, &p->comm[c + i]);
            sides_draw(p, w);
            window_on(p, w);
            if (p->n_windows == MAX_WINDOWS)
                break;
        }
    }
}

void program_begin(struct program *p, long number)
{
    struct prng *prng = &p->prng;

    p->number = number;
    p->seed = options.seed;
    prng->state = mix(options.seed, (uint64_t) number);
    p->phases = prng_range(prng, 1, MAX_PHASES);
    p->n_comms = p->n_windows = p->n_traces = p->n_groups = 0;
    p->wrong = 0;
    p->scratch_allocated = prng_chance(prng, 30);
    comm_world(p, "world");
    if (prng_chance(prng, 30))
        comm_world(p, "dup");
    if (prng_chance(prng, 40))
        comm_split(p);
    if (prng_chance(prng, 30))
        comm_sub(p);
    windows_draw(p);
    for (int i = 0; i < p->n_windows; i++)
        p->free_order[i] = i;
    for (int i = p->n_windows - 1; i > 0; i--) {
        int j = prng_below(prng, i + 1), k = p->free_order[i];

        p->free_order[i] = p->free_order[j];
        p->free_order[j] = k;
    }
}

/* ---- epochs of one phase */

int may_be_plain(const struct window *w)
{
    int bytes = 0, private = 0;

    for (int r = 0; r < w->comm->n; r++) {
        bytes |= w->side[r].bytes;
        private |= w->flavor == CREATE && w->side[r].source == PRIVATE;
    }
    return options.plain_safe || w->promise == NO_GHOSTS || private ||
           (w->flavor != ALLOCATE && !bytes);
}

static unsigned everyone(const struct window *w)
{
    return (1u << w->comm->n) - 1;
}

static void locks_draw(struct window *w, int origin, struct prng *prng)
{
    for (int t = 0; t < w->comm->n; t++) {
        enum lock lock = LOCK_SHARED;

        if (!prng_chance(prng, 60))
            continue;
        if (w->exclusive && prng_chance(prng, 60))
            lock = LOCK_EXCLUSIVE;
        w->lock[origin][t] = lock;
        w->may[origin] |= 1u << t;
    }
}

/* MPI_MODE_NOCHECK is legal where nobody else can want a conflicting lock.
 * Plain MPICH releases at unlock what it has not taken; the next lock hangs. */
static void nocheck_draw(struct window *w, struct prng *prng)
{
    int n = w->comm->n;

    for (int t = 0; t < n; t++) {
        int takers = 0, exclusive = 0, wanted = prng_chance(prng, 40);

        for (int o = 0; o < n; o++) {
            takers += (w->may[o] >> t & 1);
            exclusive += w->lock[o][t] == LOCK_EXCLUSIVE;
        }
        for (int o = 0; o < n; o++)
            if (wanted && !may_be_plain(w) && (exclusive == 0 || takers == 1))
                w->lock_nocheck[o] |= 1u << t;
    }
}

static void passive_draw(struct window *w, struct prng *prng)
{
    int n = w->comm->n, all = 0;
    /* Plain MPICH lets two of each wait for each other for ever. */
    int apart = w->exclusive && may_be_plain(w) && w->promise != ALL_OR_FENCE;

    for (int o = 0; o < n; o++) {
        int roll = prng_below(prng, w->promise == ALL_OR_FENCE ? 50 : 100);

        w->access[o] = roll < 12   ? NO_ACCESS
                       : roll < 50 ? (apart ? ONE_BY_ONE : LOCK_ALL)
                       : roll < 80 ? HELD
                                   : ONE_BY_ONE;
        all |= w->access[o] == LOCK_ALL;
        if (w->access[o] == LOCK_ALL)
            w->may[o] = everyone(w);
        else if (w->access[o] != NO_ACCESS)
            locks_draw(w, o, prng);
        for (int round = 0; round < MAX_ROUNDS; round++)
            w->separator[o][round] = (enum separator) prng_below(
                prng, may_be_plain(w) ? FLUSH_LOCAL : FLUSH_LOCAL_ALL + 1);
    }
    /* who takes all locks at once may hold the second of one who holds the
     * first: with exclusive locks the others take one at a time then */
    for (int o = 0; w->exclusive && all && o < n; o++)
        if (w->access[o] == HELD)
            w->access[o] = ONE_BY_ONE;
    nocheck_draw(w, prng);
}

static void pscw_draw(struct window *w, struct prng *prng)
{
    int n = w->comm->n, dense = prng_range(prng, 20, 100);

    w->rounds = 1;
    for (int o = 0; o < n; o++)
        for (int t = 0; t < n; t++)
            if (prng_chance(prng, dense))
                w->may[o] |= 1u << t;
}

static void epoch_draw(struct window *w, int exclusive, struct prng *prng)
{
    static const struct {
        int fence, pscw;
    } until[] = {{25, 50}, {50, 100}, {50, 100}, {30, 30}, {25, 50}};
    int roll = prng_below(prng, 100);

    w->epoch = roll < until[w->promise].fence  ? FENCE
               : roll < until[w->promise].pscw ? PSCW
                                               : PASSIVE;
    w->rounds = prng_range(prng, 1, MAX_ROUNDS);
    w->nocheck = prng_chance(prng, 30);
    w->exclusive = exclusive;
    w->handoff = 0;
    memset(w->may, 0, sizeof w->may);
    memset(w->access, 0, sizeof w->access);
    memset(w->lock, 0, sizeof w->lock);
    memset(w->lock_nocheck, 0, sizeof w->lock_nocheck);
    memset(w->separator, 0, sizeof w->separator);
    for (int r = 0; r < w->comm->n; r++)
        w->whim[r] = (unsigned char) prng_next(prng);
    if (w->epoch == PASSIVE) {
        passive_draw(w, prng);
        w->handoff = !exclusive && prng_chance(prng, 40);
    } else if (w->epoch == PSCW) {
        pscw_draw(w, prng);
    } else {
        for (int o = 0; o < w->comm->n; o++)
            w->may[o] = everyone(w);
        /* a fence between rounds would wait for one who waits for a lock */
        if (exclusive)
            w->rounds = 1;
        w->handoff = 1;
    }
    if (w->handoff) /* nobody may close one lock to open the next */
        for (int o = 0; o < w->comm->n; o++)
            if (w->access[o] == ONE_BY_ONE)
                w->access[o] = HELD;
}

/* ---- who may touch which bytes */

static unsigned origins_of(const struct window *w, int target)
{
    unsigned origins = 0;

    for (int o = 0; o < w->comm->n; o++)
        origins |= (w->may[o] >> target & 1) << o;
    return origins;
}

static unsigned holders_of(const struct window *w, int target)
{
    unsigned origins = 0;

    for (int o = 0; o < w->comm->n; o++)
        origins |= (unsigned) (w->lock[o][target] == LOCK_EXCLUSIVE) << o;
    return origins;
}

/* Plain MPICH mixes shared memory and messages: keep origins of one sort. */
static unsigned atomic_among(const struct window *w, int target,
                             unsigned origins)
{
    const int *world = w->comm->world;
    unsigned near = 0;

    if (!options.plain_safe)
        return origins;
    for (int o = 0; o < w->comm->n; o++)
        near |= (unsigned) (world_node[world[o]] == world_node[world[target]])
                << o;
    return origins & near ? origins & near : origins;
}

static int one_of(unsigned set, struct prng *prng)
{
    int o, skip = prng_below(prng, __builtin_popcount(set));

    for (o = 0;; o++)
        if (set >> o & 1 && skip-- == 0)
            return o;
}

static void words_trace(struct program *p, const struct window *w, int t,
                        struct region *region)
{
    region->words = region->bytes / 8 < MAX_WORDS ? region->bytes / 8
                                                  : MAX_WORDS;
    for (int i = 0; i < region->words; i++) {
        region->group[i] = p->n_groups++;
        region->final[i] = p->n_traces;
        p->trace[p->n_traces++] = (struct trace){
            .mode = region->mode,
            .group = region->group[i],
            .phase = p->phase,
            .window = (int) (w - p->window),
            .target = w->comm->world[t],
            .origin = w->comm->world[t],
            .fetches = 1,
            .final = 1};
    }
}

/* Modes that need values of their own from the phase's beginning. */
static int traced_draw(struct program *p, struct window *w, int t,
                       struct region *region)
{
    struct prng *prng = &p->prng;
    unsigned origins = origins_of(w, t), holders = holders_of(w, t);
    int roll = prng_below(prng, 100);

    region->words = 0;
    if (!origins || region->bytes < 8 || p->n_traces > MAX_TRACES / 2 ||
        p->n_groups > MAX_GROUPS - MAX_WORDS)
        return 0;
    if (holders && roll < 50) {
        region->mode = GUARDED;
        region->origins = holders;
    } else if (roll < 15) {
        region->mode = CHAIN;
        region->origins = atomic_among(w, t, origins);
        region->op = prng_range(prng, OP_SUM, OP_BXOR);
    } else if (roll < 22) {
        region->mode = ONE_WINS;
        region->origins = atomic_among(w, t, origins);
    } else if (roll < 29) {
        region->mode = SWAPS;
        region->origins = atomic_among(w, t, origins);
    } else {
        return 0;
    }
    region->type = region->mode == GUARDED ? &types[TYPE_LONG]
                                           : type_word(prng);
    region->filled = 1;
    words_trace(p, w, t, region);
    return 1;
}

/* Legal, and the order of the origins does not show in the last digit. */
static int may_fold(const struct region *region)
{
    enum type_class class = region->type->class;

    return operators[region->op].classes >> class & 1 && class != COMPLEX &&
           !(class == FLOATING && region->op == OP_SUM);
}

static void untraced_draw(struct window *w, int t, struct region *region,
                          struct prng *prng)
{
    unsigned origins = origins_of(w, t);
    int roll = prng_below(prng, 100);

    region->mode = LOCAL;
    if (!origins || roll < 8)
        return;
    if (roll < 60) {
        region->mode = OWNED;
        region->owner = one_of(origins, prng);
        region->origins = 1u << region->owner;
    } else if (roll < 72) {
        region->mode = READ_ONLY;
        region->origins = origins;
    } else {
        region->mode = FOLD;
        region->origins = atomic_among(w, t, origins);
        do {
            region->op = prng_below(prng, n_operators);
        } while (!operators[region->op].commutes);
        if (!may_fold(region)) {
            region->mode = OWNED;
            region->owner = one_of(region->origins, prng);
            region->origins = 1u << region->owner;
        }
    }
}

/* At the beginning, and again after a round that everybody has completed. */
static void modes_draw(struct program *p, struct window *w, int first)
{
    for (int t = 0; t < w->comm->n; t++) {
        struct side *side = &w->side[t];

        for (int i = 0; i < side->regions; i++) {
            struct region *region = &side->region[i];

            if (first) {
                region->filled = !region->type || region->words ||
                                 prng_chance(&p->prng, 40);
                if (traced_draw(p, w, t, region)) {
                    model_fill(region, side, &p->prng);
                    continue;
                }
                if (region->filled) {
                    region->type = type_random(&p->prng, region->bytes);
                    model_fill(region, side, &p->prng);
                }
            } else if (region->words) {
                continue;
            }
            untraced_draw(w, t, region, &p->prng);
        }
        memset(side->touched, 0, (size_t) side->bytes);
        if (first)
            memcpy(side->start, side->model, (size_t) side->bytes);
    }
}

void modes_again(struct program *p, struct window *w)
{
    modes_draw(p, w, 0);
}

void phase_generate(struct program *p)
{
    int exclusive = prng_chance(&p->prng, 35);

    phase_memory_reset();
    p->n_ops = 0;
    for (int i = 0; i < p->n_windows; i++) {
        struct window *w = &p->window[i];

        w->alive = w->birth <= p->phase && p->phase <= w->death;
        if (!w->alive)
            continue;
        epoch_draw(w, exclusive, &p->prng);
        modes_draw(p, w, 1);
    }
    operations_generate(p);
}
