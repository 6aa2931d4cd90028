#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks around `aspen report`.

usage: report_check.py valid SCHEMA RECORD...     records are as the schema says
       report_check.py strict SCHEMA RECORD...    and the schema notices when a
                                                  key is missing or renamed
       report_check.py page X.json...             X.html is well-formed, needs
                                                  nothing from outside, and says
                                                  what the record says
       report_check.py text TEXT...               at most 80 columns, no control
                                                  characters
       report_check.py spoil ASPEN SCHEMA RECORD DIR
                                                  damaged records are refused in
                                                  words, or shown; nothing else
"""
import copy
import html.parser
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

bad = 0


def complain(text):
    global bad
    bad += 1
    print(text)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def validator(path):
    import jsonschema  # slow to load, and not all need it
    schema = load(path)
    kind = jsonschema.Draft202012Validator
    kind.check_schema(schema)
    return kind(schema)


# ---- the schema ------------------------------------------------------------

def valid(schema, *records):
    check = validator(schema)
    for path in records:
        for error in check.iter_errors(load(path)):
            complain(f"{path}: {list(error.absolute_path)}: {error.message}")


def objects(value, path=()):
    """Every object of a tree, with the path to it; of lists the first one."""
    if isinstance(value, dict):
        yield path, value
        for key in value:
            yield from objects(value[key], path + (key,))
    elif isinstance(value, list) and value:
        yield from objects(value[0], path + (0,))


def at(tree, path):
    for step in path:
        tree = tree[step]
    return tree


# Keys that a reader must do without, and objects whose keys are free.
OPTIONAL = {"time", "ghost_busy", "active_ghosts", "active_ghosts_more", "adaptation",
            "mpi_fixes", "mpi_device", "profile_build", "windows_flat_less", "typed",
            "messages", "collectives"}
FREE = re.compile(r"^(calls/\w+|time/calls)$")


def is_optional(path, key, mode):
    if mode == "ghost" and (path, key) in (((), "offload"),
                                           (("offload",), "threads")):
        return True
    if path[:1] == ("ghost_busy",) and (
            key in ("waits", "naps_why", "start_cpu_s") or key.startswith("parked_")):
        return True
    return path == () and key in OPTIONAL


def strict(schema, *records):
    valid(schema, *records)
    check = validator(schema)
    tried = 0
    for file in records:
        record = load(file)
        for path, members in objects(record):
            if FREE.match("/".join(map(str, path))):
                continue
            for key in members:
                less = copy.deepcopy(record)
                value = at(less, path).pop(key)
                tried += 1
                if not is_optional(path, key, record["mode"]) and check.is_valid(less):
                    complain(f"{file}: nobody misses {path} {key}")
                at(less, path)[key + "_"] = value
                if not is_optional(path, key, record["mode"]) and check.is_valid(less):
                    complain(f"{file}: nobody misses {path} {key}, renamed")
    print(f"{tried} keys")
    if tried < 20 * len(records):
        complain("too few keys were tried")


# ---- the page --------------------------------------------------------------

FORBIDDEN = {"script", "link", "img", "iframe", "object", "embed", "video",
             "audio", "source", "image", "use", "base", "a", "form"}


def self_contained(text, root):
    for element in root.iter():
        if element.tag in FORBIDDEN:
            complain(f"the page has a <{element.tag}>")
        for name in element.attrib:
            if name in ("src", "href", "data", "action") or \
                    name.startswith(("on", "xlink", "{")):
                complain(f"the page has an attribute {name}")
        if element.tag == "style" and \
                re.search(r"url\(|@import|expression", element.text):
            complain("the style sheet fetches something")
    if re.search(r"https?:|//\w+\.", text):
        complain("the page names an address")


class Tags(html.parser.HTMLParser):
    """Do tags nest in HTML's own eyes, too?"""
    VOID = {"meta", "br"}

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        if tag not in self.VOID:
            complain(f"<{tag}/> does not end in HTML")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            complain(f"</{tag}> is not where it belongs")


def words(element):
    return "".join(element.itertext()).replace("\u202f", "").strip()


def sections(root):
    return {words(s.find("h2")): s for s in root.iter("section")}


def rows(section, n=0):
    """The cells of a section's nth table, by their words."""
    tables = list(section.iter("table"))
    return [[words(cell) if cell.find("svg") is None else cell.find("svg")
             for cell in row.findall("td")]
            for row in tables[n].find("tbody")] if tables else []


def equal(what, got, wanted):
    if got != wanted:
        complain(f"{what}: {got!r} instead of {wanted!r}")


def safe(text):
    """What the page shows of a text."""
    return "".join("\ufffd" if ord(c) < 32 or c in "\x7f\u202e" else c
                   for c in text).strip()


