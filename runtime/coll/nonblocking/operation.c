/* SPDX-License-Identifier: BSD-3-Clause */
/* Which entries an operation needs, how they are published, awaited and kept,
 * and how its result is put together from them. Entries are passed in their
 * order, so that a mark tells how far a rank has read. */
#include "config.h"

#include "operation.h"

#include "runtime/base/memory_left.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* ---- which operations --------------------------------------------------------- */

static bool has_ghost(const struct aspx_posts *posts)
{
    return posts->nodes > 1;
}

static const struct asp_coll_form *form_of(
    const struct aspx_mailbox_descriptor *descriptor)
{
    return &asp_coll_forms[descriptor->op];
}

/* The largest entry of the operation. */
static uint64_t most_bytes(const struct aspx_posts *posts,
                           const struct aspx_mailbox_descriptor *descriptor)
{
    const struct asp_coll_form *form = form_of(descriptor);
    /* Of several nodes those of fewer ranks are filled up. */
    uint64_t ranks = has_ghost(posts) ? (uint64_t) posts->fullest * posts->nodes
                                      : posts->ranks;
    uint64_t blocks = asp_coll_most_blocks(form, ranks);

    if (has_ghost(posts) && asp_coll_exchanges(form))
        blocks *= posts->fullest;
    return blocks * descriptor->bytes;
}

bool aspx_posts_can(const struct aspx_posts *posts,
                    const struct aspx_mailbox_descriptor *descriptor)
{
    const struct asp_coll_form *form = form_of(descriptor);

    if (form->counts != ASP_COLL_EQUAL || (form->prefix && has_ghost(posts)))
        return false;
    return descriptor->bytes <= posts->most &&
           most_bytes(posts, descriptor) <= posts->most;
}

static bool is_root(const struct aspx_posts *posts,
                    const struct aspx_mailbox_descriptor *descriptor)
{
    return descriptor->root == posts->rank;
}

uint64_t aspx_post_gives(const struct aspx_posts *posts,
                         const struct aspx_mailbox_descriptor *descriptor)
{
    enum asp_coll_share share = asp_coll_brings(form_of(descriptor),
                                                is_root(posts, descriptor));

    return asp_coll_count_blocks(share, posts->ranks) * descriptor->bytes;
}

/* ---- posted ------------------------------------------------------------------- */

static void append(struct aspx_posts *posts, struct aspx_post *post)
{
    posts->since_mark += aspx_mailbox_footprint(
        most_bytes(posts, &post->descriptor));
    post->next = NULL;
    post->number = posts->begun++;
    if (!posts->first)
        posts->end = &posts->first;
    *posts->end = post;
    posts->end = &post->next;
}

/* An entry, or memory of the process in its place. */
static void *room_for(struct aspx_posts *posts, struct aspx_post *post,
                      struct aspx_mailbox_entry **entry_p)
{
    bool must_wait = aspx_posts_are_pending(posts);

    *entry_p = must_wait
                   ? NULL
                   : aspx_mailbox_take(&posts->mailbox, post->given_bytes);
    if (*entry_p)
        return (*entry_p)->data;
    post->is_pending = true;
    return post->given = malloc(post->given_bytes + 1);
}

static void publish(struct aspx_posts *posts, const struct aspx_post *post,
                    struct aspx_mailbox_entry *entry)
{
    entry->label = aspx_mailbox_label_of(&post->descriptor);
    aspx_mailbox_publish(&posts->mailbox, entry, post->given_bytes);
}

int aspx_post_begin(struct aspx_posts *posts, struct aspx_post *post,
                    int (*fill)(void *arg, void *data, uint64_t bytes),
                    void *arg)
{
    struct aspx_mailbox_entry *entry;
    void *data;

    post->given_bytes = aspx_post_gives(posts, &post->descriptor);
    post->from = calloc(posts->mailbox.participants, sizeof(*post->from));
    data = post->from ? room_for(posts, post, &entry) : NULL;
    if (!data) {
        free(post->from);
        return -1;
    }
    if (post->given_bytes)
        post->rc = fill(arg, data, post->given_bytes);
    append(posts, post);
    if (!post->is_pending)
        publish(posts, post, entry);
    return 0;
}

