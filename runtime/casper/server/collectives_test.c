/* SPDX-License-Identifier: BSD-3-Clause */
/* Stray stores into a mailbox, at every stage of its life. Each word of it that
 * matters gets other values, one at a time; then the ghost goes on, and must
 * neither fail, nor run for ever, nor write to what is not its own. Build with
 * --enable-sanitizer=address,undefined to see what it reads beyond, too.
 *
 * usage: collectives_test [all]   all: every value, not a few for each word
 *
 * Two nodes: the ghost's, with ranks 0 and 1, and another with rank 2, whose
 * ghost is played by the functions of MPI below: its messages are zeros. */
#include "config.h"

#include "collectives.c"

#include "runtime/coll/nonblocking/operation.h"
#include "runtime/mpi/handle.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    RANKS = 3,
    MEMBERS = 2, /* before the ghost */
    NODES = 2,
    INTS = 5,
    PAGE = 4096,
    OFFSET = PAGE, /* of the mailbox in the arena */
    REGION = 4 * ASPX_MAILBOX_UNIT,
    HEAD = 640,    /* bytes of flags and map */
    FUZZED = 4608, /* bytes of a region that operations reach */
    STEPS = 60,
    LIMIT_S = 20, /* for one store: it takes some 0.1 ms */
    TAG_MOST = 1 << 20,
    TAG = 3 * ASPX_MAILBOX_TAGS,
    REQUESTS = 1 << 12,
    FOUND_LEAST = 100, /* stores of those made by default; or it tests little */
};

/* ---- MPI ---------------------------------------------------------------------- */

static bool messages_come;
static MPI_Count came[REQUESTS];
static int nrequests, nclosed;

static MPI_Request new_request(MPI_Count bytes)
{
    nrequests = (nrequests + 1) % REQUESTS;
    came[nrequests] = bytes;
    return (MPI_Request) (nrequests + 1);
}

static int fake_Isend_c(const void *data, MPI_Count bytes, MPI_Datatype type,
                        int peer, int tag, MPI_Comm comm, MPI_Request *request)
{
    volatile char sum = 0;

    (void) type;
    (void) comm;
    for (MPI_Count i = 0; i < bytes; i++)
        sum = (char) (sum + ((const char *) data)[i]);
    assert_true(peer == 0 || peer == 1);
    assert_true(tag >= 0 && tag <= TAG_MOST);
    *request = new_request(0);
    return MPI_SUCCESS;
}

static int fake_Irecv_c(void *data, MPI_Count bytes, MPI_Datatype type,
                        int peer, int tag, MPI_Comm comm, MPI_Request *request)
{
    if (bytes > 0)
        memset(data, 0, (size_t) bytes);
    (void) fake_Isend_c(data, bytes, type, peer, tag, comm, request);
    *request = new_request(bytes);
    return MPI_SUCCESS;
}

static int fake_Testsome(int n, MPI_Request *requests, int *n_p, int *indexes,
                         MPI_Status *statuses)
{
    *n_p = messages_come ? n : 0;
    for (int i = 0; i < *n_p; i++) {
        indexes[i] = i;
        statuses[i].MPI_TAG = (int) came[requests[i] - 1];
        requests[i] = MPI_REQUEST_NULL;
    }
    return MPI_SUCCESS;
}

static int fake_Get_count_c(const MPI_Status *status, MPI_Datatype type,
                            MPI_Count *count)
{
    (void) type;
    *count = status->MPI_TAG;
    return MPI_SUCCESS;
}

static int fake_Error_class(int code, int *class)
{
    *class = code;
    return MPI_SUCCESS;
}

static int fake_Reduce_local_c(const void *in, void *inout, MPI_Count count,
                               MPI_Datatype type, MPI_Op op)
{
    size_t bytes = (size_t) count * aspx_handle_basic_size(type);
    bool floating;

    assert_true(aspx_coll_can_reduce(op, type, &floating));
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *) inout)[i] += ((const unsigned char *) in)[i];
    return MPI_SUCCESS;
}

