# SPDX-License-Identifier: BSD-3-Clause
# ASPEN_HARDENING: flags for everything we build. _FORTIFY_SOURCE needs
# optimisation and disagrees with the sanitizers.
AC_DEFUN([ASPEN_HARDENING], [
    ASPEN_HARDENING_CFLAGS=
    ASPEN_TRY_CFLAG([ASPEN_HARDENING_CFLAGS], [-fstack-protector-strong])
    ASPEN_HARDENING_CPPFLAGS=
    AS_IF([test -z "$ASPEN_SANITIZER_FLAGS"],
        [AS_CASE([$CFLAGS], [*-O0*], [],
            [*-O*], [ASPEN_HARDENING_CPPFLAGS="-D_FORTIFY_SOURCE=2"])])
    ASPEN_LDFLAGS="-Wl,-z,relro,-z,now,-z,noexecstack $ASPEN_SANITIZER_FLAGS"
    AC_SUBST([ASPEN_HARDENING_CFLAGS])
    AC_SUBST([ASPEN_HARDENING_CPPFLAGS])
    AC_SUBST([ASPEN_LDFLAGS])
])
