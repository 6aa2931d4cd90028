/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands in front of those functions of UCX by which MPICH sends, and counts
 * what goes to each end point. Only what of UCX's interface is needed is
 * declared: its headers need not be installed (ucp.h of UCX 1.13 to 1.18). */
#include "config.h"

#include "count.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The tree is compiled with hidden symbols. */
#define EXPORT __attribute__((visibility("default")))

enum {
    PLACES = 1 << 14, /* of end points; a power of two */
    PARAM_ADDRESS = 1 << 0,
    ATTR_DATATYPE = 1 << 3,
    DATATYPE_CLASS = 7, /* 0: contiguous; the size of an element is above */
    DATATYPE_SHIFT = 3,
};

/* The begin of ucp_ep_params_t. */
struct ep_params {
    uint64_t field_mask;
    const void *address;
};

/* The begin of ucp_request_param_t. */
struct request_param {
    uint32_t op_attr_mask, flags;
    void *request;
    void (*callback)(void);
    uint64_t datatype;
};

static struct place {
    void *_Atomic ep;
    void *address; /* our own copy */
    atomic_long messages, bytes, typed;
} places[PLACES];

static void *own;
static size_t own_bytes;
static atomic_bool counting = true;
static atomic_int lost;

void count_switch(bool on)
{
    counting = on;
}

const void *count_own_address(size_t *bytes)
{
    *bytes = own_bytes;
    return own;
}

int count_lost(void)
{
    return lost;
}

void count_take(void (*see)(void *state, const void *address,
                            const struct count *count),
                void *state)
{
    for (struct place *p = places; p < places + PLACES; p++) {
        struct count count = {atomic_exchange(&p->messages, 0),
                              atomic_exchange(&p->bytes, 0),
                              atomic_exchange(&p->typed, 0)};

        if (count.messages > 0)
            see(state, p->address, &count);
    }
}

/* The place of an end point, or a free one; NULL if the table is full. */
static struct place *place_of(const void *ep)
{
    size_t at = ((uintptr_t) ep >> 4) * 0x9e3779b1u;

    for (size_t tried = 0; tried < PLACES; tried++, at++) {
        struct place *place = &places[at & (PLACES - 1)];

        if (place->ep == ep || !place->ep)
            return place;
    }
    return NULL;
}

static void count(const void *ep, size_t elements, uint64_t datatype)
{
    struct place *place = counting ? place_of(ep) : NULL;

    if (!place)
        return;
    if (!place->ep) {
        lost++;
        return;
    }
    place->messages++;
    if ((datatype & DATATYPE_CLASS) == 0)
        place->bytes += (long) (elements * (datatype >> DATATYPE_SHIFT));
    else
        place->typed++;
}

static void count_bytes(const void *ep, size_t bytes)
{
    count(ep, bytes, 1 << DATATYPE_SHIFT);
}

/* Without a datatype, elements are bytes. */
static uint64_t datatype_of(const struct request_param *param)
{
    return param->op_attr_mask & ATTR_DATATYPE ? param->datatype
                                               : 1 << DATATYPE_SHIFT;
}

static void *next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    if (!found) {
        fprintf(stderr, "count_messages: UCX has no %s\n", name);
        abort(); /* whoever called us by this name found the other first */
    }
    return found;
}

/* Some of UCX's functions call others that are here, too. */
static __thread int depth;

/* Defines FUNCTION of UCX, which takes these parameters: counts, and passes the
 * arguments on. */
