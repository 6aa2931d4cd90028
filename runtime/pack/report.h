/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASPEN_RUNTIME_PACK_REPORT_H
#define ASPEN_RUNTIME_PACK_REPORT_H

#include "runtime/record/frame.h"

/* Messages of types with gaps; left out where there were none. */
extern const struct aspx_section aspx_typed_section;

#endif
