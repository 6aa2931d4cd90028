/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of forms. */
#include "common/coll/schedule/forms.h"

#define NO  ASP_COLL_NO_BLOCK
#define ONE ASP_COLL_ONE_BLOCK
#define ALL ASP_COLL_ALL_BLOCKS
/* clang-format off */
#define FORM(OP, ROOT, IN, OUT, COUNTS, REDUCES, PREFIX, PLACE)                \
    [ASP_COLL_##OP] = {ASP_COLL_##ROOT, IN, OUT, ASP_COLL_##COUNTS, REDUCES,   \
                       PREFIX, ASP_COLL_##PLACE##_IN_PLACE}

const struct asp_coll_form asp_coll_forms[ASP_COLL_OPS] = {
    /*   operation             root        in   out  counts      reduces prefix in place */
    FORM(BARRIER,              NO_ROOT,    NO,  NO,  EQUAL,      false,  false, NEVER),
    FORM(BCAST,                ROOT_SENDS, NO,  ONE, EQUAL,      false,  false, NEVER),
    FORM(REDUCE,               ROOT_GETS,  ONE, ONE, EQUAL,      true,   false, ROOT),
    FORM(SCATTER,              ROOT_SENDS, ALL, ONE, EQUAL,      false,  false, ROOT),
    FORM(GATHER,               ROOT_GETS,  ONE, ALL, EQUAL,      false,  false, ROOT),
    FORM(ALLGATHER,            NO_ROOT,    ONE, ALL, EQUAL,      false,  false, ALL),
    FORM(ALLTOALL,             NO_ROOT,    ALL, ALL, EQUAL,      false,  false, ALL),
    FORM(ALLREDUCE,            NO_ROOT,    ONE, ONE, EQUAL,      true,   false, ALL),
    FORM(REDUCE_SCATTER_BLOCK, NO_ROOT,    ALL, ONE, EQUAL,      true,   false, ALL),
    FORM(REDUCE_SCATTER,       NO_ROOT,    ALL, ONE, COUNTS_ALL, true,   false, ALL),
    FORM(SCAN,                 NO_ROOT,    ONE, ONE, EQUAL,      true,   true,  ALL),
    FORM(EXSCAN,               NO_ROOT,    ONE, ONE, EQUAL,      true,   true,  ALL),
    FORM(SCATTERV,             ROOT_SENDS, ALL, ONE, COUNTS_OWN, false,  false, ROOT),
    FORM(GATHERV,              ROOT_GETS,  ONE, ALL, COUNTS_OWN, false,  false, ROOT),
    FORM(ALLGATHERV,           NO_ROOT,    ONE, ALL, COUNTS_ALL, false,  false, ALL),
    FORM(ALLTOALLV,            NO_ROOT,    ALL, ALL, COUNTS_OWN, false,  false, ALL),
};
/* clang-format on */
