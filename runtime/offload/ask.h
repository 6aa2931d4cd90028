/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program's threads ask the offload thread about requests that are not
 * done. The answer is in their done flags. Requests that are null, inactive or
 * caller-progressed are left alone.
 *
 * Threads: any; a request, of one at a time. In the offload thread these only
 * make progress: it tests by itself what it waits for. */
#ifndef ASPEN_RUNTIME_OFFLOAD_ASK_H
#define ASPEN_RUNTIME_OFFLOAD_ASK_H

#include <mpi.h>
#include <stdbool.h>

enum aspx_ask {
    ASPX_ASK_EACH,
    ASPX_ASK_UNTIL_ONE_IS_LEFT, /* the others, which come later, do not matter
                                   then */
};

/* Has the thread looked at all requests since it carried out what was posted by
 * now? Then what flags that are read after this say is no news. */
bool aspx_ask_is_fresh(void);

/* Before a Test says no: have the thread carry out all that was posted by now,
 * and then look at these, unless it has.
 *   fresh  aspx_ask_is_fresh(), or false
 * Returns whether the flags must be read again. */
bool aspx_ask_again(bool fresh, int count, const MPI_Request requests[],
                    enum aspx_ask how);

/* For a Wait: have the thread look at these, and often from now on, if one of
 * them is old (request_pool.h), or, unless ASPX_ASK_EACH, the first. */
void aspx_ask_for_old(int count, const MPI_Request requests[],
                      enum aspx_ask how);

#endif
