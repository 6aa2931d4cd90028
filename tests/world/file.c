/* SPDX-License-Identifier: BSD-3-Clause */
/* A file of MPI_COMM_WORLD: collective and shared-pointer access, and what is
 * wrong with non-blocking calls.
 *
 * usage: file PATH */
#include "say.h"

static void say_posted(const char *what, int code, MPI_Request *request)
{
    say("%s: class %d%s", what, error_class(code),
        *request == MPI_REQUEST_NULL ? "" : ", a request");
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

/* Files return their errors; these come from the call itself. */
static void post_wrongly(MPI_File file, const char *path)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int cell = 0, code;
    MPI_File other;

    code = MPI_File_iread_at(file, -1, &cell, 1, MPI_INT, &request);
    say_posted("read before the file", code, &request);
    code = MPI_File_iwrite_at_all(file, -1, &cell, 1, MPI_INT, &request);
    say_posted("write before the file, all", code, &request);
    code = MPI_File_iwrite(file, &cell, 1, MPI_CHAR, &request);
    say_posted("a part of an etype", code, &request);
    code = MPI_File_iread_at(file, 0, &cell, 1, MPI_INT, &request);
    say_posted("read", code, &request);
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &other);
    code = MPI_File_iwrite(other, &cell, 1, MPI_INT, &request);
    say_posted("write what is read only", code, &request);
    MPI_File_close(&other);
}

int main(int argc, char **argv)
{
    int size, rank, cell[2], sum = 0, amode;
    MPI_Offset bytes;
    MPI_Group group;
    MPI_File file;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &say_rank);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR,
                  MPI_INFO_NULL, &file);
    MPI_File_get_group(file, &group);
    MPI_Group_size(group, &size);
    MPI_Group_rank(group, &rank);
    MPI_Group_free(&group);
    MPI_File_get_amode(file, &amode);
    say("file of %d, rank %d, mode %d", size, rank, amode);
    cell[0] = cell[1] = 100 + say_rank;
    MPI_File_set_size(file, 0);
    MPI_File_write_at_all(file, (MPI_Offset) (say_rank * (int) sizeof(cell)),
                          cell, 2, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_get_size(file, &bytes);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_read_at_all(file, 2 * ((say_rank + 1) % size), cell, 2, MPI_INT,
                         MPI_STATUS_IGNORE);
    say("%d bytes, next wrote %d %d", (int) bytes, cell[0], cell[1]);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_read_ordered(file, cell, 2, MPI_INT, MPI_STATUS_IGNORE);
    MPI_Allreduce(cell, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    say("in order %d, sum %d", cell[0], sum);
    post_wrongly(file, argv[1]);
    MPI_File_close(&file);
    amode = MPI_File_open(MPI_COMM_WORLD, "/nonexistent/file", MPI_MODE_RDONLY,
                          MPI_INFO_NULL, &file);
    /* Not from all ranks the same in MPICH 5.0: one may hear of another's. */
    amode = error_class(amode);
    say("no such file: %s",
        amode == MPI_ERR_NO_SUCH_FILE || amode == MPI_ERR_OTHER ? "said"
                                                                : "not said");
    MPI_Finalize();
    return 0;
}
