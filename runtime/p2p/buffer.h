/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Bsend: the program has its memory back when the call returns. The message
 * is in memory of ours; what is counted is that it would have found room in the
 * buffer that the program has attached. */
#ifndef ASPEN_RUNTIME_P2P_BUFFER_H
#define ASPEN_RUNTIME_P2P_BUFFER_H

#include "call.h"

int aspx_p2p_send_buffered(const struct aspx_p2p_call *call,
                           const struct aspx_p2p_post *post);
int aspx_p2p_send_buffered_later(const struct aspx_p2p_call *call,
                                 const struct aspx_p2p_post *post,
                                 MPI_Request *handle);

/* Wait until what MPI_Bsend was given has been sent, and what had no room is
 * posted, as MPI_Buffer_detach and MPI_Finalize do (MPI 4.0, 3.6, 11.2.2). */
void aspx_p2p_flush(void);

/* MPI_Start of what MPI_Bsend_init has made. */
int aspx_p2p_start_buffered(struct aspx_own_request *request);

#endif
