/* SPDX-License-Identifier: BSD-3-Clause */
/* The name of the place where tasks of a node meet (meet.h). Whoever reads
 * /proc knows the plain one before the tasks do, and could take it first. Then
 * the leader takes one that nobody can foresee, and the followers find it in
 * /proc/net/unix:
 *
 *    aspen-UID-SPACE-PARENT-START             plain
 *    aspen-UID-SPACE-PARENT-START-RANDOM      64 random bits
 *
 * Other users may have any number of sockets with names of this form: the
 * kernel tells whose each is, and those are passed over. */
#ifndef ASPEN_TOOLS_TASK_NAMES_H
#define ASPEN_TOOLS_TASK_NAMES_H

#include "common/base/err.h"

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

/* The plain name, of this process's parent; returns the length of the address.
 */
socklen_t aspt_names_plain(struct sockaddr_un *address);

/* Is the other end a process of this user? The kernel says it. */
bool aspt_names_is_ours(int fd);

/* The leader's listening socket. Returns it, or -1 with errno EADDRINUSE
 * (another task of these leads already), or that of socket(), bind() and
 * getrandom(). */
int aspt_names_listen(struct asp_err *err);

/* A follower's socket, connected to the leader, who may not be there yet.
 *   until_ms  by asp_now_ms()
 * Returns it, or -1 with errno ETIMEDOUT. */
int aspt_names_connect(long long until_ms, struct asp_err *err);

#endif
