/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress threads in the record of a job. */
#ifndef ASPEN_RUNTIME_PROGRESS_REPORT_H
#define ASPEN_RUNTIME_PROGRESS_REPORT_H

#include "runtime/record/frame.h"

/* In mode thread its first section. With ghosts another one, where ranks may
 * have had such a thread for a while (on_demand.h). */
extern const struct aspx_section aspx_progress_section;

#endif
