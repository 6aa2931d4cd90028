# SPDX-License-Identifier: BSD-3-Clause
"""Who is compared, and how each is started: one row for each."""
import collections
import os

import jobs

# knobs: of the layout. rule: for every window. hints: keys of the kernel, with
# which the program says async_config itself.
Rival = collections.namedtuple("Rival", "label knobs rule hints",
                               defaults=((), None, ""))

INTERVAL_MS = 20
# A job of one kernel measures it for longer: what the scheduler made of its
# start lasts for some tenths of a second.
ALONE_TIMES = 10
PLAIN, ON, OFF, NATIVE = "plain", "on", "off", "native"
U, U_COLL, P, GP, AUTO = "U", "U-coll", "P", "GP", "auto"
THREADS, NO_THREADS = "threads", "no threads"
EACH_INTERVAL = f"adapt.interval_ms={INTERVAL_MS}"
RIVALS = {
    PLAIN: Rival("MPICH as it is"),
    ON: Rival("ghosts, static"),
    OFF: Rival("redirection off from the start", ("adapt=user",),
               "async_config:off"),
    NATIVE: Rival("ghosts, but windows are left to MPI", (),
                  "async_config:native"),
    U: Rival("the program says it as it makes the window", ("adapt=user",),
             None, ",hints=window"),
    U_COLL: Rival("the program says it before each phase", ("adapt=user",),
                  None, ",hints=phase"),
    P: Rival("ranks profile themselves", ("adapt=profile", EACH_INTERVAL)),
    GP: Rival("ghosts decide for their users", ("adapt=ghosts", EACH_INTERVAL)),
    AUTO: Rival("Aspen decides", ("adapt=auto",)),
    THREADS: Rival("progress threads from the start",
                   ("adapt=auto", "adapt.threads=on")),
    NO_THREADS: Rival("no progress threads",
                      ("adapt=auto", "adapt.threads=off")),
}

# One start of adapt_app. ghosts: on each node. counted: read the record, as in
# bench/rma's jobs, which needs a job for each kernel, as does alone. place:
# options of tests/ghostrun.
Job = collections.namedtuple("Job",
                             "rival users nodes ghosts knobs counted place "
                             "alone", defaults=(2, 1, (), False, (), False))


def with_hints(rival, spec):
    """The kernel as this rival's program has it."""
    return spec + RIVALS[rival].hints


def words(job, specs, args, record):
    """The command line of a job."""
    rival = RIVALS[job.rival]
    run = [os.path.join(jobs.TOP, "tests", "ghostrun"), "-n", str(job.users),
           "--nodes", str(job.nodes), *job.place]
    if job.rival == PLAIN:
        run += ["-g", "0"]
    else:
        run += ["-g", str(job.ghosts)]
        for knob in (*job.knobs, *args.knob):
            run += ["--knob", knob]
        run += ["--window", rival.rule] if rival.rule else []
    if record:
        run.append("--report=" + record)
    return run + [os.path.join(args.build, "bench", "adapt_app"),
                  "--ms", str(args.ms * (ALONE_TIMES if job.alone else 1)),
                  *specs]
