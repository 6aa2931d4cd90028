/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPICH's Fortran and C++ libraries call in libmpich beside MPI: keyvals
 * with callbacks in their language, and attributes whose value is an integer.
 * mpi.h does not declare them; found in libmpich 4.0. */
#ifndef ASPEN_RUNTIME_MPI_MPII_H
#define ASPEN_RUNTIME_MPI_MPII_H

#include <mpi.h>

/* How the library calls a callback of a keyval: a proxy turns the arguments
 * into those of the callback's language. type tells what the attribute holds:
 * bit 0 is clear for a pointer and set for an integer. */
typedef int aspx_copy_proxy_f(MPI_Comm_copy_attr_function *user, int handle,
                              int keyval, void *extra, int type, void *value,
                              void **copy, int *flag);
typedef int aspx_delete_proxy_f(MPI_Comm_delete_attr_function *user, int handle,
                                int keyval, int type, void *value, void *extra);

/* How the library calls an error handler of the C++ binding: kind of the
 * handle, handle, code, the handler. */
typedef void aspx_errcall_proxy_f(int kind, int *handle, int *code,
                                  void (*user)(void));

int MPII_Comm_get_attr(MPI_Comm comm, int comm_keyval, void *attribute_val,
                       int *flag, int type);
int MPII_Comm_set_attr(MPI_Comm comm, int comm_keyval, void *attribute_val,
                       int type);
int MPII_Win_get_attr(MPI_Win win, int win_keyval, void *attribute_val,
                      int *flag, int type);
int MPII_Win_set_attr(MPI_Win win, int win_keyval, void *attribute_val,
                      int type);
int MPII_Type_get_attr(MPI_Datatype datatype, int type_keyval,
                       void *attribute_val, int *flag, int type);
int MPII_Type_set_attr(MPI_Datatype datatype, int type_keyval,
                       void *attribute_val, int type);
void MPII_Errhandler_set_cxx(MPI_Errhandler errhand,
                             aspx_errcall_proxy_f *errcall);
void MPII_Grequest_set_lang_f77(MPI_Request request);
void MPII_Keyval_set_proxy(int keyval, aspx_copy_proxy_f *copy,
                           aspx_delete_proxy_f *del);

#endif
