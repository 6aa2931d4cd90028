# SPDX-License-Identifier: BSD-3-Clause
# ASPEN_DEVELOPER: --enable-developer turns warnings into errors. It is the
# default in a git checkout and never in a release tarball, so that a newer
# compiler cannot break somebody else's build.
AC_DEFUN([ASPEN_DEVELOPER], [
    AC_ARG_ENABLE([developer],
        [AS_HELP_STRING([--enable-developer],
            [warnings are errors @<:@default: only in a git checkout@:>@])],
        [],
        [AS_IF([test -e "$srcdir/.git"],
            [enable_developer=yes], [enable_developer=no])])
    AS_IF([test "x$enable_developer" = xyes], [ASPEN_WERROR=-Werror])
    AC_SUBST([ASPEN_WERROR])
])
