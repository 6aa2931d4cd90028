/* SPDX-License-Identifier: BSD-3-Clause */
/* Names in /dev/shm that a killed rank has left: an object of area.c has its
 * name only while the others of the node open it, and its maker holds a lock of
 * it so long. The kernel takes the lock away with the process. */
#ifndef ASPEN_RUNTIME_COLL_NODE_STALE_H
#define ASPEN_RUNTIME_COLL_NODE_STALE_H

enum { ASPX_STALE_S = 60 }; /* a younger one may be about to be locked */

/* This process has the object open and its name is still there. */
void aspx_node_stale_hold(int fd);

/* Take away what is older, nobody's, and of this user. */
void aspx_node_stale_clean(void);

#endif
