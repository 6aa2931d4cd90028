/* SPDX-License-Identifier: BSD-3-Clause */
/* What was chosen for collectives: counted when communicators end, told in the
 * record, and saved as a table. */
#ifndef ASPEN_RUNTIME_COLL_SELECT_REPORT_H
#define ASPEN_RUNTIME_COLL_SELECT_REPORT_H

#include "runtime/coll/comm/state.h"

#include "runtime/record/frame.h"

extern const struct aspx_section aspx_coll_section;

/* A tuned communicator ends: keep what its searches found. */
void aspx_coll_count_comm(const struct aspx_coll_comm *comm);

/* In rank 0: write coll.save, the table that was read with what was found in
 * its place. A file that cannot be written is said, in one line. */
void aspx_coll_save(void);

#endif
