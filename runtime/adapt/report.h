/* SPDX-License-Identifier: BSD-3-Clause */
/* Where and when redirection was off, in the record of a job. */
#ifndef ASPEN_RUNTIME_ADAPT_REPORT_H
#define ASPEN_RUNTIME_ADAPT_REPORT_H

#include "runtime/record/frame.h"

/* Left out where nothing can be switched. */
extern const struct aspx_section aspx_adaptation_section;

#endif
