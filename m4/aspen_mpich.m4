# SPDX-License-Identifier: BSD-3-Clause
# ASPEN_MPICH: find MPICH and refuse every other MPI: the runtime relies on its
# ABI (integer handles, symbol versions, PMPI layout).
#
# Sets MPICC, MPIFORT, MPIEXEC and MPI_CPPFLAGS, MPI_LIBS for our own compiler.
AC_DEFUN([ASPEN_MPICH], [
    AC_ARG_VAR([MPICC], [MPICH compiler wrapper @<:@mpicc.mpich@:>@])
    AC_PATH_PROGS([MPICC], [mpicc.mpich mpicc])
    AC_PATH_PROGS([MPIFORT], [mpifort.mpich mpifort])
    AC_PATH_PROGS([MPIEXEC], [mpiexec.mpich mpiexec])
    AS_IF([test -z "$MPICC"],
        [AC_MSG_ERROR([mpicc.mpich not found: install libmpich-dev])])
    MPI_CPPFLAGS=
    MPI_LIBS=
    for word in `$MPICC -show 2>/dev/null`; do
        AS_CASE([$word],
            [-I*|-D*], [MPI_CPPFLAGS="$MPI_CPPFLAGS $word"],
            [-L*|-l*|-Wl,-rpath*|-Wl,/*], [MPI_LIBS="$MPI_LIBS $word"])
    done
    aspen_save_CPPFLAGS=$CPPFLAGS
    CPPFLAGS="$CPPFLAGS $MPI_CPPFLAGS"
    AC_MSG_CHECKING([whether $MPICC is MPICH 4])
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
        #include <mpi.h>
        #ifndef MPICH_NUMVERSION
        #error not MPICH
        #endif
        #if MPICH_NUMVERSION < 40000000
        #error too old
        #endif
        ]], [])],
        [AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])
         AC_MSG_ERROR(m4_normalize([$MPICC is not MPICH 4.0 or newer; Aspen
            supports MPICH only. Set MPICC to an MPICH wrapper
            (Debian: apt-get install libmpich-dev, MPICC=mpicc.mpich)]))])
    CPPFLAGS=$aspen_save_CPPFLAGS
    # Every function of it needs a row in the table of MPI functions, or to be
    # one that can be handed on unseen.
    AC_MSG_CHECKING([whether Aspen knows the functions of this MPICH])
    ASPEN_GENERATE=
    AS_IF([test "x$enable_developer" = xyes], [ASPEN_GENERATE=--developer])
    echo '#include <mpi.h>' |
        $CC -E -P $MPI_CPPFLAGS - >conftest.mpi 2>&AS_MESSAGE_LOG_FD
    AS_IF([$PYTHON "$srcdir/runtime/mpi/generate.py" --mpi conftest.mpi \
            $ASPEN_GENERATE "$srcdir/runtime/mpi" >conftest.says 2>&1],
        [AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])
         cat conftest.says >&2
         AC_MSG_ERROR(m4_normalize([it is another release than those that Aspen
            was made for, MPICH 4.0 to 5.0. Take one of these, or a newer Aspen,
            or give each function a row in runtime/mpi/mpi_calls.tab, whose
            first lines say how]))])
    rm -f conftest.mpi conftest.says
    AC_SUBST([ASPEN_GENERATE])
    AC_SUBST([MPI_CPPFLAGS])
    AC_SUBST([MPI_LIBS])
])
