# SPDX-License-Identifier: BSD-3-Clause
"""docs/bench: a file of values and a plot for each experiment, and one page
made from the files of values that are there."""
import os
import textwrap

import counters
import show

HEAD = ["line", "x", "median", "least", "most"]


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
    """Files of one experiment; rows as cells.py makes them."""
    base = os.path.join(directory, experiment.key)
    show.write_tsv(base + ".tsv", where, HEAD,
                   [[label, x, *cell] for label, _, found in rows
                    for x, cell in zip(xs, found)])
    picture = drawn(rows)
    counts = any(line.value.startswith("busiest") for _, line, _ in picture)
    show.plot(base + ".svg", experiment.title, experiment.x,
              "load of the busiest ghost" if counts else experiment.unit,
              [(label, line.rival,
                [(x, *cell) for x, cell in zip(xs, found)
                 if cell.median is not None])
               for label, line, found in picture])


def optional(text):
    """A value of a file, None if it is empty."""
    return float(text) if text else None


def experiment_part(experiment, directory):
    """Its part of the page, or nothing if it was not measured."""
    base = os.path.join(directory, experiment.key)
    if not os.path.exists(base + ".tsv"):
        return []
    where, rows = show.read_tsv(base + ".tsv")
    labels = list(dict.fromkeys(row["line"] for row in rows))
    cells = {(row["line"], row["x"]): show.with_range(show.Cell(*(
        optional(row[key]) for key in ("median", "least", "most"))))
        for row in rows}
    xs = list(dict.fromkeys(row["x"] for row in rows))
    part = [f"## {experiment.key.upper()}: {experiment.title}",
            wrapped(experiment.note),
            show.markdown([experiment.x] + xs,
                          [[label] + [cells.get((label, x), "-") for x in xs]
                           for label in labels])]
    if os.path.exists(base + ".svg"):
        part.append(f"![{experiment.title}]({experiment.key}.svg)")
    return part + [f"Measured {where}."]


def goals_part(bench, directory):
    """The goals, if they were measured."""
    path = os.path.join(directory, bench.goals.FILE)
    goals = bench.goals
    if not os.path.exists(path):
        return []
    where, rows = show.read_tsv(path)
    return ["## Goals",
            show.markdown(goals.HEAD, [[row[key] for key in goals.HEAD]
                                       for row in rows]),
            goals.NOTES, f"Measured {where}."]


def write_page(bench, directory):
    """The page of a bench (command.py), from the files of values."""
    parts = [bench.opening.rstrip("\n")] + goals_part(bench, directory)
    for experiment in bench.experiments:
        parts += experiment_part(experiment, directory)
    with open(os.path.join(directory, bench.name + ".md"), "w",
              encoding="ascii") as page:
        page.write("\n\n".join(parts) + "\n")
