# SPDX-License-Identifier: BSD-3-Clause
# ASPEN_SLURM: find slurm/spank.h. The plugin stores SLURM_VERSION_NUMBER, so
# it has to be built once per Slurm release. --without-slurm builds neither plugin
# nor agent, and needs neither Slurm nor OpenPMIx: for `aspen run`.
AC_DEFUN([ASPEN_SLURM], [
    AC_ARG_WITH([slurm],
        [AS_HELP_STRING([--with-slurm=DIR],
            [prefix that holds include/slurm/spank.h @<:@default: system@:>@;
             --without-slurm: no plugin, for aspen run])],
        [AS_CASE([$withval],
            [yes | no], [],
            [SLURM_CPPFLAGS="-I$withval/include"])], [with_slurm=yes])
    AM_CONDITIONAL([WITH_SLURM], [test "x$with_slurm" != xno])
    AS_IF([test "x$with_slurm" != xno], [
        aspen_save_CPPFLAGS=$CPPFLAGS
        CPPFLAGS="$CPPFLAGS $SLURM_CPPFLAGS"
        AC_CHECK_HEADER([slurm/spank.h], [],
            [AC_MSG_ERROR(m4_normalize([slurm/spank.h not found: install
                libslurm-dev, give --with-slurm=DIR, or --without-slurm to
                build no plugin (for aspen run)]))])
        CPPFLAGS=$aspen_save_CPPFLAGS
        ASPEN_LIBRARY([PMIX], [pmix >= 4.0], [libpmix-dev])
    ])
    AC_SUBST([SLURM_CPPFLAGS])
])
