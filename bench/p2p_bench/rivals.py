# SPDX-License-Identifier: BSD-3-Clause
"""Who is compared, and how each is started: one row for each. All share the
same processors, unbound."""
import collections
import os

import jobs

# environment: variables. options: of tests/ghostrun.
Rival = collections.namedtuple("Rival", "label options environment",
                               defaults=((),))
GHOSTS = ("-g", "1", "--knob", "p2p=all")
PLAIN = "plain"
RIVALS = {
    PLAIN: Rival("MPICH as it is", ("-g", "0")),
    "async": Rival("MPICH with MPIR_CVAR_ASYNC_PROGRESS=1", ("-g", "0"),
                   ("MPIR_CVAR_ASYNC_PROGRESS=1",)),
    "offload": Rival("Aspen, offload", ("--offload",)),
    "thread": Rival("Aspen, sleeping progress threads", ("--thread",)),
    "ghosts": Rival("Aspen, a ghost on each node, p2p=all", GHOSTS),
    "ghosts, heap=shared": Rival("the same, heap=shared", (*GHOSTS, "--heap")),
}

# MPICH's progress thread never sleeps; as a real-time job it would keep a
# processor for time slices of 100 ms (offload_bench/rivals.py).
GREEDY = ("chrt", "--other", "0", "nice", "-n", "-20")

# One start of offload_app; the last two are what bench/rma's jobs ask for.
Job = collections.namedtuple("Job", "rival users nodes counted alone",
                             defaults=(2, False, False))


def words(job, specs, args, _record):
    """The command line of a job."""
    rival = RIVALS[job.rival]
    run = list(GREEDY) if args.realtime and job.rival == "async" else []
    run += ["env", *rival.environment,
            os.path.join(jobs.TOP, "tests", "ghostrun"), "-n", str(job.users),
            "--nodes", str(job.nodes), *rival.options]
    return run + [os.path.join(args.build, "bench", "offload_app"), "--ms",
                  str(args.ms), *specs]
