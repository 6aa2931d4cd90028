# SPDX-License-Identifier: BSD-3-Clause
"""Who is compared, and how each is started: one row for each."""
import collections
import os

import jobs

# request: of aspen run, or None without Aspen.
Rival = collections.namedtuple("Rival", "label request")
PLAIN, TUNED, OFFLOAD = "plain", "tuned", "offload"
RIVALS = {
    PLAIN: Rival("MPICH as it is", None),
    TUNED: Rival("collectives of Aspen", "off,coll=tune"),
    OFFLOAD: Rival("an offload thread for each rank", "offload"),
}

# One start of coll_app; nodes are pretended, each with consecutive ranks. The
# last two are what bench/rma's jobs ask for.
Job = collections.namedtuple("Job", "rival users nodes counted alone",
                             defaults=(1, False, False))


def set_request(text):
    """--request: what stands for Aspen."""
    RIVALS[TUNED] = RIVALS[TUNED]._replace(request=text)
    return text


def knobs_of(rival):
    """NAME=VALUE of its request."""
    return tuple(word for word in (RIVALS[rival].request or "").split(",")
                 if "=" in word)


def words(job, specs, args, _record):
    """The command line of a job. Who has no processor of its own yields."""
    run = ["env", f"MPIR_CVAR_NUM_CLIQUES={job.nodes}",
           "MPIR_CVAR_CLIQUES_BY_BLOCK=1"]
    if job.users > len(os.sched_getaffinity(0)):
        run += ["LD_PRELOAD=" + os.path.join(args.build, "tests", ".libs",
                                             "yield.so")]
    request = RIVALS[job.rival].request
    if request is not None:
        run += [os.path.join(args.build, "stage", "bin", "aspen"), "run",
                "--async-progress=" + request, "--"]
    return run + ["mpiexec.mpich", "-n", str(job.users),
                  os.path.join(args.build, "bench", "coll_app"), "--rows",
                  "--ms", str(args.ms), "--warm",
                  str(args.warm if job.rival == TUNED else 0), *specs]
