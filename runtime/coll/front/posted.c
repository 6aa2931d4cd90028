/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank gives is described before the operation is posted, and packed
 * into its entry. What it gets goes directly into the program's buffer, or is
 * unpacked from a copy where the type has gaps. */
#include "config.h"

#include "posted.h"

#include "requests.h"

#include "runtime/coll/select/comm.h"
#include "runtime/coll/comm/eligible.h"
#include "runtime/coll/nonblocking/publisher.h"
#include "runtime/coll/comm/straight.h"
#include "runtime/coll/comm/trace.h"
#include "runtime/coll/select/tune.h"
#include "runtime/coll/call/typed.h"
#include "runtime/base/log.h"
#include "runtime/mpi/handle.h"

#include <stdlib.h>
#include <string.h>

/* ---- what a rank gives -------------------------------------------------------- */

struct send_view {
    const void *data;
    MPI_Count count;
    MPI_Datatype type;
};

/* Its own block where MPI_IN_PLACE says that it is in the receive buffer. */
static const void *own_block(const struct aspx_coll_call *call, uint32_t rank)
{
    MPI_Aint low = 0, extent = 0;

    aspx_coll_behind.MPI_Type_get_extent(call->recv_type, &low, &extent);
    return (const char *) call->recv +
           (MPI_Aint) rank * (MPI_Aint) call->nrecv * extent;
}

static struct send_view send_view_of(const struct aspx_coll_context *context,
                                     const struct aspx_coll_call *call)
{
    const struct asp_coll_form *form = &asp_coll_forms[call->op];
    bool in_place = call->send == MPI_IN_PLACE;
    struct send_view send_view = {call->send, call->nsend, call->send_type};

    if (in_place || !form->in)
        send_view = (struct send_view){call->recv, call->nrecv,
                                       call->recv_type};
    if (in_place && asp_coll_joins(form))
        send_view.data = own_block(call, context->posts.rank);
    if (form->in == ASP_COLL_ALL_BLOCKS)
        send_view.count *= context->posts.ranks;
    return send_view;
}

static int fill(void *arg, void *data, uint64_t bytes)
{
    const struct send_view *send_view = arg;

    if (aspx_handle_basic_size(send_view->type)) {
        memcpy(data, send_view->data, bytes);
        return MPI_SUCCESS;
    }
    return aspx_coll_pack(send_view->data, send_view->count, send_view->type,
                          data, (MPI_Count) bytes, MPI_COMM_SELF);
}

/* ---- what it gets ------------------------------------------------------------- */

/* The program may free its type while the operation is under way. (A duplicate
 * would call the program's copy functions of attributes.) */
static int keep_type(MPI_Datatype type, MPI_Datatype *kept)
{
    int rc = aspx_coll_behind.MPI_Type_contiguous(1, type, kept);

    return rc == MPI_SUCCESS ? aspx_coll_behind.MPI_Type_commit(kept) : rc;
}

static int note_target(struct aspx_coll_posted *posted,
                       const struct aspx_coll_call *call)
{
    const struct aspx_posts *posts = &posted->context->posts;
    const struct asp_coll_form *form = &asp_coll_forms[call->op];

    posted->to.writes = asp_coll_takes(form,
                                       (uint32_t) call->root == posts->rank) &&
                        call->recv != MPI_IN_PLACE;
    if (!posted->to.writes)
        return MPI_SUCCESS;
    posted->to.data = call->recv;
    posted->to.type = call->recv_type;
    posted->to.count = call->nrecv * (MPI_Count) asp_coll_count_blocks(
                                         form->out, posts->ranks);
    posted->to.is_plain = aspx_handle_basic_size(call->recv_type) > 0;
    return posted->to.is_plain ? MPI_SUCCESS
                               : keep_type(call->recv_type, &posted->to.type);
}