static int fake_Reduce_local(const void *in, void *inout, int count,
                             MPI_Datatype type, MPI_Op op)
{
    return fake_Reduce_local_c(in, inout, count, type, op);
}

static int fake_Isend(const void *data, int bytes, MPI_Datatype type, int peer,
                      int tag, MPI_Comm comm, MPI_Request *request)
{
    const struct aspx_lock_message *message = data;

    (void) type;
    (void) tag;
    (void) comm;
    assert_int_equal(bytes, sizeof(*message));
    assert_int_equal(message->verb, ASPX_COLL_CLOSE);
    assert_int_equal(message->window, TAG);
    assert_int_equal(peer, 4); /* the ghost of the other node */
    free((void *) (uintptr_t) data);
    *request = new_request(0);
    nclosed++;
    return MPI_SUCCESS;
}

static int fake_of_request(MPI_Request *request)
{
    (void) request;
    return MPI_SUCCESS;
}

static int fake_Comm_rank(MPI_Comm comm, int *rank)
{
    (void) comm;
    *rank = 0;
    return MPI_SUCCESS;
}

static int fake_Comm_size(MPI_Comm comm, int *size)
{
    (void) comm;
    *size = NODES;
    return MPI_SUCCESS;
}

static int fake_Comm_get_attr(MPI_Comm comm, int key, void *value, int *found)
{
    static int most = TAG_MOST;

    (void) comm;
    assert_int_equal(key, MPI_TAG_UB);
    *(int **) value = &most;
    *found = 1;
    return MPI_SUCCESS;
}

/* ---- a job -------------------------------------------------------------------- */

static const uint32_t node_of[RANKS] = {0, 0, 1}, member_of[RANKS] = {0, 1, 0};
static const struct aspx_mailbox_shape shape = {.participants = MEMBERS + 1,
                                                .ranks = RANKS,
                                                .nodes = NODES,
                                                .region = REGION};

static uint32_t world_ghosts[NODES] = {3, 4};
static struct aspx_world world = {.size_all = RANKS + NODES};
static struct aspx_engine engine;
static struct aspx_doorbell doorbell;
static struct aspx_posts users[MEMBERS];

static const enum asp_coll_op kinds[] = {
    ASP_COLL_BCAST,     ASP_COLL_ALLREDUCE, ASP_COLL_ALLTOALL,
    ASP_COLL_BARRIER,   ASP_COLL_SCATTER,   ASP_COLL_ALLGATHER,
    ASP_COLL_REDUCE,    ASP_COLL_GATHER,    ASP_COLL_REDUCE_SCATTER_BLOCK,
    ASP_COLL_ALLREDUCE,
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), POSTS = 2 * KINDS };

static struct aspx_post posts[MEMBERS][POSTS];

static bool is_reduction(uint32_t op)
{
    return op == ASP_COLL_REDUCE || op == ASP_COLL_ALLREDUCE ||
           op == ASP_COLL_REDUCE_SCATTER_BLOCK;
}

static int fill(void *arg, void *data, uint64_t bytes)
{
    memset(data, *(int *) arg, bytes);
    return 0;
}

static void post(uint32_t member, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        enum asp_coll_op op = kinds[i % KINDS];
        int value = (int) (i + member);

        posts[member][i] = (struct aspx_post){
            .descriptor = {.op = op,
                           .bytes = op == ASP_COLL_BARRIER ? 0
                                                           : INTS * sizeof(int),
                           .root = i % RANKS,
                           .reduction = is_reduction(op) ? MPI_SUM : 0,
                           .type = is_reduction(op) ? MPI_INT : 0,
                           .element_size = is_reduction(op) ? sizeof(int) : 1}};
        assert_int_equal(
            aspx_post_begin(&users[member], &posts[member][i], fill, &value),
            0);
    }
    doorbell.posts++;
}

