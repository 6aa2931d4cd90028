# SPDX-License-Identifier: BSD-3-Clause
"""What programs in Python do with MPI, each part with a result that is known.

usage: mpiexec -n N python3 -m mpi4py mpi4py_app.py [ROUNDS]

mpi4py asks for MPI_THREAD_MULTIPLE unless told otherwise, and so does this.
Rank 0 prints a line for each part, the same whatever helps; and one, "served:",
that says how long updates of a sleeping rank took. A wrong result ends the job.
"""
import sys
import threading
import time

import numpy as np
from mpi4py import MPI

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
SLEEP_S = 0.5
HEAD_START_S = 0.05  # until the target sleeps
THREADS = 3
world = MPI.COMM_WORLD
rank, size = world.rank, world.size


def same(got, wanted):
    if not np.array_equal(got, wanted):
        raise AssertionError(f"rank {rank}: {got!s:.200} instead of {wanted!s:.200}")


def collectives():
    """Of arrays and of objects, on sizes of each protocol."""
    for count in (1, 1000, 100000):
        mine = np.arange(count, dtype="d") + rank
        total = np.empty_like(mine)
        world.Allreduce(mine, total)
        same(total, np.arange(count) * size + size * (size - 1) / 2)
        blocks = np.full((size, count), rank, dtype="i")
        theirs = np.empty_like(blocks)
        world.Alltoall(blocks, theirs)
        same(theirs, np.repeat(np.arange(size), count).reshape(size, count))
    same(world.allgather({"rank": rank}), [{"rank": r} for r in range(size)])


def messages():
    """Non-blocking, around the ring, of arrays and of objects."""
    right, left = (rank + 1) % size, (rank - 1) % size
    for count in (1, 10000, 1000000):
        got = np.empty(count)
        requests = [world.Irecv(got, left, 1),
                    world.Isend(np.full(count, rank, dtype="d"), right, 1)]
        MPI.Request.Waitall(requests)
        same(got, np.full(count, left))
    request = world.isend(["from", rank], right, 2)
    same(world.recv(source=left, tag=2), ["from", left])
    request.wait()
    summed = np.empty(1000)
    request = world.Iallreduce(np.ones(1000), summed)
    request.Wait()
    same(summed, np.full(1000, size))


def datatypes():
    """Columns of a matrix, a part of it, and a struct of two kinds."""
    right, left = (rank + 1) % size, (rank - 1) % size
    matrix = np.arange(600 * 500, dtype="d").reshape(600, 500) + rank
    into = np.zeros_like(matrix)
    column = MPI.DOUBLE.Create_vector(600, 1, 500).Commit()
    part = MPI.DOUBLE.Create_subarray([600, 500], [200, 100], [7, 9]).Commit()
    world.Sendrecv([matrix, 1, column], right, 0, [into, 1, column], left)
    same(into[:, 0], np.arange(600) * 500 + left)
    same(into[:, 1:], 0 * into[:, 1:])
    world.Sendrecv([matrix, 1, part], right, 0, [into, 1, part], left)
    same(into[7:207, 9:109], matrix[7:207, 9:109] - rank + left)
    record = np.dtype([("n", "i4"), ("x", "f8")], align=True)
    pair = MPI.Datatype.Create_struct(
        [1, 1], [0, record.fields["x"][1]], [MPI.INT, MPI.DOUBLE])
    pair = pair.Create_resized(0, record.itemsize).Commit()
    mine, theirs = np.zeros(1000, record), np.zeros(1000, record)
    mine["n"], mine["x"] = rank, np.arange(1000) / 4
    world.Sendrecv([mine, 1000, pair], right, 0, [theirs, 1000, pair], left)
    same(theirs["n"], np.full(1000, left))
    same(theirs["x"], np.arange(1000) / 4)
    for datatype in (column, part, pair):
        datatype.Free()


