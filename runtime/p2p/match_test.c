/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of order one by one; random programs against a matcher that
 * searches lists; what happens where memory is short; and that a long queue
 * costs nothing.
 *
 * match_test KIND QUEUED: so many queued, then ROUNDS matches, to be counted
 * (valgrind --tool=callgrind --toggle-collect=play). */
#include "config.h"

#include "match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <mpi.h>

enum {
    COMM = 7,
    OPERATIONS = 200000,
    QUEUE = 300,    /* of the random programs: more are removed */
    ALIKE = 300000, /* of 2^32 hashes: ten pairs of one */
    FEW = 10,
    MANY = 10000,
    ROUNDS = 20000,
    LIMIT = 40, /* times; measured: 9, for what caches lack */
};

/* The linker sends match.c's calls here. */
static long allocations, allowed = -1; /* negative: any number */

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);

void *__wrap_malloc(size_t bytes)
{
    allocations++;
    if (allowed == 0)
        return NULL;
    if (allowed > 0)
        allowed--;
    return __real_malloc(bytes);
}

static struct aspx_match match;

static int start(void **state)
{
    (void) state;
    return aspx_match_start(&match);
}

static int stop(void **state)
{
    (void) state;
    aspx_match_stop(&match);
    return 0;
}

static struct aspx_match_message message(int32_t source, int32_t tag)
{
    return (struct aspx_match_message){.envelope = {COMM, 0, source, tag}};
}

static struct aspx_match_receive receive(int32_t source, int32_t tag)
{
    return (struct aspx_match_receive){.envelope = {COMM, 0, source, tag}};
}

static struct aspx_match_receive probe(int32_t source, int32_t tag)
{
    struct aspx_match_receive it = receive(source, tag);

    it.looks = true;
    return it;
}

/* The message goes to this receive; NULL: to none. */
static void arrive(struct aspx_match_message *it,
                   const struct aspx_match_receive *expected)
{
    struct aspx_match_receive *taken;

    assert_int_equal(aspx_match_arrive(&match, it, &taken), 0);
    assert_ptr_equal(taken, expected);
    assert_int_equal(aspx_match_message_is_queued(it), !expected);
}

/* The receive gets this message; NULL: none. */
static void post(struct aspx_match_receive *it,
                 const struct aspx_match_message *expected)
{
    struct aspx_match_message *found;

    assert_int_equal(aspx_match_post(&match, it, &found), 0);
    assert_ptr_equal(found, expected);
    assert_int_equal(aspx_match_receive_is_queued(it), !expected);
}

static void all_is_matched(void)
{
    assert_int_equal(match.posted, 0);
    assert_int_equal(match.unexpected, 0);
    for (int c = 0; c < ASPX_MATCH_CLASSES; c++)
        assert_int_equal(match.posted_of[c], 0);
}

static void messages_of_a_pair_keep_their_order(void **state)
{
    struct aspx_match_message first = message(1, 5), second = message(1, 5);
    struct aspx_match_receive one = receive(1, 5), other = receive(1, 5);

    (void) state;
    arrive(&first, NULL);
    arrive(&second, NULL);
    assert_int_equal(match.unexpected, 2);
    post(&one, &first);
    post(&other, &second);
    all_is_matched();
    post(&one, NULL);
    post(&other, NULL);
    assert_int_equal(match.posted, 2);
    arrive(&first, &one);
    arrive(&second, &other);
    all_is_matched();
}

static void two_senders_with_one_tag(void **state)
{
    struct aspx_match_message of_1[] = {message(1, 5), message(1, 5)};
    struct aspx_match_message of_2[] = {message(2, 5), message(2, 5)};
    struct aspx_match_receive from_2 = receive(2, 5), any[3];

    (void) state;
    arrive(&of_1[0], NULL);
    arrive(&of_2[0], NULL);
    arrive(&of_1[1], NULL);
    arrive(&of_2[1], NULL);
    for (int i = 0; i < 3; i++)
        any[i] = receive(MPI_ANY_SOURCE, 5);
    post(&from_2, &of_2[0]);
    post(&any[0], &of_1[0]);
    post(&any[1], &of_1[1]);
    post(&any[2], &of_2[1]);
    all_is_matched();
}