/* What came is taken, so that the ghost may use its memory again. */
static void take(uint32_t member)
{
    static char out[PAGE];

    aspx_posts_look(&users[member]);
    for (uint32_t i = 0; i < POSTS; i++) {
        struct aspx_post *p = &posts[member][i];

        if (!p->from || aspx_post_misses(&users[member], p) < MEMBERS + 1)
            continue;
        aspx_post_take(&users[member], p, out);
        aspx_post_end(&users[member], p);
    }
}

static int sum(void *inout, const void *in,
               const struct aspx_mailbox_descriptor *descriptor, uint64_t bytes)
{
    return fake_Reduce_local_c(in, inout,
                               (MPI_Count) (bytes / descriptor->element_size),
                               descriptor->type, descriptor->reduction);
}

static char *mailbox_memory(void)
{
    return engine.arena.base + OFFSET;
}

static char *arena; /* one for all jobs */

static void start_job(void)
{
    uint64_t bytes = OFFSET + aspx_mailbox_bytes(&shape);
    struct aspx_mailbox_nodes *nodes;

    engine = (struct aspx_engine){.world = &world,
                                  .ghosts = world_ghosts,
                                  .exchanges = true,
                                  .arena = {.bytes = bytes}};
    arena = arena ? arena : aligned_alloc(PAGE, bytes);
    assert_non_null(arena);
    engine.arena.base = arena;
    memset(engine.arena.base, 0, bytes);
    memset(&all, 0, sizeof(all));
    memset(posts, 0, sizeof(posts));
    doorbell.posts = 0;
    for (uint32_t m = 0; m < MEMBERS; m++) {
        users[m] = (struct aspx_posts){.rank = m,
                                       .ranks = RANKS,
                                       .members = MEMBERS,
                                       .nodes = NODES,
                                       .fullest = MEMBERS,
                                       .most = REGION,
                                       .node_of = node_of,
                                       .member_of = member_of,
                                       .reduce = sum};
        assert_int_equal(
            aspx_mailbox_see(&users[m].mailbox, mailbox_memory(), m, &shape),
            0);
    }
    nodes = users[0].mailbox.nodes;
    nodes->ranks = RANKS;
    nodes->nodes = NODES;
    nodes->tag = TAG;
    memcpy(nodes->map, node_of, sizeof(node_of));
    nodes->map[RANKS + 1] = 1; /* the ghosts are 0 and 1 */
    aspx_mailbox_introduce(mailbox_memory(), &shape);
    aspx_ghost_collectives_start(&engine, &doorbell);
    messages_come = true;
}

static void end_job(void)
{
    while (all.services) {
        struct service *service = all.services;

        all.services = service->next;
        if (!service->is_broken)
            break_off(service);
        aspx_exchange_mailbox_leave(&service->mailbox);
        free(service);
    }
    while (all.abandoned) {
        struct aspx_exchange *x = all.abandoned;

        all.abandoned = x->next;
        aspx_exchange_free(x);
    }
    free(all.closed);
    for (uint32_t m = 0; m < MEMBERS; m++) {
        for (uint32_t i = 0; i < POSTS; i++) {
            free(posts[m][i].from);
            free(posts[m][i].given);
        }
        aspx_mailbox_leave(&users[m].mailbox);
    }
}

static void open_it(void)
{
    assert_int_equal(aspx_ghost_collectives_open(OFFSET, MEMBERS), 0);
}

/* Returns whether the ghost has not failed. */
static bool go_on(void)
{
    for (int i = 0; i < STEPS; i++) {
        doorbell.posts++;
        if (aspx_ghost_collectives_step() < 0)
            return false;
    }
    return true;
}

/* ---- stages ------------------------------------------------------------------- */

static void introduced(void)
{
}

static void opened(void)
{
    open_it();
}

static void one_has_posted(void)
{
    open_it();
    post(0, 0, KINDS);
}

static void gathering(void)
{
    one_has_posted();
    assert_true(go_on());
}

static void all_have_posted(void)
{
    gathering();
    post(1, 0, KINDS);
}

static void exchanging(void)
{
    all_have_posted();
    messages_come = false;
    assert_true(go_on());
    messages_come = true;
}

