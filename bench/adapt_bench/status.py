# SPDX-License-Identifier: BSD-3-Clause
"""Was redirection on when the script says so? From the record of a job, which
has each switch, and from what adapt_app printed of its phases."""
import re
import statistics

WANT = {"compute": "on", "talk": "off"}
PHASE = re.compile(r"#(\d+):(\w+)$")
NEVER = float("inf")


def phases(record):
    """[(what is right in it, begin, end)...], seconds since MPI_Init."""
    found = []
    for name, _, _, begin, end, _ in record["rows"]:
        match = PHASE.search(name)
        if match:
            found.append((int(match[1]), WANT[match[2]], float(begin),
                          float(end)))
    return [phase[1:] for phase in sorted(found)]


def by_rank(record):
    """{rank: [(seconds since MPI_Init, "on" or "off")...]}"""
    turns = {rank: [] for rank in range(record["users"])}
    for switch in record["adaptation"]["switches"]:
        turns[switch["rank"]].append((switch["t_s"], switch["to"]))
    return {rank: sorted(found) for rank, found in turns.items()}


def seen(record, node, begin, end):
    """What the node's strip says of a time without switches."""
    timeline = record["adaptation"]["timeline"]
    strip = next(line for line in timeline if line["node"] == node)
    bucket = record["adaptation"]["bucket_s"]
    middle = min(int((begin + end) / 2 / bucket), len(strip["on"]) - 1)
    return "on" if strip["on"][middle] > 0.5 else "off"


def opposite(state):
    """The other one."""
    return "off" if state == "on" else "on"


def pieces(record, rank, turns, begin, end):
    """The states in a phase: [(from, to, state)...]. A window may begin off
    without a switch: what the next switch is to, it was not before."""
    inside = [turn for turn in turns if begin <= turn[0] < end]
    if inside:
        state = opposite(inside[0][1])
    else:
        state = seen(record, rank % record["nodes"], begin, end)
    found, last = [], begin
    for when, to in inside:
        found.append((last, when, state))
        last, state = when, to
    return found + [(last, end, state)]


def has_switches(record):
    """Were decisions recorded at all, and not too many for the list?"""
    adaptation = record.get("adaptation")
    return adaptation and adaptation["switches_more"] == 0


def right(record, _nodes, skipped):
    """Share of the time in which ranks had the status that the script says,
    in %, later than `skipped` intervals into each phase."""
    if not has_switches(record):
        return None
    good = whole = 0.0
    interval = record["adaptation"]["interval_s"]
    for rank, turns in by_rank(record).items():
        for want, begin, end in phases(record):
            start = min(end, begin + skipped * interval)
            whole += end - start
            good += sum(max(0, to - max(start, since)) for since, to, state
                        in pieces(record, rank, turns, begin, end)
                        if state == want)
    return 100 * good / whole if whole else None


def latencies(record):
    """Of each rank and each phase that began wrong: until it was right, in
    intervals."""
    found = []
    for rank, turns in by_rank(record).items():
        for want, begin, end in phases(record):
            states = pieces(record, rank, turns, begin, end)
            if states[0][2] != want:
                good = [since for since, _, state in states if state == want]
                found.append((good[0] - begin if good else NEVER) /
                             record["adaptation"]["interval_s"])
    return found


def latency(record, _nodes, _what):
    """Their median."""
    found = latencies(record) if has_switches(record) else []
    return statistics.median(found) if found else None


def handling_us(record, _nodes, _what):
    """What the ghosts' time at work is for each operation."""
    ops = sum(ghost["ops"] for ghost in record.get("ghost_load") or [])
    busy = sum(ghost["busy_s"] for ghost in record.get("ghost_busy") or [])
    return busy * 1e6 / ops if ops and busy else None


# As counters.READERS; the words are the values of lines.
READERS = {
    "% right": (right, 0),
    "% right later": (right, 2),
    "latency": (latency, None),
    "handling": (handling_us, None),
}
