/* SPDX-License-Identifier: BSD-3-Clause */
/* Typemaps by the handle of their type. Each hangs on an attribute of the type,
 * whose value it is: MPI deletes that when nothing uses the type any more, and
 * before the handle can be another type's. Types that MPI has itself stay.
 *
 * MPI calls delete_kept() with locks of its own, so the lock that is held here
 * while MPI is called is never taken there. */
#include "config.h"

#include "contents.h"
#include "typemap.h"

#include "runtime/base/table.h"
#include "runtime/mpi/real.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct kept {
    MPI_Datatype type;
    struct aspx_typemap *typemap; /* NULL: it has none */
};

static struct aspx_table kept_types = ASPX_TABLE_INITIALIZER;
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER; /* of typemaps */
static int keyval = MPI_KEYVAL_INVALID;
static _Atomic uint64_t refused[ASPX_NO_TYPEMAPS];

static void drop(struct kept *kept)
{
    aspx_table_remove(&kept_types, kept->type, kept);
    aspx_typemap_free(kept->typemap);
    free(kept);
}

static int delete_kept(MPI_Datatype type, int type_keyval, void *value,
                       void *extra)
{
    (void) type;
    (void) type_keyval;
    (void) extra;
    drop(value);
    return MPI_SUCCESS;
}

static bool is_derived(MPI_Datatype type)
{
    MPI_Count n;
    int combiner;

    return aspx_real.MPI_Type_get_envelope_c(type, &n, &n, &n, &n, &combiner) ==
               MPI_SUCCESS &&
           aspx_contents_derived(combiner);
}

/* A type that is copied gets a typemap of its own when it is used. */
static bool hang_on(MPI_Datatype type, struct kept *kept)
{
    if (!is_derived(type))
        return true;
    if (keyval == MPI_KEYVAL_INVALID &&
        aspx_real.MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_kept,
                                         &keyval, NULL) != MPI_SUCCESS)
        return false;
    return aspx_real.MPI_Type_set_attr(type, keyval, kept) == MPI_SUCCESS;
}

static struct kept *make(MPI_Datatype type)
{
    struct kept *kept = malloc(sizeof(*kept));
    enum aspx_no_typemap why = ASPX_NO_TYPEMAP_LARGE;

    if (!kept)
        return NULL;
    *kept = (struct kept){type, aspx_typemap_make(type, &why)};
    if (!kept->typemap)
        atomic_fetch_add_explicit(&refused[why], 1, memory_order_relaxed);
    if (!hang_on(type, kept)) {
        drop(kept);
        return NULL;
    }
    /* Only now: others find it there without the lock. Without memory for it
     * there, it goes with the type. */
    return aspx_table_insert(&kept_types, type, kept) == 0 ? kept : NULL;
}

const struct aspx_typemap *aspx_typemap_find(MPI_Datatype type)
{
    struct kept *kept = aspx_table_find(&kept_types, type);

    return kept ? kept->typemap : NULL;
}

const struct aspx_typemap *aspx_typemap_of(MPI_Datatype type)
{
    struct kept *kept = aspx_table_find(&kept_types, type);

    if (!kept) {
        pthread_mutex_lock(&making);
        kept = aspx_table_find(&kept_types, type);
        if (!kept)
            kept = make(type);
        pthread_mutex_unlock(&making);
    }
    return kept ? kept->typemap : NULL;
}

uint64_t aspx_typemaps_refused(enum aspx_no_typemap why)
{
    return atomic_load_explicit(&refused[why], memory_order_relaxed);
}
