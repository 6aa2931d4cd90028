/* SPDX-License-Identifier: BSD-3-Clause */
/* Random programs of messages against a reference. All ranks draw the messages
 * of a phase alike; each asks for those that it is sent by receives, probes and
 * wildcards of its own, cancels some, and lets them end by any call that waits
 * or tests. Compared are the bytes, those around them, every status, and
 * whether MPI could have matched so (program.h).
 *
 *   p2p_random SEED PROGRAMS [FIRST [THREADS]]
 *
 * With two threads each plays programs on communicators of its own; then both
 * take messages by matched probes from one.
 *
 * No program can wait for ever: either all receives are posted before any send,
 * narrow ones before wider ones, so that each gets a message; or nothing blocks
 * until the rank has posted all of its sends, and then only receives that are
 * sure to get one. So a program that takes a minute has failed, and says where.
 */
#define _DEFAULT_SOURCE
#include "player.h"
#include "bytes.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

enum {
    PHASES_MOST = 4,
    LEVELS = 3, /* of receives that are posted before: exact, half wild, wild */
    SHIFTS = 4, /* exchanges of a program */
    REPEATS = 3,
    THREADS_MOST = 2,
    PROBED = 60, /* messages to a rank that its threads take together */
    BUFFER_BYTES = 8 << 20, /* for what is buffered of two phases */
    TAG = 5,
    PROGRAM_MOST_S = 60, /* a thousand times what one takes */
};

static struct player players[THREADS_MOST];

