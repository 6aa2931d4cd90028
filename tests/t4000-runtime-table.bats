# SPDX-License-Identifier: BSD-3-Clause
# The table of MPI functions against the installed library, what libaspen.so
# exports, and the coverage page.

load helpers

setup_file() {
    export table=$ASPEN_TOP/runtime/mpi/mpi_calls.tab
    export lib=$ASPEN_BUILD/runtime/.libs/libaspen.so
    # Rows of functions that the installed MPICH is to have.
    awk -v release="$(mpich_release)" '!/^#/ && (($3 == "-") ||
        ($3 ~ /^[0-9]/ && $3 <= release) ||
        ($3 ~ /^</ && release < substr($3, 2))) {print $1}' "$table" |
        sort >"$BATS_FILE_TMPDIR/rows"
}

# Functions that a library exports, by name.
functions() {
    nm -D --defined-only "$1" | awk '$2 ~ /^[TWi]$/ {sub("@.*", "", $3); print $3}' |
        sort -u
}

# The MPICH library that MPI programs of this machine load.
libmpich() { mpi_library "$ASPEN_BUILD/tests/world/attr"; }

@test "every MPI function of the installed library has one row" {
    [ -z "$(uniq -d "$BATS_FILE_TMPDIR/rows")" ]
    # Statuses of mpi_f08 are only copied, before MPICH 5.0 by its Fortran library.
    functions "$(libmpich)" | grep -E '^MPIX?_' |
        grep -vE '^MPI_Status_(c2f08|f082c|f082f|f2f08)$' \
            >"$BATS_TEST_TMPDIR/library"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/library")" -gt 600 ]
    diff <(grep -E '^MPIX?_' "$BATS_FILE_TMPDIR/rows") \
        "$BATS_TEST_TMPDIR/library"
}

@test "internal functions that Fortran needs are exported by the library" {
    local library left_out='^$'
    library=$(libmpich)
    # An MPICH that was built without C++ has none for it.
    compgen -G "${library%/*}/libmpi*cxx.so.12" >/dev/null || left_out=_cxx$
    for name in $(grep '^MPII_' "$BATS_FILE_TMPDIR/rows" | grep -v "$left_out"); do
        functions "$library" | grep -qx "$name"
    done
}

@test "libaspen.so exports the rows of the table and what leads to it" {
    # mpi.h does not say which internal ones there are.
    { sed '/^MPII_/!s/.*/&\nP&/' "$BATS_FILE_TMPDIR/rows"
      awk '/^MPII_/ {print $1}' "$table"
      printf '%s\n' __asan_default_options dlopen dlsym fi_fabric \
          ucp_init_version
    } | sort -u >"$BATS_TEST_TMPDIR/wanted"
    nm -D --defined-only "$lib" | awk '{print $3}' | sort |
        diff "$BATS_TEST_TMPDIR/wanted" -
}

@test "every argument that is a communicator is translated or handled" {
    # Rows that pass MPI_COMM_WORLD to the library as it is, and why:
    # MPI_Comm_*errhandler  the handler lives on the real world
    # MPI_Comm_c2f, _toint  both worlds have the same number
    awk '!/^#/ && $4 == "pass" && / [a-z_0-9]+:comm( |$)/ {print $1}' \
        "$table" | sort | diff - <(cat <<'EOF'
MPI_Comm_c2f
MPI_Comm_call_errhandler
MPI_Comm_get_errhandler
MPI_Comm_toint
MPI_Errhandler_get
EOF
    )
    # Rows that change a handle in place, which is never that of the users.
    awk '!/^#/ && !/ [a-z_0-9]+:comm( |$)/ && /:comm\*/ {print $1, $4}' \
        "$table" | sort | diff - <(cat <<'EOF'
MPIX_Threadcomm_free pass
MPI_Comm_create_from_group pass
MPI_Comm_disconnect pass
MPI_Comm_free pass
MPI_Comm_get_parent pass
MPI_Comm_join pass
MPI_Intercomm_create_from_groups pass
EOF
    )
}