/* Data with gaps: what MPI_IN_PLACE leaves where it is, is unpacked too. */
static int take_with_gaps(struct aspx_coll_posted *posted)
{
    struct aspx_posts *posts = &posted->context->posts;
    MPI_Count size = 0;
    void *bytes;
    int rc = MPI_SUCCESS;

    aspx_coll_behind.MPI_Type_size_c(posted->to.type, &size);
    size *= posted->to.count;
    bytes = malloc((size_t) size + 1);
    if (!bytes)
        return MPI_ERR_NO_MEM;
    if (posted->post.keeps_own)
        rc = aspx_coll_pack(posted->to.data, posted->to.count, posted->to.type,
                            bytes, size, MPI_COMM_SELF);
    aspx_post_take(posts, &posted->post, bytes);
    if (rc == MPI_SUCCESS && posted->post.rc == MPI_SUCCESS)
        rc = aspx_coll_unpack(bytes, size, posted->to.data, posted->to.count,
                              posted->to.type, MPI_COMM_SELF);
    free(bytes);
    return rc;
}

static void finish(struct aspx_coll_posted *posted)
{
    struct aspx_posts *posts = &posted->context->posts;
    int rc = MPI_SUCCESS;

    if (posted->to.writes && !posted->to.is_plain)
        rc = take_with_gaps(posted);
    else
        aspx_post_take(posts, &posted->post, posted->to.data);
    if (posted->post.rc == MPI_SUCCESS)
        posted->post.rc = rc;
    aspx_post_end(posts, &posted->post);
    if (posted->to.writes && !posted->to.is_plain)
        aspx_coll_behind.MPI_Type_free(&posted->to.type);
    aspx_coll_request_end(posted);
}

static _Noreturn void give_up_broken(const struct aspx_coll_context *context)
{
    aspx_coll_say_broken(context);
    aspx_coll_behind.MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    abort();
}

/* The lock is held. */
static void step(struct aspx_coll_context *context)
{
    struct aspx_posts *posts = &context->posts;
    struct aspx_post *post, *next;

    aspx_coll_look(context);
    if (aspx_coll_is_broken(context))
        give_up_broken(context);
    for (post = posts->first; post; post = next) {
        next = post->next;
        if (aspx_post_misses(posts, post) == posts->mailbox.participants)
            finish((struct aspx_coll_posted *) (void *) post);
    }
}

void aspx_coll_posted_step(struct aspx_coll_context *context)
{
    pthread_mutex_lock(&context->lock);
    step(context);
    pthread_mutex_unlock(&context->lock);
}

/* ---- posted ------------------------------------------------------------------- */

static struct aspx_mailbox_descriptor descriptor_of(
    const struct aspx_coll_call *call, const struct asp_tune_args *args)
{
    bool reduces = args->reduction != ASP_TUNE_NO_REDUCTION;

    return (struct aspx_mailbox_descriptor){
        .bytes = args->bytes,
        .op = (uint32_t) call->op,
        .root = (uint32_t) call->root,
        .reduction = reduces ? call->reduction : 0,
        .type = reduces ? call->recv_type : 0,
        .element_size = (uint32_t) aspx_coll_element_size(call, args),
    };
}

/* The root of a scatter says it of OUT. */
static bool keeps_own(const struct aspx_coll_call *call)
{
    return call->recv == MPI_IN_PLACE ||
           (call->send == MPI_IN_PLACE &&
            asp_coll_joins(&asp_coll_forms[call->op]));
}

/* The others have posted it, or will: without this rank's part they would wait
 * for ever, or take its next one for it. */
static _Noreturn void give_up(int rc)
{
    char why[MPI_MAX_ERROR_STRING] = "";
    const char *cause = "no memory", *line;
    int bytes;

    if (rc != MPI_ERR_NO_MEM) { /* MPI says the cause last */
        aspx_coll_behind.MPI_Error_string(rc, why, &bytes);
        line = strrchr(why, '\n');
        cause = line ? line + 1 : why;
    }
    aspx_log(ASPX_LOG_ERROR,
             "a non-blocking collective, which the other ranks wait for, "
             "cannot be posted (%.200s): the job ends; run with coll=off",
             cause);
    aspx_coll_behind.MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    abort();
}