def seconds(text):
    number, unit = text.split()
    return float(number) * {"s": 1, "ms": 1e-3, "us": 1e-6}[unit]


def near(what, text, wanted):
    if abs(seconds(text) - wanted) > 0.01 * wanted:
        complain(f"{what}: {text} instead of {wanted} s")


def lengths(svg):
    return [float(rect.get("width")) for rect in svg.iter("rect")]


def bar(what, svg, values, most):
    """Are the bar's parts as long as their values?"""
    wanted = []
    for value in values:  # times of several threads can be more than the whole
        if value > 0:
            wanted.append(min(max(3, 1000 * value / most), 1000 - sum(wanted)))
    got = lengths(svg)
    if len(got) != len(wanted) or \
            any(abs(g - w) > 6 for g, w in zip(got, wanted)):
        complain(f"{what}: a bar of {got} for {values} of {most}")


def page_head(root, record):
    facts = {words(d.find("dt")): words(d.find("dd"))
             for d in sections(root)["The job"].iter("div")}
    for name, key in (("Job and step", "job"), ("Mode", "mode"),
                      ("Ranks", "users"), ("Nodes", "nodes"),
                      ("MPI", "mpi"), ("Policy digest", "policy_digest"),
                      ("Aspen", "version")):
        equal(name, facts.get(name), str(record[key]))
    equal("Device", facts.get("Device"), record.get("mpi_device"))
    if "mpi_fixes" in record:
        fixes = re.findall(r"(\w+)=yes", record["mpi_fixes"])
        equal("Works around", facts.get("Works around"),
              ", ".join(fixes) or "nothing")
    equal("Bound", facts.get("Bound to CPUs"),
          "yes" if record["bound"] else "no")
    if record["reason"]:
        equal("reason", facts.get("Remark", facts.get("Why not")),
              safe(record["reason"]))
    if record["ghosts"]:
        equal("Helpers", facts["Helpers"].split()[0], str(record["ghosts"]))
    for mode, kind in (("offload", "offload"), ("thread", "progress")):
        if (mode in record) != (f"{kind} thread" in facts["Helpers"]):
            complain(f"Helpers: {facts['Helpers']}")


def page_place(root, record):
    section = sections(root)["Who sits where on the first node"]
    lists = [task["cpus"] for task in record["first_node"]]
    cpus = {task["helper_cpu"] for task in record["first_node"]} - {-1}
    for part in ",".join(lists + [record["service_cpus"]]).split(","):
        if part:
            first, _, last = part.partition("-")
            cpus.update(range(int(first), int(last or first) + 1))
    drawn = {int(text.text) for text in section.iter("text")
             if "os" in text.get("class").split()}
    equal("CPUs drawn", drawn, cpus)


def page_calls(root, record):
    section = sections(root)["Calls on windows, and who carried them out"]
    ways = []
    for counts in record["calls"].values():
        ways += [way for way in counts if way not in ways]
    called = {name: counts for name, counts in record["calls"].items()
              if counts}
    got = {row[0]: row[1:] for row in rows(section)}
    equal("calls", sorted(got), sorted(called))
    most = max((sum(c.values()) for c in called.values()), default=0)
    for name, counts in called.items():
        numbers = [counts.get(way, 0) for way in ways]
        equal(name, got[name][1:], [str(n) for n in numbers + [sum(numbers)]])
        bar(name, got[name][0], numbers, most)
    verdict = words(sections(root)["Verdict"])
    redirected = record["redirected"]
    total = sum(sum(c.values()) for c in record["calls"].values())
    wanted = f"Ghosts carried out {redirected} of {total} calls" \
        if redirected else "none of the " if total else "no call on a window"
    if wanted not in verdict:
        complain(f"the verdict does not say {wanted!r}: {verdict}")


def page_loads(root, record):
    section = sections(root)["What each ghost was sent"]
    most = max(load["ops"] for load in record["ghost_load"])
    for row, load in zip(rows(section), record["ghost_load"], strict=True):
        equal("ghost", row[0], f"rank {load['rank']}, node {load['node']}")
        equal("operations", row[2], str(load["ops"]))
        if load["bytes"] < 1024:
            equal("bytes", row[3], f"{load['bytes']} B")
        bar("load", row[1], [load["ops"]], most or 1)


def page_windows(root, record):
    section = sections(root)["Windows"]
    rules = record["window_rules"]
    for row, window in zip(rows(section), record["windows"], strict=True):
        equal("order", row[0].split("-")[0], str(window["order"]))
        equal("name", row[1], safe(window["name"]))
        equal("processes", row[3], str(window["processes"]))
        if rules:
            equal("rules", row[6],
                  ", ".join(rules[r]["from"] for r in window["rules"]))
    if rules:
        equal("rules", [[row[0], row[3]] for row in rows(section, 1)],
              [[r["from"], str(r["windows"])] for r in rules])


