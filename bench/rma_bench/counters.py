# SPDX-License-Identifier: BSD-3-Clause
"""What the ghosts did, from the record of a job (--report=FILE)."""
import collections
import statistics


def busiest(record, nodes, what):
    """The load of the busiest ghost of a node against the mean of its node;
    the worst node counts. tests/ghostrun deals ranks to nodes in turn. None
    if the record does not count by ghost."""
    by_node = collections.defaultdict(list)
    for ghost in record.get("ghost_load") if isinstance(
            record.get("ghost_load"), list) else []:
        by_node[ghost["rank"] % nodes].append(ghost[what])
    loads = [max(done) * len(done) / sum(done)
             for done in by_node.values() if sum(done)]
    return max(loads) if loads else None


def ops_per_call(record, _nodes, _what):
    """Operations at ghosts for each one that the program issued."""
    ghosts = record.get("ghost_load")
    issued = sum(record["calls"][call].get("ghost", 0)
                 for call in ("put", "get", "accumulate"))
    if not isinstance(ghosts, list) or not issued:
        return None
    return sum(ghost["ops"] for ghost in ghosts) / issued


READERS = {
    "busiest ops": (busiest, "ops"),
    "busiest bytes": (busiest, "bytes"),
    "ops per call": (ops_per_call, None),
}


def counted(value, records, nodes):
    """Values of several rounds; empty when nothing was counted."""
    reader, what = READERS[value]
    found = [reader(record, nodes, what) for record in records]
    return [v for v in found if v is not None]


def median(value, records, nodes):
    """Over rounds, or None."""
    found = counted(value, records, nodes)
    return statistics.median(found) if found else None
