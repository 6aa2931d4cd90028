/* SPDX-License-Identifier: BSD-3-Clause */
/* Typemaps by the handle of their type, for those who are inside MPI. Whether
 * one is of the type that has the handle now, or of a dead one that had it, is
 * known outside MPI by an attribute of the type, whose value it is; inside, it
 * is always: it goes when the handle is given to another type with gaps.
 *
 * The attribute tells no one when it is deleted. MPICH 4.0 lets go of its lock
 * for the call that would, also when it deletes the type inside of UCX, as a
 * message ends, and another thread would enter UCX meanwhile. */
#include "config.h"

#include "contents.h"
#include "typemap.h"

#include "runtime/base/table.h"
#include "runtime/mpi/real.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

struct kept {
    struct aspx_typemap *typemap; /* NULL: it has none */
    struct kept *next;            /* of dead ones that are still held */
};

/* Types of the program, and those that MPI has itself, which stay. */
static struct aspx_table kept_types = ASPX_TABLE_INITIALIZER;
static struct aspx_table own_types = ASPX_TABLE_INITIALIZER;
/* The typemaps of both, as long as the program has not freed the type. From
 * then on `gone`, until a type with this handle is committed: MPI may call the
 * program to delete the attributes of the type, and MPICH 4.0 must not be asked
 * for ours then, as it walks over those that it has deleted. */
static struct aspx_table in_use = ASPX_TABLE_INITIALIZER;
static const struct aspx_typemap gone;
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER; /* of typemaps */
static atomic_int keyval = MPI_KEYVAL_INVALID;
static _Atomic uint64_t refused[ASPX_NO_TYPEMAPS];

static void drop(struct kept *kept)
{
    aspx_typemap_free(kept->typemap);
    free(kept);
}

/* ---- dead ones that somebody still uses ----------------------------------------- */

static pthread_mutex_t burying = PTHREAD_MUTEX_INITIALIZER;
static struct kept *dead;
static atomic_uint holders;

void aspx_typemap_hold(void)
{
    atomic_fetch_add(&holders, 1);
}

void aspx_typemap_release(void)
{
    atomic_fetch_sub(&holders, 1);
}

/* It is in no table any more: who holds from now on does not find it. */
static void bury(struct kept *kept)
{
    pthread_mutex_lock(&burying);
    kept->next = dead;
    dead = kept;
    while (dead && atomic_load(&holders) == 0) {
        kept = dead;
        dead = kept->next;
        drop(kept);
    }
    pthread_mutex_unlock(&burying);
}

/* ---- by handle ------------------------------------------------------------------- */

static void take_out_of_use(MPI_Datatype type)
{
    const struct aspx_typemap *typemap = aspx_table_find(&in_use, type);

    if (typemap)
        aspx_table_remove(&in_use, type, typemap);
}

void aspx_typemap_forget(MPI_Datatype type)
{
    struct kept *kept = aspx_table_find(&kept_types, type);

    take_out_of_use(type);
    if (!kept)
        return;
    aspx_table_remove(&kept_types, type, kept);
    bury(kept);
}

static bool is_derived(MPI_Datatype type)
{
    int combiner;

    return aspx_contents_combiner(type, &combiner) &&
           aspx_contents_derived(combiner);
}

/* A type that is copied gets a typemap of its own when it is used. */
static bool hang_on(MPI_Datatype type, struct kept *kept)
{
    int key = atomic_load(&keyval);

    if (key == MPI_KEYVAL_INVALID) {
        if (aspx_real.MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN,
                                             MPI_TYPE_NULL_DELETE_FN, &key,
                                             NULL) != MPI_SUCCESS)
            return false;
        atomic_store(&keyval, key);
    }
    return aspx_real.MPI_Type_set_attr(type, key, kept) == MPI_SUCCESS;
}

static struct kept *hanging_on(MPI_Datatype type)
{
    int key = atomic_load(&keyval), found = 0;
    void *value = NULL;

    if (key == MPI_KEYVAL_INVALID ||
        aspx_real.MPI_Type_get_attr(type, key, &value, &found) != MPI_SUCCESS)
        return NULL;
    return found ? value : NULL;
}

/* In the table only once it hangs on its type: others find it there without the
 * lock. Of a dead type it is nobody's any more. */
static bool keep(MPI_Datatype type, struct kept *kept)
{
    if (!is_derived(type))
        return aspx_table_insert(&own_types, type, kept) == 0;
    aspx_typemap_forget(type);
    if (!hang_on(type, kept))
        return false;
    if (aspx_table_insert(&kept_types, type, kept) == 0)
        return true;
    aspx_real.MPI_Type_delete_attr(type, atomic_load(&keyval));
    return false;
}

static struct kept *make(MPI_Datatype type)
{
    struct kept *kept = malloc(sizeof(*kept));
    enum aspx_no_typemap why = ASPX_NO_TYPEMAP_LARGE;

    if (!kept)
        return NULL;
    *kept = (struct kept){.typemap = aspx_typemap_make(type, &why)};
    if (!kept->typemap)
        atomic_fetch_add_explicit(&refused[why], 1, memory_order_relaxed);
    if (keep(type, kept)) {
        if (kept->typemap)
            (void) aspx_table_insert(&in_use, type, kept->typemap);
        return kept;
    }
    drop(kept);
    return NULL;
}

void aspx_typemap_check_alive(MPI_Datatype type)
{
    const struct aspx_typemap *typemap = aspx_table_find(&in_use, type);

    if (typemap && (typemap == &gone || !hanging_on(type)))
        take_out_of_use(type);
}

static struct kept *find(MPI_Datatype type)
{
    struct kept *kept = hanging_on(type);

    return kept ? kept : aspx_table_find(&own_types, type);
}

const struct aspx_typemap *aspx_typemap_find(MPI_Datatype type)
{
    const struct kept *kept = aspx_table_find(&kept_types, type);

    if (!kept)
        kept = aspx_table_find(&own_types, type);
    return kept ? kept->typemap : NULL;
}

const struct aspx_typemap *aspx_typemap_in_use(MPI_Datatype type)
{
    const struct aspx_typemap *typemap = aspx_table_find(&in_use, type);

    return typemap == &gone ? NULL : typemap;
}

/* Without memory for it, it is as one that was never used. */
void aspx_typemap_retire(MPI_Datatype type)
{
    (void) aspx_table_insert(&in_use, type, (void *) (uintptr_t) &gone);
}

const struct aspx_typemap *aspx_typemap_of(MPI_Datatype type)
{
    struct kept *kept;

    if (aspx_table_find(&in_use, type) == &gone)
        return NULL;
    kept = find(type);
    if (!kept) {
        pthread_mutex_lock(&making);
        kept = find(type);
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
