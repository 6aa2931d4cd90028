# SPDX-License-Identifier: BSD-3-Clause
# aspen compare: its verdict on programs of which it is known, what it compares,
# and that it stops with a reason when something is wrong. What is measured here
# is a figure of the program's own (--metric), because the start of a job varies
# more than these programs take.
load helpers

setup_file() {
    export work=$ASPEN_BUILD/tests/t8010
    rm -rf "$work"
    mkdir -p "$work"
    cat >"$work/script" <<END
#!/bin/sh
exec srun -p shared -n1 $ASPEN_BUILD/examples/rma_stall 150 0
END
    printf '#!/bin/sh\nexec srun -n1 --async-progress=ghost:1 %s\n' \
        "$ASPEN_BUILD/examples/hello" >"$work/stubborn"
    chmod 755 "$work/script" "$work/stubborn"
}

setup() {
    aspen=$ASPEN_PREFIX/bin/aspen
    export ASPEN_TEST_LIMIT=150 # each test runs many jobs
    cd "$work"
}

teardown_file() { rm -rf "$work"; }

# aspen compare on the cluster, spinning ranks giving way
compare() {
    run on_cluster env "LD_PRELOAD=$ASPEN_BUILD/tests/.libs/yield.so" \
        "$aspen" compare "$@"
}

# refused TEXT words...: aspen compare with the words runs nothing and says so.
refused() {
    local text=$1
    shift
    run timeout 10 "$aspen" compare "$@"
    ended_with 2
    printed "$text"
}

clean() {
    [ -z "$(find "$work" -name '.aspen-compare*')" ]
    [ -z "$(on_cluster squeue -h)" ]
}

@test "what cannot be compared is refused, with the reason" {
    refused 'what shall be compared'
    refused 'what shall be compared' --runs 5 --
    refused 'see aspen compare --help' --rnus 5 -- srun -n2 app
    refused 'nothing to compare: no --async-progress' -- srun -n2 app
    refused 'nothing to compare' -- srun -n2 app --async-progress=ghost:1
    refused 'both runs would be without' -- srun --async-progress=off app
    refused 'both runs would be without' --async-progress=off -- srun app
    refused 'given twice' --async-progress=ghost \
        -- srun --async-progress=ghost app
    refused 'no program to run' -- srun -n2 --async-progress=ghost
    refused 'is no number from 4 to 100 .fewer runs' --runs 3 -- srun app
    refused '--until "0" is no percentage' --until 0 -- srun app
    refused 'has no parenthesis' --metric 'time: [0-9]' -- srun app
    refused '--metric "\(": .*' --metric '(' -- srun app
    refused 'sbatch, whose time is that of the queue' -- sbatch job
    refused './job is not srun: .* switched by the environment' -- ./job
    refused 'not in an allocation' --async-progress=ghost -- ./job
    refused '--fill changes the -n' --fill --async-progress=ghost -- ./job
    refused 'exclude each other' --fill --without x \
        -- srun --async-progress=ghost app
}

# clock RANK COMMAND: what the clock says of a task; "" if it says nothing.
clock() {
    : >clock
    SLURM_STEP_ID=3 SLURM_PROCID=$1 ASPEN_CLOCK=$work/clock \
        LD_PRELOAD=$ASPEN_PREFIX/lib/aspen/libaspenclock.so sh -c "$2" || :
    cat clock
}

@test "the clock takes the time of rank 0, whatever processes it is" {
    for task in 'sleep 0.3; sleep 0.4 & sleep 0.3; exec sleep 0.3' \
        '(sleep 0.8); bash -c "sleep 0.1; true"; true' \
        'sleep 0.9; SLURM_STEP_ID=4 sleep 0.1'; do
        took=$(clock 0 "$task")
        echo "$took s: $task"
        awk "BEGIN { exit !($took > 0.89 && $took < 10) }"
    done
    # nothing of other ranks, and nothing when the end was not seen
    [ -z "$(clock 1 'sleep 0')" ]
    [ -z "$(clock 0 'sleep 0; exec bash -c '\''kill -9 $$'\')" ]
}

