/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of a table's text that its reader and its writer have in common;
 * private to common/tune. */
#ifndef ASPEN_COMMON_TUNE_TABLE_WORDS_H
#define ASPEN_COMMON_TUNE_TABLE_WORDS_H

#include "table.h"

static const char magic[] = "aspen-coll-table 1", mark_end[] = "end";
static const char link_inside[] = "link inside",
                  link_between[] = "link between", word_core[] = "core";
static const char marks[] = "._:,@+/-()";

static const char *const sources[ASP_TUNE_SOURCES] = {"sweep", "search",
                                                      "model", "hand"};

/* The facts of the machine that are texts. */
static const struct machine_fact {
    const char *name;
    size_t offset, size; /* in struct asp_tune_machine */
} facts[] = {
    {"mpi", offsetof(struct asp_tune_machine, mpi), ASP_TUNE_FACT_MAX},
    {"build", offsetof(struct asp_tune_machine, build), ASP_BUILD_MAX},
    {"ucx", offsetof(struct asp_tune_machine, ucx), ASP_TUNE_FACT_MAX},
    {"fabric", offsetof(struct asp_tune_machine, fabric), ASP_TUNE_FACT_MAX},
};

enum { FACTS = sizeof(facts) / sizeof(facts[0]) };

#endif
