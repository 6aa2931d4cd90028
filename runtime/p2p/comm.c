/* SPDX-License-Identifier: BSD-3-Clause */
/* One reduction per communicator makes all its ranks decide alike. */
#include "config.h"

#include "comm.h"

#include "common/rules/commrule.h"

#include "runtime/base/log.h"
#include "runtime/base/table.h"
#include "runtime/mpi/real.h"
#include "runtime/world/call_site.h"
#include "runtime/world/world.h"

#include "mpi_behind.h"
#include "mpi_wrap.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct aspx_p2p_comms aspx_p2p_comms;

static struct aspx_table table = ASPX_TABLE_INITIALIZER;
static const struct asp_objrules none, *rules = &none;
static const struct asp_knobs *knobs;
static bool active, given_back;

/* Communicators made, as far as this process can tell: a new one is one more
 * than what any of its ranks has counted, so all of them agree. */
static _Atomic uint32_t counted;

/* What is reduced, by MPI_MAX; ~x brings the minimum. */
enum {
    NUMBER,
    CANNOT,
    COUNTED,
    P2P_MOST, /* what the program says: enum asp_p2p + 1; 0: nothing */
    P2P_LEAST,
    NOT_EXACT,
    MISSED,
    WORDS = MISSED + ASP_OBJRULES_MAX
};

/* What was decided for a communicator, and for the trace, why. */
struct decision {
    enum asp_p2p p2p;
    bool as_all;          /* large, without the promise */
    uint32_t order;       /* see struct asp_comm_made */
    uint32_t holds;       /* the rules that hold, a bit for each */
    const char *by;       /* who says so */
    const char *obstacle; /* why MPI has it nevertheless, or NULL */
};

#define WORD(ID, word) word,
static const char *const p2p_words[] = {ASP_WORDS_p2p(WORD)};

const struct asp_objrules *aspx_p2p_rules(void)
{
    return rules;
}

static const struct aspx_p2p_comm *find(MPI_Comm comm)
{
    return aspx_table_find(&table, comm);
}

const struct aspx_p2p_comm *aspx_p2p_comm_of(MPI_Comm comm)
{
    const struct aspx_p2p_comm *known = find(comm);

    return known && known->by_knob && given_back ? NULL : known;
}

void aspx_p2p_comms_give_back(void)
{
    given_back = true;
}

/* ---- what the program says ---------------------------------------------------- */

static bool find_key(MPI_Info info, const char *key, char *value, int size)
{
    int found = 0;

    if (info != MPI_INFO_NULL)
        aspx_real.MPI_Info_get(info, key, size - 1, value, &found);
    return found;
}

static void read_info(MPI_Info info, const struct aspx_p2p_comm *like,
                      uint64_t *words)
{
    char value[16] = "";
    uint64_t said = 0;

    if (find_key(info, "aspen_p2p", value, sizeof(value)))
        said = (uint64_t) (asp_knob_word(ASP_KNOB_P2P, value) + 1);
    if (said == 0 && like)
        said = like->said;
    words[P2P_MOST] = said;
    words[P2P_LEAST] = ~said;
    words[NOT_EXACT] = !(like && like->exact) &&
                       !(find_key(info, "mpi_assert_exact_length", value,
                                  sizeof(value)) &&
                         strcmp(value, "true") == 0);
}

/* ---- what its ranks agree on -------------------------------------------------- */

/* Ranks of MPI_COMM_WORLD, as the program sees it. Returns false where some
 * member is none, or there is no memory. */
static bool find_users(struct aspx_p2p_comm *known, MPI_Comm real)
{
    int *ranks = malloc((size_t) known->size * sizeof(*ranks));
    int *mine = malloc((size_t) known->size * sizeof(*mine));
    MPI_Group group, world;
    bool found = ranks && mine;

    known->users = (uint32_t *) ranks;
    for (int r = 0; found && r < known->size; r++)
        mine[r] = r;
    aspx_real.MPI_Comm_group(real, &group);
    aspx_real.MPI_Comm_group(aspx_world.users, &world);
    if (found)
        aspx_real.MPI_Group_translate_ranks(group, known->size, mine, world,
                                            ranks);
    for (int r = 0; found && r < known->size; r++)
        found = ranks[r] >= 0;
    aspx_real.MPI_Group_free(&group);
    aspx_real.MPI_Group_free(&world);
    free(mine);
    return found;
}

