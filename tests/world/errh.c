/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers: whom they are called for, and who inherits them. */
#include "say.h"

static void first(MPI_Comm *comm, int *code, ...)
{
    say("first handler: %s, class %d", comm_word(*comm), error_class(*code));
}

static void second(MPI_Comm *comm, int *code, ...)
{
    say("second handler: %s, class %d", comm_word(*comm), error_class(*code));
}

/* Fail on a communicator. */
static void fail(const char *what, MPI_Comm comm)
{
    int code;

    say("failing on %s", what);
    code = MPI_Send(&code, 1, MPI_INT, -77, 0, comm);
    say("%s: class %d", what, error_class(code));
}

static int refuse(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void) type;
    (void) keyval;
    (void) value;
    (void) extra;
    return MPI_ERR_OTHER;
}

/* An error of a call that has no communicator. */
static void fail_without_comm(void)
{
    MPI_Datatype type;
    int keyval, code;

    MPI_Type_dup(MPI_INT, &type);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, refuse, &keyval, NULL);
    MPI_Type_set_attr(type, keyval, NULL);
    code = MPI_Type_delete_attr(type, keyval);
    say("without communicator: class %d", error_class(code));
}

static void tell_handler(const char *what, MPI_Comm comm, MPI_Errhandler mine)
{
    MPI_Errhandler now;

    MPI_Comm_get_errhandler(comm, &now);
    say("handler of %s: %s", what,
        now == mine                   ? "mine"
        : now == MPI_ERRORS_RETURN    ? "return"
        : now == MPI_ERRORS_ARE_FATAL ? "fatal"
                                      : "another");
    if (now == mine)
        MPI_Errhandler_free(&now);
}

int main(int argc, char **argv)
{
    MPI_Errhandler one, two;
    MPI_Comm before, dup, half, cart, late;
    MPI_Request request;
    int size, period = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &say_rank);
    tell_handler("world", MPI_COMM_WORLD, MPI_ERRHANDLER_NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &before);
    MPI_Comm_create_errhandler(first, &one);
    MPI_Comm_create_errhandler(second, &two);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, one);
    tell_handler("world", MPI_COMM_WORLD, one);
    fail("world", MPI_COMM_WORLD);
    fail("dup made before", before);
    fail_without_comm();
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_split(MPI_COMM_WORLD, say_rank % 2, 0, &half);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &period, 0, &cart);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, two);
    MPI_Comm_idup(MPI_COMM_WORLD, &late, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    tell_handler("dup", dup, one);
    tell_handler("idup", late, two);
    fail("world", MPI_COMM_WORLD);
    fail("dup made before", before);
    fail("dup", dup);
    fail("half", half);
    fail("cart", cart);
    fail("idup", late);
    MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_TAG);
    MPI_Comm_call_errhandler(dup, MPI_ERR_TAG);
    MPI_Errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    tell_handler("world", MPI_COMM_WORLD, two);
    fail("world", MPI_COMM_WORLD);
    MPI_Comm_free(&before);
    MPI_Comm_free(&dup);
    MPI_Comm_free(&half);
    MPI_Comm_free(&cart);
    MPI_Comm_free(&late);
    MPI_Errhandler_free(&one);
    MPI_Errhandler_free(&two);
    MPI_Finalize();
    return 0;
}
