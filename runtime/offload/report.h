/* SPDX-License-Identifier: BSD-3-Clause */
/* The offload threads in the record of a job. */
#ifndef ASPEN_RUNTIME_OFFLOAD_REPORT_H
#define ASPEN_RUNTIME_OFFLOAD_REPORT_H

#include "runtime/record/frame.h"

/* In mode offload its first section, with ghosts another one. */
extern const struct aspx_section aspx_offload_section;

#endif
