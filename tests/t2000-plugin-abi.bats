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

# A new line here is a question: whose rights, whose path? Answer it in
# docs/design/privilege.md before adding it to the list.
@test "calls that take a path are the known ones" {
    local calls='open|openat|fopen|opendir|stat|lstat|access|faccessat|chown'
    calls+='|chmod|mkdir|unlink|rename|symlink|mknod|dlopen|execve?|execvp'
    calls+='|realpath|memfd_create|chdir'
    cd "$ASPEN_TOP/spank-plugin"
    run diff -u "$expected/paths-plugin.txt" <(
        grep -oHE "\b($calls)\(" \
            $(ls ./*.c | grep -vE '_test\.c|spank_host|fake_agent') |
            sed 's|^\./||; s/($//' | LC_ALL=C sort | uniq -c |
            awk '{print $2, $1}')
    ended_with 0
}
