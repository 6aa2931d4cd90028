# SPDX-License-Identifier: BSD-3-Clause
# What the plugin exports, needs and links: it lives in srun and, as root, in
# slurmstepd.
load helpers

plugin=$ASPEN_BUILD/spank-plugin/.libs/aspen_spank.so
expected=$ASPEN_TOP/tests/expected

@test "the plugin exports only what Slurm and cli_filter.lua look up" {
    run diff -u "$expected/symbols-plugin.txt" \
        <(nm -D --defined-only "$plugin" | awk '{print $3}' | LC_ALL=C sort)
    ended_with 0
}

@test "it needs no function of Slurm but these" {
    # glibc's carry a version.
    run diff -u "$expected/undefined-plugin.txt" \
        <(nm -D --undefined-only "$plugin" |
            awk '$1 == "U" && !/@/ {print $2}' | LC_ALL=C sort)
    ended_with 0
}

# A new line here is a question as below: what does it do in a process of root?
@test "it calls no function of the C library but these" {
    # Without versions; the checking twins that _FORTIFY_SOURCE takes are alike.
    run diff -u "$expected/libc-plugin.txt" \
        <(nm -D --undefined-only "$plugin" |
            sed -En '/ U .*@/{s/.* U ([^@]*)@.*/\1/
                s/^__(.*)_chk$/\1/; s/^__isoc[0-9]+_//; p}' | LC_ALL=C sort -u)
    ended_with 0
}

@test "it links the C library and nothing else" {
    run sh -c "readelf -d '$plugin' | grep NEEDED | grep -v 'libc\.so\.6'"
    ended_with 1
}

@test "its stack is not executable, its relocations are read-only" {
    run readelf -lW "$plugin"
    printed 'GNU_STACK.* RW '
    printed 'GNU_RELRO'
    run readelf -d "$plugin"
    printed 'NOW'
    not_printed 'TEXTREL'
}

@test "whatever is installed is compiled with the hardening flags" {
    local flags='-fstack-protector-strong -fstack-clash-protection'
    [ "$(uname -m)" != x86_64 ] || flags+=' -fcf-protection'
    local file flag made kind
    cd "$ASPEN_BUILD"
    for file in runtime/.libs/{libaspen,libaspenheap}.so \
        spank-plugin/.libs/aspen_spank.so tools/.libs/libaspenclock.so \
        runtime/{casper/aspen-ghost,aspen-pmix-put} pmix-agent/aspen-agent \
        tools/aspen tools/aspen-task; do
        made=$(readelf --debug-dump=info "$file" 2>/dev/null |
            grep -m1 'DW_AT_producer.*GNU C')
        kind=-fPIC
        [[ $file == *.so ]] || kind=-fPIE
        for flag in $flags $kind; do
            [[ $made == *" $flag"* ]] || {
                echo "$file: no $flag in $made"
                return 1
            }
        done
        readelf -h "$file" | grep -q 'Type: *DYN'
    done
}

# A new line here is a question: whose rights, whose path? Answer it in
# docs/design/privilege.md before adding it to the list.
@test "calls that take a path are the known ones" {
    local calls='open|openat|fopen|opendir|stat|lstat|access|faccessat|chown'
    calls+='|chmod|mkdir|unlink|rename|symlink|mknod|dlopen|execve?|execvp'
    calls+='|realpath|memfd_create|chdir'
    # What it links of common/, too (libaspenbase).
    local base
    base=$(sed -n '/^libaspenbase_la_SOURCES/,/[^\\]$/p' \
        "$ASPEN_TOP/common/Makefile.am" | grep -oE '[a-z_/]+\.c' |
        sed 's|^|../common/|')
    cd "$ASPEN_TOP/spank-plugin"
    run diff -u "$expected/paths-plugin.txt" <(
        grep -oHE "\b($calls)\(" $base \
            $(ls ./*.c | grep -vE '_test\.c|spank_host|fake_agent|stepd_try') |
            sed 's|^[^:]*/||; s/($//' | LC_ALL=C sort | uniq -c |
            awk '{print $2, $1}')
    ended_with 0
}