static void count(const struct aspx_coll_context *context)
{
    atomic_fetch_add_explicit(context->by_ghosts
                                  ? &aspx_coll_posted_counts.by_ghosts
                                  : &aspx_coll_posted_counts.shared_memory,
                              1, memory_order_relaxed);
}

static int begin(struct aspx_coll_posted *posted,
                 const struct aspx_coll_call *call)
{
    struct aspx_coll_context *context = posted->context;
    struct send_view send_view = send_view_of(context, call);
    bool helped;
    int rc;

    pthread_mutex_lock(&context->lock);
    rc = aspx_post_begin(&context->posts, &posted->post, fill, &send_view);
    if (rc == 0)
        step(context);
    helped = aspx_posts_are_pending(&context->posts) ||
             aspx_posts_may_fill(&context->posts);
    pthread_mutex_unlock(&context->lock);
    if (rc != 0)
        return MPI_ERR_NO_MEM;
    if (helped)
        aspx_coll_publish_later(context);
    if (context->by_ghosts)
        aspx_ghosts->ring();
    count(context);
    return MPI_SUCCESS;
}

static void post(struct aspx_coll_context *context,
                 const struct aspx_coll_call *call,
                 const struct aspx_mailbox_descriptor *descriptor,
                 MPI_Request *request)
{
    struct aspx_coll_posted *posted = calloc(1, sizeof(*posted));
    int rc;

    if (!posted)
        give_up(MPI_ERR_NO_MEM);
    atomic_fetch_add(&context->holders, 1);
    posted->context = context;
    posted->post.descriptor = *descriptor;
    posted->post.keeps_own = keeps_own(call);
    rc = note_target(posted, call);
    posted->request = aspx_coll_request_make(posted);
    if (rc == MPI_SUCCESS)
        rc = posted->request ? begin(posted, call) : MPI_ERR_NO_MEM;
    if (rc != MPI_SUCCESS)
        give_up(rc);
    *request = posted->request->handle;
}

static void trace(struct aspx_coll_comm *comm,
                  const struct aspx_coll_call *call,
                  const struct asp_tune_args *args, const char *by)
{
    if (comm->told)
        aspx_coll_trace_posted(comm, call->op, args, by);
}

/* Fills in *what_p where it can be carried out by the context; else false. */
static bool can_post(struct aspx_coll_comm *comm,
                     const struct aspx_coll_call *call,
                     struct aspx_mailbox_descriptor *what_p)
{
    struct asp_tune_args args;

    if (!comm->context || !aspx_coll_is_eligible(comm, call, &args)) {
        trace(comm, call, NULL,
              comm->context ? "MPI: its arguments are left to that"
                            : "MPI: its ranks share no mailbox, or not yet");
        return false;
    }
    *what_p = descriptor_of(call, &args);
    if (!aspx_posts_can(&comm->context->posts, what_p)) {
        trace(comm, call, &args, "MPI: too large, or of several nodes");
        return false;
    }
    trace(comm, call, &args,
          comm->context->by_ghosts ? "ghosts" : "memory of the node");
    return true;
}

int aspx_coll_post(const struct aspx_coll_call *call, MPI_Request *request,
                   int (*mpi)(const struct aspx_coll_call *call,
                              MPI_Request *request))
{
    struct aspx_coll_comm *comm = aspx_coll_active && aspx_coll_context_wanted()
                                      ? aspx_coll_comm_of(call->comm)
                                      : NULL;
    struct aspx_mailbox_descriptor descriptor;
    struct aspx_coll_call masked;

    if (!comm || comm->state == ASPX_COLL_COMM_LEFT_TO_MPI)
        return mpi(call, request);
    if (comm->posts++ == 0) /* the next blocking call has more to do */
        aspx_straight_forget(comm->comm);
    comm->calls++;
    if (comm->state == ASPX_COLL_COMM_INACTIVE)
        return aspx_coll_comm_returned(call->comm, mpi(call, request));
    call = aspx_coll_significant(comm, call, &masked);
    if (!request || !can_post(comm, call, &descriptor))
        return mpi(call, request);
    post(comm->context, call, &descriptor, request);
    return MPI_SUCCESS;
}
