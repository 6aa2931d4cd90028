# SPDX-License-Identifier: BSD-3-Clause
# scripts/debian, in a root that is this machine's own, laid under another
# directory: what it copies, passes on and leaves. debootstrap is not tried here;
# .ci/run makes a real one.

load helpers

setup_file() {
    export copy=$BATS_FILE_TMPDIR/tree roots=$BATS_FILE_TMPDIR/roots
    mkdir -p "$copy" "$roots/debian-13" "$roots/upper" "$roots/work"
    cp -a "$ASPEN_TOP/scripts" "$copy"
    git -C "$copy" init -q
    git -C "$copy" add .
}

# Run scripts/debian on release 13, whose root is seen in here only.
debian() {
    unshare --mount bash -c '
        set -e
        mount -t tmpfs aspen "$roots/upper"
        mkdir "$roots/upper/top" "$roots/upper/work"
        mount -t overlay -o "lowerdir=/,upperdir=$roots/upper/top,workdir=$roots/upper/work" \
            aspen "$roots/debian-13"
        exec "$copy/scripts/debian" --dir "$roots" 13 "$@"' debian "$@"
}

@test "wrong words are named, and nothing is made" {
    run "$copy/scripts/debian" --dir "$BATS_TEST_TMPDIR/none" 14 demo
    ended_with 1
    printed '^debian: release 14: 12, 13 and testing are known$'
    run "$copy/scripts/debian" --dir "$BATS_TEST_TMPDIR/none" 13 demos
    ended_with 1
    printed '^debian: unknown command demos; see '
    run setpriv --reuid 65534 --clear-groups bash "$copy/scripts/debian" 13 demo
    [ "$status" -ne 0 ]
    [ ! -e "$BATS_TEST_TMPDIR/none" ]
}

@test "status, words and standard input are passed on; processes end" {
    run debian run -- bash -c 'cat; echo "$PWD: $1"; exit 7' _ 'a  word' \
        <<<input
    ended_with 7
    [ "$output" = $'input\n/srv/aspen-13: a  word' ]
    debian run -- bash -c 'sleep 987.5 & ps -e -o pid= | wc -l' \
        >"$BATS_TEST_TMPDIR/count"
    [ "$(<"$BATS_TEST_TMPDIR/count")" -lt 12 ] # sees its own only
    ! pgrep -fx 'sleep 987.5'
}

@test "its mounts, /run and shared memory are its own" {
    before=$(findmnt -rn -o TARGET | sort)
    debian run -- bash -c 'mountpoint -q / && touch /run/aspen-debian \
        /dev/shm/aspen-debian && hostname other'
    [ "$(findmnt -rn -o TARGET | sort)" = "$before" ]
    [ ! -e /run/aspen-debian ]
    [ ! -e /dev/shm/aspen-debian ]
    [ "$(hostname)" != other ]
}

@test "the copy has what git tracks and would take, of now" {
    echo new >"$copy/new file"
    echo build/ >"$copy/.gitignore"
    mkdir -p "$copy/build"
    echo no >"$copy/build/ignored"
    run debian run -- bash -c 'cat "new file"; ls build; git ls-files | wc -l'
    printed '^new$'
    not_printed ignored
    printed '^[1-9][0-9]*$'
}

@test "a second run waits, and says why it does not start" {
    debian run -- sleep 20 3>&- &
    first=$!
    for ((i = 0; i < 50; i++)); do
        ! flock -n "$roots/debian-13.lock" true || { sleep 0.1; continue; }
        break
    done
    run debian run -- true
    ended_with 1
    printed '^debian: another scripts/debian 13 is at work in '
    kill "$(pgrep -P "$first")"
    wait "$first" || status=$?
    [ "$status" -eq 143 ] # of the command, which got the signal
    run debian run -- true
    ended_with 0
}
