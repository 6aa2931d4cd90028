# SPDX-License-Identifier: BSD-3-Clause
# ASPEN_RELEASES: define ASPEN_BUILT_WITH, the releases of what Aspen is built
# with, as aspen-agent --version and scripts/setup print them.
AC_DEFUN([ASPEN_RELEASES], [
    AC_MSG_CHECKING([what Aspen is built with])
    aspen_built_with=
    AS_IF([test "x$with_slurm" != xno], [
        AC_COMPUTE_INT([aspen_slurm], [SLURM_VERSION_NUMBER],
            [#include <slurm/slurm_version.h>], [aspen_slurm=0])
        aspen_slurm=`printf '%d.%02d.%d' $((aspen_slurm >> 16)) \
            $((aspen_slurm >> 8 & 255)) $((aspen_slurm & 255))`
        aspen_pmix=`$PKG_CONFIG --modversion pmix`
        aspen_built_with="Slurm $aspen_slurm, OpenPMIx $aspen_pmix, "
    ])
    aspen_mpich=`printf '#include <mpi.h>\naspen MPICH_VERSION\n' |
        $CC -E -P $MPI_CPPFLAGS - 2>&AS_MESSAGE_LOG_FD |
        sed -n 's/^aspen "\(.*\)"$/\1/p'`
    aspen_hwloc=`$PKG_CONFIG --modversion hwloc`
    aspen_built_with="${aspen_built_with}hwloc $aspen_hwloc"
    aspen_built_with="$aspen_built_with, MPICH $aspen_mpich"
    AC_MSG_RESULT([$aspen_built_with])
    AC_DEFINE_UNQUOTED([ASPEN_BUILT_WITH], ["$aspen_built_with"],
        [releases of what Aspen was built with])
])
