#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every interleaving of the offload engine's protocols, on a machine with store
buffers (x86-TSO): can a wake-up be lost, a command be lost or seen too early?

usage: sleep_model.py [--list]

Each protocol is written down as the steps that runtime/base/event.h and
runtime/offload/ring.h take, for two or three processes. All states are visited. A
protocol must hold as it is, and must break when the step that it rests on is left
out: else the model would prove nothing. Spin is not used,
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

    def add_up(self, name):
        """Fetch and add one."""
        return self.add(name, 1)


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


def add(name, value):
    def step(_r, m):
        m.add(name, value)
    return step


def fence(_r, m):
    m.fence()


def barrier(_r, m):
    """membarrier(): the kernel fences all threads of the process."""
    for buffer in m.buffers:
        for name, value in buffer:
            m.memory[name] = value
    m.buffers = [()] * len(m.buffers)


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


def event(notifiers=1, waiters=1, news=fence, waiter=fence, inner=fence,
          announce=True, key_first=True, compare=True):
    """runtime/base/event.h: each notifier has news of its own, each waiter waits
    for all of them."""
    def claim(r, m):
        word = m.load("word")
        m.fence()
        if word == m.load("word"):
            m.memory["word"] = word + 1
            return None
        return "again"

    def notifier(i):
        return Process(
            ("", put(f"news{i}", 1)),
            ("", news),
            ("", get("waiters", "waiters")),
            ("", when(lambda r: not r["waiters"], "out")),
            ("", inner),
            ("again", get("word", "word")),
            ("", when(lambda r: not r["word"] & 1, "out")),
            ("", claim),
            ("", wake(*(f"sleeps{j}" for j in range(waiters)))),
            ("out", nothing),
        )

    def key(r, m):
        m.fence()
        r["key"] = m.memory["word"] = m.memory["word"] | 1

    def look(r, m):
        r["there"] = all(m.load(f"news{i}") for i in range(notifiers))

    def waits(j):
        looks = [("", key), ("", look)]
        return Process(
            ("", add("waiters", 1) if announce else nothing),
            ("", waiter),
            ("again", nothing),
            *(looks if key_first else looks[::-1]),
            ("", when(lambda r: r["there"], "out")),
            ("", futex_wait("word", lambda r: r["key"], f"sleeps{j}")
             if compare else
             lambda r, m: m.memory.update({f"sleeps{j}": 1})),
            ("", sleep(f"sleeps{j}")),
            ("", go("again")),
            ("out", add("waiters", -1) if announce else nothing),
        )

    processes = ([notifier(i) for i in range(notifiers)] +
                 [waits(j) for j in range(waiters)])
    memory = {"waiters": 0, "word": 0}
    memory.update({f"news{i}": 0 for i in range(notifiers)})
    memory.update({f"sleeps{j}": 0 for j in range(waiters)})
    return {"memory": memory, "processes": processes,
            "end": finished(processes)}


def ring(producers=2, cells=2, each=1, parity=True, room=True):
    """ring.h: each command arrives once, and complete. A producer draws a ticket,
    waits until its cell is free, and writes value and parity of the lap in one
    store; before it, it wrote what the command says."""
    def lap(ticket):
        return 1 - ticket // cells % 2 if parity else 1

    def producer(who):
        def ticket(r, m):
            r["ticket"] = m.add_up("tickets")
            r["value"] = who * each + r.get("sent", 0) + 1

        def fill(r, m):
            m.store(f"text{r['value']}", 1)

        def wait(r, m):
            if room and r["ticket"] - m.load("taken") >= cells:
                return BLOCKED
            return None

        def publish(r, m):
            m.store(f"cell{r['ticket'] % cells}",
                    (r["value"], lap(r["ticket"])))
            r["sent"] = r.get("sent", 0) + 1
            return "again" if r["sent"] < each else None

        return Process(("again", ticket), ("", fill), ("", wait),
                       ("", publish))

    def look(r, m):
        next_one = m.load("taken")
        value, found = m.load(f"cell{next_one % cells}")
        if found != lap(next_one):
            return BLOCKED
        r["value"] = value
        if not value or value in r.get("had", ()):
            raise Broken(f"the consumer found {value} twice or too early")
        if not m.load(f"text{value}"):
            raise Broken(f"command {value} came before its arguments")
        return None

    def take(r, m):
        m.store("taken", m.load("taken") + 1)
        r["had"] = r.get("had", ()) + (r["value"],)
        return "again" if len(r["had"]) < producers * each else None

    processes = [producer(i) for i in range(producers)]
    processes.append(Process(("again", look), ("", take)))
    memory = {"tickets": 0, "taken": 0}
    memory.update({f"cell{i}": (0, 0) for i in range(cells)})
    memory.update({f"text{i + 1}": 0 for i in range(producers * each)})
    return {"memory": memory, "processes": processes,
            "end": finished(processes)}


# name, the protocol, does it hold?
CASES = [
    ("an event wakes a thread that waits", event(), True),
    ("... of two notifiers", event(notifiers=2), True),
    ("... and each of two waiters", event(waiters=2), True),
    ("... without the notifier's fence", event(news=nothing), False),
    ("... with a barrier by the waiter instead",
     event(notifiers=2, news=nothing, waiter=barrier), True),
    ("... and each of two waiters",
     event(waiters=2, news=nothing, waiter=barrier), True),
    ("... and without that", event(news=nothing, waiter=nothing), False),
    ("... if the notifier does not fence for those who are there",
     event(notifiers=2, news=nothing, waiter=barrier, inner=nothing), False),
    ("... if waiters do not announce themselves", event(announce=False),
     False),
    ("... if the key is taken after the look", event(key_first=False), False),
    ("... if the kernel does not compare", event(compare=False), False),
    ("one producer, two cells, three laps", ring(producers=1, each=6), True),
    ("two producers, two cells, two laps", ring(each=2), True),
    ("three producers, two cells", ring(producers=3), True),
    ("... without parities", ring(producers=3, parity=False), False),
    ("... without waiting for room", ring(producers=1, each=6, room=False),
     False),
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
