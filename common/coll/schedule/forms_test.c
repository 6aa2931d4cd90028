/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of forms against MPI 4.0, chapter 6: its bindings, word for word,
 * and what its sections say of arguments, as lists of names. */
#include "config.h"

#include "common/coll/schedule/forms.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* 6.3 to 6.11; types and "MPI_" left out. */
static const char bindings[] =
    "barrier(comm)\n"
    "bcast(buffer, count, datatype, root, comm)\n"
    "gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, "
    "comm)\n"
    "gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts[], displs[], "
    "recvtype, root, comm)\n"
    "scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, "
    "comm)\n"
    "scatterv(sendbuf, sendcounts[], displs[], sendtype, recvbuf, recvcount, "
    "recvtype, root, comm)\n"
    "allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, "
    "comm)\n"
    "allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts[], displs[], "
    "recvtype, comm)\n"
    "alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, "
    "comm)\n"
    "alltoallv(sendbuf, sendcounts[], sdispls[], sendtype, recvbuf, "
    "recvcounts[], rdispls[], recvtype, comm)\n"
    "reduce(sendbuf, recvbuf, count, datatype, op, root, comm)\n"
    "allreduce(sendbuf, recvbuf, count, datatype, op, comm)\n"
    "reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm)\n"
    "reduce_scatter(sendbuf, recvbuf, recvcounts[], datatype, op, comm)\n"
    "scan(sendbuf, recvbuf, count, datatype, op, comm)\n"
    "exscan(sendbuf, recvbuf, count, datatype, op, comm)\n";

/* Is the operation's name one of these words? */
static bool is_of(const char *words, enum asp_coll_op op)
{
    const char *name = asp_coll_op_name(op), *at = words;
    size_t n = strlen(name);

    for (; (at = strstr(at, name)) != NULL; at += n)
        if ((at == words || at[-1] == ' ') && strchr(" ", at[n]))
            return true;
    return false;
}

/* Has its binding such an argument? */
static bool has(enum asp_coll_op op, const char *argument)
{
    const char *name = asp_coll_op_name(op), *line = bindings, *end, *found;

    while (strncmp(line, name, strlen(name)) != 0 ||
           line[strlen(name)] != '(') {
        line = strchr(line, '\n');
        assert_non_null(line);
        line++;
    }
    end = strchr(line, '\n');
    found = strstr(line, argument);
    return found && found < end;
}

static void arguments(void **state)
{
    (void) state;
    for (enum asp_coll_op op = 0; op < ASP_COLL_OPS; op++) {
        const struct asp_coll_form *form = &asp_coll_forms[op];

        assert_int_equal(form->root != ASP_COLL_NO_ROOT, has(op, " root,"));
        assert_int_equal(form->reduces, has(op, " op,"));
        assert_int_equal(form->in != ASP_COLL_NO_BLOCK, has(op, "sendbuf"));
        assert_int_equal(form->out != ASP_COLL_NO_BLOCK,
                         has(op, "recvbuf") || has(op, "(buffer"));
        assert_int_equal(asp_coll_has_counts(op), has(op, "counts[]"));
    }
}

/* 6.2.2: all-to-one, one-to-all; "other" are those that are neither. */
static void classes(void **state)
{
    (void) state;
    for (enum asp_coll_op op = 0; op < ASP_COLL_OPS; op++) {
        const struct asp_coll_form *form = &asp_coll_forms[op];

        assert_int_equal(form->root == ASP_COLL_ROOT_GETS,
                         is_of("gather gatherv reduce", op));
        assert_int_equal(form->root == ASP_COLL_ROOT_SENDS,
                         is_of("bcast scatter scatterv", op));
        assert_int_equal(form->prefix != ASP_COLL_NO_PREFIX,
                         is_of("scan exscan", op));
        assert_int_equal(form->prefix == ASP_COLL_EXCLUSIVE,
                         is_of("exscan", op));
    }
}

/* "The i-th block of data": 6.5 to 6.8 and 6.10. Counts: "significant only at
 * root", or equal only pair by pair, as those of alltoallv. */
