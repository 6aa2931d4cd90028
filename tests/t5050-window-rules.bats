#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Rules for windows, in real processes without Slurm: what they match, what
# they change, and what the record says of it. tests/rma/rules.c.

load helpers

setup() {
    record=$BATS_TEST_TMPDIR/record.json
}

# rules RANKS GHOSTS RULE... -- ARGUMENT...: run with rules, and a record.
rules() {
    local shape=(-n "$1" -g "$2") words=()
    shift 2
    while (($#)) && [[ $1 != -- ]]; do
        [[ $1 == --* ]] && words+=("$1" "$2") && shift 2 && continue
        words+=(--window "$1")
        shift
    done
    run timeout -k 5 60 "$ASPEN_TOP/tests/ghostrun" "${shape[@]}" \
        --report="$record" "${words[@]}" "$ASPEN_BUILD/tests/rma_rules" "${@:2}"
}

# A Python expression over the record r and its windows w, by name.
says() {
    python3 - "$record" "$1" <<'PY' && return
import json, sys
r = json.load(open(sys.argv[1]))
w = {x["name"]: x for x in r["windows"]}
if not eval("(" + sys.argv[2] + ")"):
    sys.exit("not so: " + sys.argv[2])
PY
    cat "$record"
    return 1
}

# Where rank 0 made the window that it calls $1.
site_of() {
    python3 -c 'import json, sys
print([w["site"] for w in json.load(open(sys.argv[1]))["windows"]
       if w["name"] == sys.argv[2]][0])' "$record" "$1"
}

@test "without rules: nothing changes, the record lists the windows" {
    rules 4 1
    ended_with 0
    printed '^ok rules'
    not_printed 'ERR|rule '
    printed 'window 1 "first": MPI_Win_allocate at rma_rules\+0x[0-9a-f]+, 4 '
    printed 'window 5 "uneven": .* 64 to 256 bytes each, native: .*private'
    # One more than any of its processes has counted.
    says '[w[n]["order"] for n in ("first", "even", "odd", "even only",
           "own 0", "uneven", "plain", "")] == [1, 2, 2, 3, 4, 5, 6, 7]'
    says 'w["even"]["processes"] == 2 and w["first"]["way"] == "ghost"'
    says 'w["plain"]["way"] == "asked" and r["window_rules"] == []'
}

@test "promises that the program does not keep are errors" {
    rules 4 1 'order:1;epochs_used:lock%2Cfence;from:job.yaml%3A3%3A5' \
        'order:2-3;no_locks:true;from:site.yaml%3A7%3A5' \
        'order:5;same_size:true;from:a'
    ended_with 0
    printed '^ok rules'
    printed '^first: lock_all: MPI_ERR_RMA_SYNC'
    printed '^first: pscw: MPI_ERR_RMA_SYNC'
    printed '^first: exclusive lock: ok'
    printed '^first: fence: ok'
    printed 'rank 0: MPI_Win_lock_all on window 1, but the rule at job.yaml:3:5'
    for window in even odd 'even only'; do
        printed "^$window: lock: MPI_ERR_RMA_SYNC"
        printed "^$window: pscw: ok"
    done
    printed '^own 0: lock: ok'
    printed '^uneven: MPI_ERR_SIZE'
    printed 'rule at a says same_size=true, but the processes of window 5'
    says '[x["windows"] for x in r["window_rules"]] == [1, 3, 1]'
    rules 4 1 'order:5;same_disp_unit:true;from:a'
    ended_with 0
    printed '^uneven: MPI_ERR_DISP'
}

@test "rules win over the program, later rules over earlier ones" {
    rules 4 1 'async_config:off;from:all' 'order:3-5;async_config:on;from:b' \
        'order:5;async_config:off;from:c' 'order:6;async_config:on;from:d'
    ended_with 0
    not_printed 'ERR'
    says '[w[n]["way"] for n in ("first", "even only", "own 0", "uneven",
           "plain")] == ["asked", "ghost", "ghost", "asked", "ghost"]'
    says 'w["own 0"]["rules"] == [0, 1] and w["plain"]["rules"] == [0, 3]'
}

