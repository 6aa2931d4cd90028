/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASPEN_RUNTIME_P2P_REPORT_H
#define ASPEN_RUNTIME_P2P_REPORT_H

#include "runtime/record/frame.h"

/* Messages that ghosts carry; left out where nobody asked for it. */
extern const struct aspx_section aspx_messages_section;

#endif
