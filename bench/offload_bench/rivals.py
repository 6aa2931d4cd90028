# SPDX-License-Identifier: BSD-3-Clause
"""Who is compared, and how each is started: one row for each."""
import collections
import os

import jobs

# options: of tests/ghostrun. helper: works beside the program on a CPU that
# --bind gives it; a helper without it (async) would share the program's CPU,
# so that nobody is bound.
Rival = collections.namedtuple("Rival",
                               "label environment options binds helper")

PLAIN, ASYNC, OFFLOAD, THREAD = "plain", "async", "offload", "thread"
RIVALS = {
    PLAIN: Rival("MPICH as it is", (), ("-g", "0"), True, False),
    ASYNC: Rival("MPICH with MPIR_CVAR_ASYNC_PROGRESS=1",
                 ("MPIR_CVAR_ASYNC_PROGRESS=1",), ("-g", "0"), False, True),
    OFFLOAD: Rival("Aspen, offload", (), ("--offload",), True, True),
    THREAD: Rival("Aspen, sleeping progress threads", (), ("--thread",), True,
                  True),
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


def options(job):
    """Those of tests/ghostrun. Service CPUs: the one that the only rank does
    not have; for two ranks both, as each helper's is the other's."""
    if job.rival != THREAD:
        return RIVALS[job.rival].options
    cpus = sorted(os.sched_getaffinity(0))[-1 if job.users == 1 else 0:]
    return ("--thread=" + ",".join(str(cpu) for cpu in cpus),)


def words(job, specs, args, _record):
    """The command line of a job. One rank and its helper have a CPU each and
    need not yield; two ranks with helpers are four on two CPUs: all yield."""
    rival = RIVALS[job.rival]
    run = list(GREEDY) if args.realtime and job.rival == ASYNC else []
    run += ["env", *rival.environment, *(["UCX_TLS=tcp"] if job.tcp else []),
           os.path.join(jobs.TOP, "tests", "ghostrun"), "-n", str(job.users),
           *options(job)]
    for knob in args.knob if job.rival in (OFFLOAD, THREAD) else ():
        run += ["--knob", knob]
    if rival.binds and (rival.helper or not job.threads):
        run.append("--bind")
    if job.users == 1 and not job.threads:
        run.append("--no-yield")
    run += [os.path.join(args.build, "bench", "offload_app"),
            "--ms", str(args.ms), "--near", str(args.near)]
    return run + (["--threads"] if job.threads else []) + specs
