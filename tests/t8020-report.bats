#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# aspen report: records of real jobs as pages and text, the schema of records,
# and what happens to records that are not as they should be.

load helpers

setup_file() {
    export dir=$BATS_FILE_TMPDIR
    # Jobs of all modes, whose records the tests look at.
    ghosts -n 4 -g 2 --report="$dir/ghost.json" \
        "$ASPEN_BUILD/examples/rma_stall" 100 >"$dir/log" 2>&1
    ghosts -n 4 -g 1 --nodes 2 --report="$dir/native.json" \
        --window 'order:1;rma.balance:none;from:job.yaml%3A3%3A5' \
        "$ASPEN_BUILD/tests/rma_native" >>"$dir/log" 2>&1
    ghosts -n 4 -g 1 --nodes 2 --report="$dir/adapt.json" --knob adapt=user \
        "$ASPEN_BUILD/tests/adapt_switch" 2 counted >>"$dir/log" 2>&1
    ghosts -n 2 -g 1 --nodes 2 --report="$dir/auto.json" --knob adapt=auto \
        "$ASPEN_BUILD/tests/adapt_auto" talk 0.8 >>"$dir/log" 2>&1
    ghosts -n 4 -g 2 --nodes 2 --report="$dir/scaling.json" \
        --knob ghost.active=auto --knob adapt.interval_ms=20 \
        "$ASPEN_BUILD/tests/adapt_ghost_scaling" 200 200 2 >>"$dir/log" 2>&1
    ghosts -n 2 -g 1 --knob offload=yes --report="$dir/both.json" \
        "$ASPEN_BUILD/examples/rma_stall" 100 >>"$dir/log" 2>&1
    ghosts -n 2 --offload --report="$dir/offload.json" \
        "$ASPEN_BUILD/examples/rma_stall" 100 >>"$dir/log" 2>&1
    ghosts -n 2 --thread=0,1 --report="$dir/thread.json" \
        "$ASPEN_BUILD/tests/progress_habits" >>"$dir/log" 2>&1
    ghosts -n 2 --off --report="$dir/off.json" \
        "$ASPEN_BUILD/examples/rma_stall" 100 >>"$dir/log" 2>&1
    cat "$dir/log"
    ls "$dir"/{ghost,native,adapt,auto,scaling,both,offload,thread,off}.json
}

setup() {
    aspen=$ASPEN_PREFIX/bin/aspen
    schema=$ASPEN_TOP/docs/record.schema.json
    full=$ASPEN_TOP/tests/records/full.json # every part there is
}

check() {
    timeout -k 2 120 python3 "$ASPEN_TOP/tests/report_check.py" "$@"
}

report() {
    run timeout -k 2 20 "$aspen" report "$@"
}

# Fail unless the last `run` refused in one line that begins like the regex $1,
# and left no report behind.
refused() {
    ended_with 2
    [ "$(wc -l <<<"$output")" -eq 1 ]
    printed "^$1"
    [ ! -e "$dir/out" ]
}

@test "records of all modes are as docs/record.schema.json says" {
    run check strict "$schema" "$dir"/{ghost,native,adapt,auto,scaling,both,offload,thread,off}.json "$full"
    echo "$output"
    ended_with 0
}

@test "the page of every mode says what the record says, and needs no other" {
    cp "$full" "$dir/full.json"
    for mode in ghost native adapt auto scaling both offload thread off full; do
        report "$dir/$mode.json"
        ended_with 0
        [ "$output" = "$dir/$mode.html" ]
    done
    check page "$dir"/{ghost,native,adapt,auto,scaling,both,offload,thread,off,full}.json
    # The check sees a difference where there is one.
    sed 's/182340/182341/' "$full" >"$dir/full.json"
    run check page "$dir/full.json"
    ended_with 1
    printed "operations: '182340' instead of '182341'"
}