/* The rules that ask for another call site than this one. */
static void find_missed(uint64_t *words)
{
    struct aspx_call_site site;
    bool asked = false;
    uint32_t missed;

    for (uint32_t r = 0; r < rules->n; r++)
        asked |= rules->rule[r].site[0] != 0;
    if (!asked)
        return;
    aspx_call_site_find(&site);
    missed = asp_commrules_missed(rules, site.place, site.function);
    for (uint32_t r = 0; r < rules->n; r++)
        words[MISSED + r] = missed >> r & 1;
}

static uint32_t new_order(uint64_t most)
{
    uint32_t order = (uint32_t) most + 1, seen = atomic_load(&counted);

    while (seen < order &&
           !atomic_compare_exchange_weak(&counted, &seen, order))
        ;
    return order;
}

/* The rules, else the program, else the knob. */
static struct decision decide(struct aspx_p2p_comm *known, const uint64_t *all,
                              const char *name)
{
    bool agreed = all[P2P_MOST] == ~all[P2P_LEAST] && all[P2P_MOST] > 0;
    bool exact = !all[NOT_EXACT];
    struct decision it = {
        .p2p = agreed       ? (enum asp_p2p)(all[P2P_MOST] - 1)
               : given_back ? ASP_P2P_OFF
                            : knobs->p2p,
        .by = agreed       ? "the program or its original"
              : given_back ? "adaptation"
                           : "the knob",
        .order = name[0] ? 0 : new_order(all[COUNTED]),
        .obstacle = all[CANNOT] ? "a process is of another job or has no memory"
                                : NULL,
    };
    struct asp_comm_made made = {
        .name = name, .size = (uint32_t) known->size, .order = it.order};
    struct asp_comm_said said;

    known->said = agreed ? all[P2P_MOST] : 0;
    known->exact = exact;
    for (uint32_t r = 0; r < rules->n; r++)
        made.missed |= (uint32_t) (all[MISSED + r] != 0) << r;
    said = asp_commrules_ask(rules, &made);
    it.holds = said.holds;
    if (said.p2p >= 0) {
        it.p2p = (enum asp_p2p) said.p2p;
        it.by = asp_objrules_last(rules, said.holds, ASP_COMM_P2P)->origin;
    }
    if (said.exact_length >= 0)
        exact = said.exact_length;
    known->by_knob = !agreed && said.p2p < 0;
    it.as_all = it.p2p == ASP_P2P_LARGE && !exact;
    known->small = it.p2p == ASP_P2P_LARGE && exact
                       ? (int64_t) knobs->p2p_large_kb * 1024
                       : -1;
    return it;
}

/* Collective over it. */
static struct decision agree(struct aspx_p2p_comm *known, MPI_Comm real,
                             uint64_t *words, const char *name)
{
    static _Atomic uint32_t numbered;
    uint64_t all[WORDS] = {0};

    if (known->rank == 0)
        words[NUMBER] = (uint64_t) aspx_world.rank_user << 32 |
                        (atomic_fetch_add(&numbered, 1) + 1);
    words[COUNTED] = atomic_load(&counted);
    if (aspx_real.MPI_Allreduce(words, all, WORDS, MPI_UINT64_T, MPI_MAX,
                                real) != MPI_SUCCESS)
        return (struct decision){.by = "the knob", .obstacle = "MPI failed"};
    known->number = all[NUMBER];
    return decide(known, all, name);
}

/* ---- what is told of it ------------------------------------------------------- */

static void count(const struct aspx_p2p_comm *it, const struct decision *why,
                  bool carried)
{
    if (it->rank != 0 ||
        (it->comm == MPI_COMM_SELF && aspx_world.rank_user != 0))
        return;
    aspx_p2p_comms.carried += carried;
    aspx_p2p_comms.left += !carried;
    aspx_p2p_comms.as_all += carried && why->as_all;
    for (uint32_t r = 0; r < rules->n; r++)
        aspx_p2p_comms.held[r] += why->holds >> r & 1;
}

static void tell(const struct aspx_p2p_comm *it, const struct decision *why,
                 bool carried, const char *name)
{
    struct aspx_call_site site = {.place = ""};
    char order[16], least[48] = "";

    if (!aspx_log_on(ASPX_LOG_TRACE))
        return;
    if (!name[0])
        aspx_call_site_find(&site);
    snprintf(order, sizeof(order), "%u", (unsigned) why->order);
    if (it->small >= 0)
        snprintf(least, sizeof(least), " of more than %lld bytes",
                 (long long) it->small);
    aspx_trace("communicator %s of %d processes%s%s: %s%s: p2p is %s, as %s "
               "says%s%s",
               name[0] ? name : order, (int) it->size,
               site.place[0] ? ", made at " : "", site.place,
               carried ? "ghosts carry its messages" : "its messages are MPI's",
               carried ? least : "", p2p_words[why->p2p], why->by,
               why->obstacle ? ", but " : "",
               why->obstacle ? why->obstacle
               : why->as_all
                   ? ", which is all where exact lengths are not promised"
                   : "");
}

