/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread for what a rank owes to others while it is in a call of MPI in which
 * nothing of ours runs, such as MPI_Recv, or computes. It lives only as long as
 * one of these holds, and calls no MPI:
 *
 *   something was posted that had no room     publishes it when there is some
 *   what the rank has posted and not passed   when anyone has no room, passes
 *   may fill a region (operation.h)           and copies what came
 *
 * So others never wait for a rank that has posted what it had to, and the limit
 * of what may be under way is memory alone. */
#ifndef ASPEN_RUNTIME_COLL_NONBLOCKING_PUBLISHER_H
#define ASPEN_RUNTIME_COLL_NONBLOCKING_PUBLISHER_H

#include "context.h"

/* aspx_posts_look(), which also publishes what there is room for now: ghosts
 * are told. The lock is held. */
void aspx_coll_look(struct aspx_coll_context *context);

/* After a post: start the thread where it is needed. The lock is not held. */
void aspx_coll_publish_later(struct aspx_coll_context *context);

/* Is the memory of its mailbox not as it was written? The program has stored
 * there, or the ghost has found that it has, and nothing more will come. The
 * lock is held. And say so. */
bool aspx_coll_is_broken(const struct aspx_coll_context *context);
void aspx_coll_say_broken(const struct aspx_coll_context *context);

#endif