/* Each class as the earliest, and in every place among the others. */
static void the_earliest_posted_is_taken(void **state)
{
    struct aspx_match_message it = message(1, 5);
    struct aspx_match_receive of[ASPX_MATCH_CLASSES] = {
        receive(1, 5), receive(MPI_ANY_SOURCE, 5), receive(1, MPI_ANY_TAG),
        receive(MPI_ANY_SOURCE, MPI_ANY_TAG)};

    (void) state;
    for (int step = 1; step <= 3; step += 2)
        for (int begin = 0; begin < ASPX_MATCH_CLASSES; begin++) {
            for (int i = 0; i < ASPX_MATCH_CLASSES; i++)
                post(&of[(begin + i * step) % ASPX_MATCH_CLASSES], NULL);
            for (int i = 0; i < ASPX_MATCH_CLASSES; i++)
                arrive(&it, &of[(begin + i * step) % ASPX_MATCH_CLASSES]);
        }
    all_is_matched();
}

static void the_earliest_arrived_is_found(void **state)
{
    struct aspx_match_message a = message(1, 5), b = message(2, 6),
                              c = message(1, 6), d = message(2, 5);
    struct aspx_match_receive tag_6 = receive(MPI_ANY_SOURCE, 6),
                              from_2 = receive(2, MPI_ANY_TAG),
                              any = receive(MPI_ANY_SOURCE, MPI_ANY_TAG),
                              last = receive(1, 6);

    (void) state;
    arrive(&a, NULL);
    arrive(&b, NULL);
    arrive(&c, NULL);
    arrive(&d, NULL);
    post(&tag_6, &b);
    post(&from_2, &d);
    post(&any, &a);
    post(&last, &c);
    all_is_matched();
}

static void what_does_not_match(void **state)
{
    struct aspx_match_message here = message(1, 5), there = message(1, 5),
                              to_other = message(1, 5);
    struct aspx_match_receive any[3];

    (void) state;
    there.envelope.comm = COMM + 1;
    to_other.envelope.to = 1;
    for (int i = 0; i < 3; i++)
        any[i] = receive(MPI_ANY_SOURCE, MPI_ANY_TAG);
    any[1].envelope.comm = COMM + 1;
    any[2].envelope.to = 1;
    arrive(&here, NULL);
    post(&any[1], NULL);
    post(&any[2], NULL);
    arrive(&to_other, &any[2]);
    arrive(&there, &any[1]);
    post(&any[0], &here);
    all_is_matched();
}

static void a_probe_leaves_the_message(void **state)
{
    struct aspx_match_message it = message(1, 5);
    struct aspx_match_receive first = probe(1, MPI_ANY_TAG),
                              second = probe(MPI_ANY_SOURCE, 5),
                              third = receive(1, 5);

    (void) state;
    post(&first, NULL);
    post(&second, NULL);
    arrive(&it, &first);
    arrive(&it, &second);
    assert_null(aspx_match_find(&match, &third.envelope));
    arrive(&it, NULL);
    assert_ptr_equal(aspx_match_find(&match, &third.envelope), &it);
    post(&first, &it);
    assert_true(aspx_match_message_is_queued(&it));
    post(&third, &it);
    assert_false(aspx_match_message_is_queued(&it));
    all_is_matched();
}

static void removed_from_any_place(void **state)
{
    (void) state;
    for (int gone = 0; gone < 3; gone++) {
        struct aspx_match_message sent[3] = {message(1, 5), message(1, 5),
                                             message(1, 5)};
        struct aspx_match_receive posted[3] = {receive(1, 5), receive(1, 5),
                                               receive(1, 5)};

        for (int i = 0; i < 3; i++)
            arrive(&sent[i], NULL);
        aspx_match_remove_message(&match, &sent[gone]);
        assert_false(aspx_match_message_is_queued(&sent[gone]));
        for (int i = 0; i < 3; i++)
            if (i != gone)
                post(&posted[i], &sent[i]);
        for (int i = 0; i < 3; i++)
            post(&posted[i], NULL);
        aspx_match_remove_receive(&match, &posted[gone]);
        assert_false(aspx_match_receive_is_queued(&posted[gone]));
        for (int i = 0; i < 3; i++)
            if (i != gone)
                arrive(&sent[i], &posted[i]);
        all_is_matched();
    }
}

/* What was refused can be queued once there is memory. Sources are drawn so
 * that any of the bins of a message can be the one that is missing. */