#define SEND(type, function, parameters, arguments, counted)                   \
    EXPORT type function parameters;                                           \
    type function parameters                                                   \
    {                                                                          \
        static type(*real) parameters;                                         \
        type rc;                                                               \
                                                                               \
        if (!real)                                                             \
            *(void **) &real = next(#function);                                \
        if (depth++ == 0)                                                      \
            counted;                                                           \
        rc = real arguments;                                                   \
        depth--;                                                               \
        return rc;                                                             \
    }

typedef void callback_f(void *request, int status);

SEND(void *, ucp_tag_send_nbx,
     (void *ep, const void *buffer, size_t n, uint64_t tag,
      const struct request_param *param),
     (ep, buffer, n, tag, param), count(ep, n, datatype_of(param)))
SEND(void *, ucp_tag_send_sync_nbx,
     (void *ep, const void *buffer, size_t n, uint64_t tag,
      const struct request_param *param),
     (ep, buffer, n, tag, param), count(ep, n, datatype_of(param)))
SEND(void *, ucp_am_send_nb,
     (void *ep, uint16_t id, const void *buffer, size_t n, uint64_t datatype,
      callback_f *callback, unsigned flags),
     (ep, id, buffer, n, datatype, callback, flags), count(ep, n, datatype))
SEND(void *, ucp_am_send_nbx,
     (void *ep, unsigned id, const void *header, size_t header_bytes,
      const void *buffer, size_t n, const struct request_param *param),
     (ep, id, header, header_bytes, buffer, n, param),
     count(ep, n, datatype_of(param)))
SEND(void *, ucp_put_nb,
     (void *ep, const void *buffer, size_t bytes, uint64_t to, void *key,
      callback_f *callback),
     (ep, buffer, bytes, to, key, callback), count_bytes(ep, bytes))
SEND(int, ucp_put_nbi,
     (void *ep, const void *buffer, size_t bytes, uint64_t to, void *key),
     (ep, buffer, bytes, to, key), count_bytes(ep, bytes))
SEND(void *, ucp_put_nbx,
     (void *ep, const void *buffer, size_t n, uint64_t to, void *key,
      const struct request_param *param),
     (ep, buffer, n, to, key, param), count(ep, n, datatype_of(param)))
SEND(int, ucp_put,
     (void *ep, const void *buffer, size_t bytes, uint64_t to, void *key),
     (ep, buffer, bytes, to, key), count_bytes(ep, bytes))
SEND(void *, ucp_get_nb,
     (void *ep, void *buffer, size_t bytes, uint64_t from, void *key,
      callback_f *callback),
     (ep, buffer, bytes, from, key, callback), count_bytes(ep, bytes))
SEND(int, ucp_get_nbi,
     (void *ep, void *buffer, size_t bytes, uint64_t from, void *key),
     (ep, buffer, bytes, from, key), count_bytes(ep, bytes))
SEND(void *, ucp_get_nbx,
     (void *ep, void *buffer, size_t n, uint64_t from, void *key,
      const struct request_param *param),
     (ep, buffer, n, from, key, param), count(ep, n, datatype_of(param)))

/* ---- whose end points they are ------------------------------------------- */

/* The first worker's: MPICH has one unless it is told otherwise. */
EXPORT int ucp_worker_get_address(void *worker, void **address, size_t *bytes);

int ucp_worker_get_address(void *worker, void **address, size_t *bytes)
{
    int (*real)(void *, void **, size_t *);
    int rc;

    *(void **) &real = next("ucp_worker_get_address");
    rc = real(worker, address, bytes);
    if (rc == 0 && !own && (own = malloc(*bytes))) {
        memcpy(own, *address, *bytes);
        own_bytes = *bytes;
    }
    return rc;
}

static void enter(void *ep, const void *address)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct place *place;

    pthread_mutex_lock(&lock);
    place = place_of(ep);
    if (place) {
        free(place->address); /* the end point was closed, and the next has
                                 its place in memory */
        place->address = malloc(own_bytes);
        if (place->address)
            memcpy(place->address, address, own_bytes);
        place->ep = place->address ? ep : NULL;
    }
    lost += !place || !place->ep;
    pthread_mutex_unlock(&lock);
}

/* UCX is not told how long an address is. Those of a job are packed by the same
 * rule and MPICH keeps them in a table whose rows have the length of the
 * longest: to read as much as the own one has is to stay in the row. */
EXPORT int ucp_ep_create(void *worker, const struct ep_params *params,
                         void **ep);

int ucp_ep_create(void *worker, const struct ep_params *params, void **ep)
{
    int (*real)(void *, const struct ep_params *, void **);
    int rc;

    *(void **) &real = next("ucp_ep_create");
    rc = real(worker, params, ep);
    if (rc == 0 && own && params->field_mask & PARAM_ADDRESS)
        enter(*ep, params->address);
    return rc;
}
