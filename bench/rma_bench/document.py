# SPDX-License-Identifier: BSD-3-Clause
"""docs/bench: a table of values for each experiment and for the goals, and one
page that says what was measured and how, made from the tables that are there."""
import os
import textwrap

import counters
import show


def wrapped(text):
    """A note, as wide as everything else."""
    return textwrap.fill(text.strip(), 80)


def drawn(rows):
    """The rows of the plot: counts where there are any, else times."""
    lines = [row for row in rows if row[1]]
    counts = [row for row in lines if row[1].value.startswith("busiest")]
    return counts or [row for row in lines
                      if row[1].value not in counters.READERS]


def write(experiment, xs, rows, where, directory):
    """The table of an experiment; rows as cells.py makes them."""
    show.write_tsv(os.path.join(directory, experiment.key + ".tsv"), where,
                   [experiment.x, *map(str, xs)],
                   [[label, *map(show.with_range, found)]
                    for label, _, found in rows])


def plot(experiment, xs, rows, directory):
    """The picture of an experiment."""
    picture = drawn(rows)
    counts = any(line.value.startswith("busiest") for _, line, _ in picture)
    show.plot(os.path.join(directory, experiment.key + ".svg"),
              experiment.title, experiment.x,
              "load of the busiest ghost" if counts else experiment.unit,
              [(label, line.rival,
                [(x, *cell) for x, cell in zip(xs, found)
                 if cell.median is not None])
               for label, line, found in picture])


def experiment_part(experiment, directory):
    """Its part of the page, or nothing if it was not measured."""
    name = experiment.key + ".tsv"
    if not os.path.exists(os.path.join(directory, name)):
        return []
    return [f"## [{experiment.key.upper()}]({name}): {experiment.title}",
            wrapped(experiment.note)]


def goals_part(goals, directory):
    """How many goals hold, and those that do not, if they were measured."""
    path = os.path.join(directory, goals.FILE)
    if not os.path.exists(path):
        return []
    where, rows = show.read_tsv(path)
    checked = [row for row in rows if row["holds"]]
    missed = [row for row in checked if row["holds"] != "yes"]
    shown = [key for key in ("measure", "placement", "target", "plain",
                             "value", "ratio", "goal") if key in goals.HEAD]
    count = f"{len(checked) - len(missed)} of {len(checked)} goals hold"
    return [f"## [Goals]({goals.FILE})"] + ([
        count + "; these do not:",
        show.markdown(shown, [[row[key] for key in shown] for row in missed])
    ] if missed else [count + "."]) + [goals.NOTES, f"Measured {where}."]


def write_page(bench, directory):
    """The page of a bench (command.py), from the tables that are there."""
    parts = [bench.opening.rstrip("\n"), """\
The tables are the files that the headings point to: a row for each line, a column
for each value of what varied, and first when and where it was measured."""]
    if bench.goals:
        parts += goals_part(bench.goals, directory)
    for experiment in bench.experiments:
        parts += experiment_part(experiment, directory)
    with open(os.path.join(directory, bench.name + ".md"), "w",
              encoding="ascii") as page:
        page.write("\n\n".join(parts) + "\n")
