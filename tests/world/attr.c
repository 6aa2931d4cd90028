/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes and the handles that their callbacks see, up to MPI_Finalize. */
#include "say.h"

#include <stdint.h>

/* Names of keyvals, as their extra state. */
static char W[] = "W", A[] = "A", S[] = "S", old[] = "old";

static int copy(MPI_Comm comm, int keyval, void *extra, void *value,
                void *copied, int *flag)
{
    (void) keyval;
    say("copy %s from %s, value %d", (char *) extra, comm_word(comm),
        (int) (intptr_t) value);
    *(void **) copied = (void *) ((intptr_t) value + 1);
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete (MPI_Comm comm, int keyval, void *value, void *extra)
{
    int rank = -1;

    (void) keyval;
    MPI_Comm_rank(comm, &rank);
    say("delete %s from %s, value %d, rank there %d", (char *) extra,
        comm_word(comm), (int) (intptr_t) value, rank);
    return MPI_SUCCESS;
}

static void tell_predefined(const char *name, int keyval)
{
    void *value = NULL;
    int flag = -1;

    MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &flag);
    if (flag)
        say("%s is %d", name, *(int *) value);
    else
        say("%s is not set", name);
}

static int old_style(void)
{
    int keyval, flag;
    void *value;

    MPI_Keyval_create(copy, delete, &keyval, old);
    MPI_Attr_put(MPI_COMM_WORLD, keyval, (void *) (intptr_t) 30);
    MPI_Attr_get(MPI_COMM_WORLD, keyval, &value, &flag);
    say("old attribute %d %d", flag, (int) (intptr_t) value);
    MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
    say("old tag_ub %d %d", flag, *(int *) value);
    MPI_Attr_delete(MPI_COMM_WORLD, keyval);
    return MPI_Keyval_free(&keyval);
}

int main(int argc, char **argv)
{
    int on_world, on_self, again, flag;
    MPI_Comm comm;
    void *value;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &say_rank);
    tell_predefined("tag_ub", MPI_TAG_UB);
    tell_predefined("host", MPI_HOST);
    tell_predefined("io", MPI_IO);
    tell_predefined("wtime_is_global", MPI_WTIME_IS_GLOBAL);
    tell_predefined("appnum", MPI_APPNUM);
    tell_predefined("lastusedcode", MPI_LASTUSEDCODE);
    tell_predefined("universe_size", MPI_UNIVERSE_SIZE);
    MPI_Comm_create_keyval(copy, delete, &on_world, W);
    MPI_Comm_create_keyval(copy, delete, &again, A);
    MPI_Comm_create_keyval(copy, delete, &on_self, S);
    MPI_Comm_set_attr(MPI_COMM_WORLD, on_world, (void *) (intptr_t) 10);
    MPI_Comm_set_attr(MPI_COMM_WORLD, on_world, (void *) (intptr_t) 11);
    MPI_Comm_set_attr(MPI_COMM_WORLD, again, (void *) (intptr_t) 12);
    MPI_Comm_set_attr(MPI_COMM_SELF, on_self, (void *) (intptr_t) 20);
    MPI_Comm_set_attr(MPI_COMM_SELF, on_world, (void *) (intptr_t) 21);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_get_attr(comm, on_world, &value, &flag);
    say("copied %d %d", flag, (int) (intptr_t) value);
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_free(&comm);
    say("old style ended with %d", old_style());
    MPI_Comm_free_keyval(&on_world);
    MPI_Comm_free_keyval(&on_self);
    MPI_Finalize();
    say("done");
    return 0;
}
