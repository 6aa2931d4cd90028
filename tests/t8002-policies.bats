#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# aspen request and check-policy: bad input of every kind gets one message with
# a place, the shipped policies mean what they say, the man page is the schema.

load helpers

setup() {
    aspen=$ASPEN_PREFIX/bin/aspen
    unset ASPEN_PROGRESS ASPEN_POLICY
    cd "$BATS_TEST_TMPDIR"
}

request() {
    run timeout -k 2 20 "$aspen" request "$@"
}

# Fail unless `aspen request $1...` is refused with one line matching $2.
refused() {
    local text=$1
    shift
    request "$@"
    ended_with 2
    printed "$text"
    [ "$(wc -l <<<"$output")" -eq 1 ]
}

@test "wrong requests are refused with place, reason and meaning" {
    refused '^--async-progress: .*"gost".*"ghost"' --progress gost
    refused '"ghots".*"ghosts"' --progress ghost,ghots=2
    refused '1\.\.64' --progress ghost:0
    refused '1\.\.64' --progress ghost:-3
    refused '1\.\.64' --progress ghost:99999999999999999999
    refused 'takes no number' --progress thread:1
    ASPEN_PROGRESS=ghost,x=1 refused '^ASPEN_PROGRESS: .*"x"'
}

@test "a wrong job policy is refused with file, line and column" {
    printf 'mode: ghost\nplacement:\n  spread: nmua\n' >typo.yaml
    refused '^typo.yaml:3:11: .*"numa"' --policy typo.yaml
    printf 'mode: &a ghost\n' >anchor.yaml
    refused '^anchor.yaml:1:7: ' --policy anchor.yaml
    printf 'a: &a [*a, *a]\n' >loop.yaml
    refused '^loop.yaml:1:4: ' --policy loop.yaml
    printf 'mode: \0ghost\n' >nul.yaml
    refused '^nul.yaml: .*NUL' --policy nul.yaml
    printf 'mode: \377\n' >latin.yaml
    refused '^latin.yaml:1:7: ' --policy latin.yaml
    printf 'limits: {ghosts: {max: 2}}\n' >site.yaml
    refused '^site.yaml:1:' --policy site.yaml
}

@test "what is no policy file is refused without waiting" {
    refused 'missing.yaml: .*No such file' --policy missing.yaml
    mkdir folder
    refused '^folder: ' --policy folder
    mkfifo pipe
    refused '^pipe: ' --policy pipe
    refused '^/dev/zero: ' --policy /dev/zero
    truncate -s 100M large.yaml
    refused '^large.yaml: .*104857600' --policy large.yaml
}

@test "a site policy that others can write is refused" {
    printf 'version: 1\n' >site.yaml
    chmod 666 site.yaml
    refused '^site.yaml: .*written by others' --site-policy site.yaml
    chmod 644 site.yaml
    ln -s site.yaml link.yaml
    refused '^link.yaml: .*link' --site-policy link.yaml
    refused '^gone.yaml: ' --site-policy gone.yaml
}

@test "command line over environment over job policy" {
    printf 'mode: ghost\nghosts: 4\nplacement.spread: pack\n' >job.yaml
    request --policy job.yaml
    ended_with 0
    [ "$output" = "ghost:4,placement.spread=pack" ]
    ASPEN_PROGRESS=ghosts=3 request --policy job.yaml
    [ "$output" = "ghost:3,placement.spread=pack" ]
    ASPEN_PROGRESS=ghosts=3,pmix=off request --policy job.yaml \
        --progress ghost:2
    [ "$output" = "ghost:2,placement.spread=pack,pmix=off" ]
    ASPEN_PROGRESS=ghost:3 request --progress off
    [ "$output" = "off" ]
}

@test "--counting adds what the site says of tasks and CPUs" {
    local text='placement: {share: yes, smt: use, spread: pack}'
    printf 'version: 1\ndefaults: {%s, thread.service_cores: 2}\n' "$text" \
        >site.yaml
    chmod 644 site.yaml
    request --site-policy site.yaml --progress ghost
    [ "$output" = "ghost:1" ]
    request --site-policy site.yaml --progress ghost --counting
    text=placement.share=yes,placement.smt=use,thread.service_cores
    [ "$output" = "ghost:1,$text=2" ]
    request --site-policy site.yaml --counting \
        --progress thread,thread.service_cores=3,pmix=off
    [ "$output" = "thread,$text=3,pmix=off" ]
    request --progress thread --counting
    [ "$output" = "thread" ]
}

@test "the shipped policies are accepted" {
    local policies=$ASPEN_TOP/policies
    for job in communicators rma shared-cores windows; do
        run "$aspen" check-policy --job "$policies/$job.yaml"
        ended_with 0
    done
    cp "$policies/site.yaml" .
    chmod 644 site.yaml
    run "$aspen" check-policy --site site.yaml
    ended_with 0
    request --policy "$policies/rma.yaml"
    printed '^ghost:2,placement.spread=numa,report=yes$'
}