# Where C code puts a function into a table of MPI's functions, or leads what
# libmpich calls of MPI: prints file, line and text. Also by macros, which paste
# names. Fields of MPI_Status have such names, too.
hooks_by_hand() {
    (cd "$1" && grep -nE \
        -e '[])A-Za-z0-9_](->|\.)P?MPI[A-Z]*_(##)?\w+(##\w+)* *=([^=]|$)' \
        -e '[])A-Za-z0-9_](->|\.)\w+ *= *(\([^)]*\) *)?&?\w*##' \
        -e '\.fill *=' \
        -e 'plt_patch_(lead|replace)\( *"P?MPI' \
        -r runtime --include='*.[ch]' --exclude='*_test.c') |
        grep -vE -e '(->|\.)MPI_(SOURCE|TAG|ERROR) *=' \
            -e '\.fill = aspx_(pack|staged|coll|p2p|posted|profile)_fill,'
}

@test "nothing but the generator puts functions into tables" {
    run hooks_by_hand "$ASPEN_TOP"
    [ -z "$output" ]
    # ... and this would be seen
    mkdir -p "$BATS_TEST_TMPDIR/runtime"
    cat >"$BATS_TEST_TMPDIR/runtime/hooks.c" <<'EOF'
    room->MPI_Bcast = coll_Bcast;
    aspx_real.MPI_Type_commit = commit_and_describe;
    tables[1].MPI_Send =
        our_send;
#define OURS(table, NAME) (table)->MPI_##NAME = coll_##NAME
#define INSTALL(name) (its_##name = aspx_real.name, aspx_real.name = our_##name)
    aspx_plt_patch_lead("PMPI_Comm_rank", ours, &before);
    .fill = my_fill,
    .fill = aspx_coll_fill,
    status->MPI_ERROR = rc;
    if (table->MPI_Bcast == coll_Bcast)
EOF
    run hooks_by_hand "$BATS_TEST_TMPDIR"
    [ "${#lines[@]}" -eq 7 ]
}

@test "what libmpich calls of other libraries is led elsewhere by a table" {
    cd "$ASPEN_TOP/runtime"
    grep -rhoE 'plt_patch_(lead|replace)\(\s*"\w+"' --include='*.c' \
        --exclude='*_test.c' . | grep -oE '\w+"$' | tr -d '"' | sort -u \
        >"$BATS_TEST_TMPDIR/used"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/used")" -gt 8 ]
    sed -nE 's/^ +\{"(\w+)", NULL\},.*/\1/p' mpi/plt_patch.c |
        diff - "$BATS_TEST_TMPDIR/used"
    # each by a literal, which is seen here
    [ "$(grep -rhE 'plt_patch_(lead|replace)\(' --include='*.c' \
        --exclude='*_test.c' --exclude=plt_patch.c . |
        grep -vcE 'plt_patch_(lead|replace)\("\w+"')" -eq 0 ]
}

# Functions of the table's rows that say one of the words $2 in column $1.
say() {
    awk -v column="$1" -v words="$2" '!/^#/ { n = split($column, its, ",")
        for (i = 1; i <= n; i++)
            if (index(" " words " ", " " its[i] " ")) { print $1; next } }' \
        "$table" | sort
}

@test "what only tests need of collectives is not in libaspen.so" {
    local name
    nm --defined-only "$lib" | awk '{print $3}' >"$BATS_TEST_TMPDIR/names"
    grep -q '^asp_coll_build$' "$BATS_TEST_TMPDIR/names" # it has its symbols
    for name in verify expect symbols ordered; do
        grep -q "asp_coll_$name" "$ASPEN_TOP/tests/coll/verify/$name.h"
        run grep "^asp_coll_$name" "$BATS_TEST_TMPDIR/names"
        ended_with 1
    done
}

@test "what stands before a function in C is in its row" {
    local before column words
    nm --defined-only "$ASPEN_BUILD/runtime/.libs/librank.a" |
        awk '$2 == "T" && $3 ~ /^aspx_[a-z0-9_]+_(MPI|MPIX|MPII)_/ {print $3}' \
            >"$BATS_TEST_TMPDIR/handlers"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/handlers")" -gt 200 ]
    while read -r before column words; do
        sed -n "s/^aspx_${before}_\(MPI\)/\1/p" "$BATS_TEST_TMPDIR/handlers" |
            sort >"$BATS_TEST_TMPDIR/written"
        [ -s "$BATS_TEST_TMPDIR/written" ]
        say "$column" "$words" >"$BATS_TEST_TMPDIR/listed"
        # What an older MPI lacks may be left out of the build; the linker knows
        # of what is used.
        comm -23 "$BATS_TEST_TMPDIR/written" "$BATS_TEST_TMPDIR/listed" |
            sed "s/^/not listed for $before: /" |
            tee -a "$BATS_TEST_TMPDIR/strangers"
        sed -i "/^aspx_${before}_MPI/d" "$BATS_TEST_TMPDIR/handlers"
    done <<'EOF'
