# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# For the bats files about adaptation: runs with a record in $record, and what it
# says.

# recorded PROGRAM GHOSTRUN-OPTIONS... -- ARGUMENT...: PROGRAM of the build tree.
recorded() {
    local program=$1 shape=()
    shift
    while [ "$1" != -- ]; do
        shape+=("$1")
        shift
    done
    rm -f "$record"
    run timeout -k 5 60 "$ASPEN_TOP/tests/ghostrun" "${shape[@]}" \
        --report="$record" "$ASPEN_BUILD/$program" "${@:2}"
}

# Python expressions over the record r, its calls c, adaptation a. Together where
# they are about one record: to start Python takes long on a loaded machine.
says() {
    python3 -SE - "$record" "$@" <<'PY' && return
import json, sys
r = json.load(open(sys.argv[1]))
c, a = r["calls"], r.get("adaptation")
for expression in sys.argv[2:]:
    if not eval("(" + expression + ")"):
        sys.exit("not so: " + expression)
PY
    cat "$record"
    return 1
}

# For each phase that the program printed, how much of the time redirection to
# each rank was what the script says; later than two intervals into the phase.
# Of the window of that order, or of the Puts and Gets of all (-1). The mean over
# all must be $2 at least, without the ranks $3...
right() {
    python3 -SE - "$record" "$output" "$@" <<'PY' && return
import json, sys
r = json.load(open(sys.argv[1]))
phases = [line.split()[1:] for line in sys.argv[2].splitlines()
          if line.startswith("phase ")]
a = r["adaptation"]
window, goal, leave_out = int(sys.argv[3]), float(sys.argv[4]), sys.argv[5:]
good = whole = 0.0
for rank in range(r["users"]):
    if str(rank) in leave_out:
        continue
    turns = [(0.0, "on")] + [(s["t_s"], s["to"]) for s in a["switches"]
                             if s["rank"] == rank and s["window"] == window] + [(1e9, "")]
    for name, start, end in phases:
        start, end = float(start) + 2 * a["interval_s"], float(end)
        want = "off" if name == "inside" else "on"
        whole += end - start
        good += sum(max(0, min(end, u) - max(start, t))
                    for (t, to), (u, _) in zip(turns, turns[1:]) if to == want)
print("right: %.3f of the time" % (good / whole))
sys.exit(good / whole < goal or a["switches_more"] > 0)
PY
    cat "$record"
    return 1
}
