#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The record of a run tells auto what to do in the next one.

load helpers

# The windows live for some 10 ms, and by chance a ghost works for much of it or
# little: how busy the ghosts of windows.json were is said here.
setup_file() {
    export records=$BATS_FILE_TMPDIR
    ghosts -n 2 -g 2 --nodes 2 --report="$records/measured.json" \
        "$ASPEN_BUILD/tests/rma_atomic" 5 >"$records/log" 2>&1
    changed measured.json "for g in r['ghost_busy']:
    g['busy_s'] = 0.4 * g['held_s']" windows.json
}

# asks RECORD FACT...
asks() {
    run "$ASPEN_BUILD/tools/aspen" request \
        --progress="auto,profile=$records/$1" "${@:2}"
    ended_with 0
}

# changed RECORD SCRIPT OTHER: a copy with other numbers; SCRIPT works on r.
changed() {
    python3 -SE -c "import json, sys; r = json.load(open(sys.argv[1]))
$2
json.dump(r, open(sys.argv[2], 'w'))" "$records/$1" "$records/$3"
}

@test "as many ghosts as the last run needed" {
    local busy count
    for busy in 0.05:1 0.4:2 0.8:3; do
        count=${busy#*:}
        changed windows.json "for g in r['ghost_busy']:
    g['busy_s'] = ${busy%:*} * g['held_s']" other.json
        asks other.json --program=./rma_atomic --nodes=2 --tasks-per-node=1
        printed "^ghost:$count,adapt=auto,profile="
        printed '^auto chose ghost: last time the busiest ghost worked [0-9]+ %'
    done
}

@test "where one ghost more has no room, as many as last time" {
    changed windows.json "r['program'] = 'true'; r['ghosts'] = 6
for g in r['ghost_busy']:
    g['busy_s'] = 0.8 * g['held_s']" full.json
    # Nodes of 4 CPUs: 1 user and 3 ghosts.
    run on_cluster srun -N2 -n2 --async-progress="auto,profile=$records/full.json" \
        true
    ended_with 0
    printed 'auto chose ghost: .* 80 % of the time, and one more has no room$'
}

@test "without windows: a thread, or nothing where nobody waited" {
    changed windows.json "r['calls'] = {}; r['windows'] = []
r['time']['wait_s'] = 0.5 * r['time']['wall_s'] * r['users']" other.json
    asks other.json
    printed '^offload,profile='
    printed 'made no call on a window and waited 50 % of the time$'
    changed windows.json "r['calls'] = {}; r['windows'] = []
r['time']['wait_s'] = 0" other.json
    asks other.json
    printed '^off,profile='
    changed windows.json "r['calls'] = {}; r['windows'] = []
r['time']['wait_s'] = 0
r['adaptation'] = {'mode': 'auto', 'interval_s': 1, 'bucket_s': 1,
    'switches_more': 0, 'switches': [], 'decisions_more': 0, 'timeline': [],
    'decisions': [{'t_s': 2.5, 'to': 'threads', 'why': 'faster'}]}" other.json
    asks other.json
    printed '^ghost:2,adapt=auto,profile='
    printed 'made no call on a window, and progress threads helped its messages$'
}

@test "after a run that was off: a helper for what it waited for" {
    # after SECONDS CALL: off, and all its waiting was there.
    after() {
        changed windows.json "r['mode'] = 'off'
r['time']['calls'] = {'$2': {'count': 9, 'seconds': $1, 'wait_s': $1}}
for t in r['time']['ranks']:
    t['wall_s'] = 10" other.json
        asks other.json
    }
    after 5 MPI_Win_unlock
    printed '^ghost:1,adapt=auto,profile='
    printed 'without helpers, it waited 25 % of the time for windows$'
    after 5 MPI_Waitall
    printed '^offload,profile='
    printed 'without helpers, it waited 25 % of the time for messages$'
    after 9 MPI_Barrier
    printed '^off,profile='
    after 0.1 MPI_Win_unlock
    printed '^off,profile='
    printed 'last time it waited little for windows or messages$'
}

@test "another program or shape is left alone, and so is what is no record" {
    asks windows.json --program=/bin/other
    printed 'left alone: it is of rma_atomic, not other$'
    printed '^ghost:1,'
    asks windows.json --nodes=3
    printed 'left alone: it is of 2 nodes, not 3$'
    asks windows.json --nodes=2 --tasks-per-node=5
    printed 'left alone: it is of 1 task per node, not 5$'
    echo '{' >"$records/bad.json"
    asks bad.json
    printed 'the profile is left alone: .*bad.json.*is not JSON'
    asks nowhere.json
    not_printed 'profile .*left alone'
    printed '^ghost:1,'
}

@test "a record of another build of MPI is left alone" {
    local lib mine program=$ASPEN_BUILD/tests/rma_atomic mpich
    mpich=$(mpiexec.mpich --version | awk '/Version:/ { print $NF; exit }')
    lib=$(ldconfig -p | awk '/libmpich\.so\.12 / { print $NF; exit }')
    mine=build-id:$(readelf -n "$lib" | awk '/Build ID/ { print $NF }')
    [ "$(python3 -c "import json, sys; r = json.load(open(sys.argv[1]))
print(*r['mpi'].split(), r['mpi_build'], 'profile_build' in r)" \
        "$records/windows.json")" = "MPICH Version: $mpich $mine False" ]
    # The same library, as if it were built another time.
    mkdir -p "$records/lib"
    python3 -c 'import sys
text, mine = open(sys.argv[1], "rb").read(), bytes.fromhex(sys.argv[2])
assert text.count(mine) == 1
open(sys.argv[3], "wb").write(text.replace(mine, mine[::-1]))' \
        "$lib" "${mine#*:}" "$records/lib/libmpich.so.12"
    asks windows.json --program="$program" --nodes=2 --tasks-per-node=1
    printed "^ghost:2,.*profile=.*,profile\\.build=$mine\$"
    run env LD_LIBRARY_PATH="$records/lib" "$ASPEN_BUILD/tools/aspen" request \
        --progress="auto,profile=$records/windows.json" --program="$program"
    ended_with 0
    printed 'left alone: it is of another build of MPI: build-id:.*, here it is '
    printed "^ghost:1,.*profile=$records/windows\\.json\$"
    # A script does not tell: the ranks have to.
    printf '#!/bin/sh\n' >"$records/rma_atomic"
    chmod 755 "$records/rma_atomic"
    LD_LIBRARY_PATH=$records/lib asks windows.json \
        --program="$records/rma_atomic"
    printed ",profile\\.build=$mine\$"
    for library in '' "$records/lib"; do
        run env LD_LIBRARY_PATH="$library" ASPEN_BUILD="$ASPEN_BUILD" \
            timeout -k 5 60 "$ASPEN_TOP/tests/ghostrun" -n 2 --off \
            --knob "profile.build=$mine" --report="$records/then.json" \
            "$ASPEN_BUILD/examples/hello"
        ended_with 0
        [ "$(grep -c 'the profile is of another build of MPI' \
            <<<"$output")" -eq $((${#library} > 0)) ]
        run "$ASPEN_BUILD/tools/aspen" report --text "$records/then.json"
        [ "$(grep -c 'chosen by the record of a run with another' \
            <<<"$output")" -eq $((${#library} > 0)) ]
    done
}

# Libraries and linkers that a program's file names, each of which says that it
# was run; then one that names none.
@test "nothing that a program's file names is run to tell its MPI" {
    local here=$BATS_TEST_TMPDIR program=$BATS_TEST_TMPDIR/rma_atomic options
    printf '#!/bin/sh\n: >%s\n' "$here/ran" >"$here/linker"
    chmod 755 "$here/linker"
    cat >"$here/evil.c" <<EOF
#include <stdio.h>
unsigned la_version(unsigned version);
unsigned la_version(unsigned version) { return version; }
__attribute__((constructor)) static void run(void)
{
    FILE *ran = fopen("$here/ran", "w");
    if (ran)
        fclose(ran);
}
EOF
    gcc -shared -fPIC -o "$here/evil.so" "$here/evil.c"
    echo 'void nothing(void); void nothing(void) {}' >"$here/carrier.c"
    gcc -shared -fPIC -Wl,--audit="$here/evil.so" -o "$here/libcarrier.so" \
        "$here/carrier.c"
    echo 'int main(void) { return 0; }' >"$program.c"
    changed windows.json "r['mpi_build'] = 'build-id:00'" other.json
    for options in "-Wl,--dynamic-linker=$here/linker" \
        "-Wl,--audit=$here/evil.so" "-Wl,--depaudit=$here/evil.so" \
        "-L$here -lcarrier -Wl,-rpath,$here" "-Wl,-rpath,$here" ''; do
        echo "with '$options'"
        # shellcheck disable=SC2086 # words
        mpicc.mpich -Wl,--no-as-needed -o "$program" "$program.c" $options
        asks other.json --program="$program" --nodes=2 --tasks-per-node=1
        [ ! -e "$here/ran" ]
        run "$ASPEN_BUILD/tools/aspen" explain \
            --progress="auto,profile=$records/other.json" --program="$program"
        [ ! -e "$here/ran" ]
        # All but the first have the linker of aspen, and are told.
        [[ $options == *dynamic-linker* ]] || {
            asks other.json --program="$program" --nodes=2 --tasks-per-node=1
            printed 'left alone: it is of another build of MPI: build-id:00\.\.\., here'
        }
    done
    # The trap works: where a linker is asked, it shuts.
    mpicc.mpich -Wl,--no-as-needed -Wl,--audit="$here/evil.so" -o "$program" \
        "$program.c"
    ldd "$program" >/dev/null || true
    [ -e "$here/ran" ]
}

@test "what the user asks for holds, and so do limits" {
    local site=$BATS_TEST_TMPDIR/site.yaml
    changed windows.json "for g in r['ghost_busy']:
    g['busy_s'] = g['held_s']" other.json
    printf 'version: 1\nlimits:\n  ghosts: {max: 2}\n' >"$site"
    asks other.json
    printed '^ghost:3,'
    asks other.json --site-policy="$site"
    printed '^ghost:2,'
    # what auto chooses is limited as what a user asks for
    changed windows.json "r['calls'] = {}; r['windows'] = []
r['time']['wait_s'] = 0.5 * r['time']['wall_s'] * r['users']" other.json
    printf 'version: 1\nlimits:\n  mode: {allow: [auto, ghost]}\n' >"$site"
    asks other.json --site-policy="$site"
    printed '^ghost:1,'
    printf 'version: 1\nlimits:\n  mode: {allow: [auto, offload]}\n' >"$site"
    asks other.json --site-policy="$site"
    printed '^offload,'
    asks nowhere.json --site-policy="$site"
    printed '^off,'
    printed 'auto chose off: the site allows no ghosts'
    run "$ASPEN_BUILD/tools/aspen" request \
        --progress="ghost:1,profile=$records/windows.json"
    [ "$output" = "ghost:1,profile=$records/windows.json" ]
    run "$ASPEN_BUILD/tools/aspen" request \
        --progress="auto,ghosts=4,profile=$records/windows.json"
    printed '^ghost:4,'
}

@test "the second run under Slurm knows the first" {
    # Where nodes and tests see it.
    local file=$ASPEN_BUILD/tests/profile.$BASHPID.json yield
    yield=$ASPEN_BUILD/tests/.libs/yield.so
    for _ in 1 2; do
        run on_cluster srun -N2 -n2 "--export=ALL,LD_PRELOAD=$yield" \
            --async-progress="auto,profile=$file" --async-report="$file" \
            "$ASPEN_BUILD/tests/offload_levels"
        ended_with 0
        printed '^levels: ok$'
    done
    printed 'auto chose offload: last time it made no call on a window and waited'
    printed 'offload mode, 2 ranks on 2 nodes'
    run on_cluster srun -N1 -n1 "--async-progress=auto,profile=$file" true
    rm -f "$file"
    printed 'left alone: it is of offload_levels, not true'
}