void fail(const struct player *p, const char *what, ...)
{
    char text[400];
    va_list rest;

    va_start(rest, what);
    vsnprintf(text, sizeof(text), what, rest);
    va_end(rest);
    fprintf(stderr, "p2p_random: seed %llu program %d rank %d thread %d: %s\n",
            (unsigned long long) p->seed, p->program, p->rank, p->thread, text);
    fflush(stderr);
    usleep(200000); /* mpiexec loses what a job that is aborted has just said */
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

/* ---- all receives first ----------------------------------------------------- */

static void widen(struct receive *r, int level, bool by_source)
{
    if (level == 2 || (level == 1 && !by_source))
        r->source = MPI_ANY_SOURCE;
    if (level == 2 || (level == 1 && by_source))
        r->tag = MPI_ANY_TAG;
}

/* One of a message that no other receive can match may have too little room. */
static void shorten(struct player *p, struct receive *r, int level)
{
    if (level == 0 && r->tag >= UNIQUE_TAG && r->units > 0 &&
        prng_chance(&p->own, 50)) {
        r->units = prng_below(&p->own, r->units);
        r->truncates = true;
    }
}

static void post_level(struct player *p, int level, const int *levels,
                       bool by_source)
{
    int first = p->nreceives, n;

    for (int i = 0; i < p->phase.n; i++) {
        const struct message *m = &p->phase.messages[i];
        struct receive exact = {.source = m->source, .tag = m->tag};

        if (m->to != p->rank || levels[i] != level)
            continue;
        widen(&exact, level, by_source);
        shorten(p, receive_add(p, m->comm, exact.source, exact.tag), level);
    }
    for (int i = first; i < p->nreceives; i += n) {
        n = prng_chance(&p->own, 20) ? prng_range(&p->own, 1, 3) : 1;
        if (n > p->nreceives - i)
            n = p->nreceives - i;
        post_receives(p, &p->receives[i], n);
    }
}

/* An exact receive gets one of its messages, whatever comes first; those that
 * are left are enough for the wider ones. */
static void post_all_receives(struct player *p)
{
    int levels[MESSAGES_MOST];
    bool by_source = prng_chance(&p->own, 50);

    for (int i = 0; i < p->phase.n; i++) {
        levels[i] = prng_chance(&p->own, 60) ? 0 : prng_below(&p->own, LEVELS);
        if (p->phase.messages[i].tag >= UNIQUE_TAG)
            levels[i] = 0;
    }
    for (int level = 0; level < LEVELS; level++)
        post_level(p, level, levels, by_source);
}

static void free_doomed(struct player *p)
{
    if (p->comms[DOOMED] != MPI_COMM_NULL)
        MPI_Comm_free(&p->comms[DOOMED]);
}

static void play_posted(struct player *p, bool is_last)
{
    post_all_receives(p);
    MPI_Barrier(p->comms[0]);
    for (int i = 0; i < p->phase.n;) {
        i = post_sends(p, i);
        if (prng_chance(&p->own, 30))
            complete_some(p, BOTH, false);
    }
    if (is_last)
        free_doomed(p);
    while (count_active(p, BOTH) > 0)
        complete_some(p, BOTH, prng_chance(&p->own, 80));
}

/* ---- receives at any time --------------------------------------------------- */

static bool is_to_come(const struct player *p, int i)
{
    return p->phase.messages[i].to == p->rank && !p->came[i];
}

/* How many messages that have not come does it fit? */
static int count_fitting(const struct player *p, const struct receive *r)
{
    int n = 0;

    for (int i = 0; i < p->phase.n; i++)
        n += is_to_come(p, i) && fits(r, &p->phase.messages[i]);
    return n;
}

static bool may_take_of(const struct player *p, const struct receive *r,
                        const struct receive *from)
{
    bool may = false;

    for (int i = 0; i < p->phase.n; i++)
        may |= is_to_come(p, i) && fits(r, &p->phase.messages[i]) &&
               fits(from, &p->phase.messages[i]);
    return may;
}

/* Does it get a message even if each other that waits takes one? */
static bool is_sure(const struct player *p, const struct receive *r)
{
    int left = count_fitting(p, r);

    for (int i = 0; i < p->nflights; i++) {
        const struct flight *f = &p->flights[i];
        const struct receive *other = &p->receives[f->index];

        if (f->active && !f->is_send && other != r)
            left -= may_take_of(p, other, r);
    }
    return left > 0;
}

/* For a message, which may be one to another rank: then it gets none. */
static struct receive *draw_receive(struct player *p, int number)
{
    const struct message *m = &p->phase.messages[number];
    bool is_near = m->comm != HALVES || m->to % 2 == p->rank % 2;
    int comm = is_near ? m->comm : 0, source = is_near ? m->source : m->from;
    bool any_source = prng_chance(&p->own, 30), none = prng_chance(&p->own, 3);
    bool any_tag = prng_chance(&p->own, 30);

    return receive_add(p, comm, any_source ? MPI_ANY_SOURCE : source,
                       none      ? NO_TAG
                       : any_tag ? MPI_ANY_TAG
                                 : m->tag);
}

static void forget_receive(struct player *p)
{
    p->nreceives--;
}

/* An active one, or NULL. */
static struct flight *draw_waiting(struct player *p)
{
    struct flight *drawn = NULL;
    int n = 0;

    for (int i = 0; i < p->nflights; i++) {
        struct flight *f = &p->flights[i];

        if (f->active && !f->is_send && prng_below(&p->own, ++n) == 0)
            drawn = f;
    }
    return drawn;
}

static void cancel_any(struct player *p)
{
    struct flight *f = draw_waiting(p);

    if (f && !f->matched)
        cancel(p, f);
}

/* Something that does not block. */
static void do_anything(struct player *p, int number)
{
    struct receive *r;

    switch (prng_below(&p->own, 8)) {
    case 0:
        call_nobody(p);
        break;
    case 1:
        if (prng_chance(&p->own, 30))
            cancel_any(p);
        break;
    case 2:
    case 3:
        complete_some(p, BOTH, false);
        break;
    case 4:
        r = draw_receive(p, number);
        if (!try_receive(p, r))
            forget_receive(p);
        break;
    default:
        post_receives(p, draw_receive(p, number), 1);
    }
}

/* Nothing that waits could get it: a receive that is sure to. */
static void take(struct player *p)
{
    int number = prng_below(&p->own, p->phase.n);
    struct receive *r;

    while (!is_to_come(p, number))
        number = (number + 1) % p->phase.n;
    r = draw_receive(p, number);
    if (is_sure(p, r))
        receive_now(p, r);
    else
        forget_receive(p);
}

/* A receive that waits for what will not come can be cancelled, and no other.
 */
static void go_on(struct player *p, struct flight *f)
{
    const struct receive *r = &p->receives[f->index];

    if (count_fitting(p, r) == 0)
        MUST(p, cancel(p, f));
    else if (is_sure(p, r))
        complete_one(p, f);
    else
        complete_some(p, BOTH, false);
}

static int count_to_come(const struct player *p)
{
    int n = 0;

    for (int i = 0; i < p->phase.n; i++)
        n += is_to_come(p, i);
    return n;
}

static void play_free(struct player *p)
{
    for (int i = 0; i < p->phase.n;) {
        if (prng_chance(&p->own, 60))
            i = post_sends(p, i);
        else if (p->nreceives < MESSAGES_MOST)
            do_anything(p, prng_below(&p->own, p->phase.n));
        else
            complete_some(p, BOTH, false);
    }
    while (count_to_come(p) > 0 || count_active(p, RECEIVES) > 0) {
        struct flight *f = draw_waiting(p);

        if (f && (count_to_come(p) == 0 || prng_chance(&p->own, 50)))
            go_on(p, f);
        else
            take(p);
    }
    while (count_active(p, SENDS) > 0)
        complete_some(p, SENDS, true);
}

/* ---- phases ----------------------------------------------------------------- */

static void check_phase(const struct player *p)
{
    const char *fault = matching_fault(&p->phase, p->receives, p->nreceives);

    for (int i = 0; i < p->phase.n; i++)
        if (is_to_come(p, i))
            fail(p, "message %d did not come", i);
    if (fault)
        fail(p, "%s", fault);
}

static void play_phase(struct player *p, struct prng *all, bool posted,
                       bool is_last)
{
    phase_draw(&p->phase, all, p->size, posted);
    p->nreceives = p->nflights = p->now = 0;
    memset(p->came, 0, sizeof(p->came));
    if (posted)
        play_posted(p, is_last);
    else
        play_free(p);
    check_phase(p);
    MPI_Barrier(p->comms[0]); /* what is forgotten has been received */
    end_flights(p);
}

/* ---- exchanges -------------------------------------------------------------- */

/* Of all ranks at once, each with the one so many behind it. */
struct shift {
    int to, from, tag, units;
    MPI_Comm comm;
};

/* Message `from` of a phase that is all made by this. */
static void make_shift(struct player *p, struct prng *all, struct shift *s,
                       int tag)
{
    int by = prng_below(all, p->size), units = prng_below(all, 9000);

    *s = (struct shift){(p->rank + by) % p->size,
                        (p->rank + p->size - by) % p->size, tag, units,
                        p->comms[prng_below(all, 2)]};
    p->phase = (struct phase){.key = prng_next(all), .n = p->size};
    for (int i = 0; i < p->size; i++)
        p->phase.messages[i] = (struct message){
            .from = i, .units = units, .unit = 1};
}

static void fill_place(struct player *p, struct place *place, int number)
{
    unsigned char *bytes = message_bytes(&p->phase, number);

    place_write(place, bytes, place->units);
    free(bytes);
}

static void check_shift(struct player *p, const struct shift *s,
                        const struct place *in)
{
    unsigned char *bytes = message_bytes(&p->phase, s->from);

    MUST(p, place_is(in, bytes, s->units));
    free(bytes);
}

/* Not of MPI_Isendrecv: that of MPICH 4.0 gives none. */
static void check_status(struct player *p, const struct shift *s,
                         MPI_Status *status)
{
    int count = -1;

    MPI_Get_count(status, MPI_BYTE, &count);
    MUST(p, count == s->units);
    MUST(p, status->MPI_SOURCE == s->from && status->MPI_TAG == s->tag);
}

static void exchange(struct player *p, const struct shift *s, struct place *out,
                     struct place *in, bool waits)
{
    /* One of both may be a wildcard: no other rank sends so. */
    bool any = prng_chance(&p->own, 50);
    int source = any ? MPI_ANY_SOURCE : s->from;
    int tag = any || prng_chance(&p->own, 50) ? s->tag : MPI_ANY_TAG;
    MPI_Request request;
    MPI_Status status;

    /* That of MPICH 4.0 releases a type that is not its own once more. */
    if (waits || out->own_type || in->own_type) {
        MPI_Sendrecv(out->at, out->count, out->type, s->to, s->tag, in->at,
                     in->count, in->type, source, tag, s->comm, &status);
        check_status(p, s, &status);
    } else {
        MPI_Isendrecv(out->at, out->count, out->type, s->to, s->tag, in->at,
                      in->count, in->type, source, tag, s->comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    check_shift(p, s, in);
}

/* MPI_Isendrecv_replace of MPICH 4.0 brings other bytes: not used. */
static void exchange_in_place(struct player *p, const struct shift *s,
                              struct place *both)
{
    MPI_Status status;

    MPI_Sendrecv_replace(both->at, both->count, both->type, s->to, s->tag,
                         s->from, s->tag, s->comm, &status);
    check_status(p, s, &status);
    check_shift(p, s, both);
}

/* The same requests several times, each time with other bytes. */
static void repeat(struct player *p, const struct shift *s, struct place *out,
                   struct place *in)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];

    MPI_Recv_init(in->at, in->count, in->type, s->from, s->tag, s->comm,
                  &requests[0]);
    (prng_chance(&p->own, 50) ? MPI_Send_init : MPI_Ssend_init)(
        out->at, out->count, out->type, s->to, s->tag, s->comm, &requests[1]);
    for (int i = 0; i < REPEATS; i++) {
        p->phase.key++;
        fill_place(p, out, p->rank);
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, statuses);
        check_status(p, s, &statuses[0]);
        check_shift(p, s, in);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void play_shift(struct player *p, struct prng *all, int tag)
{
    struct place out, in;
    struct shift s;

    make_shift(p, all, &s, tag);
    out = place_new(&p->own, 1, s.units);
    in = place_new(&p->own, 1, s.units);
    fill_place(p, &out, p->rank);
    if (prng_chance(all, 30))
        repeat(p, &s, &out, &in);
    else if (prng_chance(&p->own, 50))
        exchange(p, &s, &out, &in, prng_chance(&p->own, 50));
    else
        exchange_in_place(p, &s, &out);
    place_free(&out);
    place_free(&in);
}

/* ---- programs --------------------------------------------------------------- */

static void play_program(struct player *p)
{
    struct prng all = {p->seed * 1000003 + (uint64_t) p->program * 8 +
                       (uint64_t) p->thread};
    int phases = prng_range(&all, 1, PHASES_MOST);

    p->own.state = all.state * 31 + (uint64_t) p->rank + 1;
    MPI_Comm_dup(p->comms[1], &p->comms[DOOMED]);
    for (int i = 0; i < phases; i++) {
        bool is_last = i == phases - 1;

        play_phase(p, &all, is_last || prng_chance(&all, 40), is_last);
        if (prng_chance(&all, 30))
            play_shift(p, &all, TAG + i);
    }
    for (int i = 0; i < SHIFTS; i++)
        play_shift(p, &all, TAG + PHASES_MOST + i);
}

/* Of SIGALRM: say what the programs of this rank wait for, and end. */
static void too_long(int sig)
{
    (void) sig;
    for (const struct player *p = players; p < players + THREADS_MOST; p++)
        if (p->size > 0)
            fprintf(stderr,
                    "p2p_random: seed %llu program %d rank %d thread %d: takes "
                    "too long; to come: %d, active sends: %d, receives: %d\n",
                    (unsigned long long) p->seed, p->program, p->rank,
                    p->thread, count_to_come(p), count_active(p, SENDS),
                    count_active(p, RECEIVES));
    usleep(200000); /* as in fail() */
    _exit(1);
}

static int programs, first;

static void *play(void *data)
{
    struct player *p = data;

    for (p->program = first; p->program < first + programs; p->program++) {
        alarm(PROGRAM_MOST_S);
        play_program(p);
    }
    return NULL;
}

/* ---- two threads that take messages of one communicator ----------------------- */

static struct together {
    MPI_Comm comm;
    int size, rank, taken[PROBED * 64];
    pthread_mutex_t lock;
    int left; /* messages that no thread has asked for yet */
} together = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool ask_for_one(void)
{
    bool is_one;

    pthread_mutex_lock(&together.lock);
    is_one = together.left-- > 0;
    pthread_mutex_unlock(&together.lock);
    return is_one;
}

/* Its number and its sender are in the message. */
static void *take_together(void *data)
{
    struct player *p = data;
    int last[64] = {0};

    while (ask_for_one()) {
        MPI_Message message;
        MPI_Status status;
        int words[2] = {-1, -1}, count;

        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, together.comm, &message,
                   &status);
        MPI_Get_count(&status, MPI_INT, &count);
        MUST(p, count == 2);
        MPI_Mrecv(words, 2, MPI_INT, &message, MPI_STATUS_IGNORE);
        MUST(p, words[0] == status.MPI_SOURCE && words[1] == status.MPI_TAG);
        MUST(p, words[1] > last[words[0]]); /* what this thread saw, in order */
        last[words[0]] = words[1];
        pthread_mutex_lock(&together.lock);
        together.taken[words[0] * PROBED + words[1] - 1]++;
        pthread_mutex_unlock(&together.lock);
    }
    return NULL;
}

static void probe_together(void)
{
    int share = PROBED / together.size, words[PROBED][2];
    MPI_Request requests[PROBED];
    MPI_Status statuses[PROBED];
    pthread_t thread;
    int n = 0;

    memset(together.taken, 0, sizeof(together.taken));
    together.left = share * together.size;
    alarm(PROGRAM_MOST_S);
    pthread_create(&thread, NULL, take_together, &players[1]);
    for (int i = 1; i <= share; i++)
        for (int to = 0; to < together.size; to++, n++) {
            words[n][0] = together.rank;
            words[n][1] = i;
            MPI_Isend(words[n], 2, MPI_INT, to, i, together.comm, &requests[n]);
        }
    take_together(&players[0]);
    pthread_join(thread, NULL);
    MPI_Waitall(n, requests, statuses);
    for (int from = 0; from < together.size; from++)
        for (int i = 0; i < share; i++)
            MUST(&players[0], together.taken[from * PROBED + i] == 1);
    MPI_Barrier(together.comm);
}

/* ---- main ------------------------------------------------------------------- */

static void return_errors(MPI_Comm comm)
{
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}

static void make_player(struct player *p, int thread, uint64_t seed)
{
    *p = (struct player){.seed = seed, .thread = thread};
    MPI_Comm_rank(MPI_COMM_WORLD, &p->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p->size);
    p->comms[0] = MPI_COMM_WORLD;
    if (thread > 0)
        MPI_Comm_dup(MPI_COMM_WORLD, &p->comms[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &p->comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, p->rank % 2, -p->rank, &p->comms[HALVES]);
}

static void end_player(struct player *p)
{
    for (int c = 0; c < DOOMED; c++)
        if (p->comms[c] != MPI_COMM_WORLD)
            MPI_Comm_free(&p->comms[c]);
}

static void play_threads(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, play, &players[1]);
    play(&players[0]);
    pthread_join(thread, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &together.comm);
    together.rank = players[0].rank;
    together.size = players[0].size;
    for (int i = 0; i < programs; i++)
        probe_together();
    MPI_Comm_free(&together.comm);
}

int main(int argc, char **argv)
{
    static char buffer[BUFFER_BYTES];
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int threads = argc > 4 ? atoi(argv[4]) : 1, provided, size;
    void *detached;

    programs = argc > 2 ? atoi(argv[2]) : 10;
    first = argc > 3 ? atoi(argv[3]) : 0;
    MPI_Init_thread(&argc, &argv,
                    threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &provided);
    return_errors(MPI_COMM_WORLD); /* its dups and halves get this from it */
    return_errors(MPI_COMM_SELF);
    MPI_Buffer_attach(buffer, BUFFER_BYTES);
    signal(SIGALRM, too_long);
    for (int i = 0; i < threads && i < THREADS_MOST; i++)
        make_player(&players[i], i, seed);
    if (threads > 1)
        play_threads();
    else
        play(&players[0]);
    for (int i = 0; i < threads && i < THREADS_MOST; i++)
        end_player(&players[i]);
    MPI_Buffer_detach(&detached, &size);
    MPI_Finalize();
    if (players[0].rank == 0)
        printf("p2p_random: %d programs, seed %llu, %d threads: ok\n", programs,
               (unsigned long long) seed, threads);
    return 0;
}