@test "rules by call site hold where all processes came from it" {
    local site
    rules 4 1
    ended_with 0
    site=$(site_of uneven)
    rules 4 1 "site:$site;no_locks:true;from:a" 'site:libc%2A;no_locks:true' \
        'site:rma_rule%3F%2B0x%2A;order:4;async_config:off'
    ended_with 0
    says '[x["windows"] for x in r["window_rules"]] == [1, 0, 1]'
    says 'w["uneven"]["rules"] == [0] and w["own 0"]["rules"] == [2]'
    printed 'the rule at .* held for no window'
    rules 2 1 -- sites
    ended_with 0
    site=$(site_of sites)
    rules 2 1 "site:$site;alloc_shared_noncontig:true;from:a" \
        "site:rma_rules%2A;async_config:off;from:b" -- sites
    ended_with 0
    printed 'the rule at a held for no window'
    says 'w["sites"]["rules"] == [1]'
}

# Operations that each of the ghosts of node 1 got.
busy='sorted(x["ops"] > 20 for x in r["ghost_load"] if x["node"] == 1)'

@test "a name changes which ghost moves data, in each process by itself" {
    local move='name:mo%3Fe;rma.balance:random;from:a'
    rules 2 2 --nodes 2 "$move" -- move -1
    ended_with 0
    says "$busy == [True, True]"
    says 'w["move"]["rules"] == [0]'
    printed '"move": .*; rules a$'
    rules 2 2 --nodes 2 "$move" -- move 1
    ended_with 0
    says "$busy == [False, True]"
    rules 2 2 --nodes 2 "$move" -- move 0
    ended_with 0
    says "$busy == [True, True]"
    rules 2 2 --nodes 2 'order:1;rma.balance:ops' -- move 1
    ended_with 0
    says "$busy == [True, True]"
}

@test "binding by segment, for one window" {
    rules 2 2 -- lone
    ended_with 0
    says 'sorted(x["ops"] for x in r["ghost_load"]) == [0, 32]'
    rules 2 2 'order:1;rma.binding:segment' -- lone
    ended_with 0
    says 'sorted(x["ops"] for x in r["ghost_load"]) == [16, 16]'
    rules 2 2 --knob rma.binding=segment 'order:1;rma.binding:rank' -- lone
    ended_with 0
    says 'sorted(x["ops"] for x in r["ghost_load"]) == [0, 32]'
}

@test "a loop that makes one kind of window fills one line" {
    rules 2 1 'order:100-;no_load_store:true;from:a' -- loop 300
    ended_with 0
    says 'len(r["windows"]) == 2 and r["windows_more"] == 0'
    says '[(x["order"], x["last"], x["count"]) for x in r["windows"]] ==
          [(1, 99, 99), (100, 300, 201)]'
    printed 'window 100-300 \(201 of a kind\) "loop": .*; rules a$'
}

@test "rules by name count each window, also of a kind and beyond the list" {
    rules 2 1 'name:even;rma.balance:ops;from:a' \
        'name:odd;rma.balance:ops;from:b' 'name:all;rma.balance:ops;from:c' \
        'order:2-;rma.balance:bytes;from:d' 'name:no;rma.balance:ops;from:e' \
        -- names 101
    ended_with 0
    says '[x["windows"] for x in r["window_rules"]] == [51, 50, 101, 100, 0]'
    printed 'the rule at e held for no window'
    not_printed 'the rule at [a-d] held for no window'
}

@test "a layout with a rule that cannot be is refused" {
    rules 2 1 'name:x;async_config:native' -- lone
    [ "$status" -ne 0 ]
    printed 'MPI_Win_set_name'
}

@test "rules that only some nodes have are left out everywhere" {
    local layouts=$BATS_TEST_TMPDIR/enter
    # As ghostrun --rank, but node 1 knows of no rules.
    cat >"$layouts" <<'END'
#!/bin/bash
export ASPEN_LAYOUT=$ASPEN_LAYOUT
((PMI_RANK % 2 == 0)) || ASPEN_LAYOUT=${ASPEN_LAYOUT/ window=*;from:a/}
exec "$@"
END
    chmod +x "$layouts"
    run timeout -k 5 60 "$ASPEN_TOP/tests/ghostrun" -n 4 -g 1 --nodes 2 \
        --window 'order:1;no_locks:true;from:a' "$layouts" \
        "$ASPEN_BUILD/tests/rma_rules"
    ended_with 0
    printed '^ok rules'
    printed 'the rules for windows are left out'
    not_printed 'ERR'
}
