# SPDX-License-Identifier: BSD-3-Clause
"""From what was measured to the rows of an experiment's table."""
import counters
import show
from jobs import ASPEN, OFFLOAD, PLAIN

TIMES = ("time", "counted time")
OURS = (ASPEN, OFFLOAD)


def values(experiment, line, x, samples):
    """Those of the rounds, times or counts."""
    job = experiment.job_of(line, x)
    spec = experiment.spec_of(line, x)
    if line.value in counters.READERS:
        return counters.counted(line.value, samples.records[job, spec],
                                job.nodes)
    return samples.medians[job, spec]


def plain_twin(line, lines):
    """The line that does the same on plain MPICH, if there is one."""
    twins = [other for other in lines
             if other.rival == PLAIN and other.spec == line.spec]
    return twins[0] if line.rival in OURS and line.value in TIMES and twins \
        else None


def of_lines(experiment, lines, xs, samples):
    """[(label, line, [cell for each x])...]; line is None for a ratio, which
    is taken round by round."""
    rows = []
    for line in lines:
        found = [values(experiment, line, x, samples) for x in xs]
        rows.append((line.label, line, [show.cell(v) for v in found]))
        twin = plain_twin(line, lines)
        if twin:
            rows.append((f"{line.label} : plain", None, [
                show.cell([a / b for a, b in zip(
                    mine, values(experiment, twin, x, samples)) if b])
                for mine, x in zip(found, xs)]))
    return rows
