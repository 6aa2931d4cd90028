# SPDX-License-Identifier: BSD-3-Clause
"""From what was measured to the rows of an experiment's table."""
import counters
import show
from jobs import ASPEN, OFFLOAD, PLAIN

TIMES = ("time", "counted time")
# Whose times are compared with plain's; a line may name another (against).
OURS = (ASPEN, OFFLOAD)


def values(experiment, line, x, samples):
    """Those of the rounds, times or counts."""
    job = experiment.job_of(line, x)
    spec = experiment.spec_of(line, x)
    if line.value in counters.READERS:
        return counters.counted(line.value, samples.records[job, spec],
                                job.nodes)
    return samples.medians[job, spec]


def twin_of(line, lines):
    """The line that does the same on plain MPICH, or that this one names."""
    against = getattr(line, "against", PLAIN if line.rival in OURS else None)
    twins = [other for other in lines
             if other.rival == against and other.spec == line.spec]
    return twins[0] if line.value in TIMES and twins else None


def of_lines(experiment, lines, xs, samples):
    """[(label, line, [cell for each x])...]; line is None for a ratio, which
    is taken round by round."""
    rows = []
    for line in lines:
        found = [values(experiment, line, x, samples) for x in xs]
        rows.append((line.label, line, [show.cell(v) for v in found]))
        twin = twin_of(line, lines)
        if twin:
            rows.append((f"{line.label} : {twin.rival}", None, [
                show.cell([a / b for a, b in zip(
                    mine, values(experiment, twin, x, samples)) if b])
                for mine, x in zip(found, xs)]))
    return rows
