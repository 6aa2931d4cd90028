# SPDX-License-Identifier: BSD-3-Clause
# ASPEN_SLURM: find slurm/spank.h. The plugin stores SLURM_VERSION_NUMBER, so
# it has to be built once per Slurm release.
AC_DEFUN([ASPEN_SLURM], [
    AC_ARG_WITH([slurm],
        [AS_HELP_STRING([--with-slurm=DIR],
            [prefix that holds include/slurm/spank.h @<:@default: system@:>@])],
        [AS_IF([test "x$withval" != xyes],
            [SLURM_CPPFLAGS="-I$withval/include"])], [])
    aspen_save_CPPFLAGS=$CPPFLAGS
    CPPFLAGS="$CPPFLAGS $SLURM_CPPFLAGS"
    AC_CHECK_HEADER([slurm/spank.h], [],
        [AC_MSG_ERROR(m4_normalize([slurm/spank.h not found: install
            libslurm-dev or give --with-slurm=DIR]))])
    CPPFLAGS=$aspen_save_CPPFLAGS
    AC_SUBST([SLURM_CPPFLAGS])
])
