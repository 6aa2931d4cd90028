# SPDX-License-Identifier: BSD-3-Clause
"""The applications, by number of ranks and by size.

Each is a table: x across, a row for each line. {x} in a kernel is the x of the
column; users None takes it too.
"""
import collections

from rivals import OFFLOAD, PLAIN, TUNED, Job, knobs_of

FIELDS = "label rival spec value against"


class Line(collections.namedtuple("Line", FIELDS,
                                  defaults=("time", None))):
    """A row."""

    @property
    def knobs(self):
        """What a build must have for it."""
        return knobs_of(self.rival)


FIELDS = "key title users nodes x xs lines note unit"


class Experiment(collections.namedtuple("Experiment", FIELDS,
                                        defaults=("ms",))):
    """A table of the page."""

    def job_of(self, line, x):
        """The job of a cell: with at least a rank for each node."""
        users = x if self.users is None else self.users
        return Job(line.rival, users, min(self.nodes, users))

    @staticmethod
    def spec_of(line, x):
        """The kernel of a cell."""
        return line.spec.replace("{x}", str(x))


def lines(label, spec, parts=("", "coll")):
    """The application with each rival: all of it, and what is spent in
    collectives."""
    return [Line(" ".join(word for word in (label, part, rival) if word),
                 rival, spec + ("#" + part if part else ""),
                 against=None if rival == PLAIN else PLAIN)
            for part in parts for rival in (PLAIN, TUNED)]


def delayed(call, how):
    """How many wait for one who computes."""
    return [Line(f"{call} {rival}", rival, LATE + f",how={how}#delayed",
                 "ranks") for rival in (PLAIN, OFFLOAD)]


FFT, CG = "fft,n=32", "cg,n=75000"
SUMMA, CHOLESKY = "summa,n=256,block=16", "cholesky,n=512,block=16"
LATE = "late,n=1"
USERS = (4, 16)

# key, title, lines, note; each on one node and on four.
APPS = [
    ("c-fft", "3-D FFT",
     [line for how in ("packed", "slabs", "pencils")
      for line in lines(how, f"{FFT},how={how}")],
     "32 x 32 x 32 complex numbers, there and back, on a grid of ranks. "
     "packed: a blocking Alltoall for each of the four exchanges; slabs: a "
     "nonblocking one for each plane, while the next is computed; pencils: for "
     "each row."),
    ("c-cg", "Conjugate gradients",
     lines("allreduce", CG + ",how=allreduce") +
     lines("reduce", CG + ",how=reduce", ("", "coll", "barrier")),
     "Order 75,000, 0.6 million numbers that are not zero, until the "
     "residual is 1e-8. allreduce: two of a number in each iteration; reduce: "
     "Reduce and Bcast instead, and a Barrier, as in the dissertation."),
    ("c-summa", "Matrix product",
     lines("blocking", SUMMA + ",how=blocking") +
     lines("prefetch", SUMMA + ",how=prefetch"),
     "256 x 256, panels of 16. blocking: a Bcast along rows and columns "
     "for each panel; prefetch: Ibcast of the next one beside the product."),
    ("c-cholesky", "Cholesky factorization", lines("", CHOLESKY),
     "512 x 512, blocks of 16, three rounds of broadcasts a panel."),
]

EXPERIMENTS = [
    Experiment(key + ("-nodes" if nodes > 1 else ""),
               title + (f", {nodes} nodes" if nodes > 1 else ""), None, nodes,
               "ranks", USERS, app, note if nodes == 1 else f"As {key}.")
    for key, title, app, note in APPS for nodes in (1, 4)
] + [
    Experiment(
        "c-fft-size", "3-D FFT, by size", 16, 4, "n", (16, 64),
        [line for how in ("packed", "slabs", "pencils")
         for line in lines(how, f"fft,n={{x}},how={how}")],
        "n x n x n on 16 ranks on 4 pretended nodes."),
    Experiment(
        "c-late", "Ranks that a computing one delays", None, 1, "ranks",
        (8, 16),
        delayed("Ibcast", "bcast") + delayed("Ireduce", "sum") +
        delayed("Ialltoall", "exchange"),
        "All begin a nonblocking collective of one number (for each rank) and "
        "wait; the rank in the middle sleeps for 200 ms between. Counted is "
        "who takes longer than half of that; with many more ranks than "
        "processors some are late by themselves. MPICH's own progress threads "
        "are not here: with so few processors their jobs do not end within a "
        "minute, because a thread that yields keeps MPICH's lock.", "ranks"),
]
