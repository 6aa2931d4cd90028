/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of MPI_Alloc_mem is there until the process ends: as a buffer that is
 * still attached when MPI_Finalize looks at it, and to read after that.
 * usage: afterwards */
#include "rma.h"

enum { BYTES = 1 << 20 };

int main(int argc, char **argv)
{
    int *value, message = 1;
    void *buffer;

    rma_begin(&argc, &argv);
    MPI_Alloc_mem(sizeof(*value), MPI_INFO_NULL, &value);
    MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &buffer);
    MPI_Buffer_attach(buffer, BYTES);
    *value = 7;
    if (rma_rank == 0)
        MPI_Bsend(&message, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    if (rma_rank == 1)
        MPI_Recv(&message, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    message = rma_end("afterwards");
    return *value == 7 ? message : EXIT_FAILURE;
}