static void no_memory(void **state)
{
    struct aspx_match_message *sent = calloc(MANY, sizeof(*sent));
    struct aspx_match_receive *posted = calloc(MANY, sizeof(*posted)), *taken;
    struct aspx_match_message *found;
    uint32_t refused = 0;

    (void) state;
    assert_non_null(sent);
    assert_non_null(posted);
    for (int i = 0; i < MANY; i++) {
        sent[i] = message(i % 2 ? 0 : i, i);
        posted[i] = receive(1, MANY + i);
        allowed = 0;
        if (aspx_match_arrive(&match, &sent[i], &taken)) {
            refused++;
            assert_null(taken);
            assert_int_equal(match.unexpected, i);
            assert_false(aspx_match_message_is_queued(&sent[i]));
            allowed = -1;
            arrive(&sent[i], NULL);
        }
        allowed = 0;
        if (aspx_match_post(&match, &posted[i], &found)) {
            refused++;
            assert_null(found);
            assert_int_equal(match.posted, i);
            assert_false(aspx_match_receive_is_queued(&posted[i]));
            allowed = -1;
            post(&posted[i], NULL);
        }
        allowed = -1;
    }
    assert_true(refused > 100);
    for (int i = 0; i < MANY; i++) {
        struct aspx_match_message late = message(1, MANY + i);
        struct aspx_match_receive any = receive(MPI_ANY_SOURCE, MPI_ANY_TAG);

        arrive(&late, &posted[i]);
        post(&any, &sent[i]);
    }
    all_is_matched();
    free(sent);
    free(posted);
}

static void no_memory_to_start(void **state)
{
    struct aspx_match other;
    long needed;

    (void) state;
    allocations = 0;
    assert_int_equal(aspx_match_start(&other), 0);
    needed = allocations;
    aspx_match_stop(&other);
    assert_true(needed > 0);
    for (long n = 0; n < needed; n++) {
        allowed = n;
        assert_int_equal(aspx_match_start(&other), -1);
    }
    allowed = -1;
}

/* Many envelopes that differ in one field only, so that some have one
 * hash; those that differ in the tag alone have none in common. */
static void of_one_hash(void **state)
{
    struct aspx_match_receive *posts = calloc(ALIKE, sizeof(*posts));

    (void) state;
    assert_non_null(posts);
    for (int field = 0; field < 3; field++) {
        for (int i = 0; i < ALIKE; i++) {
            int32_t value = (int32_t) (i * 1103515245u & INT32_MAX);
            struct aspx_match_envelope *it = &posts[i].envelope;

            it->comm = field == 0 ? (uint64_t) value * value : COMM;
            it->to = field == 1 ? (uint32_t) value : 0;
            it->source = field == 2 ? value : 0;
            post(&posts[i], NULL);
        }
        for (int i = ALIKE - 1; i >= 0; i--) {
            struct aspx_match_message it = {.envelope = posts[i].envelope};

            arrive(&it, &posts[i]);
        }
        all_is_matched();
    }
    free(posts);
}

/* The reference: what is queued, in order, and searched from its beginning. */
static struct aspx_match_message *sent[QUEUE];
static struct aspx_match_receive *posted[QUEUE];
static unsigned nsent, nposted;

static bool matches(const struct aspx_match_envelope *pattern,
                    const struct aspx_match_envelope *envelope)
{
    return pattern->comm == envelope->comm && pattern->to == envelope->to &&
           (pattern->source == MPI_ANY_SOURCE ||
            pattern->source == envelope->source) &&
           (pattern->tag == MPI_ANY_TAG || pattern->tag == envelope->tag);
}

/* The places of the first that match; the length of the list: none does. */
static unsigned place_of_receive(const struct aspx_match_envelope *envelope)
{
    unsigned i = 0;

    while (i < nposted && !matches(&posted[i]->envelope, envelope))
        i++;
    return i;
}

static unsigned place_of_message(const struct aspx_match_envelope *pattern)
{
    unsigned i = 0;

    while (i < nsent && !matches(pattern, &sent[i]->envelope))
        i++;
    return i;
}

static void forget_message(unsigned place)
{
    free(sent[place]);
    memmove(&sent[place], &sent[place + 1],
            (--nsent - place) * sizeof(sent[0]));
}

static void forget_receive(unsigned place)
{
    free(posted[place]);
    memmove(&posted[place], &posted[place + 1],
            (--nposted - place) * sizeof(posted[0]));
}

