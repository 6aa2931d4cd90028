/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a record behind its head. Each takes what the record has of it:
 * a part that is not there is no mistake. Returns 0, or -1 with err. */
#ifndef ASPEN_TOOLS_RECORD_PARTS_H
#define ASPEN_TOOLS_RECORD_PARTS_H

#include "record.h"

int aspt_part_tasks(struct aspt_record *record, const char *file,
                    struct asp_err *err);
int aspt_part_calls(struct aspt_record *record, const char *file,
                    struct asp_err *err);
int aspt_part_windows(struct aspt_record *record, const char *file,
                      struct asp_err *err);
int aspt_part_helpers(struct aspt_record *record, const char *file,
                      struct asp_err *err);

int aspt_part_messages(struct aspt_record *record, const char *file,
                       struct asp_err *err);

/* tools/record/time.c */
int aspt_part_time(struct aspt_record *record, const char *file,
                   struct asp_err *err);
int aspt_part_busy(struct aspt_record *record, const char *file,
                   struct asp_err *err);
int aspt_part_scaling(struct aspt_record *record, const char *file,
                      struct asp_err *err);
int aspt_part_adaptation(struct aspt_record *record, const char *file,
                         struct asp_err *err);

/* tools/record/collectives.c */
int aspt_part_collectives(struct aspt_record *record, const char *file,
                          struct asp_err *err);

#endif