@test "rules for windows: bad ones have a place, good ones are shown" {
    printf 'windows:\n  - name: nwchem*\n    async_config: native\n' >name.yaml
    refused '^name.yaml:2:5: .*MPI_Win_set_name.*order:' --policy name.yaml
    printf 'windows:\n  - {order: 1, epoch_used: lock}\n' >key.yaml
    refused '^key.yaml:2:16: .*"epochs_used"' --policy key.yaml
    printf 'windows:\n  - {order: 1 2, no_locks: yes}\n' >order.yaml
    refused '^order.yaml:2:13: .*1-4' --policy order.yaml
    run "$aspen" check-policy --job name.yaml
    ended_with 2
    run "$aspen" check-policy --job "$ASPEN_TOP/policies/windows.yaml"
    printed 'windows.yaml:13:5: order 1-2: async_config=off$'
    run "$aspen" explain --policy "$ASPEN_TOP/policies/windows.yaml" \
        --tasks 2 --topology 'core:4 pu:1'
    ended_with 0
    printed 'name halo\*: rma.balance=bytes$'
    # On its way to the nodes, and as it arrives there.
    request --policy "$ASPEN_TOP/policies/windows.yaml"
    ended_with 0
    printed ',window=order:1-2;async_config:off;from:windows.yaml%3A13%3A5,'
    request --progress "$output"
    printed ',window=order:1-2;async_config:off;from:windows.yaml%3A13%3A5,'
}

@test "rules for communicators: bad ones have a place, good ones arrive" {
    printf 'communicators:\n  - {name: halo*, p2p: all}\n' >name.yaml
    refused '^name.yaml:2:5: .*MPI_Comm_set_name.*order:' --policy name.yaml
    printf 'communicators:\n  - {size: 2, p2q: all}\n' >key.yaml
    refused '^key.yaml:2:15: .*"p2p"' --policy key.yaml
    printf 'communicators: {p2p: all}\n' >map.yaml
    refused '^map.yaml:1:16: communicators: takes a list' --policy map.yaml
    printf 'mode: ghost\ncommunicators:\n  - {size: 4-, p2p: all}\n' >job.yaml
    run "$aspen" check-policy --job job.yaml
    ended_with 0
    printed '^rules for communicators'
    printed 'job.yaml:3:5: size 4-: p2p=all$'
    request --policy job.yaml
    ended_with 0
    [ "$output" = "ghost:1,communicator=size:4-;p2p:all;from:job.yaml%3A3%3A5" ]
    # As the runtime gets it: it would refuse a layout that it cannot read.
    run timeout -k 2 60 "$ASPEN_TOP/tests/ghostrun" -n 2 --report \
        --communicator 'size:4-;p2p:all' "$ASPEN_BUILD/examples/hello"
    ended_with 0
    printed 'ghost mode'
    run timeout -k 2 60 "$ASPEN_TOP/tests/ghostrun" -n 2 --report \
        --communicator 'p2p:every' "$ASPEN_BUILD/examples/hello"
    not_printed 'ghost mode'
}

@test "p2p where no ghosts carry messages: an error, or a note" {
    refused 'ghost:N,p2p=all, or ghost:N,offload' --progress \
        ghost:1,offload,p2p=all
    request --progress thread,p2p=all
    ended_with 0
    printed '^p2p \(.*\) is left out: mode thread has no ghosts$'
    printed '^thread,p2p=off$'
    refused 'mode offload has no ghosts.*require' --progress \
        offload,p2p=all,require
    request --progress ghost:1,p2p=all
    [ "$output" = "ghost:1,p2p=all" ]
}

@test "the man page lists the knobs of the schema" {
    diff -u <(sed -n '/^\.\\" begin knobs/,/^\.\\" end knobs/p' \
        "$ASPEN_TOP/docs/man/aspen-policy.5" | sed '1d;$d') \
        <("$aspen" check-policy --list-knobs --man)
    run "$aspen" request --help-knobs
    ended_with 0
    printed '^  ghosts = 1\.\.64 per node'
    [ "$(awk 'length > 80' <<<"$output")" = "" ]
}

@test "a policy's report: reaches the record" {
    local file=$BATS_TEST_TMPDIR/record.json
    run timeout -k 2 60 "$ASPEN_TOP/tests/ghostrun" -n 2 \
        --knob "report=$file" "$ASPEN_BUILD/examples/hello"
    ended_with 0
    grep -q '"mode": "ghost"' "$file"
    run timeout -k 2 60 "$ASPEN_TOP/tests/ghostrun" -n 2 \
        --knob report=no "$ASPEN_BUILD/examples/hello"
    ended_with 0
    not_printed '^aspen: '
}
