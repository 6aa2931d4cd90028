#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# A profile carries along what searches for collectives found.

load helpers

# A run of the same program with the profile app.json of this directory.
app() {
    run timeout -k 5 90 "$ASPEN_PREFIX/bin/aspen" run \
        --async-progress="$1,profile=app.json" --async-report=app.json -- \
        mpiexec.mpich -n 2 "$ASPEN_BUILD/tests/coll_repeat" 60
    ended_with 0
    printed '^changed '
    not_printed 'table ignored|app.json.coll:'
}

# Searches of the last run whose kind of call is in the table $1.
searched_again() {
    python3 - "$1" <<'END'
import json, sys
part = json.load(open("app.json"))["collectives"]
known = {line.split()[0] for line in open(sys.argv[1])}
print(sum(found["key"] in known for found in part["found"]))
END
}

@test "the second run searches nothing that the first one found" {
    cd "$BATS_TEST_TMPDIR"
    app off,coll=tune
    printed '^aspen: collectives of 1 communicators tuned: [1-9]'
    [ "$(grep -c '^allreduce:\|^reduce' app.json.coll)" -ge 4 ]
    [ "$(searched_again app.json.coll)" -ge 4 ]
    cp app.json.coll first
    app off,coll=tune
    # Calls that come in another rhythm than then may be searched for.
    [ "$(searched_again first)" -eq 0 ]
    # What is known stays.
    [ "$(grep -c ' search ' app.json.coll)" -ge "$(grep -c ' search ' first)" ]
    app off,coll=table
    printed '^aspen: collectives of 1 communicators by coll\.table, without a search'
}

@test "a table that the request names is not the profile's" {
    cd "$BATS_TEST_TMPDIR"
    app off,coll=tune,coll.table=mine,coll.save=mine
    [ -s mine ]
    [ ! -e app.json.coll ]
}