/* In their order: an entry has no number before it is published. */
static void publish_pending(struct aspx_posts *posts)
{
    for (struct aspx_post *post = posts->first; post; post = post->next) {
        struct aspx_mailbox_entry *entry;

        if (!post->is_pending)
            continue;
        entry = aspx_mailbox_take(&posts->mailbox, post->given_bytes);
        if (!entry)
            return;
        memcpy(entry->data, post->given, post->given_bytes);
        publish(posts, post, entry);
        post->is_pending = false;
        free(post->given);
        post->given = NULL;
    }
}

/* ---- what came ---------------------------------------------------------------- */

static void note(const struct aspx_posts *posts, uint32_t participant,
                 const struct aspx_mailbox_view *view)
{
    for (struct aspx_post *post = posts->first; post; post = post->next)
        if (post->number == view->number && !post->held)
            post->from[participant] = *view;
}

enum needs { NOTHING, THE_ROOT, LOWER, ALL, THE_GHOST };

static enum needs needs_of(const struct aspx_posts *posts,
                           const struct aspx_mailbox_descriptor *descriptor)
{
    const struct asp_coll_form *form = form_of(descriptor);

    if (form->root == ASP_COLL_ROOT_SENDS)
        return posts->node_of[descriptor->root] == posts->node ? THE_ROOT
                                                               : THE_GHOST;
    if (form->root == ASP_COLL_ROOT_GETS && !is_root(posts, descriptor))
        return NOTHING;
    if (form->prefix)
        return LOWER;
    return has_ghost(posts) ? THE_GHOST : ALL;
}

/* Does it still have to read entries? A root that only gave does not. */
static bool reads(const struct aspx_posts *posts, const struct aspx_post *post)
{
    const struct asp_coll_form *form = form_of(&post->descriptor);
    bool gave = !form->in && form->root && is_root(posts, &post->descriptor);

    return !post->held && !gave &&
           needs_of(posts, &post->descriptor) != NOTHING;
}

static uint64_t first_needed(const struct aspx_posts *posts)
{
    for (const struct aspx_post *post = posts->first; post; post = post->next)
        if (reads(posts, post))
            return post->number;
    return posts->begun;
}

/* The last entry seen of each list is not passed before the next one. */
static void move_mark(struct aspx_posts *posts)
{
    if (posts->mailbox.passed + 1 < posts->mark)
        return;
    posts->mark = posts->begun;
    posts->before_mark = posts->since_mark;
    posts->since_mark = 0;
}

void aspx_posts_look(struct aspx_posts *posts)
{
    struct aspx_mailbox *mailbox = &posts->mailbox;
    struct aspx_mailbox_view view;

    if (aspx_posts_are_pending(posts))
        publish_pending(posts);
    for (uint32_t p = 0; p < mailbox->participants; p++)
        while (mailbox->seen[p] < posts->begun &&
               aspx_mailbox_next(mailbox, p, &view))
            note(posts, p, &view);
    aspx_mailbox_pass(mailbox, first_needed(posts));
    move_mark(posts);
}

/* First fit leaves unused, at worst, a share of a region that grows with the
 * logarithm of the longest entry, of 65 units: so much always fits. */
enum { SURE_SHARE = 8 };

bool aspx_posts_may_fill(const struct aspx_posts *posts)
{
    return posts->before_mark + posts->since_mark >
           posts->mailbox.region / SURE_SHARE;
}

static uint32_t first_missing(const struct aspx_post *post, uint32_t from,
                              uint32_t end, uint32_t none)
{
    for (uint32_t p = from; p < end; p++)
        if (!post->from[p].data)
            return p;
    return none;
}

uint32_t aspx_post_misses(const struct aspx_posts *posts,
                          const struct aspx_post *post)
{
    uint32_t none = posts->mailbox.participants, me = posts->mailbox.me;
    uint32_t root = posts->member_of[post->descriptor.root];

    /* Its own has to be published at least. */
    if (post->is_pending)
        return me;
    switch (needs_of(posts, &post->descriptor)) {
    case NOTHING:
        return none;
    case THE_ROOT:
        return first_missing(post, root, root + 1, none);
    case LOWER:
        return first_missing(post, 0, me + 1, none);
    case ALL:
        return first_missing(post, 0, none, none);
    default:
        return first_missing(post, posts->members, none, none);
    }
}

