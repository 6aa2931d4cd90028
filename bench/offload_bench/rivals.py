# SPDX-License-Identifier: BSD-3-Clause
"""Who is compared, and how each is started: one row for each."""
import collections
import os

import jobs
import places

# options: of tests/ghostrun. helper: works beside the program. binds: may be
# bound to one CPU where there are two; a helper that gets none of its own
# (async) would share the program's. service: the helper is a sleeping one.
Rival = collections.namedtuple(
    "Rival", "label environment options binds helper service",
    defaults=(False,))

PLAIN, ASYNC, OFFLOAD, THREAD = "plain", "async", "offload", "thread"
RIVALS = {
    PLAIN: Rival("MPICH as it is", (), ("-g", "0"), True, False),
    ASYNC: Rival("MPICH with MPIR_CVAR_ASYNC_PROGRESS=1",
                 ("MPIR_CVAR_ASYNC_PROGRESS=1",), ("-g", "0"), False, True),
    OFFLOAD: Rival("Aspen, offload", (), ("--offload",), True, True),
    THREAD: Rival("Aspen, sleeping progress threads", (), ("--thread",), True,
                  True, True),
}

# MPICH's progress thread never yields: as a real-time job with more threads
# than CPUs each handover would take a time slice of 100 ms. It gets its turns
# from the ordinary scheduler, before all others there.
GREEDY = ("chrt", "--other", "0", "nice", "-n", "-20")

# One start of offload_app. threads: initialise with MPI_THREAD_MULTIPLE; then
# who has no helper may use all CPUs. tcp: messages go through the kernel, as
# between nodes without RDMA. counted, nodes: as bench/rma's jobs.
Job = collections.namedtuple("Job",
                             "rival users threads tcp counted nodes alone",
                             defaults=(False, False, False, 1, False))


def words(job, specs, args, _record):
    """The command line of a job."""
    rival = RIVALS[job.rival]
    run = list(GREEDY) if args.realtime and job.rival == ASYNC else []
    run += ["env", *rival.environment, *(["UCX_TLS=tcp"] if job.tcp else []),
           os.path.join(jobs.TOP, "tests", "ghostrun"), "-n", str(job.users),
           *places.options(job, rival)]
    for knob in args.knob if job.rival in (OFFLOAD, THREAD) else ():
        run += ["--knob", knob]
    if not places.yields(job):
        run.append("--no-yield")
    run += [os.path.join(args.build, "bench", "offload_app"),
            "--ms", str(args.ms), "--near", str(args.near),
            "--patience", str(args.patience)]
    return run + (["--threads"] if job.threads else []) + specs
