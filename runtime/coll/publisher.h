/* SPDX-License-Identifier: BSD-3-Clause */
/* Publishes what a mailbox has no room for. A rank that has posted more than
 * the others have taken may go on into a call of MPI in which nothing of ours
 * runs, such as MPI_Recv, while they wait for what it has posted; so a thread
 * does it, which lives as long as there is something. It calls no MPI. */
#ifndef ASPEN_RUNTIME_COLL_PUBLISHER_H
#define ASPEN_RUNTIME_COLL_PUBLISHER_H

#include "space.h"

/* aspx_posts_look(), which also publishes what there is room for now: ghosts
 * are told. The lock is held. */
void aspx_coll_look(struct aspx_coll_space *space);

/* Have what is still pending published when there is room. The lock is not
 * held. */
void aspx_coll_publish_later(struct aspx_coll_space *space);

#endif
