#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What docs/design/coll-tune.md says of tables and searches, in a job.

load helpers

setup_file() {
    export app=$ASPEN_BUILD/bench/coll_messages_app
    export table=$BATS_FILE_TMPDIR/table
    ghosts -n 2 --off --knob coll=tune --knob "coll.save=$table" \
        "$ASPEN_BUILD/bench/coll_messages_app" 100 100 allreduce:16384 \
        allreduce:32768 >"$BATS_FILE_TMPDIR/log" 2>&1
    # The same rows for both rhythms, strict and loose, which a busy machine changes.
    export both=$BATS_FILE_TMPDIR/both
    python3 - "$table" "$both" <<'END'
import sys
head, rows = [], {}
for line in open(sys.argv[1]):
    if line.startswith(("allreduce:bytes=16384,", "allreduce:bytes=32768,")):
        for pattern in ("strict", "loose"):
            key = line.split()[0].replace("pattern=loose", "pattern=strict")
            rows[key.replace("pattern=strict", "pattern=" + pattern)] = line.split()[1:]
    elif ":" not in line.split()[0] and not line.startswith(("rows", "end")):
        head.append(line)
# In the order of keys: by pattern, then by size.
keys = sorted(rows, key=lambda k: (k.split("pattern=")[1][:1] != "s", int(k.split("bytes=")[1].split(",")[0])))
with open(sys.argv[2], "w") as out:
    out.writelines(head + [f"rows {len(keys)}\n"])
    for key in keys:
        out.write(" ".join([key] + rows[key]) + "\n")
    out.write("end\n")
END
}

# Calls of $1 with coll=tune and more knobs; prints the kinds searched for.
searches() {
    local record=$BATS_TEST_TMPDIR/record
    run ghosts -n 2 --off --report="$record" --knob coll=tune "${@:2}" \
        "$app" 0 100 "$1"
    ended_with 0
    python3 -c 'import json, sys
print(json.load(open(sys.argv[1])).get("collectives", {"kinds": -1})["kinds"])
' "$record"
}

@test "(14) a table that is loaded: no searches" {
    [ "$(searches allreduce:16384)" -ge 1 ]
    [ "$(searches allreduce:16384 --knob "coll.table=$both")" -eq 0 ]
    [ "$(searches allreduce:32768 --knob "coll.table=$both")" -eq 0 ]
}

@test "(15) 24 KiB where 16 and 32 KiB are in the table: no search" {
    [ "$(searches allreduce:24576 --knob "coll.table=$both")" -eq 0 ]
    # What is too far away is searched for.
    [ "$(searches allreduce:8 --knob "coll.table=$both")" -ge 1 ]
}

@test "(16) a budget of nothing: no searches" {
    [ "$(searches allreduce:16384 --knob coll.budget_ms=0)" -eq 0 ]
    [ "$(searches allreduce:16384)" -ge 1 ]
}

@test "(16, 17) what it costs a program" {
    run timeout -k 5 100 "$ASPEN_TOP/bench/coll_cost" --build "$ASPEN_BUILD" \
        --launches 1 --calls 100 allreduce:8
    ended_with 0
    printed '^allreduce:8 +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +-?[0-9.]+ +-?[0-9.]+$'
    printed '^searches with a budget of 0: 0$'
    run timeout -k 5 60 "$ASPEN_TOP/bench/coll_cost" --build "$ASPEN_BUILD" \
        --launches 1 nothing:8
    ended_with 1
    printed "cannot make sense of 'nothing:8'"
}

@test "(25) each search is accounted for" {
    local record=$BATS_TEST_TMPDIR/record
    [ "$(searches allreduce:16384)" -ge 1 ]
    python3 - "$record" <<'END'
import json, sys
record = json.load(open(sys.argv[1]))
part = record["collectives"]
assert part["kinds"] == len(part["found"]) >= 1
for one in part["found"]:
    assert one["candidates"] >= one["tried"] >= 1, one
    assert 1 <= one["model_rank"] <= one["candidates"], one
    assert one["trials"] >= 1 and one["spent_us"] >= one["best_us"] > 0, one
    assert one["default_us"] >= one["best_us"] or one["way"] == "default", one
# All trials are calls of the program.
assert 1e-6 * sum(f["spent_us"] for f in part["found"]) <= record["time"]["wall_s"]
END
}