static void forget(struct aspx_p2p_comm *known)
{
    if (!known)
        return;
    free(known->users);
    free(known);
}

/* Collective over it. */
static bool enable(MPI_Comm comm, MPI_Info info, MPI_Comm like,
                   const char *name)
{
    MPI_Comm real = aspx_comm(comm);
    struct aspx_p2p_comm *known = calloc(1, sizeof(*known)), nothing = {0};
    struct aspx_p2p_comm *it = known ? known : &nothing;
    uint64_t words[WORDS] = {0};
    struct decision why;
    bool carried;

    it->comm = comm;
    aspx_real.MPI_Comm_rank(real, &it->rank);
    aspx_real.MPI_Comm_size(real, &it->size);
    /* Before they agree: one that cannot know it leaves it to MPI for all. */
    words[CANNOT] = !known || !find_users(it, real) ||
                    aspx_table_insert(&table, comm, known) != 0;
    read_info(info, like == MPI_COMM_NULL ? NULL : find(like), words);
    if (!name[0])
        find_missed(words);
    why = agree(it, real, words, name);
    carried = why.p2p != ASP_P2P_OFF && !why.obstacle;
    count(it, &why, carried);
    tell(it, &why, carried, name);
    if (!carried) {
        aspx_table_remove(&table, comm, it);
        forget(known);
    }
    return carried;
}

/* ---- begin, made, freed ------------------------------------------------------- */

bool aspx_p2p_comm_start(const struct asp_layout *layout, bool can)
{
    const struct asp_objrules *its = &layout->rules[ASP_OBJ_COMM];
    uint64_t mine[3], all[3] = {0};

    mine[0] = asp_objrules_digest(its);
    mine[1] = ~mine[0];
    mine[2] = !can;
    aspx_real.MPI_Allreduce(mine, all, 3, MPI_UINT64_T, MPI_MAX,
                            aspx_world.users);
    if (all[0] == ~all[1])
        rules = its;
    else if (aspx_world.rank_user == 0)
        aspx_log(ASPX_LOG_WARNING,
                 "the rules for communicators are left out: the nodes do not "
                 "have the same ones");
    knobs = &layout->knobs;
    active = all[2] == 0;
    if (active) {
        (void) enable(MPI_COMM_WORLD, MPI_INFO_NULL, MPI_COMM_NULL,
                      "MPI_COMM_WORLD");
        (void) enable(MPI_COMM_SELF, MPI_INFO_NULL, MPI_COMM_NULL,
                      "MPI_COMM_SELF");
    }
    return active;
}

int aspx_p2p_comm_made(int rc, MPI_Comm like, MPI_Info info,
                       const MPI_Comm *comm)
{
    int inter = 1;

    if (!active || rc != MPI_SUCCESS || *comm == MPI_COMM_NULL)
        return rc;
    aspx_real.MPI_Comm_test_inter(*comm, &inter);
    if (!inter)
        (void) enable(*comm, info, like, "");
    else
        aspx_trace("an intercommunicator: its messages are MPI's");
    return rc;
}

/* Its handle may be another's as soon as MPI has freed it. */
static int free_comm(MPI_Comm *comm, int (*behind)(MPI_Comm *comm))
{
    struct aspx_p2p_comm *known = comm ? aspx_table_find(&table, *comm) : NULL;
    MPI_Comm handle = comm ? *comm : MPI_COMM_NULL;
    int rc;

    if (known)
        aspx_table_remove(&table, handle, known);
    rc = behind(comm);
    if (rc == MPI_SUCCESS)
        forget(known);
    else if (known)
        (void) aspx_table_insert(&table, handle, known); /* had its place */
    return rc;
}

int aspx_p2p_MPI_Comm_free(MPI_Comm *comm)
{
    return free_comm(comm, aspx_p2p_behind.MPI_Comm_free);
}

int aspx_p2p_MPI_Comm_disconnect(MPI_Comm *comm)
{
    return free_comm(comm, aspx_p2p_behind.MPI_Comm_disconnect);
}
