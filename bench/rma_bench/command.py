# SPDX-License-Identifier: BSD-3-Clause
"""The command line of bench/rma, offload and adapt: runs what was asked for,
prints tables, writes files."""
import argparse
import collections
import os
import sys

import cells
import document
import jobs
import show

# What makes a bench. goals: a module with plan(), rows(), HEAD, NOTES, FILE,
# or None. words: the command line of a job. opening: of the page. options: adds
# those that this bench alone has.
Bench = collections.namedtuple(
    "Bench", "name usage experiments goals words opening options",
    defaults=(None,))

BUSY_LIMIT = 0.5  # processors that others may use in a run that counts


def arguments(bench):
    """The command line."""
    parser = argparse.ArgumentParser(usage=bench.usage, add_help=True)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--build", default=os.path.join(jobs.TOP, "build"))
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--ms", type=int)
    parser.add_argument("--limit", type=int, default=120)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out")
    parser.add_argument("--plot", action="store_true")
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("--force", action="store_true")
    parser.add_argument("--knob", action="append", default=[])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--realtime", action="store_true")
    if hasattr(bench.goals, "PARTS"):
        parser.add_argument("--only", choices=bench.goals.PARTS)
    if bench.options:
        bench.options(parser)
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    args.rounds = args.rounds or (1 if args.quick else 5)
    args.ms = args.ms or (10 if args.quick else 100)
    args.results = os.path.join(args.build, "bench", bench.name + "-results")
    args.out = args.out or (os.path.join(jobs.TOP, "docs", "bench")
                            if args.docs else args.results)
    return args


def lines_for(experiment, args):
    """Lines whose knobs this build has; says which knobs it has not."""
    missing = {knob for line in experiment.lines for knob in line.knobs
               if not jobs.knows(args.build, knob)}
    if missing:
        print("left out, this build has not: " + ", ".join(sorted(missing)))
    return [line for line in experiment.lines
            if not missing.intersection(line.knobs)]


def run_experiment(bench, experiment, args):
    """Measure, print, and write; returns what failed."""
    where = jobs.machine(args, jobs.busy_cpus())
    print(f"\n{experiment.key.upper()}: {experiment.title}\n{where}")
    xs = experiment.xs
    if args.quick and len(xs) > 2:
        xs = (xs[0], xs[-1])
    lines = lines_for(experiment, args)
    plan = collections.defaultdict(list)
    for x in xs:
        for line in lines:
            plan[experiment.job_of(line, x)].append(
                experiment.spec_of(line, x))
    samples = jobs.measure(plan, args, bench.words)
    rows = cells.of_lines(experiment, lines, xs, samples)
    print(show.table(
        [experiment.x] + [str(x) for x in xs],
        [[label] + [show.with_range(cell) for cell in found]
         for label, _, found in rows]))
    print(document.wrapped(experiment.note))
    if samples.uncounted():
        print("no counts: this build's record says nothing of each ghost")
    document.write(experiment, xs, rows, where, args.out)
    if args.plot:
        os.makedirs(args.results, exist_ok=True)
        document.plot(experiment, xs, rows, args.results)
    return samples.failures


def run_goals(bench, args):
    """The table of goals; returns (missed, failures)."""
    busy = jobs.busy_cpus()
    where = jobs.machine(args, busy)
    print(f"Goals\n{where}")
    if busy > BUSY_LIMIT and not args.realtime:
        print("the machine is busy: medians are those of its scheduler")
    goals = bench.goals
    samples = jobs.measure(goals.plan(args), args, bench.words)
    rows = goals.rows(samples, args)
    print(show.table(goals.HEAD, rows))
    print(goals.NOTES)
    show.write_tsv(os.path.join(args.out, goals.FILE), where, goals.HEAD,
                   rows)
    holds = [row[-1] for row in rows if row[-1]]
    print(f"{holds.count('yes')} hold, {holds.count('NO')} do not, "
          f"{holds.count('n/a')} not measured")
    return holds.count("NO"), samples.failures


def selected(bench, args):
    """The experiments named, or None when a name is wrong."""
    known = {e.key: e for e in bench.experiments}
    if args.names == ["all"]:
        return list(known.values())
    wrong = [name for name in args.names
             if name not in known and (name != "goals" or not bench.goals)]
    if wrong or not args.names:
        print(f"{bench.name}: no such experiment: "
              f"{' '.join(wrong) or '(none named)'}; see --list",
              file=sys.stderr)
        return None
    return [known[name] for name in args.names if name != "goals"]


def main(bench):
    """Run a bench; returns the exit status."""
    args = arguments(bench)
    if args.list:
        for experiment in bench.experiments:
            print(f"{experiment.key:<10} {experiment.title}")
        return 0
    chosen = selected(bench, args)
    if chosen is None:
        return 2
    busy = jobs.busy_cpus() if args.docs and not args.force \
        and not args.realtime else 0
    if busy > BUSY_LIMIT:
        print(f"{bench.name}: others use {busy:.1f} processors; numbers for "
              "docs need a quiet machine (or --force)", file=sys.stderr)
        return 2
    os.makedirs(args.out, exist_ok=True)
    missed, failures = 0, []
    if "goals" in args.names:
        missed, failures = run_goals(bench, args)
    for experiment in chosen:
        failures += run_experiment(bench, experiment, args)
    if args.docs:
        document.write_page(bench, args.out)
    for failure in failures:
        print(f"{bench.name}: failed: {failure}", file=sys.stderr)
    return 1 if missed or failures else 0