def page_time(root, record):
    section = sections(root)["Time in MPI"]
    time = record["time"]
    by_call = 0
    if len(time["ranks"]) <= 16:
        by_call = 1
        for row, rank in zip(rows(section), time["ranks"], strict=True):
            equal("rank", row[0], f"{rank['rank']}, node {rank['node']}")
            for cell, key in zip(row[2:], ("wait_s", "work_s", "mpi_s")):
                near(key, cell, rank[key])
            bar("rank", row[1], [rank["wait_s"], rank["work_s"]],
                time["wall_s"])
    calls = sorted(time["calls"].items(), key=lambda c: -c[1]["seconds"])
    for row, (name, call) in zip(rows(section, by_call), calls[:60],
                                 strict=True):
        equal("call", row[0], name)
        equal("count", row[4], str(call["count"]))
        near(name, row[2], call["wait_s"])
        near(name, row[3], call["seconds"] - call["wait_s"])
    verdict = words(sections(root)["Verdict"])
    if "MPI_Init to MPI_Finalize" not in verdict:
        complain("the verdict is silent about time")


def page_scaling(section, record):
    """As dark as ghosts were not parked; and where that changed."""
    for row in rows(section, 1)[:-1]:
        node = int(row[0].split()[1])
        ghosts = [busy for busy in record["ghost_busy"]
                  if busy["node"] == node]
        held, parked = (sum(busy[key] for busy in ghosts)
                        for key in ("held_s", "parked_s"))
        if not record["active_ghosts_more"]:
            bar_share = sum(float(r.get("fill-opacity"))
                            for r in row[1].iter("rect")) / 120
            if abs(bar_share - (1 - parked / held)) > 0.01:
                complain(f"scaling of node {node}: {bar_share} active, parked "
                         f"{parked} of {held}")
            shades = {r.get("fill-opacity") for r in row[1].iter("rect")}
            moves = [c for c in record["active_ghosts"] if c["node"] == node]
            if bool(moves) != (len(shades) > 1):
                complain(f"scaling of node {node}: {len(moves)} changes, "
                         f"{len(shades)} shades")


def page_busy(root, record):
    section = sections(root)["How busy the ghosts were"]
    if "active_ghosts" in record:
        page_scaling(section, record)
    for row, busy in zip(rows(section), record["ghost_busy"], strict=True):
        equal("ghost", row[0], f"rank {busy['rank']}, node {busy['node']}")
        near("busy", row[2], busy["busy_s"])
        start = busy.get("start_cpu_s", 0)
        near("CPU time", row[5], busy["cpu_s"] - start)
        near("to start", row[6], start)
        equal("woken by", row[7], busy.get("waits", ""))
        if "active_ghosts" in record:
            near("parked", row[8], busy["parked_s"])
        if busy["held_s"]:
            bar("busy", row[1], [busy["busy_s"]], busy["held_s"])


def page_adaptation(root, record):
    section = sections(root)["Adaptation"]
    timeline = record["adaptation"]["timeline"]
    for row, strip in zip(rows(section), timeline):
        equal("strip", row[0], f"node {strip['node']}")
        shades = [float(r.get("fill-opacity")) for r in row[1].iter("rect")]
        if len(strip["on"]) <= 240:
            equal("shades", shades,
                  [round(on, 3) for on in strip["on"] if on > 0])
    tables = 1 if timeline else 0
    if record["adaptation"].get("decisions"):
        equal("decisions", [row[1:] for row in rows(section, tables)],
              [[d["to"], safe(d["why"])]
               for d in record["adaptation"]["decisions"][:60]])
        tables += 1
    if record["adaptation"]["switches"]:
        got = rows(section, tables)
        wanted = record["adaptation"]["switches"]
        equal("switches", [row[3:] for row in got],
              [[s["to"], safe(s["why"])] for s in wanted[:60]])


def page_counts(root, record, key):
    shown = {row[1] for title, section in sections(root).items()
             if title.startswith("What ") for row in rows(section)}
    for name, value in record[key].items():
        if name == "threads":
            continue
        if isinstance(value, int) and str(value) not in shown:
            complain(f"{name} {value} is not shown")


def page_threads(root, record):
    page_counts(root, record, "offload" if "offload" in record else "thread")


def page_typed(root, record):
    page_counts(root, record, "typed")