def windows():
    """Accumulate, Fetch_and_op, Compare_and_swap, Put and Get; with fences,
    locks and memory of one's own."""
    window = MPI.Win.Allocate(8 * 1024, 8, comm=world)
    memory = np.frombuffer(window.tomemory(), dtype="q")
    memory[:] = 0
    window.Fence()
    added, put = np.full(512, rank + 1), np.full(1, rank)  # until the fence
    for target in range(size):
        window.Accumulate(added, target, 512, MPI.SUM)
        window.Put(put, target, rank)
    window.Fence()
    same(memory[512:], np.full(512, size * (size + 1) // 2))
    same(memory[:size], np.arange(size))
    memory[:] = 0
    window.Fence()
    tickets = []
    window.Lock_all()
    one, got = np.ones(1, "q"), np.empty(1, "q")
    for _ in range(20):
        window.Fetch_and_op(one, got, 0, 0, MPI.SUM)
        window.Flush(0)
        tickets.append(int(got[0]))
    window.Compare_and_swap(one, np.zeros(1, "q"), got, 0, 1)
    window.Flush(0)
    won = int(got[0] == 0)
    window.Unlock_all()
    same(sorted(sum(world.allgather(tickets), [])), range(20 * size))
    same(world.allreduce(won), 1)
    del memory
    window.Free()
    mine = np.full(100, rank, dtype="d")
    window = MPI.Win.Create(mine, 8, comm=world)
    window.Lock((rank + 1) % size, MPI.LOCK_SHARED)
    got = np.empty(100)
    window.Get(got, (rank + 1) % size)
    window.Unlock((rank + 1) % size)
    same(got, np.full(100, (rank + 1) % size))
    window.Free()


def communicators():
    """Split by parity and by node, a ring, and two halves that talk."""
    half = world.Split(rank % 2, -rank)
    mine = [r for r in reversed(range(size)) if r % 2 == rank % 2]
    same(half.allgather(rank), mine)
    node = world.Split_type(MPI.COMM_TYPE_SHARED)
    assert 1 <= node.size <= size
    ring = world.Create_cart([size], periods=[True])
    around = np.empty(2, "i")
    ring.Neighbor_allgather(np.full(1, rank, "i"), around)
    same(around, [(rank - 1) % size, (rank + 1) % size])
    made = [half, node, ring]
    if size > 1:
        made.append(half.Create_intercomm(half.size - 1, world, 1 - rank % 2))
        others = [r for r in reversed(range(size)) if r % 2 != rank % 2]
        same(made[-1].allgather(rank), others)
    for comm in made:
        comm.Free()


def threads():
    """Every thread around the ring on a communicator of its own, at once."""
    assert MPI.Query_thread() == MPI.THREAD_MULTIPLE
    failures = []

    def ring(comm):
        try:
            for count in (1, 20000):
                for step in range(20):
                    got = np.empty(count, "i")
                    comm.Sendrecv(np.full(count, rank + step, "i"),
                                  (rank + 1) % size, step, got,
                                  (rank - 1) % size, step)
                    same(got, np.full(count, (rank - 1) % size + step))
                # No objects: mpi4py duplicates a communicator for their
                # reductions and has Python's lock meanwhile.
                total = np.empty(1, "i")
                comm.Allreduce(np.full(1, rank, "i"), total)
                same(total, [size * (size - 1) // 2])
        except BaseException as failure:
            failures.append(failure)

    comms = [world.Dup() for _ in range(THREADS)]
    running = [threading.Thread(target=ring, args=(comm,)) for comm in comms]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    for comm in comms:
        comm.Free()
    if failures:
        raise failures[0]


def serve():
    """Rank 0 updates the last rank, which sleeps: in milliseconds."""
    target = size - 1
    window = MPI.Win.Allocate(8 * 16, 8, comm=world)
    one = np.ones(1, "q")
    window.Lock_all()
    if rank == 0:  # opens the connection
        window.Accumulate(one, target)
        window.Flush(target)
    world.Barrier()
    took = 0
    if rank == target:
        time.sleep(SLEEP_S)
    elif rank == 0:
        time.sleep(HEAD_START_S)
        begin = MPI.Wtime()
        for _ in range(100):
            window.Accumulate(one, target)
            window.Flush(target)
        took = MPI.Wtime() - begin
    window.Unlock_all()
    window.Free()
    return took * 1e3


for part in (collectives, messages, datatypes, windows, communicators, threads):
    for _ in range(ROUNDS):
        part()
    world.Barrier()
    if rank == 0:
        print(f"{part.__name__}: right", flush=True)
took = serve() if size > 1 else 0
if rank == 0:
    print(f"served: 100 updates of a sleeping rank took {took:.1f} ms")
