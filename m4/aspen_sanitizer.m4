# SPDX-License-Identifier: BSD-3-Clause
# ASPEN_SANITIZER: --enable-sanitizer=address,undefined or =thread.
AC_DEFUN([ASPEN_SANITIZER], [
    AC_ARG_ENABLE([sanitizer],
        [AS_HELP_STRING([--enable-sanitizer=LIST],
            [build with -fsanitize=LIST, for example address,undefined])],
        [], [enable_sanitizer=no])
    AS_CASE([$enable_sanitizer],
        [no], [],
        [yes], [ASPEN_SANITIZER_FLAGS="-fsanitize=address,undefined"],
        [ASPEN_SANITIZER_FLAGS="-fsanitize=$enable_sanitizer"])
    AS_IF([test -n "$ASPEN_SANITIZER_FLAGS"],
        [ASPEN_SANITIZER_FLAGS="$ASPEN_SANITIZER_FLAGS -fno-sanitize-recover"
         ASPEN_SANITIZER_FLAGS="$ASPEN_SANITIZER_FLAGS -fno-omit-frame-pointer"])
    AC_SUBST([ASPEN_SANITIZER_FLAGS])
    AM_CONDITIONAL([SANITIZER], [test -n "$ASPEN_SANITIZER_FLAGS"])
])