static void blocks(void **state)
{
    (void) state;
    for (enum asp_coll_op op = 0; op < ASP_COLL_OPS; op++) {
        const struct asp_coll_form *form = &asp_coll_forms[op];

        assert_int_equal(form->in == ASP_COLL_ALL_BLOCKS,
                         is_of("scatter scatterv alltoall alltoallv "
                               "reduce_scatter reduce_scatter_block",
                               op));
        assert_int_equal(form->out == ASP_COLL_ALL_BLOCKS,
                         is_of("gather gatherv allgather allgatherv alltoall "
                               "alltoallv",
                               op));
        assert_int_equal(form->counts == ASP_COLL_COUNTS_OWN,
                         is_of("gatherv scatterv alltoallv", op));
    }
}

/* "The in place option" of each section. */
static void in_place(void **state)
{
    (void) state;
    for (enum asp_coll_op op = 0; op < ASP_COLL_OPS; op++) {
        const struct asp_coll_form *form = &asp_coll_forms[op];

        assert_int_equal(form->in_place == ASP_COLL_NEVER_IN_PLACE,
                         is_of("barrier bcast", op));
        assert_int_equal(form->in_place == ASP_COLL_ROOT_IN_PLACE,
                         is_of("gather gatherv scatter scatterv reduce", op));
    }
}

/* Which arguments are "significant only at root", and what moves where. */
static void sides(void **state)
{
    (void) state;
    for (enum asp_coll_op op = 0; op < ASP_COLL_OPS; op++)
        for (int root = 0; root < 2; root++) {
            const struct asp_coll_form *form = &asp_coll_forms[op];
            bool sends = !is_of("barrier bcast", op) &&
                         (root || !is_of("scatter scatterv", op));
            bool writes = !is_of("barrier", op) &&
                          (root || !is_of("reduce gather gatherv", op));
            bool all = is_of("scatter scatterv alltoall alltoallv "
                             "reduce_scatter reduce_scatter_block",
                             op);
            bool brings = sends || (root && is_of("bcast", op));

            assert_int_equal(asp_coll_gives(form, root), sends);
            assert_int_equal(asp_coll_gets(form, root), writes);
            assert_int_equal(asp_coll_takes(form, root),
                             writes && !(root && is_of("bcast", op)));
            assert_int_equal(
                asp_coll_count_blocks(asp_coll_brings(form, root), 5),
                !brings ? 0
                : all   ? 5
                        : 1);
        }
}

static void kinds(void **state)
{
    (void) state;
    for (enum asp_coll_op op = 0; op < ASP_COLL_OPS; op++) {
        const struct asp_coll_form *form = &asp_coll_forms[op];
        bool vectors = is_of("bcast reduce allreduce scan exscan", op);

        assert_int_equal(asp_coll_exchanges(form),
                         is_of("alltoall alltoallv", op));
        assert_int_equal(asp_coll_joins(form),
                         is_of("gather gatherv allgather allgatherv", op));
        assert_int_equal(asp_coll_most_blocks(form, 5), is_of("barrier", op) ? 0
                                                        : vectors            ? 1
                                                                  : 5);
    }
}

static void names(void **state)
{
    enum asp_coll_op found;
    struct asp_err err;

    (void) state;
    for (enum asp_coll_op op = 0; op < ASP_COLL_OPS; op++) {
        assert_int_equal(asp_coll_op_parse(asp_coll_op_name(op), &found, &err),
                         0);
        assert_int_equal(found, op);
    }
    assert_int_equal(asp_coll_op_parse("alltoallw", &found, &err), -1);
    assert_int_equal(errno, EINVAL);
    assert_non_null(strstr(err.text, "barrier, bcast,"));
    assert_non_null(strstr(err.text, "alltoallv"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments), cmocka_unit_test(classes),
        cmocka_unit_test(blocks),    cmocka_unit_test(in_place),
        cmocka_unit_test(sides),     cmocka_unit_test(kinds),
        cmocka_unit_test(names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
