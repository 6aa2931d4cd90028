# SPDX-License-Identifier: BSD-3-Clause
"""Was redirection on when the script says so? From the record of a job, which
has each switch, and from what adapt_app printed of its phases."""
import collections
import re
import statistics

WANT = {"compute": "on", "talk": "off"}
PHASE = re.compile(r"#(\d+):(\w+)$")
NEVER = float("inf")


# Of a script: what is right, from when to when, seconds since MPI_Init, and
# since when what is switched has been there.
Phase = collections.namedtuple("Phase", "want begin end since")


def of_windows(record):
    """Windows are switched; what ghosts find holds at once for Put and Get,
    and then it is a process that is switched."""
    spec = record["rows"][0][0]
    return "op=acc" in spec or record["adaptation"]["mode"] not in ("ghosts",
                                                                    "auto")


def phases(record):
    """The script that was printed."""
    found = {}
    for name, _, _, begin, end, _ in record["rows"]:
        match = PHASE.search(name)
        if match:
            found[int(match[1])] = (WANT[match[2]], float(begin), float(end))
    return [Phase(*phase, found[index // 2 * 2][1] if of_windows(record)
                  else 0.0) for index, phase in sorted(found.items())]


def by_rank(record):
    """{rank: [(seconds since MPI_Init, "on" or "off")...]}"""
    turns = {rank: [] for rank in range(record["users"])}
    for switch in record["adaptation"]["switches"]:
        if (switch["window"] >= 0) == of_windows(record):
            turns[switch["rank"]].append((switch["t_s"], switch["to"]))
    return {rank: sorted(found) for rank, found in turns.items()}


def seen(record, node, phase):
    """What the node's strip says of a phase without switches."""
    timeline = record["adaptation"]["timeline"]
    strip = next(line for line in timeline if line["node"] == node)
    middle = int((phase.begin + phase.end) / 2 /
                 record["adaptation"]["bucket_s"])
    return "on" if strip["on"][min(middle, len(strip["on"]) - 1)] > 0.5 \
        else "off"


def opposite(state):
    """The other one."""
    return "off" if state == "on" else "on"


def pieces(record, rank, turns, phase):
    """The states in a phase: [(from, to, state)...]. A window may begin off
    without a switch: what the next switch is to, it was not before."""
    inside = [turn for turn in turns if phase.begin <= turn[0] < phase.end]
    before = [turn for turn in turns if phase.since <= turn[0] < phase.begin]
    if inside:
        state = opposite(inside[0][1])
    elif before:
        state = before[-1][1]
    else:
        state = seen(record, rank % record["nodes"], phase)
    found, last = [], phase.begin
    for when, to in inside:
        found.append((last, when, state))
        last, state = when, to
    return found + [(last, phase.end, state)]


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
        for phase in phases(record):
            start = min(phase.end, phase.begin + skipped * interval)
            whole += phase.end - start
            good += sum(max(0, to - max(start, since)) for since, to, state
                        in pieces(record, rank, turns, phase)
                        if state == phase.want)
    return 100 * good / whole if whole else None


def latencies(record):
    """Of each rank and each phase that began wrong: until it was right, in
    intervals."""
    found = []
    for rank, turns in by_rank(record).items():
        for phase in phases(record):
            states = pieces(record, rank, turns, phase)
            if states[0][2] != phase.want:
                good = [since for since, _, state in states
                        if state == phase.want]
                found.append((good[0] - phase.begin if good else NEVER) /
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
