#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# aspen report: call sites as function, file and line, from the program's own
# debugging information, which nobody trusts.

load helpers

setup() {
    aspen=$ASPEN_PREFIX/bin/aspen
    cd "$BATS_TEST_TMPDIR" || exit
    cat >app.c <<'END'
void callee(void)
{
}
void exchange(void)
{
    callee();
}
int main(void)
{
    exchange();
    return 0;
}
END
}

# build OPTION...: compile app.c to app.
build() {
    gcc -O0 -o app "$@" app.c
    touch -d '1 minute ago' app
}

# A record whose windows were made by the call in exchange(), of the app that is
# there; $1: what the record knows of the function.
record() {
    site=$(objdump -d app | awk '
        /^[0-9a-f]+ <exchange>:/ { inside = 1 }
        inside && seen { sub(/:.*/, "", $1); print $1; exit }
        inside && /call/ { seen = 1 }')
    site=$(printf 'app+0x%x' $((0x$site - 1)))
    python3 -SE -c "import json, sys
r = json.load(open(sys.argv[1]))
for w in r['windows']:
    w['site'], w['function'] = sys.argv[2:]
json.dump(r, open('job.json', 'w'))" \
        "$ASPEN_TOP/tests/records/full.json" "$site" "${1-}"
}

# Both forms of the report, without line breaks.
report() {
    run timeout -k 2 20 "$aspen" report --text job.json
    ended_with 0
    text=$(tr -s ' \n' ' ' <<<"$output")
    run timeout -k 2 20 "$aspen" report job.json
    ended_with 0
    page=$(cat job.html)
}

# Fail unless both forms show the site, and $1 beside it.
shown() {
    report
    [[ $text == *"at $site, $1, "* ]] || { echo "no $1 in: $text"; return 1; }
    [[ $page == *">$site $1<"* ]] || { echo "no $1 in: $page"; return 1; }
}

# Fail unless they show the site and nothing of the source.
not_shown() {
    report
    [[ $text == *"at $site"* && $page == *">$site"* ]]
    [[ $text$page != *exchange\ \(* && $text$page != *app.c* ]] || {
        echo "the source is shown: $text"
        return 1
    }
}

@test "a real job's windows are told by function, file and line" {
    local line
    ghosts -n 2 -g 1 --report="$PWD/job.json" \
        "$ASPEN_BUILD/examples/rma_stall" 100
    PATH=$ASPEN_BUILD/examples:$PATH report
    line=$(grep -n 'MPI_Win_allocate(' "$ASPEN_TOP/examples/rma_stall.c" |
        cut -d: -f1 | head -1)
    echo "$text"
    [[ $text =~ rma_stall\+0x[0-9a-f]+,\ [a-z_]+\ \(rma_stall\.c:([0-9]+)\) ]]
    # A call of several lines has one of their numbers.
    ((BASH_REMATCH[1] >= line && BASH_REMATCH[1] <= line + 4))
}

@test "with debugging information: function, file and line" {
    build -g
    record
    shown 'exchange (app.c:6)'
    build -g -no-pie
    record
    shown 'exchange (app.c:6)'
}

@test "with symbols alone: the function; without: the offset" {
    build -g0
    record
    shown exchange
    strip app
    touch -d '1 minute ago' app
    not_shown
}

@test "the file is found beside the record, here, and along the paths" {
    build -g
    record
    mkdir bin elsewhere
    mv app bin
    not_shown
    PATH=$PWD/bin:$PATH shown 'exchange (app.c:6)'
    LD_LIBRARY_PATH=$PWD/bin shown 'exchange (app.c:6)'
    mv bin/app .
    cd elsewhere
    run "$aspen" report --text ../job.json
    printed 'exchange'
}

@test "another file of the same name tells nothing" {
    build -g
    record
    # Changed after the run.
    touch -d '1 hour' app
    not_shown
    # No call ends there.
    sed -i 's/^void callee/int a, b, c;\nvoid more(void) { a = b * c + 7; }\n&/' \
        app.c
    build -g -O2
    not_shown
    # The runtime saw another function.
    build -g
    record app:exchange
    shown 'exchange (app.c:8)'
    record app:other
    report
    [[ $text == *"at $site (app:other), "* && $text != *exchange* ]]
}

@test "damaged files and odd names tell nothing and do no harm" {
    local n size
    build -g
    record
    size=$(stat -c %s app)
    cp app whole
    for n in 40 64 1000 $((size / 2)) $((size - 100)); do
        head -c "$n" whole >app
        touch -d '1 minute ago' app
        report
    done
    # Its sections are noise.
    for n in 1 2 3 4 5 6; do
        cp whole app
        head -c 3000 /dev/urandom | dd of=app bs=1 conv=notrunc status=none \
            seek=$((size * n / 7))
        touch -d '1 minute ago' app
        report
    done
    rm app
    mkfifo app
    not_shown
    rm app
    mkdir app
    not_shown
    for site in ../app+0x1 /etc/passwd+0x1 +0x1 app app+0x app+0xzz \
        "$(printf 'a%.0s' {1..300})+0x1"; do
        sed -i -E "s,\"site\": \"[^\"]*\",\"site\": \"$site\",g" job.json
        report
    done
}

@test "nothing that the file names is run or read" {
    local ran=$BATS_TEST_TMPDIR/ran
    printf '#!/bin/sh\n: >%s\n' "$ran" >linker
    chmod 755 linker
    build -g -Wl,--dynamic-linker="$PWD/linker"
    # Its debugging information is said to be in a pipe without an end.
    mkfifo pipe
    objcopy --only-keep-debug app app.debug
    objcopy --strip-debug --add-gnu-debuglink=app.debug app
    rm app.debug
    mv pipe app.debug
    touch -d '1 minute ago' app
    record
    shown exchange
    [ ! -e "$ran" ]
}
