#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# scripts/check and scripts/format themselves, in a tree made up for them.

load helpers

setup() {
    top=$BATS_TEST_TMPDIR/top
    mkdir -p "$top"/{scripts,tests,build,shm}
    cp "$ASPEN_TOP"/scripts/format "$top/scripts"
    # What other tests have in /dev/shm at this time is theirs.
    sed "s,/dev/shm,$top/shm," "$ASPEN_TOP/scripts/check" >"$top/scripts/check"
    printf '#!/bin/sh\necho %s\n' "$top/cluster" >"$top/scripts/cluster"
    chmod +x "$top"/scripts/*
    printf 'check install:\n' >"$top/build/Makefile"
    cp "$ASPEN_TOP/.clang-format" "$top" 2>/dev/null || true
}

# plant NAME COMMAND: a bats file of two tests; the second runs COMMAND.
plant() {
    printf '@test "%s" {\n    %s\n}\n' always true 'at times' "$2" \
        >"$top/tests/$1.bats"
}

# Plant a bats file that fails until it has been run once.
plant_flaky() {
    plant "$1" "[ -e $top/$1 ] || { touch $top/$1; false; }"
}

check() {
    run env PATH="${path-$PATH}" "$top/scripts/check" --no-setup "$@"
}

@test "a file that fails first and then passes is named, with its logs" {
    local logs=$top/build/check
    plant t0001-good true
    plant_flaky t0002-loose
    check --only '*'
    ended_with 0
    printed "^check: flaky: t0002-loose failed in $logs/t0002-loose.first.tap, passed in $logs/t0002-loose.tap\$"
    [ "${lines[-1]}" = "4 passed, 0 failed" ]
    [[ ${lines[-2]} == "not ok 2 at times in "* ]]
    not_printed 'flaky: t0001'
}

@test "more than two such files are a failure" {
    local n
    for n in 1 2; do plant_flaky "t000$n-loose"; done
    check --only '*'
    ended_with 0
    rm "$top"/t000*
    plant_flaky t0003-loose
    check --only '*'
    ended_with 1
    printed '^check: failed: check: 3 files are flaky, at most 2 may be$'
    [ "${lines[-1]}" = "6 passed, 1 failed" ]
}

@test "a file that fails twice is a failure, and not flaky" {
    plant t0001-bad false
    check --only '*'
    ended_with 1
    not_printed 'flaky'
    [ "${lines[-1]}" = "1 passed, 1 failed" ]
}

@test "nodes that a file leaves out of service: a cluster started anew" {
    cat >"$top/scripts/cluster" <<END
#!/bin/sh
echo "\$1" >>$top/calls
case \$1 in
    run) [ ! -e $top/bad ] || echo "n1 drain Kill task failed" ;;
    down) rm -f $top/bad ;;
    dir) echo $top/cluster ;;
esac
END
    sed -i 's/^nodes_free_s=.*/nodes_free_s=1/' "$top/scripts/check"
    plant t7001-first true
    plant t7002-drains "touch $top/bad"
    plant t7003-last "[ ! -e $top/bad ]"
    check --only '*'
    ended_with 0
    printed "^check: nodes are not free after t7002-drains, see .*/t7002-drains.nodes:\$"
    printed '^n1 drain Kill task failed$'
    printed '^check: the cluster was started anew 1 times$'
    [ "${lines[-1]}" = "6 passed, 0 failed" ]
    [ "$(grep -c up "$top/calls")" -eq 2 ]
}

# The version that counts, or, where there is another, that one under its number:
# they agree about what is checked here.
clang_format() {
    local real name
    for name in clang-format-14 clang-format; do
        ! [[ $("$name" --version) == *"version 14."* ]] || return 0
    done 2>/dev/null
    real=$(type -P clang-format)
    path=$top/bin:$PATH
    mkdir "$top/bin"
    printf '#!/bin/sh\ncase $1 in --version) echo version 14.0.6 ;;
*) exec %s "$@" ;; esac\n' "$real" >"$top/bin/clang-format"
    chmod +x "$top/bin/clang-format"
}

@test "code that is out of form is a failure, and what to do is named" {
    clang_format
    printf 'int main(void)\n{\n    return 0;\n}\n' >"$top/main.c"
    git -C "$top" init -q
    git -C "$top" add .
    plant t0001-good true
    check
    ended_with 0
    [ "${lines[-1]}" = "3 passed, 0 failed" ]
    printf 'int  main(void) { return 0; }\n' >"$top/main.c"
    check
    ended_with 1
    printed '^main.c$'
    printed 'scripts/format brings these files into form'
    [ "${lines[-1]}" = "2 passed, 1 failed" ]
    PATH=${path-$PATH} "$top/scripts/format"
    check
    ended_with 0
}

@test "with another clang-format the form is no test, in words" {
    local path=$top/bin:$PATH
    mkdir "$top/bin"
    for name in clang-format clang-format-14; do
        printf '#!/bin/sh\necho clang-format version 15.0.6\n' \
            >"$top/bin/$name"
    done
    chmod +x "$top"/bin/*
    plant t0001-good true
    check
    ended_with 0
    printed '^format: clang-format 14 is not installed \(Debian 12: .*\): nothing is checked$'
    [ "${lines[-1]}" = "2 passed, 0 failed" ]
}
