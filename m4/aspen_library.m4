# SPDX-License-Identifier: BSD-3-Clause
# ASPEN_LIBRARY(VARIABLES, MODULE, PACKAGE): PKG_CHECK_MODULES that names the
# package of Debian where the library is missing or too old.
AC_DEFUN([ASPEN_LIBRARY], [
    PKG_CHECK_MODULES([$1], [$2], [],
        [AC_MSG_ERROR([$2 not found ($[]$1[]_PKG_ERRORS): install $3])])
])