wrap 4 wrap
offload 5 own
progress 7 own
pack 8 library both
staged 8 threads both
coll 9 own
p2p 10 own
posted 10 request
plain 11 plain
behind 11 behind
on_demand 11 demand ungated
EOF
    # a prefix that the table does not know
    sed 's/^/no column for: /' "$BATS_TEST_TMPDIR/handlers"
    [ ! -s "$BATS_TEST_TMPDIR/strangers" ]
    [ ! -s "$BATS_TEST_TMPDIR/handlers" ]
}

@test "a row whose call gives a communicator says whether it is a new one" {
    cp "$ASPEN_TOP"/runtime/mpi/*.tab "$BATS_TEST_TMPDIR"
    sed -Ei '/^MPI_Comm_dup /s/ made / -    /' "$BATS_TEST_TMPDIR/mpi_calls.tab"
    run python3 "$ASPEN_TOP/runtime/mpi/generate.py" "$BATS_TEST_TMPDIR"
    [ "$status" -ne 0 ]
    printed '^MPI_Comm_dup: coll must say'
}

@test "docs/mpi-coverage.md is what the table says" {
    python3 "$ASPEN_TOP/runtime/mpi/generate.py" "$ASPEN_TOP/runtime/mpi" \
        "$BATS_TEST_TMPDIR/mpi-coverage.md"
    diff "$ASPEN_TOP/docs/mpi-coverage.md" "$BATS_TEST_TMPDIR/mpi-coverage.md"
}

# Make what the entries are of, from mpi.h with a line more or less: $1 is for
# sed, then options of the generator. Lines of the pointers are in entries.
generate() {
    echo '#include <mpi.h>' | mpicc.mpich -E -P -x c - |
        sed "$1" >"$BATS_TEST_TMPDIR/declared.i"
    shift
    entries=$BATS_TEST_TMPDIR/mpi_real.h
    run python3 "$ASPEN_TOP/runtime/mpi/generate.py" \
        --mpi "$BATS_TEST_TMPDIR/declared.i" "$@" "$ASPEN_TOP/runtime/mpi" \
        "$entries"
}

@test "a function without a row stops developers, and is handed on otherwise" {
    local new='$a int MPIX_New(MPI_Info info, const void *buf, int n[]);'
    generate "$new" --developer
    [ "$status" -ne 0 ]
    printed 'MPIX_New has no row in mpi_calls.tab$'
    generate "$new"
    ended_with 0
    grep -qF 'int (*MPIX_New)(MPI_Info info, const void *buf, int n[]);' \
        "$entries"
}

@test "nor is it handed on where Aspen would have to translate a handle" {
    for param in 'MPI_Comm c' 'MPI_Request *r' 'MPI_Win w' 'MPI_Session s' \
        'int (*f)(int)' 'MPI_User_function *f' 'int n, ...'; do
        generate "\$a int MPIX_New($param);"
        [ "$status" -ne 0 ]
        printed '^  MPIX_New takes a (handle that Aspen translates|function or an open list) '
    done
}

@test "a row that mpi.h does not declare is left out, its const obeyed" {
    generate 's/int MPI_Bcast(/int MPI_Xcast(/'
    [ "$status" -ne 0 ] # has a communicator, and no row
    generate '/^int MPI_Bcast(/,/;/d'
    ended_with 0
    [ "$(grep -c '(\*MPI_Bcast)' "$entries")" -eq 0 ]
    grep -q '(\*MPI_Bcast_c)' "$entries"
    generate 's/^int MPI_Bcast(void \*/int MPI_Bcast(const void */'
    ended_with 0
    grep -qF '(*MPI_Bcast)(const void *buffer' "$entries"
}
