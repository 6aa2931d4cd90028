/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators, groups and topologies made from MPI_COMM_WORLD. */
#include "say.h"

#include <stdlib.h>

static void tell_comm(const char *what, MPI_Comm comm)
{
    int size, rank, sum, same;
    MPI_Group group, world;

    if (comm == MPI_COMM_NULL) {
        say("%s is null", what);
        return;
    }
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    MPI_Allreduce(&say_rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Comm_compare(comm, MPI_COMM_WORLD, &same);
    say("%s: rank %d of %d, sum %d, %s to world", what, rank, size, sum,
        same == MPI_IDENT       ? "identical"
        : same == MPI_CONGRUENT ? "congruent"
        : same == MPI_SIMILAR   ? "similar"
                                : "unequal");
    MPI_Comm_group(comm, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(group, 1, &rank, world, &sum);
    MPI_Group_compare(group, world, &same);
    say("%s: I am world rank %d, groups %d", what, sum, same == MPI_UNEQUAL);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

static void test_dups(void)
{
    MPI_Comm comm;
    MPI_Request request;
    MPI_Group group;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    tell_comm("dup", comm);
    MPI_Comm_free(&comm);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm);
    tell_comm("dup_with_info", comm);
    MPI_Comm_free(&comm);
    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    tell_comm("idup", comm);
    MPI_Comm_disconnect(&comm);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
    tell_comm("create", comm);
    MPI_Comm_free(&comm);
    MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &comm);
    tell_comm("create_group", comm);
    MPI_Comm_free(&comm);
    MPI_Comm_create_from_group(group, "test", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                               &comm);
    tell_comm("create_from_group", comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
}

static void test_splits(int size)
{
    MPI_Comm comm, inter, merged;
    int half = say_rank < size / 2, remote;

    MPI_Comm_split(MPI_COMM_WORLD, half, -say_rank, &comm);
    tell_comm("half", comm);
    MPI_Intercomm_create(comm, 0, MPI_COMM_WORLD,
                         half ? size - 1 : size / 2 - 1, 3, &inter);
    MPI_Comm_remote_size(inter, &remote);
    say("intercomm with %d", remote);
    MPI_Intercomm_merge(inter, half, &merged);
    tell_comm("merged", merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&comm);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &comm);
    tell_comm("shared", comm);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, say_rank == 0 ? 1 : MPI_UNDEFINED, 0, &comm);
    tell_comm("undefined", comm);
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
}

static void test_topologies(int size)
{
    int dims[1] = {0}, periods[1] = {1}, from, to, newrank, type;
    int *index = malloc((size_t) size * sizeof(*index));
    int *edges = malloc((size_t) size * sizeof(*edges));
    MPI_Comm comm;

    MPI_Dims_create(size, 1, dims);
    MPI_Cart_map(MPI_COMM_WORLD, 1, dims, periods, &newrank);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comm);
    MPI_Cart_shift(comm, 0, 1, &from, &to);
    say("cart %d, shift %d %d", newrank, from, to);
    tell_comm("cart", comm);
    MPI_Comm_free(&comm);
    for (int i = 0; i < size; i++) {
        index[i] = i + 1;
        edges[i] = (i + 1) % size;
    }
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm);
    MPI_Topo_test(comm, &type);
    MPI_Graph_neighbors(comm, say_rank, 1, &to);
    say("graph %d, next %d", type == MPI_GRAPH, to);
    MPI_Comm_free(&comm);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, MPI_UNWEIGHTED, 1,
                                   &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &comm);
    newrank = -1;
    MPI_Neighbor_allgather(&say_rank, 1, MPI_INT, &newrank, 1, MPI_INT, comm);
    say("neighbour %d", newrank);
    tell_comm("dist graph", comm);
    MPI_Comm_free(&comm);
    MPI_Topo_test(MPI_COMM_WORLD, &type);
    say("world has topology: %d", type != MPI_UNDEFINED);
    free(index);
    free(edges);
}

static void test_world(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm comm = MPI_COMM_WORLD, parent;
    MPI_Info info;
    int length, flag;

    MPI_Comm_get_name(comm, name, &length);
    MPI_Comm_test_inter(comm, &flag);
    MPI_Comm_get_parent(&parent);
    MPI_Comm_get_info(comm, &info);
    MPI_Info_free(&info);
    say("%s, inter %d, parent %s", name, flag, comm_word(parent));
    MPI_Comm_set_name(comm, "everyone");
    MPI_Comm_get_name(comm, name, &length);
    say("now %s; handle to Fortran and back %s", name,
        comm_word(MPI_Comm_f2c(MPI_Comm_c2f(comm))));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    flag = MPI_Comm_free(&comm);
    say("free: class %d, handle %s", error_class(flag), comm_word(comm));
    flag = MPI_Send(&flag, 1, MPI_INT, 12345, 0, MPI_COMM_WORLD);
    say("send to a rank that is not there: class %d", error_class(flag));
}

int main(int argc, char **argv)
{
    int size;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &say_rank);
    tell_comm("world", MPI_COMM_WORLD);
    test_dups();
    test_splits(size);
    test_topologies(size);
    test_world();
    MPI_Finalize();
    return 0;
}
