# SPDX-License-Identifier: BSD-3-Clause
# ASPEN_TRY_CFLAG(VARIABLE, FLAG): append FLAG when the compiler knows it.
AC_DEFUN([ASPEN_TRY_CFLAG], [
    AC_MSG_CHECKING([whether $CC accepts $2])
    aspen_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS -Werror $2"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
        [AC_MSG_RESULT([yes])
         $1="$$1 $2"],
        [AC_MSG_RESULT([no])])
    CFLAGS=$aspen_save_CFLAGS
])

# ASPEN_WARNINGS: the house warnings, in ASPEN_CFLAGS; the stricter ones for
# common/, in ASPEN_STRICT_CFLAGS.
AC_DEFUN([ASPEN_WARNINGS], [
    ASPEN_CFLAGS=
    m4_foreach_w([flag], [
        -std=gnu17 -Wall -Wextra -Wshadow -Wstrict-prototypes
        -Wmissing-prototypes -Wold-style-definition -Wundef -Wpointer-arith
        -Wcast-align -Wwrite-strings -Wvla -Wformat=2 -Wimplicit-fallthrough
        -Wduplicated-cond -Wlogical-op -Wstack-usage=32768
        -fvisibility=hidden],
        [ASPEN_TRY_CFLAG([ASPEN_CFLAGS], flag)])
    # For clang no comment tells that a case falls through; those of uthash's
    # macros have comments.
    AC_COMPILE_IFELSE([AC_LANG_SOURCE([[#ifndef __clang__
#error gcc
#endif]])], [ASPEN_CFLAGS="$ASPEN_CFLAGS -Wno-implicit-fallthrough"])
    ASPEN_STRICT_CFLAGS=
    ASPEN_TRY_CFLAG([ASPEN_STRICT_CFLAGS], [-Wconversion])
    ASPEN_CFLAGS="$ASPEN_CFLAGS $ASPEN_WERROR $ASPEN_SANITIZER_FLAGS"
    AC_SUBST([ASPEN_CFLAGS])
    AC_SUBST([ASPEN_STRICT_CFLAGS])
])
