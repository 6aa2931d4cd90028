# SPDX-License-Identifier: BSD-3-Clause
"""Runs rma_app, or what a bench says, under tests/ghostrun, rivals in turns,
and collects times."""
import collections
import functools
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
PLAIN, THREAD, ASPEN, OFFLOAD = "plain", "thread", "aspen", "offload"
RIVALS = {
    PLAIN: "MPICH as it is",
    THREAD: "MPICH with MPIR_CVAR_ASYNC_PROGRESS=1",
    ASPEN: "ghosts",
}

# One start of rma_app. ghosts: per node, for Aspen only. threads: initialise
# with MPI_THREAD_MULTIPLE. counted: read the ghosts' counters from the record,
# which needs a job for each kernel. place: OWN, at most as many processes work
# as there are CPUs; each has one of its own and needs not yield. APART: users
# have all CPUs but the last, in turn, with and without ghosts; these have it.
# alone: a job for each kernel, as what it did before would have a part in it.
Job = collections.namedtuple(
    "Job", "rival users nodes ghosts knobs threads counted place alone",
    defaults=(1, (), False, False, (), False))
OWN, APART = ("--bind", "--no-yield"), ("--apart",)
# Who yields goes behind the others of the job, not behind a compiler that runs
# beside it, which would keep the processor for milliseconds. Others get their
# turn between two starts.
REALTIME, BREATH_S = ("chrt", "--rr", "1"), 0.3


class Failed(Exception):
    """A job that ended wrongly or not at all."""


class Samples:
    """Per job and kernel a value for each round; median, least of its steps,
    and what the ghosts counted."""

    def __init__(self):
        self.medians = collections.defaultdict(list)
        self.bests = collections.defaultdict(list)
        self.records = collections.defaultdict(list)
        self.failures = []

    def median(self, job, spec):
        """Over rounds; None if no round had a result."""
        values = self.medians[job, spec]
        return statistics.median(values) if values else None

    def uncounted(self):
        """Were records read in which no ghost has counters?"""
        records = [r for found in self.records.values() for r in found]
        return bool(records) and not any(isinstance(r.get("ghost_load"), list)
                                         for r in records)


def place_target(job, spec):
    """{target}: who makes progress for the target says what it does."""
    return spec.replace("{target}", "poll" if job.rival == PLAIN else "sleep")


def words(job, specs, args, record):
    """The command line of a job of bench/rma."""
    run = ["env", "MPIR_CVAR_ASYNC_PROGRESS=1"] if job.rival == THREAD else []
    run += [os.path.join(TOP, "tests", "ghostrun"), "-n", str(job.users),
           "--nodes", str(job.nodes), "-g",
           str(job.ghosts if job.rival == ASPEN else 0)]
    for knob in (*job.knobs, *args.knob) if job.rival == ASPEN else ():
        run += ["--knob", knob]
    run += job.place
    if record:
        run.append("--report=" + record)
    run += [os.path.join(args.build, "bench", "rma_app"), "--ms", str(args.ms)]
    run += ["--threads"] if job.threads else []
    return run + [place_target(job, spec) for spec in specs]


def finish(process, limit_s):
    """Its output; ends it when it takes too long."""
    try:
        return process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        for number in signal.SIGTERM, signal.SIGKILL:
            process.send_signal(number)
            try:
                process.communicate(timeout=10)
                break
            except subprocess.TimeoutExpired:
                continue
        raise Failed(f"no end within {limit_s} s") from None


