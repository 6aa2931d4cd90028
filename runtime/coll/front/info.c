/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks for Aspen's key in an info object that is set on a communicator, and
 * adds the number of open searches to one that is asked for. */
#include "config.h"

#include "info.h"

#include "runtime/coll/call/call.h"
#include "runtime/coll/select/comm.h"
#include "runtime/coll/machine/settings.h"
#include "runtime/coll/select/tune.h"

#include <stdio.h>
#include <string.h>

static bool says_off(MPI_Info info)
{
    char value[8] = "";
    int found = 0;

    if (info == MPI_INFO_NULL)
        return false;
    aspx_coll_behind.MPI_Info_get(info, "aspen_coll", sizeof(value) - 1, value,
                                  &found);
    return found && strcmp(value, "off") == 0;
}

int aspx_coll_set_info(MPI_Comm comm, MPI_Info info)
{
    int rc = aspx_coll_behind.MPI_Comm_set_info(comm, info), off, any = 0;
    struct aspx_coll_comm *known;

    if (rc != MPI_SUCCESS || !aspx_coll_active)
        return rc;
    known = aspx_coll_comm_of(comm);
    if (!known || known->state == ASPX_COLL_COMM_LEFT_TO_MPI)
        return rc; /* the same on all of its ranks */
    off = says_off(info);
    if (aspx_coll_behind.MPI_Allreduce(&off, &any, 1, MPI_INT, MPI_MAX, comm) ==
            MPI_SUCCESS &&
        any)
        aspx_coll_comm_veto(known);
    return rc;
}

/* Are trials to come? A proof costs nothing, but a sweep wants its result. */
static bool is_open(const struct asp_search_sum *sum)
{
    return sum->phase < (aspx_coll_settings.explicit_effort ? ASP_SEARCH_WATCH
                                                            : ASP_SEARCH_PROOF);
}

/* The call word without its pattern. */
static uint32_t word_of(const struct asp_tune_key *key)
{
    return key->call & ((UINT32_C(1) << ASP_TUNE_PATTERN_SHIFT) - 1);
}

/* Did calls like these come in another rhythm (strict, loose) later? Then the
 * search of the first one has no more trials. */
static bool is_left(const struct aspx_coll_comm *comm, uint32_t i,
                    uint32_t word)
{
    struct asp_search_sum sum;
    struct asp_tune_key key;

    while (asp_decide_account(comm->decide, ++i, &key, &sum))
        if (word_of(&key) == word)
            return true;
    return false;
}

static uint32_t count_open(const struct aspx_coll_comm *comm)
{
    struct asp_search_sum sum;
    struct asp_tune_key key;
    uint32_t open = 0;

    for (uint32_t i = 0; asp_decide_account(comm->decide, i, &key, &sum); i++)
        open += is_open(&sum) && !is_left(comm, i, word_of(&key));
    return open;
}

int aspx_coll_get_info(MPI_Comm comm, MPI_Info *info_p)
{
    int rc = aspx_coll_behind.MPI_Comm_get_info(comm, info_p);
    struct aspx_coll_comm *known;
    char open[16];

    if (rc != MPI_SUCCESS || !aspx_coll_active)
        return rc;
    known = aspx_coll_comm_of(comm);
    if (known && known->state == ASPX_COLL_COMM_TUNED) {
        snprintf(open, sizeof(open), "%u", count_open(known));
        aspx_coll_behind.MPI_Info_set(*info_p, "aspen_coll_open", open);
    }
    return rc;
}