@test "the text of every mode fits a terminal and has the numbers" {
    for file in "$dir"/{ghost,native,adapt,auto,scaling,both,offload,thread,off}.json "$full"; do
        report --text "$file" -o "$dir/$(basename "$file" .json).txt"
        ended_with 0
    done
    check text "$dir"/*.txt
    report --text "$dir/ghost.json"
    n=$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["redirected"])' "$dir/ghost.json")
    printed "^  - Ghosts carried out $n of $n calls on windows, 100 %"
    printed '^  - The helpers were 2 ghost processes for [0-9.]+ m?s, in core-seconds up'
    printed '^  accumulate +g+ +101$'
    printed '^  ranks +4 on 1 node$'
    report --text "$dir/native.json"
    printed '^  - Ghosts carried out none of the 24 calls on windows\.$'
    printed '^  - window on private memory .*: heap=shared lets'
    printed 'job\.yaml:3:5$'
    # A name that is UTF-8 but for its last byte.
    printed '^  1 +"fenêtre �": MPI_Win_create at '
    report --text "$dir/adapt.json"
    printed '^  - [1-9][0-9]* were left to their targets while redirection was'
    printed '^  - Redirection was switched [1-9][0-9]* times\.$'
    printed '^  node 1 +\|.*\|$'
    report --text "$dir/auto.json"
    printed '^  0\.[0-9]+ s +auto, for all: (on|off|predictor|trial), '
    report --text "$dir/both.json"
    printed '^  helpers +1 ghost, and an offload thread in each rank$'
    printed '^  - Ghosts carried out [1-9]'
    printed '^  - The offload threads carried out [1-9][0-9]* calls, '
    report --text "$dir/offload.json"
    printed '^  - The offload threads carried out [1-9][0-9]* calls, '
    report --text "$dir/thread.json"
    printed '^  - The progress threads watched [1-9][0-9]* operations'
    printed '^  service CPUs +[0-9]'
}

@test "time, work of ghosts and adaptation are told where they were measured" {
    report --text "$full"
    printed 'from MPI_Init to MPI_Finalize the ranks together spent 41\.4 s$'
    printed '^  - The helpers cost 4 cores for 42\.9 s: 172 core-seconds\.$'
    printed '^  - Ghosts were at work for 12 % '
    printed '^  - They were parked for 25 % of the time and used 20\.0 ms of CPU time then;'
    printed '^    how many were active changed 3 times\.$'
    printed '^  rank 9, node 1 .* of 42\.9 s, parked 40\.3 s$'
    printed '^  waited in naps: 1 of 4$'
    printed '^  MPI_Win_flush +w{20,}#+ 21\.2 s in 120000$'
    printed '^  rank 0 +w+#+ '
    printed '^  node 0 +\|[-=+*# .:]{40}\|$'
    printed '^  1\.310 s +auto, for all: off, trial of '
    printed '^  8\.123 s +rank 3 \(node 0\), all windows: off, in MPI 93 %'
    not_printed 'Not measured'
    report --text <(python3 -c 'import json, sys
record = json.load(open(sys.argv[1]))
for part in "time", "ghost_busy", "adaptation":
    record.pop(part, None)
print(json.dumps(record))' "$full")
    ended_with 0
    printed '^Not measured in this run$'
    printed '^  - the time that ranks spent in MPI$'
    printed '^  - The helpers cost 4 cores as long as the job ran\.$'
    not_printed 'Time in MPI'
}

@test "texts of a record cannot act on the page or the terminal" {
    sed 's/"job": "[^"]*"/"job": "<script>x<\/script>\&amp;"/' "$full" \
        >"$dir/evil.json"
    report "$dir/evil.json" -o "$dir/evil.html"
    ended_with 0
    grep -q '<h1>Job &lt;script&gt;x&lt;/script&gt;&amp;amp;</h1>' \
        "$dir/evil.html"
    grep -q 'halo &lt;b&gt;&amp;&quot;x&quot;' "$dir/evil.html"
    check page "$dir/evil.json"
    report --text "$dir/evil.json" -o "$dir/text"
    check text "$dir/text"
}

@test "damaged records are refused in words" {
    run check spoil "$aspen" "$schema" "$full" "$dir"
    echo "$output"
    ended_with 0
    printed '^[0-9]+ shown, [1-9][0-9]+ refused$'
}

@test "what is no record, or another form of it, is refused with the reason" {
    report -o "$dir/out" "$dir/none.json"
    refused "cannot read $dir/none.json: No such file"
    report -o "$dir/out" "$dir"
    refused "cannot read $dir: it is a folder"
    head -c 100 "$full" >"$dir/cut.json"
    report -o "$dir/out" "$dir/cut.json"
    refused "$dir/cut.json:[0-9]+:[0-9]+: is not JSON"
    sed 's/"aspen_record": 1/"aspen_record": 2/' "$full" >"$dir/two.json"
    report -o "$dir/out" "$dir/two.json"
    refused "$dir/two.json: is a record of form 2; this aspen"
    echo '[1]' >"$dir/list.json"
    report -o "$dir/out" "$dir/list.json"
    refused "$dir/list.json: is not a record"
    python3 -c 'print("[" * 100000)' >"$dir/deep.json"
    report -o "$dir/out" "$dir/deep.json"
    refused "$dir/deep.json:.* depth"
    head -c 100000 /dev/urandom >"$dir/noise.json"
    report -o "$dir/out" "$dir/noise.json"
    refused "$dir/noise.json:.*is not JSON"
    report -o "$dir/ghost.json" "$dir/ghost.json"
    ended_with 2
    printed 'is the record itself'
    report -o "$dir/nowhere/page.html" "$full"
    ended_with 2
    printed 'cannot write .*/nowhere/page.html: No such'
}

