/* SPDX-License-Identifier: BSD-3-Clause */
/* `aspen tune`: measure the configurations of collectives before programs need
 * them. */
#ifndef ASPEN_TOOLS_TUNE_TUNE_H
#define ASPEN_TOOLS_TUNE_TUNE_H

int aspt_tune(int argc, char **argv);

#endif
