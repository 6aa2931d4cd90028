# SPDX-License-Identifier: BSD-3-Clause
# ASPEN_HARDENING: flags for everything we build, also where the compiler's own
# defaults lack them. Each is used where the compiler knows it (-fcf-protection
# is of x86). What libtool puts into a shared library it compiles with -fPIC
# behind our -fPIE; programs are linked by -pie. _FORTIFY_SOURCE needs
# optimisation and disagrees with the sanitizers.
AC_DEFUN([ASPEN_HARDENING], [
    ASPEN_HARDENING_CFLAGS=
    m4_foreach_w([flag], [
        -fstack-protector-strong -fstack-clash-protection -fcf-protection
        -fPIE],
        [ASPEN_TRY_CFLAG([ASPEN_HARDENING_CFLAGS], flag)])
    ASPEN_HARDENING_CPPFLAGS=
    AS_IF([test -z "$ASPEN_SANITIZER_FLAGS"],
        [AS_CASE([$CFLAGS], [*-O0*], [],
            [*-O*], [ASPEN_HARDENING_CPPFLAGS="-D_FORTIFY_SOURCE=2"])])
    ASPEN_LDFLAGS="-Wl,-z,relro,-z,now,-z,noexecstack $ASPEN_SANITIZER_FLAGS"
    AC_SUBST([ASPEN_HARDENING_CFLAGS])
    AC_SUBST([ASPEN_HARDENING_CPPFLAGS])
    # libtool keeps a bare -pie from the linker: for it, only programs have one.
    ASPEN_PIE_LDFLAGS="$ASPEN_LDFLAGS -pie"
    AC_SUBST([ASPEN_LDFLAGS])
    AC_SUBST([ASPEN_PIE_LDFLAGS])
])
