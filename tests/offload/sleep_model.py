#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every interleaving of the offload engine's protocols, on a machine with store
buffers (x86-TSO): can a wake-up be lost, a command be lost or seen too early?

usage: sleep_model.py [--list]

Each protocol is written down as the steps that runtime/offload/command.c (or
Concurrency Kit's ring) takes, for two or three processes. All states are
visited. A protocol must hold as it is, and must break when the step that it
rests on is left out: else the model would prove nothing. Spin is not used,
because its machine has no store buffers, and what is at stake are fences.
"""
import sys


class Broken(Exception):
    """A state that must not be."""


class Process:
    """A list of steps. A step is a function of (registers, machine); it returns
    the label to go on at, or None for the next step."""

    def __init__(self, *steps):
        self.steps = [step for _label, step in steps]
        self.labels = {label: i for i, (label, _step) in enumerate(steps)
                       if label}


class Machine:
    """Memory, and for one process its store buffer: what it has written and the
    others do not see yet."""

    def __init__(self, memory, buffers, who):
        self.memory, self.buffers, self.who = dict(memory), list(buffers), who

    def load(self, name):
        for written, value in reversed(self.buffers[self.who]):
            if written == name:
                return value
        return self.memory[name]

    def store(self, name, value):
        self.buffers[self.who] = self.buffers[self.who] + ((name, value),)

    def fence(self):
        for name, value in self.buffers[self.who]:
            self.memory[name] = value
        self.buffers[self.who] = ()

    def swap(self, name, value):
        """A locked instruction: a full fence too."""
        self.fence()
        old, self.memory[name] = self.memory[name], value
        return old

    def add(self, name, value):
        return self.swap(name, self.load(name) + value)


BLOCKED = "blocked"  # the step cannot be taken now


def freeze(memory):
    return tuple(sorted(memory.items()))


def explore(protocol):
    """Visit all states. Raises Broken; returns how many there are."""
    processes = protocol["processes"]
    first = (freeze(protocol["memory"]), ((),) * len(processes),
             (0,) * len(processes), ((),) * len(processes))
    seen, todo = {first}, [first]
    while todo:
        memory, buffers, places, registers = todo.pop()
        moved = False
        for who, process in enumerate(processes):
            outcomes = []
            if buffers[who]:  # its oldest store reaches memory
                name, value = buffers[who][0]
                later = dict(memory)
                later[name] = value
                outcomes.append((freeze(later), buffers[:who] +
                                 (buffers[who][1:],) + buffers[who + 1:],
                                 places, registers))
            if places[who] < len(process.steps):
                machine = Machine(dict(memory), buffers, who)
                own = dict(registers[who])
                target = process.steps[places[who]](own, machine)
                if target != BLOCKED:
                    place = (places[who] + 1 if target is None
                             else process.labels[target])
                    outcomes.append((
                        freeze(machine.memory), tuple(machine.buffers),
                        places[:who] + (place,) + places[who + 1:],
                        registers[:who] + (freeze(own),) +
                        registers[who + 1:]))
            for state in outcomes:
                moved = True
                if state not in seen:
                    seen.add(state)
                    todo.append(state)
        if not moved:
            protocol["end"](dict(memory), places)
    return len(seen)


def finished(processes):
    """At the end nobody may be stuck."""
    def check(_memory, places):
        for process, place in zip(processes, places):
            if place < len(process.steps):
                raise Broken(f"a process sleeps for ever at step {place}")
    return check


def go(label):
    return lambda r, m: label


def when(test, label):
    return lambda r, m: label if test(r) else None


def get(register, name):
    def step(r, m):
        r[register] = m.load(name)
    return step


def put(name, value):
    return lambda r, m: m.store(name, value(r) if callable(value) else value)


def swap(register, name, value):
    def step(r, m):
        r[register] = m.swap(name, value)
    return step


def add(name, value):
    def step(_r, m):
        m.add(name, value)
    return step


def fence(_r, m):
    m.fence()


def nothing(_r, _m):
    pass


def futex_wait(name, expected, sleeping):
    """In the kernel: look and fall asleep are one step."""
    def step(r, m):
        m.fence()
        if m.load(name) == expected(r):
            m.memory[sleeping] = 1
    return step


def sleep(sleeping):
    """Until another process has woken us."""
    return lambda r, m: BLOCKED if m.memory[sleeping] else None


def wake(*sleeping):
    def step(_r, m):
        m.fence()
        for name in sleeping:
            m.memory[name] = 0
    return step


def nap(with_fence=True):
    """aspx_command_post() against aspx_command_nap(): the command is served."""
    poster = Process(
        ("", put("ring", 1)),
        ("", fence if with_fence else nothing),
        ("", get("napping", "napping")),
        ("", when(lambda r: not r["napping"], "out")),
        ("", swap("was", "napping", 0)),
        ("", when(lambda r: not r["was"], "out")),
        ("", wake("thread_sleeps")),
        ("out", nothing),
    )
    thread = Process(
        ("again", get("ring", "ring")),
        ("", when(lambda r: r["ring"], "served")),
        ("", swap("_", "napping", 1)),
        ("", get("ring", "ring")),
        ("", when(lambda r: r["ring"], "rise")),
        ("", futex_wait("napping", lambda r: 1, "thread_sleeps")),
        ("", sleep("thread_sleeps")),
        ("rise", swap("_", "napping", 0)),
        ("", go("again")),
        ("served", nothing),
    )
    processes = [poster, thread]
    return {"memory": {"ring": 0, "napping": 0, "thread_sleeps": 0},
            "processes": processes, "end": finished(processes)}


def waiter(me, count_first=True, seen_first=True):
    """aspx_rest_step(), from the announcement on."""
    count = add("sleepers", 1)
    look = [("", get("done", "done" + me)),
            ("", when(lambda r: r["done"], "out"))]
    note = [("", get("seen", "news"))]
    return Process(
        ("", count if count_first else nothing),
        ("again", nothing),
        *(note + look if seen_first else look + note),
        ("", futex_wait("news", lambda r: r["seen"], "sleeps" + me)),
        ("", sleep("sleeps" + me)),
        ("", go("again")),
        ("out", add("sleepers", -1 if count_first else 0)),
    )


def rest(waiters=1, exchange=True, **wrong):
    """aspx_command_done() against aspx_rest_step(): the caller goes on."""
    names = [str(i) for i in range(waiters)]
    done = []
    for i in names:
        label = "skip" + i
        done += [
            ("", swap("_", "done" + i, 1) if exchange else
             put("done" + i, 1)),
            ("", get("sleepers", "sleepers")),
            ("", when(lambda r: not r["sleepers"], label)),
            ("", add("news", 1)),
            ("", wake(*("sleeps" + j for j in names))),
            (label, nothing),
        ]
    processes = [Process(*done)] + [waiter(i, **wrong) for i in names]
    memory = {"sleepers": 0, "news": 0}
    for i in names:
        memory.update({"done" + i: 0, "sleeps" + i: 0})
    return {"memory": memory, "processes": processes,
            "end": finished(processes)}


def ring(producers=2, cells=2, publish_last=True, turns=True):
    """Concurrency Kit's mpsc ring: each command arrives once, and complete.
    A producer claims a cell with a compare-and-swap, fills it, and publishes
    when those before it have published."""
    def producer(value):
        def room(r, m):
            r["head"] = m.load("p_head")
            if r["head"] - m.load("c_head") >= cells:
                return BLOCKED
            return None

        def claim(r, m):
            m.fence()
            if m.load("p_head") != r["head"]:
                return "again"
            m.memory["p_head"] = r["head"] + 1
            return None

        def fill(r, m):
            m.store(f"cell{r['head'] % cells}", value)

        def turn(r, m):
            if turns and m.load("p_tail") != r["head"]:
                return BLOCKED
            return None

        def publish(r, m):
            m.store("p_tail", r["head"] + 1)

        last = [("", fill), ("", turn), ("", publish)]
        if not publish_last:
            last = [("", turn), ("", publish), ("", fill)]
        return Process(("again", room), ("", claim), *last)

    def wait(r, m):
        r["at"] = m.load("c_head")
        return BLOCKED if m.load("p_tail") == r["at"] else None

    def take(r, m):
        cell = f"cell{r['at'] % cells}"
        value = m.load(cell)
        if not value or value in r.get("had", ()):
            raise Broken(f"the consumer found {value} in {cell}")
        r["had"] = r.get("had", ()) + (value,)
        m.store("c_head", r["at"] + 1)
        return "again" if len(r["had"]) < producers else None

    processes = [producer(i + 1) for i in range(producers)]
    processes.append(Process(("again", wait), ("", take)))
    memory = {"p_head": 0, "p_tail": 0, "c_head": 0}
    memory.update({f"cell{i}": 0 for i in range(cells)})
    return {"memory": memory, "processes": processes,
            "end": finished(processes)}


# name, the protocol, does it hold?
CASES = [
    ("a post ends a nap", nap(), True),
    ("... without the poster's fence", nap(with_fence=False), False),
    ("a finished command wakes its caller", rest(), True),
    ("... and each of two callers", rest(waiters=2), True),
    ("... with a plain store for the done flag", rest(exchange=False), False),
    ("... if callers do not announce themselves",
     rest(count_first=False), False),
    ("... if the count of news is taken after the look",
     rest(seen_first=False), False),
    ("two producers, two cells", ring(), True),
    ("three producers, two cells", ring(producers=3), True),
    ("... published before the cell is filled", ring(publish_last=False),
     False),
    ("... published out of turn", ring(turns=False), False),
]


def main():
    wrong = 0
    if sys.argv[1:] not in ([], ["--list"]):
        sys.exit(__doc__)
    for name, protocol, holds in CASES:
        if sys.argv[1:]:
            print(name)
            continue
        try:
            verdict, found = True, f"{explore(protocol)} states"
        except Broken as broken:
            verdict, found = False, str(broken)
        right = verdict == holds
        wrong += not right
        print(f"{'ok' if right else 'WRONG'}: {name}: "
              f"{'holds' if verdict else 'breaks'} ({found})")
    return wrong != 0


sys.exit(main())