@test "helps where a target computes; stdout is that of one run" {
    compare --runs 4 --warmup 0 --json out.json \
        --metric 'updates took: ([0-9.]+) ms' -- \
        srun -p shared -N1 -n2 --async-progress=ghost:1 \
        "$ASPEN_BUILD/examples/rma_stall" 300 100 300
    ended_with 0
    printed '^aspen: helps [0-9.]+ % \+- [0-9.]+$'
    printed '^aspen: without: srun --async-progress=off -p shared -N1 -n2 '
    printed '^  with:    2 ranks and 1 ghost on 1 node$'
    printed '^  without: 2 ranks, .* idle$'
    printed '^  with +4 .* 3 +[0-9.]+$'
    printed '^  of all ranks, seconds  waiting '
    # How much is saved depends on what else runs here; compare_test knows.
    printed '^  With Aspen all ranks together wait [0-9.]+ s .*, [0-9.]+ s each:'
    printed '^  between [0-9.]+ .*and [0-9.]+ s (less|more) \(97 % sure\)\.$'
    printed '^aspen: (saved|added) .* MPI wait.*; helpers cost [0-9.]+ core-sec'
    printed '^salloc: Granted'
    [ "$(grep -c '^updates took' <<<"$output")" -eq 1 ]
    python3 - <<'END'
import json
out = json.load(open("out.json"))
assert out["verdict"] == "helps" and out["cpus"] == 3, out
assert out["low"] <= out["ratio"] <= out["high"] < 0.8, out
assert out["users"] == 2 and out["ghosts"] == 1 and out["redirected"] > 0, out
for side in "with", "without":
    assert len(out[side]["wall_s"]) == len(out[side]["metric"]) == 4, out
    assert len(out[side]["program_s"]) == 4, out
    for program, wall in zip(out[side]["program_s"], out[side]["wall_s"]):
        assert 0.4 < program < wall, out
saved = out["saved"]
assert min(out["without"]["metric"]) > 200, out
assert saved["low"] <= saved["wait_s"] <= saved["high"], out
assert min(out["without"]["wait_s"]) > 0.2 and out["helpers_core_s"] > 0, out
END
    clean
}

@test "no difference where the program only sleeps; a script; --keep" {
    # A figure that is always the same, so that 4 runs are enough for --until;
    # its last digits are not in the parenthesis.
    run on_cluster salloc -Q -p shared -n1 --async-progress=ghost:1 \
        "$aspen" compare --until 1 --runs 6 --warmup 0 --keep kept \
        --metric 'was busy for ([0-9]+)[0-9]{2} ms' -- ./script
    ended_with 0
    printed '^aspen: no difference \(within [0-9.]+ %\)$'
    printed '^aspen: run 1 with Aspen: [0-9.]+ s, waiting .* s, metric 1$'
    printed '^  of all ranks, seconds'
    printed '^  with:    1 rank and 1 ghost on 1 node$'
    printed '^  without: the same command$'
    not_printed ', the program [0-9]'
    grep -q 'updates took' kept/with-4.out kept/without-4.out
    grep -q '"mode": "ghost"' kept/with-4.json
    grep -q '"mode": "off"' kept/without-4.json
    [ ! -e kept/with-5.out ]
}

@test "a run that fails ends it; --fill gives the ghosts' CPUs to ranks" {
    compare --fill -- srun -p shared -N2 -n2 --async-progress=ghost:1 sh -c \
        '[ "$SLURM_NTASKS" = 2 ] || { echo "ranks: $SLURM_NTASKS" >&2; exit 3; }
         exec '"$ASPEN_BUILD/examples/hello"
    ended_with 1
    printed '^warm-up without Aspen failed with exit status 3$'
    printed '^ranks: 4$'
    not_printed 'helps|hurts|no difference'
    clean
}

@test "--fill and the CPUs of threads; --bare leaves plain runs alone" {
    # Of a node's 4 CPUs the ranks have 3: one more fits in place of the service.
    # shellcheck disable=SC2016
    compare --fill --bare --warmup 0 -- srun -N2 -n6 \
        --async-progress=thread sh -c \
        '[ "$SLURM_NTASKS" = 6 ] || { echo "ranks: $SLURM_NTASKS$ASPEN_ROLE" >&2
            exit 3; }
         exec '"$ASPEN_BUILD/examples/hello"
    ended_with 1
    printed '^run 1 without Aspen failed with exit status 3$'
    printed '^ranks: 8$'
    not_printed 'waiting in MPI'
    compare --fill --warmup 0 -- srun -p shared -n1 -c2 \
        --async-progress=offload "$ASPEN_BUILD/examples/hello"
    ended_with 1
    printed 'but those of offload threads are a part of each rank.s: give the'
}

@test "a command whose own option wins is found out" {
    run on_cluster salloc -Q -p shared -n2 \
        "$aspen" compare --async-progress=ghost:2 -- ./stubborn
    ended_with 1
    printed "the run without Aspen had it: the command's own"
    clean
}

@test "interrupted, it ends the run and says what there is" {
    # shellcheck disable=SC2016
    run on_cluster salloc -Q -p shared -n1 --async-progress=ghost:1 sh -c '
        env --default-signal=INT "$0" compare --warmup 0 -- \
            srun "$1" 400 1 2>said &
        until grep -q "run 1 with Aspen" said; do sleep 0.1; done
        kill -INT $!
        wait $!
        echo "status $?"
        cat said' "$aspen" "$ASPEN_BUILD/examples/rma_stall"
    printed '^status 1$'
    printed '^aspen: without: srun --async-progress=off --nodes=1 --ntasks=1 /'
    printed '^(run 1 without Aspen: )?interrupted by signal 2'
    printed '^  with +1 '
    printed '^  Compared: the time of the program'
    printed '^aspen: no verdict: too few runs$'
    clean
}
