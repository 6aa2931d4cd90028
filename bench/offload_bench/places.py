# SPDX-License-Identifier: BSD-3-Clause
"""Where ranks and helpers run, how a rank computes, and what the page says of
that. With four CPUs and more each has CPUs of its own; two ranks and their
helpers share two CPUs."""
import collections
import os
import textwrap

CPUS = sorted(os.sched_getaffinity(0))
ROOM = len(CPUS) >= 4

# compute: keys of a kernel. Texts of the page: of one rank with messages to
# itself, of two ranks, of those while they compute, of two ranks with threads,
# of one with threads; short: of one, two, and one with threads in the goals.
Place = collections.namedtuple("Place",
                               "compute one two away threads many short notes")

CLOSE = Place(
    # Long enough for both helpers.
    compute="compute=sleep,delay_us=300",
    one="1 rank on a CPU, messages to itself, its helper on the other CPU "
        "(MPICH's thread unbound). ",
    two="2 ranks on a CPU each, the helper of each on the other's CPU, MPICH's "
        "unbound: with helpers four threads that yield to each other on two "
        "CPUs, so the times of communication hold the scheduler's. ",
    away="the rank that computes sleeps",
    threads="Plain and async are unbound; offload's ranks have a CPU each, the "
            "helper of each on the other's. ",
    many="Plain and async may use both CPUs, offload's threads of one rank "
         "share one CPU, its helper has the other. With SCHED_RR plain's "
         "threads of 2 ranks wait for time slices of 100 ms: from 4 threads on "
         "that is no rival. ",
    short=("1 rank + helper", "2 ranks + 2 helpers",
           "threads, 1 CPU + helper : 2 CPUs"),
    notes=("the rank on one CPU, its helper on the other, messages to itself",
           "each rank on a CPU, its helper on the other rank's, or on both "
           "(thread), who computes sleeps",
           "the program's threads on one CPU, plain's on both. MPICH's "
           "progress thread and its ranks are unbound; where the others have "
           "SCHED_RR they are ordinary processes with a nice value of -20, "
           "because that thread never yields"))

EQUAL = "All have the same number of CPUs, {} for each rank, of which " \
        "offload's helper takes one. "
APART = Place(
    compute="compute=spin,delay_us=300",
    one="1 rank, messages to itself, and a CPU for its helper (async: two CPUs "
        "for both). ",
    two="2 ranks, each with its helper on a CPU of its own (async: two CPUs "
        "for both; plain's ranks have these two, too). ",
    away="the rank that computes spins",
    threads=EQUAL.format(len(CPUS) // 2),
    many=EQUAL.format(f"{len(CPUS)} for one rank and {len(CPUS) // 2}"),
    short=("1 rank, 2 CPUs", "2 ranks, 4 CPUs", f"threads, {len(CPUS)} CPUs"),
    notes=("messages to itself, its helper has one of the CPUs",
           "two for each rank, of which its helper has one, who computes "
           "spins",
           "of which offload's helper has one"))

PLACE = APART if ROOM else CLOSE


def page():
    """What the page says of it once; a note says which."""
    return "\n".join(textwrap.fill(f"- *{name}*: {text.strip()}", 80,
                                   subsequent_indent="  ") for name, text in (
        ("Self", PLACE.one), ("Pair", PLACE.two),
        ("Away", f"a pair; {PLACE.away} for as long as the communication took, "
         "at least 300 us.")))


def options(job, rival):
    """Those of tests/ghostrun. rival: of rivals.py."""
    if ROOM:
        share = len(CPUS) // job.users if job.threads else 2
        return [*rival.options, f"--share={share}"]
    if rival.service:
        # The CPU that the only rank does not have; for two ranks both, as each
        # helper's is the other's.
        cpus = CPUS[-1 if job.users == 1 else 0:]
        found = ["--thread=" + ",".join(str(cpu) for cpu in cpus)]
    else:
        found = list(rival.options)
    # A helper that gets no CPU (async) would share the program's.
    if rival.binds and (rival.helper or not job.threads):
        found.append("--bind")
    return found


def yields(job):
    """Do more threads work than there are CPUs?"""
    return job.threads or (job.users > 1 and not ROOM)