/* ---- held ---------------------------------------------------------------------- */

/* As much is asked for at once, and not more than a quarter of what is left. */
enum { CHECK_BYTES = 1 << 20, LEFT_SHARE = 4 };

static bool has_memory(struct aspx_posts *posts, uint64_t bytes)
{
    uint64_t more = bytes < CHECK_BYTES ? CHECK_BYTES : bytes;

    if (bytes > posts->may_hold) {
        if (more > aspx_memory_left() / LEFT_SHARE)
            return false;
        posts->may_hold = more;
    }
    posts->may_hold -= bytes;
    return true;
}

static uint64_t held_bytes(const struct aspx_mailbox_view *view)
{
    return view->data ? (view->bytes + ASPX_MAILBOX_LINE) / ASPX_MAILBOX_LINE *
                            ASPX_MAILBOX_LINE
                      : 0;
}

/* Returns whether there was memory. */
static bool hold(struct aspx_posts *posts, struct aspx_post *post)
{
    uint32_t participants = posts->mailbox.participants;
    uint64_t all = ASPX_MAILBOX_LINE;
    char *to;

    for (uint32_t p = 0; p < participants; p++)
        all += held_bytes(&post->from[p]);
    to = has_memory(posts, all) ? aligned_alloc(ASPX_MAILBOX_LINE, all) : NULL;
    if (!to)
        return false;
    post->held = to;
    for (uint32_t p = 0; p < participants; p++) {
        struct aspx_mailbox_view *view = &post->from[p];
        uint64_t bytes = held_bytes(view);

        if (!view->data)
            continue;
        memcpy(to, view->data, view->bytes);
        view->data = to;
        to += bytes;
    }
    return true;
}

/* What comes behind one that misses something is not passed before it. */
void aspx_posts_hold(struct aspx_posts *posts)
{
    uint32_t none = posts->mailbox.participants;

    for (struct aspx_post *post = posts->first; post; post = post->next)
        if (reads(posts, post) &&
            (aspx_post_misses(posts, post) < none || !hold(posts, post)))
            break;
    aspx_posts_look(posts);
}

/* ---- taken -------------------------------------------------------------------- */

/* Bytes of an entry from an offset on, or NULL: ranks of an erroneous program
 * disagree. */
static const char *data_of(struct aspx_post *post, uint32_t participant,
                           uint64_t offset, uint64_t bytes)
{
    const struct aspx_mailbox_view *view = &post->from[participant];
    struct aspx_mailbox_descriptor its = aspx_mailbox_descriptor_of(view);

    if (view->data && its.op == post->descriptor.op &&
        its.bytes == post->descriptor.bytes &&
        its.root == post->descriptor.root && offset + bytes <= view->bytes)
        return view->data + offset;
    post->rc = MPI_ERR_TRUNCATE;
    return NULL;
}

static void copy(struct aspx_post *post, void *out, uint32_t participant,
                 uint64_t offset)
{
    const char *data = data_of(post, participant, offset,
                               post->descriptor.bytes);

    if (data)
        memcpy(out, data, post->descriptor.bytes);
}

/* The same bytes of the entries of members first to end - 1. */
static void reduce(struct aspx_posts *posts, struct aspx_post *post, void *out,
                   uint32_t end, uint64_t offset)
{
    if (end == 0)
        return;
    copy(post, out, end - 1, offset);
    for (uint32_t p = end - 1; p-- > 0 && post->rc == MPI_SUCCESS;) {
        const char *data = data_of(post, p, offset, post->descriptor.bytes);

        if (data)
            post->rc = posts->reduce(out, data, &post->descriptor,
                                     post->descriptor.bytes);
    }
}

/* The other way round, as prefixes are often associated: ((a0 op a1) op a2) op
 * ... of members 0 to end - 1. */
