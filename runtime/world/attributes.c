/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes: the size of the universe without ghosts, and callbacks that are
 * shown MPI_COMM_WORLD where the library names the users' communicator.
 *
 * The library calls the callbacks of a keyval through a pair of proxies, one
 * pair per language. We put pairs of our own in their place: they change the
 * handle and go on to the proxy that the language's library wanted. Nothing
 * has to be kept per keyval. */
#include "config.h"

#include "runtime/mpi/real.h"
#include "world.h"

#include "mpi_wrap.h"

#include <pthread.h>
#include <stdint.h>

/* Fortran and C++ bring one pair each for keyvals of communicators. */
enum { FOREIGN = 2 };

static struct {
    aspx_copy_proxy_f *copy;
    aspx_delete_proxy_f *del;
} foreign[FOREIGN];

/* An integer that Fortran has set is shown to C by its address. */
static void *value_for_c(int type, void **value)
{
    return type & 1 ? (void *) value : *value;
}

static int copy_c(MPI_Comm_copy_attr_function *user, int handle, int keyval,
                  void *extra, int type, void *value, void **copy, int *flag)
{
    return user(aspx_comm_shown(handle), keyval, extra,
                value_for_c(type, &value), copy, flag);
}

static int delete_c(MPI_Comm_delete_attr_function *user, int handle, int keyval,
                    int type, void *value, void *extra)
{
    return user(aspx_comm_shown(handle), keyval, value_for_c(type, &value),
                extra);
}

static int copy_0(MPI_Comm_copy_attr_function *user, int handle, int keyval,
                  void *extra, int type, void *value, void **copy, int *flag)
{
    return foreign[0].copy(user, aspx_comm_shown(handle), keyval, extra, type,
                           value, copy, flag);
}

static int delete_0(MPI_Comm_delete_attr_function *user, int handle, int keyval,
                    int type, void *value, void *extra)
{
    return foreign[0].del(user, aspx_comm_shown(handle), keyval, type, value,
                          extra);
}

static int copy_1(MPI_Comm_copy_attr_function *user, int handle, int keyval,
                  void *extra, int type, void *value, void **copy, int *flag)
{
    return foreign[1].copy(user, aspx_comm_shown(handle), keyval, extra, type,
                           value, copy, flag);
}

static int delete_1(MPI_Comm_delete_attr_function *user, int handle, int keyval,
                    int type, void *value, void *extra)
{
    return foreign[1].del(user, aspx_comm_shown(handle), keyval, type, value,
                          extra);
}

static aspx_copy_proxy_f *const copies[FOREIGN] = {copy_0, copy_1};
static aspx_delete_proxy_f *const deletes[FOREIGN] = {delete_0, delete_1};

/* Index of a pair of proxies, or -1 for one too many. */
static int foreign_index(aspx_copy_proxy_f *copy, aspx_delete_proxy_f *del)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    int i;

    pthread_mutex_lock(&lock);
    for (i = 0; i < FOREIGN && foreign[i].copy; i++)
        if (foreign[i].copy == copy && foreign[i].del == del)
            break;
    if (i < FOREIGN) {
        foreign[i].del = del;
        foreign[i].copy = copy;
    } else {
        i = -1;
    }
    pthread_mutex_unlock(&lock);
    return i;
}

/* MPICH writes the kind of object into the handle of its keyval. */
static int is_comm_keyval(int keyval)
{
    return ((MPI_TAG_UB ^ keyval) & 0x03c00000) == 0;
}

void aspx_wrap_MPII_Keyval_set_proxy(int keyval, aspx_copy_proxy_f *copy,
                                     aspx_delete_proxy_f *del)
{
    int i = is_comm_keyval(keyval) ? foreign_index(copy, del) : -1;

    if (i >= 0)
        aspx_real.MPII_Keyval_set_proxy(keyval, copies[i], deletes[i]);
    else
        aspx_real.MPII_Keyval_set_proxy(keyval, copy, del);
}

int aspx_wrap_MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy,
                                     MPI_Comm_delete_attr_function *del,
                                     int *keyval, void *extra)
{
    int rc = aspx_real.MPI_Comm_create_keyval(copy, del, keyval, extra);

    if (rc == MPI_SUCCESS && aspx_real.MPII_Keyval_set_proxy)
        aspx_real.MPII_Keyval_set_proxy(*keyval, copy_c, delete_c);
    return rc;
}

int aspx_wrap_MPI_Keyval_create(MPI_Copy_function *copy,
                                MPI_Delete_function *del, int *keyval,
                                void *extra)
{
    return aspx_wrap_MPI_Comm_create_keyval(copy, del, keyval, extra);
}

static int count_ghosts(void)
{
    return aspx_world.size_all - aspx_world.size_users;
}

/* The universe of a program has no ghosts. Like the library's own answer, the
 * address stays good and what the program writes there is lost. */
static void shrink_universe(int keyval, void *value, const int *flag)
{
    static int universe;

    if (keyval != MPI_UNIVERSE_SIZE || !*flag)
        return;
    universe = **(int **) value - count_ghosts();
    *(int **) value = &universe;
}

int aspx_wrap_MPI_Comm_get_attr(MPI_Comm comm, int keyval, void *value,
                                int *flag)
{
    int rc = aspx_real.MPI_Comm_get_attr(aspx_comm(comm), keyval, value, flag);

    if (rc == MPI_SUCCESS)
        shrink_universe(keyval, value, flag);
    return rc;
}

int aspx_wrap_MPI_Attr_get(MPI_Comm comm, int keyval, void *value, int *flag)
{
    int rc = aspx_real.MPI_Attr_get(aspx_comm(comm), keyval, value, flag);

    if (rc == MPI_SUCCESS)
        shrink_universe(keyval, value, flag);
    return rc;
}

/* Fortran's keyval is one more than that of C, and its value is the number
 * itself. */
int aspx_wrap_MPII_Comm_get_attr(MPI_Comm comm, int keyval, void *value,
                                 int *flag, int type)
{
    int rc = aspx_real.MPII_Comm_get_attr(aspx_comm(comm), keyval, value, flag,
                                          type);

    if (rc != MPI_SUCCESS || !*flag)
        return rc;
    if (!(type & 1))
        shrink_universe(keyval, value, flag);
    else if (keyval == MPI_UNIVERSE_SIZE || keyval == MPI_UNIVERSE_SIZE + 1)
        *(intptr_t *) value -= count_ghosts();
    return rc;
}
