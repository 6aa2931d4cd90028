/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of coll_native share. */
#ifndef ASPEN_TESTS_COLL_NATIVE_TEST_H
#define ASPEN_TESTS_COLL_NATIVE_TEST_H

#include "native_calls.h"

/* How many messages this rank sends in a way; -1: not known. native_messages.c
 */
int messages_of(const struct shape *shape,
                const struct aspx_native_config *config,
                const struct asp_tune_args *args);

/* End the job unless it holds. */
void must(int holds, const char *what);

/* Writes of others, failed calls, fallbacks, unknown releases. native_rules.c
 */
void rules(int release);

/* Configurations of a broadcast of 1 KiB among 8 ranks. native_rules.c */
int count_configs(void);

#endif