/* What the envelopes of a random program are drawn from. */
static const struct random_program {
    uint32_t comms, receivers, sources, tags;
    int wildcards; /* of 100 receives that have one of a kind */
    int probes;    /* of 100 receives */
} programs[] = {
    {1, 1, 1, 1, 0, 20},  {1, 1, 2, 2, 30, 20},       {2, 2, 3, 3, 10, 10},
    {3, 2, 4, 5, 50, 30}, {1, 1, 8, 1000000, 20, 10}, {2, 3, 16, 40, 5, 5},
    {1, 1, 2, 3, 100, 0}, {2, 1, 1, 100, 0, 0},
};

static unsigned seed = 1;

static uint32_t draw(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t) ((uint64_t) seed * below >> 32);
}

static struct aspx_match_envelope draw_envelope(
    const struct random_program *program, int wildcards)
{
    struct aspx_match_envelope it = {
        UINT64_C(1) << (20 * draw(program->comms)), draw(program->receivers),
        (int32_t) draw(program->sources), (int32_t) draw(program->tags)};

    if ((int) draw(100) < wildcards)
        it.source = MPI_ANY_SOURCE;
    if ((int) draw(100) < wildcards)
        it.tag = MPI_ANY_TAG;
    return it;
}

static void arrive_at_random(const struct random_program *program)
{
    struct aspx_match_message *it = calloc(1, sizeof(*it));
    bool looks = true;

    assert_non_null(it);
    it->envelope = draw_envelope(program, 0);
    while (looks) {
        unsigned place = place_of_receive(&it->envelope);

        if (place == nposted) {
            arrive(it, NULL);
            sent[nsent++] = it;
            return;
        }
        arrive(it, posted[place]);
        looks = posted[place]->looks;
        forget_receive(place);
    }
    free(it);
}

static void post_at_random(const struct random_program *program)
{
    struct aspx_match_receive *it = calloc(1, sizeof(*it));
    unsigned place;

    assert_non_null(it);
    it->envelope = draw_envelope(program, program->wildcards);
    it->looks = (int) draw(100) < program->probes;
    place = place_of_message(&it->envelope);
    if (place == nsent) {
        post(it, NULL);
        posted[nposted++] = it;
        return;
    }
    post(it, sent[place]);
    if (!it->looks)
        forget_message(place);
    free(it);
}

static void find_at_random(const struct random_program *program)
{
    const struct aspx_match_envelope pattern = draw_envelope(
        program, program->wildcards);
    unsigned place = place_of_message(&pattern);

    assert_ptr_equal(aspx_match_find(&match, &pattern),
                     place == nsent ? NULL : sent[place]);
}

static void remove_a_message(unsigned place)
{
    aspx_match_remove_message(&match, sent[place]);
    forget_message(place);
}

static void remove_a_receive(unsigned place)
{
    aspx_match_remove_receive(&match, posted[place]);
    forget_receive(place);
}

/* For a while more is sent, then more is posted, so that both queues grow. */
static void operate(const struct random_program *program, bool sends)
{
    uint32_t what = draw(100);

    if (what < 5 && nsent > 0)
        remove_a_message(draw(nsent));
    else if (what < 10 && nposted > 0)
        remove_a_receive(draw(nposted));
    else if (what < 20)
        find_at_random(program);
    else if ((what < 75) == sends)
        arrive_at_random(program);
    else
        post_at_random(program);
    if (nsent == QUEUE)
        remove_a_message(draw(nsent));
    if (nposted == QUEUE)
        remove_a_receive(draw(nposted));
    assert_int_equal(match.unexpected, nsent);
    assert_int_equal(match.posted, nposted);
}

static void random_programs(void **state)
{
    const unsigned n = sizeof(programs) / sizeof(programs[0]);

    (void) state;
    for (unsigned p = 0; p < n; p++) {
        for (int i = 0; i < OPERATIONS; i++)
            operate(&programs[p], i / 1000 % 2 == 0);
        while (nsent > 0)
            remove_a_message(draw(nsent));
        while (nposted > 0)
            remove_a_receive(draw(nposted));
        all_is_matched();
    }
}

/* The envelopes of a long queue: what is the tag of the Nth, and of the receive
 * for it. */
struct kind {
    const char *name;
    bool differ;      /* else all have one tag */
    bool any_sources; /* of the receives */
    bool any_tags;
    bool unexpected; /* messages are queued, else receives */
};

