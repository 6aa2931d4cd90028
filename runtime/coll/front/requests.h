/* SPDX-License-Identifier: BSD-3-Clause */
/* The requests of posted collectives (posted/request.h). */
#ifndef ASPEN_RUNTIME_COLL_FRONT_REQUESTS_H
#define ASPEN_RUNTIME_COLL_FRONT_REQUESTS_H

#include "posted.h"

/* A request for it, active; NULL: no memory. */
struct aspx_own_request *aspx_coll_request_make(
    struct aspx_coll_posted *posted);

/* It has ended: say how. The context is locked. */
void aspx_coll_request_end(struct aspx_coll_posted *posted);

#endif
