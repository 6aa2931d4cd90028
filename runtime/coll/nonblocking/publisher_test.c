/* SPDX-License-Identifier: BSD-3-Clause */
/* What has no room is published while its rank makes no call at all, and so is
 * taken what others have no room for. */
#include "config.h"

#include "publisher.h"

#include "runtime/posted/look_thread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum {
    RANKS = 2,
    BYTES = 40000, /* two of them fill a region */
    POSTED = 5,
    REGION = 7 * ASPX_MAILBOX_UNIT,
    LIMIT_S = 30,
};

const struct aspx_ghosts *aspx_ghosts;

static const uint32_t node_of[RANKS], member_of[RANKS] = {0, 1};
static _Atomic uint32_t left;

void aspx_coll_context_leave(struct aspx_coll_context *context)
{
    pthread_mutex_lock(&context->lock);
    context->holders--;
    pthread_mutex_unlock(&context->lock);
    left++;
}

static int fill(void *arg, void *data, uint64_t bytes)
{
    memset(data, *(int *) arg, bytes);
    return 0;
}

static struct aspx_mailbox_descriptor broadcast(void)
{
    return (struct aspx_mailbox_descriptor){
        .op = ASP_COLL_BCAST, .bytes = BYTES, .element_size = 1};
}

static void see(struct aspx_posts *posts, void *memory, uint32_t me)
{
    const struct aspx_mailbox_shape shape = {.participants = RANKS,
                                             .region = REGION};

    *posts = (struct aspx_posts){
        .rank = me,
        .ranks = RANKS,
        .members = RANKS,
        .nodes = 1,
        .fullest = RANKS,
        .most = REGION,
        .node_of = node_of,
        .member_of = member_of,
    };
    assert_int_equal(aspx_mailbox_see(&posts->mailbox, memory, me, &shape), 0);
}

/* The reader posts and takes one; the writer is not called. */
static void take(struct aspx_posts *reader, int value)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    time_t limit = time(NULL) + LIMIT_S;
    struct aspx_post post = {.descriptor = broadcast()};
    unsigned char *out = malloc(BYTES);

    assert_int_equal(aspx_post_begin(reader, &post, fill, &value), 0);
    while (aspx_post_misses(reader, &post) < RANKS && time(NULL) < limit) {
        nanosleep(&pause, NULL);
        aspx_posts_look(reader);
    }
    assert_int_equal(aspx_post_misses(reader, &post), RANKS);
    aspx_post_take(reader, &post, out);
    for (int i = 0; i < BYTES; i++)
        assert_int_equal(out[i], value);
    aspx_post_end(reader, &post);
    free(out);
}

static void while_its_rank_is_away(void **state)
{
    const struct aspx_mailbox_shape shape = {.participants = RANKS,
                                             .region = REGION};
    void *memory = aligned_alloc(4096, aspx_mailbox_bytes(&shape));
    struct aspx_coll_context context = {.holders = 1};
    struct aspx_post posts[POSTED];
    struct aspx_posts reader;

    (void) state;
    memset(memory, 0, aspx_mailbox_bytes(&shape));
    pthread_mutex_init(&context.lock, NULL);
    see(&context.posts, memory, 0);
    see(&reader, memory, 1);
    for (int i = 0; i < POSTED; i++) {
        posts[i] = (struct aspx_post){.descriptor = broadcast()};
        pthread_mutex_lock(&context.lock);
        assert_int_equal(aspx_post_begin(&context.posts, &posts[i], fill, &i),
                         0);
        pthread_mutex_unlock(&context.lock);
        aspx_coll_publish_later(&context);
    }
    pthread_mutex_lock(&context.lock);
    assert_true(
        aspx_posts_are_pending(&context.posts)); /* or it tests nothing */
    pthread_mutex_unlock(&context.lock);
    for (int i = 0; i < POSTED; i++)
        take(&reader, i);
    while (left == 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_int_equal(context.holders, 1);
    assert_false(context.has_publisher);
    for (int i = 0; i < POSTED; i++)
        aspx_post_end(&context.posts, &posts[i]);
    aspx_mailbox_leave(&context.posts.mailbox);
    aspx_mailbox_leave(&reader.mailbox);
    free(memory);
}

/* The reader has posted all of it, and is not called; the writer waits for the
 * end of its own. */
static void while_the_reader_is_away(void **state)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    const struct aspx_mailbox_shape shape = {.participants = RANKS,
                                             .region = REGION};
    void *memory = aligned_alloc(4096, aspx_mailbox_bytes(&shape));
    struct aspx_coll_context reader = {.holders = 1, .comm = MPI_COMM_WORLD};
    struct aspx_post given[POSTED], taken[POSTED];
    time_t limit = time(NULL) + LIMIT_S;
    static unsigned char out[BYTES];
    struct aspx_posts writer;

    (void) state;
    left = 0;
    memset(memory, 0, aspx_mailbox_bytes(&shape));
    pthread_mutex_init(&reader.lock, NULL);
    see(&writer, memory, 0);
    see(&reader.posts, memory, 1);
    for (int i = 0; i < POSTED; i++) {
        taken[i] = (struct aspx_post){.descriptor = broadcast()};
        pthread_mutex_lock(&reader.lock);
        assert_int_equal(aspx_post_begin(&reader.posts, &taken[i], fill, &i),
                         0);
        pthread_mutex_unlock(&reader.lock);
        aspx_coll_publish_later(&reader);
    }
    for (int i = 0; i < POSTED; i++) {
        given[i] = (struct aspx_post){.descriptor = broadcast()};
        assert_int_equal(aspx_post_begin(&writer, &given[i], fill, &i), 0);
    }
    assert_true(aspx_posts_are_pending(&writer)); /* or it tests nothing */
    while (aspx_posts_are_pending(&writer) && time(NULL) < limit) {
        nanosleep(&pause, NULL);
        aspx_posts_look(&writer);
    }
    assert_false(aspx_posts_are_pending(&writer));
    pthread_mutex_lock(&reader.lock);
    aspx_posts_look(&reader.posts);
    for (int i = 0; i < POSTED; i++) {
        assert_int_equal(aspx_post_misses(&reader.posts, &taken[i]), RANKS);
        aspx_post_take(&reader.posts, &taken[i], out);
        for (int b = 0; b < BYTES; b++)
            assert_int_equal(out[b], i);
        aspx_post_end(&reader.posts, &taken[i]);
        aspx_post_end(&writer, &given[i]);
    }
    reader.comm = MPI_COMM_NULL;
    pthread_mutex_unlock(&reader.lock);
    aspx_look_threads_stop();
    assert_true(left >= 1); /* one that has ended may have begun anew */
    aspx_mailbox_leave(&writer.mailbox);
    aspx_mailbox_leave(&reader.posts.mailbox);
    free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(while_its_rank_is_away),
        cmocka_unit_test(while_the_reader_is_away),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