def page_messages(root, record):
    messages = record["messages"]
    verdict = words(sections(root)["Verdict"])
    if messages["reason"]:
        wanted = f"Ghosts carried no messages: {safe(messages['reason'])}."
    else:
        page_counts(root, record, "messages")
        wanted = f"Ghosts carried {messages['sent']} messages"
        section = sections(root)["What ghosts did with messages"]
        equal("rules", [[row[0], row[3]] for row in rows(section, 1)]
              if messages["rules"] else [],
              [[r["from"], str(r["communicators"])] for r in messages["rules"]])
    if wanted not in verdict:
        complain(f"the verdict does not say {wanted!r}: {verdict}")


def page_collectives(root, record):
    section = next(section for title, section in sections(root).items()
                   if title.startswith("What was chosen"))
    got = rows(section)
    for row, found in zip(got, record["collectives"]["found"]):
        equal("way", row[:3], [safe(found["key"]), safe(found["way"]),
                               found["end"]])
    equal("rows", len(got), min(60, len(record["collectives"]["found"])))


PARTS = {"calls": page_calls, "ghost_load": page_loads, "time": page_time,
         "ghost_busy": page_busy, "adaptation": page_adaptation,
         "offload": page_threads, "thread": page_threads, "typed": page_typed,
         "messages": page_messages, "collectives": page_collectives}


def page(*records):
    for path in records:
        one_page(load(path), path)


def one_page(record, path):
    with open(re.sub("json$", "html", path), encoding="utf-8") as file:
        text = file.read()
    root = ET.fromstring(text)
    tags = Tags()
    tags.feed(text)
    equal("tags left open", tags.open, [])
    self_contained(text, root)
    page_head(root, record)
    page_place(root, record)
    if record.get("windows"):
        page_windows(root, record)
    for key, check in PARTS.items():
        if key in record:
            check(root, record)
    unmeasured = words(root.find("body/main/footer"))
    equal("says what was not measured", "Not measured" in unmeasured,
          "time" not in record or record["mode"] == "ghost" and
          not {"ghost_busy", "adaptation"} <= set(record))


def text(*paths):
    for path in paths:
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        for line in lines:
            if len(line) > 80:
                complain(f"wide: {line}")
            if re.search("[\x00-\x1f\x7f-\x9f\u202e]", line):
                complain(f"control characters: {line!r}")


# ---- damaged records -------------------------------------------------------

def report(aspen, form, record, out):
    """Returns the exit status and what was said; complains of what is neither a
    report nor a refusal in words."""
    run = subprocess.run([aspen, "report", *form, "-o", out, record],
                         capture_output=True, timeout=20, check=False)
    said = run.stderr.decode()
    if run.returncode not in (0, 2):
        complain(f"status {run.returncode}: {said}")
    if (run.returncode == 2) != said.startswith(record):
        complain(f"status {run.returncode} and says: {said!r}")
    if run.returncode == 0 and not form:
        try:
            ET.parse(out)
        except ET.ParseError as error:
            complain(f"ill-formed page: {error}")
    return run.returncode, said


def spoil(aspen, schema, record_path, folder):
    check = validator(schema)
    file, out = f"{folder}/spoilt.json", f"{folder}/spoilt.out"
    with open(record_path, encoding="utf-8") as stream:
        whole = stream.read()
    record = json.loads(whole)
    counts = {0: 0, 2: 0}

    def attempt(what, content, may_pass):
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(content)
        # In turns as a page and as text: they are read by the same code.
        form = ["--text"] if sum(counts.values()) % 2 else []
        status, said = report(aspen, form, file, out)
        counts[status] = counts.get(status, 0) + 1
        if status == 0 and not may_pass:
            complain(f"accepted: {what}")
        return status, said

    for end in range(0, len(whole.rstrip()), len(whole) // 10):
        attempt(f"the first {end}", whole[:end], False)
    marks = ("null", "-2", "1e400", "9" * 30, '"x"', "{}")
    tried = 0
    for path, members in objects(record):
        for key, value in members.items():
            other = copy.deepcopy(record)
            del at(other, path)[key]
            ok = check.is_valid(other)
            free = FREE.match("/".join(map(str, path))) or path == ("calls",)
            status, said = attempt(f"without {path} {key}",
                                   json.dumps(other), ok or free)
            if ok and status:
                complain(f"refused without {path} {key}: {said}")
            if status and key not in said:
                complain(f"{key} is missing, but it says: {said}")
            # One of the marks, not all: a process each.
            mark = marks[tried % 6]
            at(other, path)[key] = "@@"
            attempt(f"{mark} as {path} {key}",
                    json.dumps(other).replace('"@@"', mark),
                    isinstance(value, str) and mark == '"x"' or
                    isinstance(value, dict) and mark == "{}")
            tried += 1
    print(f"{counts[0]} shown, {counts[2]} refused")


def main():
    commands = {f.__name__: f for f in (valid, strict, page, text, spoil)}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])
    sys.exit(bad > 0)


main()
