/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of windows for the record, under one mutex. */
#include "config.h"

#include "registry.h"

#include "runtime/mpi/real.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct aspx_registry aspx_registry;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint32_t serials;

static bool same_kind(const struct aspx_registry_entry *a,
                      const struct aspx_registry_entry *b)
{
    return a->holds == b->holds && a->processes == b->processes &&
           a->handling == b->handling && a->switchable == b->switchable &&
           a->flavor == b->flavor && a->least == b->least &&
           a->most == b->most && strcmp(a->name, b->name) == 0 &&
           strcmp(a->call_site.place, b->call_site.place) == 0;
}

/* The newest window has got its name by now, if it gets one: let it join
 * others of its kind. Before a window is added, and at the end. */
void aspx_registry_close(void)
{
    struct aspx_registry *registry = &aspx_registry;
    struct aspx_registry_entry *newest =
        &registry->entry[registry->n ? registry->n - 1 : 0];

    for (uint32_t i = 0; i + 1 < registry->n; i++) {
        struct aspx_registry_entry *entry = &registry->entry[i];

        if (!same_kind(entry, newest))
            continue;
        entry->count += newest->count;
        entry->last = newest->last;
        entry->serial = newest->serial;
        registry->n--;
        return;
    }
}

static void count_rules(uint32_t holds)
{
    for (uint32_t r = 0; r < ASP_OBJRULES_MAX; r++)
        aspx_registry.hits[r] += holds >> r & 1;
}

void aspx_registry_count_rules(uint32_t holds)
{
    pthread_mutex_lock(&mutex);
    count_rules(holds);
    pthread_mutex_unlock(&mutex);
}

void aspx_registry_count_contig_missing(void)
{
    pthread_mutex_lock(&mutex);
    aspx_registry.contig_missing++;
    pthread_mutex_unlock(&mutex);
}

uint32_t aspx_registry_add(const struct aspx_win_request *request,
                           enum aspx_handling handling, bool switchable)
{
    const struct aspx_verdict *verdict = &request->verdict;
    struct aspx_registry_entry entry = {
        .first = verdict->order,
        .last = verdict->order,
        .count = 1,
        .holds = verdict->holds,
        .handling = (uint32_t) handling,
        .switchable = switchable,
        .flavor = request->flavor,
        .least = verdict->least,
        .most = verdict->most,
        .call_site = verdict->call_site,
    };
    int rank = 0, size = 0;

    if (verdict->order == 0)
        return 0;
    aspx_real.MPI_Comm_rank(request->comm, &rank);
    if (rank != 0)
        return 0;
    aspx_real.MPI_Comm_size(request->comm, &size);
    entry.processes = (uint32_t) size;
    pthread_mutex_lock(&mutex);
    aspx_registry_close();
    count_rules(verdict->holds);
    if (aspx_registry.n == ASPX_REGISTRY_MAX) {
        aspx_registry.more++;
    } else {
        entry.serial = ++serials;
        aspx_registry.entry[aspx_registry.n++] = entry;
    }
    pthread_mutex_unlock(&mutex);
    return entry.serial;
}

static struct aspx_registry_entry *find_single(uint32_t serial)
{
    for (uint32_t i = 0; serial && i < aspx_registry.n; i++)
        if (aspx_registry.entry[i].serial == serial &&
            aspx_registry.entry[i].count == 1)
            return &aspx_registry.entry[i];
    return NULL;
}

void aspx_registry_set_name(uint32_t serial, const char *name)
{
    struct aspx_registry_entry *entry;

    pthread_mutex_lock(&mutex);
    entry = find_single(serial);
    if (entry)
        snprintf(entry->name, sizeof(entry->name), "%.*s",
                 ASPX_REGISTRY_NAME_MAX - 1, name);
    pthread_mutex_unlock(&mutex);
}

void aspx_registry_set_rules(uint32_t serial, uint32_t holds)
{
    struct aspx_registry_entry *entry;

    pthread_mutex_lock(&mutex);
    entry = find_single(serial);
    if (entry)
        entry->holds = holds;
    pthread_mutex_unlock(&mutex);
}