static const struct kind kinds[] = {
    {"posted-tags", true, false, false, false},
    {"posted-one-tag", false, false, false, false},
    {"posted-any-source", true, true, false, false},
    {"posted-any-tag", false, false, true, false},
    {"posted-any", true, true, true, false},
    {"unexpected-tags", true, false, false, true},
    {"unexpected-one-tag", false, false, false, true},
    {"unexpected-any-source", true, true, false, true},
    {"unexpected-any-tag", true, false, true, true},
    {"unexpected-any", true, true, true, true},
};

static struct aspx_match_message messages[MANY];
static struct aspx_match_receive receives[MANY];

static void fill(const struct kind *kind, int queued)
{
    for (int i = 0; i < queued; i++) {
        messages[i] = message(1, kind->differ ? i : 0);
        receives[i] = receive(kind->any_sources ? MPI_ANY_SOURCE : 1,
                              kind->any_tags ? MPI_ANY_TAG
                                             : messages[i].envelope.tag);
        if (kind->unexpected)
            arrive(&messages[i], NULL);
        else
            post(&receives[i], NULL);
    }
}

static void empty(const struct kind *kind, int queued)
{
    for (int i = 0; i < queued; i++)
        if (kind->unexpected)
            aspx_match_remove_message(&match, &messages[i]);
        else
            aspx_match_remove_receive(&match, &receives[i]);
    all_is_matched();
}

/* A match, and what was matched is queued again. */
static void match_posted(int i)
{
    struct aspx_match_receive *taken;
    struct aspx_match_message *found;

    if (aspx_match_arrive(&match, &messages[i], &taken) || !taken ||
        aspx_match_post(&match, taken, &found) || found)
        abort();
}

static void match_unexpected(int i)
{
    struct aspx_match_receive *taken;
    struct aspx_match_message *found;

    if (aspx_match_post(&match, &receives[i], &found) || !found ||
        aspx_match_arrive(&match, found, &taken) || taken)
        abort();
}

__attribute__((noinline)) static void play(const struct kind *kind, int queued)
{
    for (int i = 0, at = 0; i < ROUNDS; i++, at = (at + queued - 1) % queued)
        if (kind->unexpected)
            match_unexpected(at);
        else
            match_posted(at);
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

/* The least of some, as others use this core. No memory is asked for. */
static double time_of(const struct kind *kind, int queued)
{
    double least = 1e9, begin;

    fill(kind, queued);
    play(kind, queued);
    allocations = 0;
    for (int i = 0; i < 5; i++) {
        begin = seconds();
        play(kind, queued);
        if (seconds() - begin < least)
            least = seconds() - begin;
    }
    assert_int_equal(allocations, 0);
    empty(kind, queued);
    return least;
}

/* Instructions are within a factor of 2, counted by hand; time has what caches
 * lack besides. A search of the list would be a factor of 100 and more. */
static void a_long_queue_costs_no_more(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        time_of(&kinds[i], 1); /* without another, nothing is kept for it */
        double few = time_of(&kinds[i], FEW), many = time_of(&kinds[i], MANY);

        print_message("%-22s %4.0f ns a match with %d, %4.0f with %d\n",
                      kinds[i].name, few / ROUNDS * 1e9, FEW,
                      many / ROUNDS * 1e9, MANY);
        assert_true(many < LIMIT * few);
    }
}

static int count(const char *name, int queued)
{
    const struct kind *kind = kinds;

    while (kind < kinds + sizeof(kinds) / sizeof(kinds[0]) &&
           strcmp(kind->name, name) != 0)
        kind++;
    if (kind == kinds + sizeof(kinds) / sizeof(kinds[0]) || queued < 1 ||
        queued > MANY || aspx_match_start(&match))
        return 2;
    fill(kind, queued);
    play(kind, queued);
    aspx_match_stop(&match);
    return 0;
}

int main(int argc, char **argv)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(messages_of_a_pair_keep_their_order),
        TEST(two_senders_with_one_tag),
        TEST(the_earliest_posted_is_taken),
        TEST(the_earliest_arrived_is_found),
        TEST(what_does_not_match),
        TEST(a_probe_leaves_the_message),
        TEST(removed_from_any_place),
        TEST(no_memory),
        TEST(no_memory_to_start),
        TEST(of_one_hash),
        TEST(random_programs),
        TEST(a_long_queue_costs_no_more),
    };

    if (argc == 3)
        return count(argv[1], atoi(argv[2]));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
