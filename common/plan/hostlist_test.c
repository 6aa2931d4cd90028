/* SPDX-License-Identifier: BSD-3-Clause */
/* Node lists as Slurm writes them, and what is refused. */
#include "hostlist.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The list, and its names with a blank between; NULL: refused. */
static const struct {
    const char *list;
    uint32_t nnodes;
    const char *names;
} rows[] = {
    {"n1", 1, "n1"},
    {"n1,n2", 2, "n1 n2"},
    {"n[1-3]", 3, "n1 n2 n3"},
    {"n[1-2,4]", 3, "n1 n2 n4"},
    {"n[08-11]", 4, "n08 n09 n10 n11"},
    {"a[1-2],login,b[7]", 4, "a1 a2 login b7"},
    {"r[1-2]n[1-2]", 4, "r1n1 r1n2 r2n1 r2n2"},
    {"gpu[1-2]-ib", 2, "gpu1-ib gpu2-ib"},
    {"n[1-3]", 2, NULL},
    {"n[1-3]", 4, NULL},
    {"", 1, NULL},
    {"n1,", 2, NULL},
    {"n[", 1, NULL},
    {"n[]", 1, NULL},
    {"n[1", 1, NULL},
    {"n[2-1]", 1, NULL},
    {"n[1-]", 1, NULL},
    {"n[1,]", 2, NULL},
    {"n[a]", 1, NULL},
    {"n[1-99999999999]", 3, NULL},
    {"n[1-999999999]", 3, NULL},
    {"n[1]]", 1, "n1]"},
    {"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 1,
     NULL},
    {"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx[1000]", 1,
     NULL},
};

static void test_rows(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct asp_layout_node nodes[8] = {{{0}, 0, NULL}};
        struct asp_err err = {0};
        char names[512] = "";
        int rc;

        rc = asp_hostlist_name(rows[i].list, nodes, rows[i].nnodes, &err);
        if (rows[i].names == NULL) {
            assert_int_equal(rc, -1);
            assert_int_equal(errno, EINVAL);
            assert_true(err.text[0] != '\0');
            continue;
        }
        assert_int_equal(rc, 0);
        for (uint32_t n = 0; n < rows[i].nnodes; n++) {
            strcat(names, n > 0 ? " " : "");
            strcat(names, nodes[n].name);
        }
        assert_string_equal(names, rows[i].names);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
