/* SPDX-License-Identifier: BSD-3-Clause */
/* C and Fortran share the attributes of MPI_COMM_WORLD. */
#include "say.h"

#include <stdint.h>

void fortran_part(int keyval_c, int *keyval_f);

static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void) keyval;
    (void) extra;
    say("C delete from %s, value %d", comm_word(comm), (int) (intptr_t) value);
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int keyval_c, keyval_f, flag;
    MPI_Aint *value;
    MPI_Comm dup;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &say_rank);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval_c, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval_c, (void *) (intptr_t) 33);
    fortran_part(keyval_c, &keyval_f);
    MPI_Comm_get_attr(MPI_COMM_WORLD, keyval_f, &value, &flag);
    say("C sees %d %d", flag, flag ? (int) *value : -1);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_get_attr(dup, keyval_f, &value, &flag);
    say("C sees the copy %d %d", flag, flag ? (int) *value : -1);
    MPI_Comm_get_attr(dup, keyval_c, &value, &flag);
    say("C's own was not copied: %d", flag);
    MPI_Comm_free(&dup);
    MPI_Finalize();
    return 0;
}