static void published(void)
{
    all_have_posted();
    assert_true(go_on());
    assert_null(all.services->first);
    assert_int_equal(all.services->mailbox.mailbox.published, KINDS);
}

static void taken_and_posted(void)
{
    published();
    for (uint32_t m = 0; m < MEMBERS; m++) {
        take(m);
        post(m, KINDS, POSTS);
    }
}

static void letting_go(void)
{
    published();
    users[0].mailbox.nodes->left = MEMBERS;
}

static const struct stage {
    const char *name;
    void (*reach)(void);
} stages[] = {
    {"introduced", introduced},
    {"opened", opened},
    {"one has posted", one_has_posted},
    {"gathering", gathering},
    {"all have posted", all_have_posted},
    {"exchanging", exchanging},
    {"published", published},
    {"taken and posted", taken_and_posted},
    {"letting go", letting_go},
};

/* ---- stores ------------------------------------------------------------------- */

static bool every_value;

/* Value number v for a word that is `old`; false: there is none. */
static bool draw(uint32_t v, uint64_t old, uint64_t *value)
{
    const uint64_t drawn[] = {
        UINT64_MAX,
        old + 1,
        old ^ UINT64_C(1) << 31,
        0,
        old + ASPX_MAILBOX_LINE,
        old - ASPX_MAILBOX_LINE,
        old ^ 1,
        old ^ UINT64_C(1) << 32,
        old ^ UINT64_C(0xff),
        old ^ UINT64_C(0xff00),
        old ^ UINT64_C(0xffff0000),
        old ^ UINT64_C(0xff00000000),
        old ^ UINT64_C(0xffff000000000000),
        old * 2,
        REGION - ASPX_MAILBOX_LINE,
        INT64_MAX,
        UINT32_MAX,
        UINT64_C(0x100000001),
        UINT64_C(0x4c00040500000004),
        (uint64_t) aspx_mailbox_head_bytes(&shape),
    };

    if (v >= sizeof(drawn) / sizeof(drawn[0]))
        return false;
    *value = drawn[v];
    return true;
}

/* As it was, but for what the ghost itself may write: its flags, and the state.
 * Its region comes behind. */
static char before[PAGE + MEMBERS * REGION];

static void allow(const void *field, size_t bytes)
{
    memcpy(before + ((const char *) field - mailbox_memory()), field, bytes);
}

static void compare(const char *where, uint64_t word)
{
    const struct aspx_mailbox *mailbox = &users[0].mailbox;

    allow(&mailbox->flags[MEMBERS], sizeof(*mailbox->flags));
    allow(&mailbox->nodes->state, sizeof(mailbox->nodes->state));
    for (size_t i = 0; memcmp(before, mailbox_memory(), sizeof(before)); i++)
        if (before[i] != mailbox_memory()[i])
            fail_msg("%s, word %lu: the ghost wrote to byte %lu", where,
                     (unsigned long) word, (unsigned long) i);
}

/* What the ghost says of each store. */
static void be_quiet(bool quiet)
{
    static int null = -1, said = -1;

    if (null < 0) {
        null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        said = dup(STDERR_FILENO);
    }
    (void) dup2(quiet ? null : said, STDERR_FILENO);
}

/* Returns whether the mailbox was found to be broken. */
static bool store(const struct stage *stage, uint64_t at, uint32_t v,
                  bool *is_last)
{
    bool broken, failed;
    uint64_t old, value;

    start_job();
    stage->reach();
    memcpy(&old, mailbox_memory() + at, sizeof(old));
    *is_last = !draw(v, old, &value);
    if (*is_last) {
        end_job();
        return false;
    }
    memcpy(mailbox_memory() + at, &value, sizeof(value));
    memcpy(before, mailbox_memory(), sizeof(before));
    be_quiet(true);
    alarm(LIMIT_S);
    broken = !all.services && aspx_ghost_collectives_open(OFFSET, MEMBERS) != 0;
    failed = !broken && !go_on();
    alarm(0);
    be_quiet(false);
    if (failed)
        fail_msg("%s, word %lu: the ghost fails", stage->name,
                 (unsigned long) at);
    if (all.services)
        broken = all.services->is_broken;
    compare(stage->name, at);
    end_job();
    return broken;
}

