/* SPDX-License-Identifier: BSD-3-Clause */
/* What is set before the ranks join, for all that post. */
#include "config.h"

#include "posted.h"

#include "ghosts.h"

const struct aspx_ghosts *aspx_ghosts;

bool aspx_posted_shares_cpus;

const struct aspx_real *aspx_posted_polls;