@test "a page replaces pages of aspen report, not other files nor links" {
    local work=$dir/beside
    mkdir "$work"
    cp "$full" "$work/job.json"
    report "$work/job.json"
    ended_with 0
    printed "^$work/job.html\$"
    [ "$(stat -c %a "$work/job.html")" = "$(printf %o $((0666 & ~$(umask))))" ]
    echo old >>"$work/job.html"
    report "$work/job.json"
    ended_with 0
    [ "$(grep -c '^old' "$work/job.html")" -eq 0 ]
    rm "$work/job.html"
    echo mine >"$work/other"
    ln -s other "$work/job.html"
    report "$work/job.json"
    refused "$work/job.html is there and is no page of aspen report: name .* -o"
    rm "$work/job.html"
    cp "$work/other" "$work/job.html"
    report "$work/job.json"
    refused "$work/job.html is there and is no page"
    [ "$(cat "$work"/{job.html,other})" = $'mine\nmine' ]
    # The user's own word is enough.
    report "$work/job.json" -o "$work/job.html"
    ended_with 0
    [ "$(ls "$work")" = $'job.html\njob.json\nother' ]
}

@test "a part that is more than its whole fills the bar" {
    python3 - "$full" >"$dir/more.json" <<'END'
import json, sys
record = json.load(open(sys.argv[1]))
record["ghost_busy"] = [dict(record["ghost_busy"][0], rank=7, busy_s=1e9,
                             held_s=1e-9)]
print(json.dumps(record))
END
    report --text "$dir/more.json"
    ended_with 0
    printed '^  rank 7, node [0-9]+ +#{20,} '
}

@test "a large job is summed up" {
    python3 - "$full" >"$dir/large.json" <<'END'
import json, sys
record = json.load(open(sys.argv[1]))
record["users"] = 5000
record["first_node"] = [
    {"local": t, "role": "user", "cpus": str(t), "numa": t // 128,
     "helper_cpu": -1} for t in range(256)]
record["time"]["ranks"] = [
    {"rank": r, "node": r // 100, "mpi_s": r / 200, "wait_s": r / 250,
     "work_s": r / 1000, "wall_s": 42.7, "threads": 1} for r in range(5000)]
print(json.dumps(record))
END
    report "$dir/large.json"
    ended_with 0
    # Its CPUs are too small for words, and this is all that is amiss.
    run check page "$dir/large.json"
    [[ $output == "CPUs drawn: set() instead of"* ]]
    [ "$(wc -l <<<"$output")" -eq 1 ]
    [ "$(grep -o '<rect [^>]*class="cpu ' "$dir/large.html" | wc -l)" -eq 256 ]
    [ "$(stat -c %s "$dir/large.html")" -lt 300000 ]
    grep -q 'Waiting: least 0 s (rank 0), median 10.0 s, most 20.0 s (rank 4999)' \
        "$dir/large.html"
}

@test "nothing that runs in a job needs the JSON library" {
    ldd "$aspen" | grep -q libjansson
    run ldd "$ASPEN_PREFIX"/lib/aspen/*.so "$ASPEN_PREFIX"/libexec/aspen/*
    ended_with 0
    printed 'libaspen.so:'
    not_printed 'jansson'
}