def read_record(path):
    """The record of a job, or None."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def run(job, specs, args, command):
    """One start; returns ({spec: (median, least)}, record)."""
    env = dict(os.environ, ASPEN_BUILD=args.build)
    with tempfile.TemporaryDirectory(prefix="aspen-bench.") as directory:
        record = None
        if job.counted:
            record = os.path.join(directory, "record")
        with subprocess.Popen([*REALTIME] * args.realtime +
                              command(job, specs, args, record), env=env,
                              text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            out, err = finish(process, args.limit)
        asked = {place_target(job, spec): spec for spec in specs}
        rows = [line.split("\t") for line in out.splitlines()]
        rows = [[asked.get(row[0], row[0]), *row[1:]] for row in rows
                if len(row) == 6]
        if process.returncode or not {row[0] for row in rows}.issuperset(specs):
            raise Failed(f"status {process.returncode}\n{out}{err}")
        found = {row[0]: (float(row[2]), float(row[3])) for row in rows}
        counts = read_record(record) if record else None
        if counts:
            counts["rows"] = rows
        return found, counts


def starts(job, specs):
    """The kernels of each start of a job. SPEC#PART is one of several rows
    that the kernel prints."""
    kernels = list(dict.fromkeys(spec.split("#")[0] for spec in specs))
    if job.counted or job.alone:
        return [[spec] for spec in kernels]
    return [kernels]


def in_turn(plan):
    """All starts (job, specs), in the order in which they run: those of the
    same kernel follow one another, because a machine changes within seconds.
    Rivals tell the kernel differently how long to warm up, and what to hint."""
    def kernel(start):
        job, specs = start
        return job.users, re.sub(",(warm_ms|hints)=[^,]*", "", specs[0])

    all_starts = [(job, specs) for job, all_specs in plan.items()
                  for specs in starts(job, all_specs)]
    first = {}
    for start in all_starts:
        first.setdefault(kernel(start), len(first))
    return sorted(all_starts, key=lambda start: first[kernel(start)])


def measure(plan, args, command=words):
    """plan: {job: [spec...]}. Each round runs every job once, so that rivals
    see the same machine. command: makes the command line of a job."""
    samples = Samples()
    broken = set()
    all_starts = in_turn(plan)
    for turn in range(args.rounds):
        for job, specs in all_starts:
            if (job, specs[0]) in broken:
                continue
            progress(f"round {turn + 1} of {args.rounds}: {job.rival}, "
                     f"{job.users} users, {job.nodes} nodes")
            time.sleep(BREATH_S if args.realtime else 0)
            try:
                found, record = run(job, specs, args, command)
            except Failed as why:
                broken.add((job, specs[0]))
                samples.failures.append(f"{job}: {specs}: {why}")
                continue
            for spec, (median, best) in found.items():
                samples.medians[job, spec].append(median)
                samples.bests[job, spec].append(best)
                if record:
                    samples.records[job, spec].append(record)
    progress("")
    return samples


def progress(text):
    """A line that the next one overwrites; only for a person."""
    if sys.stderr.isatty():
        print(f"\r{text:<70}", end="\r" if not text else "", flush=True,
              file=sys.stderr)


@functools.cache
def knobs(build):
    """{name: words or range, as a text} of what was built."""
    try:
        text = subprocess.run(
            [os.path.join(build, "tools", "aspen"), "check-policy",
             "--list-knobs"], text=True, capture_output=True,
            check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return {}
    return dict(re.findall(r"^  (\S+) = (\S+)", text, re.MULTILINE))


def knows(build, knob):
    """Has what was built a knob NAME, and NAME=VALUE that word?"""
    name, _, value = knob.partition("=")
    words_of = knobs(build).get(name)
    if words_of is None or not value or ".." in words_of:
        return words_of is not None
    return value in words_of.split("|")


def busy_cpus():
    """Processors that others use, seen while we wait half a second."""
    def ticks():
        with open("/proc/stat", encoding="ascii") as file:
            fields = [int(word) for word in file.readline().split()[1:9]]
        return sum(fields), fields[3] + fields[4]

    total, idle = ticks()
    time.sleep(0.5)
    total_after, idle_after = ticks()
    passed = max(1, total_after - total)
    return (1 - (idle_after - idle) / passed) * (os.cpu_count() or 1)


def machine(args, busy):
    """One line on where and when."""
    load = os.getloadavg()[0]
    version = subprocess.run(["mpiexec.mpich", "--version"], text=True,
                             capture_output=True, check=False).stdout
    number = re.search(r"Version:\s+(\S+)", version)
    mine, all_cpus = len(os.sched_getaffinity(0)), os.cpu_count()
    of = f" (of {all_cpus})" if mine != all_cpus else ""
    return (f"{time.strftime('%Y-%m-%d')}, {mine} CPUs{of}, of which "
            f"others used {busy:.1f} at the start (load {load:.1f}), MPICH "
            f"{number.group(1) if number else '?'}, {args.rounds} rounds"
            f"{', SCHED_RR' if args.realtime else ''}"
            + "".join(f", {knob}" for knob in args.knob)
            + (f", near {args.near} ns or {args.patience} s later"
               if getattr(args, "near", 0) else ""))