static void reduce_prefix(struct aspx_posts *posts, struct aspx_post *post,
                          void *out, uint32_t end)
{
    uint64_t bytes = post->descriptor.bytes;
    void *next = malloc(bytes);

    if (!next)
        post->rc = MPI_ERR_NO_MEM;
    if (next && end > 0)
        copy(post, out, 0, 0);
    for (uint32_t p = 1; p < end && post->rc == MPI_SUCCESS; p++) {
        copy(post, next, p, 0);
        if (post->rc == MPI_SUCCESS)
            post->rc = posts->reduce(next, out, &post->descriptor, bytes);
        memcpy(out, next, bytes);
    }
    free(next);
}

/* A block of each rank, which lies at offset(rank) of an entry. */
static void copy_blocks(struct aspx_posts *posts, struct aspx_post *post,
                        char *out)
{
    uint64_t bytes = post->descriptor.bytes,
             mine = posts->member_of[posts->rank];
    bool each = asp_coll_exchanges(form_of(&post->descriptor));

    for (uint32_t r = 0; r < posts->ranks; r++) {
        uint32_t from = posts->member_of[r];
        uint64_t at = each ? posts->rank * bytes : 0;

        if (has_ghost(posts)) {
            at = posts->node_of[r] * posts->fullest + from;
            at = (each ? at * posts->fullest + mine : at) * bytes;
            from = posts->members;
        }
        if (!(post->keeps_own && r == posts->rank))
            copy(post, out + r * bytes, from, at);
    }
}

/* All vectors reduced, from such an offset on. */
static void take_sum(struct aspx_posts *posts, struct aspx_post *post,
                     void *out, uint64_t offset)
{
    if (has_ghost(posts))
        copy(post, out, posts->members, offset);
    else
        reduce(posts, post, out, posts->members, offset);
}

/* What the root gave, or the block of it that is this rank's. */
static void take_from_root(struct aspx_posts *posts, struct aspx_post *post,
                           void *out)
{
    bool near = needs_of(posts, &post->descriptor) == THE_ROOT;
    uint32_t from = near ? posts->member_of[post->descriptor.root]
                         : posts->members;
    uint64_t block = near ? posts->rank : posts->member_of[posts->rank];

    if (!form_of(&post->descriptor)->in)
        block = 0;
    if (!post->keeps_own)
        copy(post, out, from, block * post->descriptor.bytes);
}

static void check_sizes(struct aspx_posts *posts, struct aspx_post *post)
{
    if (aspx_post_misses(posts, post) == posts->mailbox.participants &&
        needs_of(posts, &post->descriptor) == ALL)
        for (uint32_t p = 0; p < posts->members; p++)
            (void) data_of(post, p, 0, 0);
}

void aspx_post_take(struct aspx_posts *posts, struct aspx_post *post, void *out)
{
    const struct aspx_mailbox_descriptor *descriptor = &post->descriptor;
    const struct asp_coll_form *form = form_of(descriptor);

    check_sizes(posts, post);
    if (!asp_coll_takes(form, is_root(posts, descriptor)))
        return;
    if (form->prefix)
        reduce_prefix(posts, post, out,
                      posts->mailbox.me + (form->prefix == ASP_COLL_INCLUSIVE));
    else if (form->reduces)
        take_sum(posts, post, out,
                 form->in == ASP_COLL_ALL_BLOCKS
                     ? posts->rank * descriptor->bytes
                     : 0);
    else if (form->root == ASP_COLL_ROOT_SENDS)
        take_from_root(posts, post, out);
    else
        copy_blocks(posts, post, out);
}

void aspx_post_end(struct aspx_posts *posts, struct aspx_post *post)
{
    struct aspx_post **at = &posts->first;

    while (*at && *at != post)
        at = &(*at)->next;
    if (*at == post)
        *at = post->next;
    posts->end = &posts->first;
    while (*posts->end)
        posts->end = &(*posts->end)->next;
    post->has_ended = true;
    free(post->from);
    free(post->given);
    free(post->held);
    post->from = NULL;
    post->given = post->held = NULL;
    aspx_posts_look(posts);
}