/* Where it was when it failed. */
static const struct stage *last_stage;
static uint64_t last_word;

static int say_where(void **state)
{
    (void) state;
    be_quiet(false);
    print_message("the last store: %s, word %lu\n", last_stage->name,
                  (unsigned long) last_word);
    return 0;
}

/* By default a few values of each third word: all are met at some stage. */
enum { FEW = 7, THIRD = 3 };

static uint32_t spread(size_t s, uint64_t at)
{
    uint64_t word = at / sizeof(uint64_t);
    uint32_t found = 0;
    bool is_last;

    last_stage = &stages[s];
    last_word = at;
    is_last = !every_value && (word + s) % THIRD != 0;

    for (uint32_t v = every_value ? 0 : (uint32_t) (word / THIRD % FEW);
         !is_last; v += every_value ? 1 : FEW)
        found += store(&stages[s], at, v, &is_last);
    return found;
}

static void stray_stores(void **state)
{
    uint64_t head = aspx_mailbox_head_bytes(&shape);
    uint32_t found = 0;

    (void) state;
    for (size_t s = 0; s < sizeof(stages) / sizeof(stages[0]); s++) {
        for (uint64_t at = 0; at < HEAD; at += sizeof(uint64_t))
            found += spread(s, at);
        for (uint32_t p = 0; p < MEMBERS + 1; p++)
            for (uint64_t at = 0; at < FUZZED; at += sizeof(uint64_t))
                found += spread(s, head + p * REGION + at);
    }
    assert_true(found > FOUND_LEAST);
}

/* Without a stray store all is published, and nothing is found. */
static void no_store(void **state)
{
    (void) state;
    start_job();
    taken_and_posted();
    assert_true(go_on());
    assert_int_equal(all.services->mailbox.mailbox.published, POSTS);
    assert_null(all.services->mailbox.mailbox.fault);
    users[0].mailbox.nodes->left = MEMBERS;
    assert_true(go_on());
    assert_null(all.services);
    assert_int_equal(users[0].mailbox.nodes->state, ASPX_MAILBOX_CLOSED);
    assert_int_equal(nclosed, 0);
    end_job();
}

/* The other node's ghost has closed it, before or after it was opened here. */
static void closed_elsewhere(void **state)
{
    (void) state;
    for (int early = 0; early < 2; early++) {
        start_job();
        if (early)
            assert_int_equal(aspx_ghost_collectives_close(TAG), 0);
        exchanging();
        if (!early)
            assert_int_equal(aspx_ghost_collectives_close(TAG), 0);
        assert_true(all.services->is_broken);
        assert_false(aspx_ghost_collectives_are_busy());
        assert_int_equal(users[0].mailbox.nodes->state, ASPX_MAILBOX_BROKEN);
        assert_int_equal(nclosed, 0);
        end_job();
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_store),
        cmocka_unit_test(closed_elsewhere),
        cmocka_unit_test_teardown(stray_stores, say_where),
    };

    every_value = argc > 1 && strcmp(argv[1], "all") == 0;
    aspx_real = (struct aspx_real){
        .MPI_Isend_c = fake_Isend_c,
        .MPI_Irecv_c = fake_Irecv_c,
        .MPI_Isend = fake_Isend,
        .MPI_Testsome = fake_Testsome,
        .MPI_Get_count_c = fake_Get_count_c,
        .MPI_Error_class = fake_Error_class,
        .MPI_Reduce_local = fake_Reduce_local,
        .MPI_Reduce_local_c = fake_Reduce_local_c,
        .MPI_Cancel = fake_of_request,
        .MPI_Request_free = fake_of_request,
        .MPI_Comm_rank = fake_Comm_rank,
        .MPI_Comm_size = fake_Comm_size,
        .MPI_Comm_get_attr = fake_Comm_get_attr,
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
