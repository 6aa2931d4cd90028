/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASPEN_RUNTIME_COLL_FRONT_NONBLOCKING_H
#define ASPEN_RUNTIME_COLL_FRONT_NONBLOCKING_H

struct aspx_real;

/* Put the non-blocking collectives, and the calls on their requests, in front
 * of those of a table. */
void aspx_coll_nonblocking_in_front(struct aspx_real *table);

#endif
