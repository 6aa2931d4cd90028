/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the settings and the table, and has all ranks compare a hash of both:
 * only if they are the same does Aspen carry out collectives. The table, the
 * seed and the tags stay as they are from then on. */
#include "config.h"

#include "global.h"

#include "eligible.h"
#include "own.h"
#include "table.h"

#include "runtime/coll/call/call.h"
#include "runtime/coll/machine/join.h"
#include "runtime/coll/machine/machine.h"
#include "runtime/coll/machine/model.h"
#include "runtime/coll/call/reducible.h"
#include "runtime/coll/machine/settings.h"
#include "runtime/base/log.h"
#include "runtime/mpi/build.h"

#include "common/base/hash.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Of what ranks do with each other: grows when it changes. */
enum { ASPX_COLL_VERSION = 3 };

static struct asp_tune_table table;
static struct aspx_coll_config *configs; /* one for each row of the table */
static bool has_table;
static struct asp_search_effort effort;
static uint64_t seed;
static int tags = ASP_COLL_TAGS; /* how many there are */

bool aspx_coll_prepare(const struct asp_layout *layout)
{
    return aspx_coll_settings_read(layout);
}

/* The texts of its rows as configurations; they were checked when it was read.
 */
static bool parse_configs(void)
{
    struct asp_err err;

    configs = calloc((size_t) table.nconfigs + 1, sizeof(*configs));
    for (uint32_t i = 0; configs && i < table.nrows; i++) {
        const struct asp_tune_row *row = &table.rows[i];
        struct asp_tune_args args;

        asp_tune_call_args(row->key.call, &args);
        (void) aspx_coll_config_parse(args.op, table.configs[row->config],
                                      &configs[row->config], &err);
    }
    return configs != NULL;
}

/* Who measures all sizes wants to know which are missing. */
static bool index_table(void)
{
    table.exact = aspx_coll_settings.explicit_effort;
    return asp_tune_table_index(&table) == 0;
}

static void find_tags(void)
{
    int *most, found = 0;

    if (aspx_coll_behind.MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most,
                                           &found) == MPI_SUCCESS &&
        found && *most >= ASP_COLL_TAGS)
        tags = *most;
}

static void find_effort(void)
{
    effort = aspx_coll_settings.explicit_effort ? asp_search_explicit
                                                : asp_search_online;
    effort.budget_us = aspx_coll_settings.budget_us;
    if (aspx_coll_settings.mode == ASP_COLL_MODE_TABLE)
        effort.budget_us = 0;
}

static uint64_t hash_of(const unsigned char digest[ASP_SHA256_BYTES])
{
    uint64_t hash;

    memcpy(&hash, digest, sizeof(hash));
    return hash;
}

/* Of what must be alike: the table, and what the model makes of it. */
static void find_seed(const unsigned char digest[ASP_SHA256_BYTES])
{
    const struct asp_coll_machine *m = aspx_coll_model();
    const int64_t constants[] = {
        m->inside.latency, m->inside.overhead, m->inside.gap,
        m->inside.byte,    m->between.latency, m->between.overhead,
        m->between.gap,    m->between.byte,    m->copy,
        m->reduce,
    };

    seed = hash_of(digest);
    seed = asp_hash(seed, constants, sizeof(constants));
}

static bool stay(const char *why)
{
    if (aspx_coll_is_first())
        aspx_log(ASPX_LOG_WARNING, "%s: collectives stay MPI's", why);
    return false;
}

/* MPICH takes what is sent from where it is received; we would not. */
static bool takes_aliases(void)
{
    /* MPICH reads all of them, as numbers; the last one that is set counts. */
    static const char *const names[] = {"MPICH_COLL_ALIAS_CHECK",
                                        "MPIR_PARAM_COLL_ALIAS_CHECK",
                                        "MPIR_CVAR_COLL_ALIAS_CHECK"};
    bool takes = false;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);

        if (value)
            takes = strtol(value, NULL, 0) == 0;
    }
    return takes;
}

bool aspx_coll_begin(const struct asp_layout *layout)
{
    unsigned char digest[ASP_SHA256_BYTES] = {0};
    bool lax = takes_aliases();

    if (!aspx_coll_are_alike(aspx_coll_settings_hash() + ASPX_COLL_VERSION +
                             lax))
        return stay("ranks differ in coll, coll.*, MPIR_CVAR_COLL_ALIAS_CHECK "
                    "or the release of Aspen");
    if (lax)
        return stay("MPIR_CVAR_COLL_ALIAS_CHECK is off");
    aspx_coll_reducible_start();
    aspx_coll_machine_find(layout);
    aspx_native_start(aspx_mpi_release());
    has_table = aspx_coll_take_table(&table) && parse_configs() &&
                index_table();
    if (has_table && asp_tune_table_digest(&table, digest) != 0)
        has_table = false;
    if (!aspx_coll_are_alike(has_table ? hash_of(digest) : 0))
        return stay("coll.table is not the same on all ranks, or some have no "
                    "memory for it");
    aspx_coll_model_find(has_table ? &table : NULL);
    find_seed(digest);
    find_tags();
    find_effort();
    aspx_coll_own_start();
    return true;
}

const struct asp_tune_table *aspx_coll_table(void)
{
    return has_table ? &table : NULL;
}

const struct aspx_coll_config *aspx_coll_table_config(uint32_t config)
{
    return &configs[config];
}

const struct asp_search_effort *aspx_coll_effort(void)
{
    return &effort;
}

uint64_t aspx_coll_seed(void)
{
    return seed;
}

int aspx_coll_tag(struct aspx_coll_comm *comm)
{
    int tag = comm->tag_next;

    comm->tag_next += ASP_COLL_TAGS;
    if (comm->tag_next > tags - ASP_COLL_TAGS)
        comm->tag_next = 0;
    return tag;
}

void aspx_coll_say_once(const struct asp_err *err)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool said;
    char text[ASP_ERR_TEXT_MAX + ASP_ERR_PLACE_MAX];

    pthread_mutex_lock(&lock);
    if (!said)
        aspx_log(ASPX_LOG_WARNING, "collectives without memory of the node: %s",
                 asp_err_print(err, text, sizeof(text)));
    said = true;
    pthread_mutex_unlock(&lock);
}
