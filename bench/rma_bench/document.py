# SPDX-License-Identifier: BSD-3-Clause
"""docs/bench: a file of values and a plot for each experiment, and one page
made from the files of values that are there."""
import os
import textwrap

import experiments
import goals
import show

HEAD = ["line", "x", "median", "least", "most"]
OPENING = """\
# One-sided communication: measured

`bench/rma all --docs` and `bench/rma goals --docs` made this page; it is not
edited by hand. The experiments are those of the papers on Casper, scaled down
to a machine with few processors: plain MPICH, MPICH with its progress thread
(`MPIR_CVAR_ASYNC_PROGRESS=1`) and Aspen with ghosts in turns, nodes pretended
(`MPIR_CVAR_NUM_CLIQUES`), all with `tests/yield.c` preloaded. A target that
"computes" sleeps, because with two processors it would compute on the ghost's.
Each value is the median over rounds of the median step, with the least and the
greatest round; times are in us.
"""


def wrapped(text):
    """A note, as wide as everything else."""
    return textwrap.fill(text.strip(), 80)


def write(experiment, xs, lines, cells, where, directory):
    """Files of one experiment. The plot shows counts where there are any."""
    base = os.path.join(directory, experiment.key)
    show.write_tsv(base + ".tsv", where, HEAD,
                   [[line.label, x, *cells[x, line]]
                    for line in lines for x in xs])
    counts = any(line.value.startswith("busiest") for line in lines)
    drawn = [line for line in lines
             if line.value.startswith("busiest") == counts and
             line.value != "ops per call"]
    show.plot(base + ".svg", experiment.title, experiment.x,
              "load of the busiest ghost" if counts else experiment.unit,
              [(line.label, line.rival,
                [(x, *cells[x, line]) for x in xs
                 if cells[x, line].median is not None]) for line in drawn])


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
            show.markdown([experiment.x] + labels,
                          [[x] + [cells.get((label, x), "-")
                                  for label in labels] for x in xs])]
    if os.path.exists(base + ".svg"):
        part.append(f"![{experiment.title}]({experiment.key}.svg)")
    return part + [f"Measured {where}."]


def goals_part(directory):
    """The goals, if they were measured."""
    path = os.path.join(directory, "goals.tsv")
    if not os.path.exists(path):
        return []
    where, rows = show.read_tsv(path)
    return ["## Goals",
            show.markdown(goals.HEAD, [[row[key] for key in goals.HEAD]
                                       for row in rows]),
            goals.NOTES, f"Measured {where}."]


def write_page(directory):
    """rma.md, from the files of values."""
    parts = [OPENING.rstrip("\n")] + goals_part(directory)
    for experiment in experiments.EXPERIMENTS:
        parts += experiment_part(experiment, directory)
    with open(os.path.join(directory, "rma.md"), "w",
              encoding="ascii") as page:
        page.write("\n\n".join(parts) + "\n")
