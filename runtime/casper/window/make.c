/* SPDX-License-Identifier: BSD-3-Clause */
/* A window is redirected when the memory of every process lies in an arena
 * that its ghosts have mapped. The program's handle is a window of MPI's own
 * on the same memory, so names, groups, attributes and error handlers are
 * MPI's. The choice is made from one exchange, so all processes choose alike.
 * Ghosts take no part: windows of disjoint groups cannot wait for each other
 * in them (trap X11). */
#include "config.h"

#include "contig.h"
#include "hints.h"
#include "request.h"
#include "window.h"
#include "rules.h"
#include "switch.h"

#include "runtime/base/log.h"
#include "runtime/mpi/handle.h"
#include "runtime/mpi/real.h"

#include <stdlib.h>
#include <string.h>

/* What each process of a window tells the others. */
struct offer {
    uint64_t off; /* of its memory, in the arena of its node */
    uint64_t bytes;
    int64_t disp_unit;
    uint64_t number;     /* windows this process has offered so far */
    uint64_t words_off;  /* leader of a node: lock words; 0: none */
    uint16_t ok;         /* the memory is in the arena */
    uint16_t no_locks;   /* hint */
    uint16_t native;     /* hint: leave it to MPI */
    uint8_t wish;        /* of how redirection to it begins: switch.h */
    uint8_t contig_full; /* contig.h */
};

/* A window on its way. */
struct making {
    struct aspx_win_request *request;
    struct aspx_win *win;
    struct offer *offers; /* by rank, and one more: the own one */
    int *ranks;           /* in world->all */
    int *leader;          /* by node of the window: its lowest rank */
    bool contig_full;     /* in some process */
};

static _Atomic uint64_t offers_made;

bool aspx_win_sane(const struct aspx_win_request *request)
{
    int inter = 1;

    if (request->bytes < 0 || request->disp_unit <= 0 ||
        !aspx_handle_is(request->comm, ASPX_HANDLE_COMM) ||
        (request->info != MPI_INFO_NULL &&
         !aspx_handle_is(request->info, ASPX_HANDLE_INFO)))
        return false;
    return aspx_real.MPI_Comm_test_inter(request->comm, &inter) ==
               MPI_SUCCESS &&
           !inter;
}

/* World ranks of the communicator's processes. Returns false when some process
 * is not of our world (spawned, connected). Same result everywhere. */
static bool find_ranks(struct making *making, int size)
{
    int *ranks = making->ranks, *own = ranks + size;
    MPI_Group group, all;

    for (int i = 0; i < size; i++)
        own[i] = i;
    aspx_real.MPI_Comm_group(making->request->comm, &group);
    aspx_real.MPI_Comm_group(aspx_engine.world->all, &all);
    aspx_real.MPI_Group_translate_ranks(group, size, own, all, ranks);
    aspx_real.MPI_Group_free(&group);
    aspx_real.MPI_Group_free(&all);
    for (int i = 0; i < size; i++)
        if (ranks[i] == MPI_UNDEFINED)
            return false;
    return true;
}

/* Enter a node and its ghosts. Returns false when some ghost of it has no
 * arena. */
static bool enter_node(struct aspx_win *win, uint32_t node)
{
    const uint32_t *first = aspx_engine.first_ghost + node;

    win->nodes[win->nnodes++] = (struct aspx_win_node){
        .node = node,
        .first_ghost = win->nghosts,
        .nghosts = first[1] - first[0],
    };
    for (uint32_t i = first[0]; i < first[1]; i++) {
        uint32_t rank = aspx_engine.ghosts[i];

        if (!aspx_engine.arena_addr[rank])
            return false;
        win->ghosts[win->nghosts].rank_all = (int) rank;
        win->ghosts[win->nghosts++].doorbell = aspx_engine_doorbell(
            &aspx_engine, rank);
    }
    return true;
}

/* Which node, which main ghost: known without asking anybody. */
static bool place_targets(struct making *making)
{
    const struct aspx_peer *peers = aspx_engine.world->peers;
    struct aspx_win *win = making->win;
    uint32_t *index = calloc(aspx_engine.world->nnodes, sizeof(*index));
    bool ok = index != NULL;

    for (int i = 0; ok && i < win->size; i++) {
        const struct aspx_peer *peer = &peers[making->ranks[i]];
        struct aspx_target *target = &win->targets[i];
        uint32_t g;

        if (!index[peer->node]) {
            making->leader[win->nnodes] = i;
            ok = enter_node(win, peer->node);
            index[peer->node] = win->nnodes;
        }
        target->node = index[peer->node] - 1;
        target->rank_all = making->ranks[i];
        g = win->nodes[target->node].first_ghost;
        while (g < win->nghosts && win->ghosts[g].rank_all != (int) peer->ghost)
            g++;
        target->ghost = g;
        if (g == win->nghosts)
            ok = false; /* it has no ghost */
        else
            win->ghosts[g].words++;
    }
    free(index);
    return ok;
}

/* The settings of all windows, unless rules say otherwise of this one. */
static void apply_verdict(struct aspx_win *win,
                          const struct aspx_win_request *request)
{
    const struct aspx_verdict *verdict = &request->verdict;
    const char *binding = aspx_rules_value(verdict->holds, ASP_WIN_BINDING);

    win->segments = request->memory != ASPX_MEMORY_GIVEN &&
                    (binding ? strcmp(binding, "segment") == 0
                             : aspx_engine.settings.segments);
    win->forbidden = verdict->forbidden;
    win->order = verdict->order;
    win->could = verdict->could;
    win->holds = verdict->holds;
    atomic_init(&win->held_once, verdict->holds);
    aspx_win_choose_balance(win);
}

static struct aspx_win *new_win(const struct aspx_win_request *request,
                                int rank, int size)
{
    struct aspx_win *win = calloc(
        1, sizeof(*win) + (size_t) size * sizeof(struct aspx_target));
    size_t nghosts = (size_t) (aspx_engine.world->size_all -
                               aspx_engine.world->size_users);

    if (!win)
        return NULL;
    win->ghosts = calloc(nghosts, sizeof(*win->ghosts));
    win->nodes = calloc((size_t) size, sizeof(*win->nodes));
    win->turn.taken = calloc((size_t) size, 1);
    if (aspx_log_on(ASPX_LOG_TRACE))
        win->traced = calloc((size_t) size, sizeof(*win->traced));
    pthread_mutex_init(&win->mutex, NULL);
    win->handle = win->contig_win = MPI_WIN_NULL;
    win->flavor = request->flavor;
    win->rank = rank;
    win->size = size;
    apply_verdict(win, request);
    if (win->ghosts && win->nodes && win->turn.taken)
        return win;
    aspx_win_destroy(win);
    return NULL;
}

/* Find or take the own memory. Fills request->base and the offer. */
static void offer_memory(struct making *making, struct offer *offer,
                         uint64_t block_bytes, uint64_t align)
{
    struct aspx_win_request *request = making->request;
    struct aspx_win *win = making->win;
    uint64_t bytes = (uint64_t) request->bytes;

    if (request->memory == ASPX_MEMORY_GIVEN) {
        offer->ok = bytes == 0 ||
                    aspx_arena_offset(&aspx_engine.arena, request->base, bytes,
                                      &offer->off) == 0;
    } else if (request->memory == ASPX_MEMORY_OWN || win->rank == 0) {
        request->base = aspx_arena_alloc(&aspx_engine.arena, block_bytes, align,
                                         &offer->off);
        offer->ok = request->base != NULL;
        win->block_off = offer->off;
        win->block_bytes = offer->ok ? block_bytes + !block_bytes : 0;
    } else {
        offer->ok = true; /* if the first process has it */
    }
    /* Shared memory is looked at through addresses of this process. */
    if (request->flavor == MPI_WIN_FLAVOR_SHARED && !aspx_engine.arena.base)
        offer->ok = false;
}

/* The lowest rank of each node gives the lock words of its node's targets, and
 * behind them the place where all processes tell what they want. */
static void offer_words(struct making *making, struct offer *offer)
{
    struct aspx_win *win = making->win;
    uint32_t node = win->targets[win->rank].node, words = 0;
    const struct aspx_win_node *mine = &win->nodes[node];

    if (making->leader[node] != win->rank)
        return;
    for (uint32_t g = 0; g < mine->nghosts; g++)
        words += win->ghosts[mine->first_ghost + g].words;
    win->words_bytes = words * sizeof(struct aspx_lock_word) +
                       aspx_switch_bytes(win);
    if (aspx_arena_alloc(&aspx_engine.arena, win->words_bytes, 1,
                         &offer->words_off))
        win->words_block = offer->words_off;
    else
        offer->words_off = 0;
}

/* Words lie ghost by ghost, and by rank in the window. */
static void place_words(struct making *making)
{
    struct aspx_win *win = making->win;

    for (uint32_t n = 0; n < win->nnodes; n++) {
        struct aspx_win_node *node = &win->nodes[n];
        uint64_t off = making->offers[making->leader[n]].words_off;

        for (uint32_t g = 0; off && g < node->nghosts; g++) {
            struct aspx_win_ghost *ghost = &win->ghosts[node->first_ghost + g];

            ghost->words_off = off;
            off += ghost->words * sizeof(struct aspx_lock_word);
            ghost->words = 0; /* counted again below */
        }
        win->nodes[n].status_off = off;
    }
    for (int i = 0; i < win->size; i++) {
        struct aspx_target *target = &win->targets[i];
        struct aspx_win_ghost *ghost = &win->ghosts[target->ghost];

        if (!ghost->words_off)
            continue;
        target->word_off = ghost->words_off +
                           ghost->words++ * sizeof(struct aspx_lock_word);
        if (win->nodes[target->node].node == aspx_engine.world->node)
            target->word = aspx_arena_address(&aspx_engine.arena,
                                              target->word_off,
                                              sizeof(struct aspx_lock_word));
    }
}

/* Complete the targets from the offers. Returns false when the window has to
 * be native. */
static bool complete_targets(struct making *making)
{
    struct aspx_win *win = making->win;
    uint64_t inside = 0, shared_off = making->offers[0].off;

    win->no_locks = true;
    for (int i = 0; i < win->size; i++) {
        struct offer *offer = &making->offers[i];
        struct aspx_target *target = &win->targets[i];
        struct aspx_win_node *node = &win->nodes[target->node];

        if (offer->native)
            making->request->asked_off = true;
        if (!offer->ok)
            return false;
        if (making->request->memory == ASPX_MEMORY_SHARED)
            offer->off = shared_off + inside;
        target->off = offer->off;
        target->bytes = offer->bytes;
        target->disp_unit = offer->disp_unit;
        target->began = offer->wish;
        target->first_byte = node->bytes;
        if (node->node == aspx_engine.world->node)
            target->here = aspx_arena_address(&aspx_engine.arena, target->off,
                                              target->bytes);
        node->bytes += offer->bytes;
        inside += offer->bytes;
        win->no_locks &= offer->no_locks;
        making->contig_full |= offer->contig_full;
    }
    win->id = (uint64_t) making->ranks[0] << 40 | making->offers[0].number;
    place_words(making);
    aspx_switch_make(win);
    if (making->request->memory == ASPX_MEMORY_SHARED)
        making->request->base = win->targets[win->rank].here;
    /* A window of no bytes gains nothing. */
    return inside > 0 || making->request->memory != ASPX_MEMORY_GIVEN;
}

/* Bytes that the first process takes for all; every process learns them. */
static uint64_t sum_bytes(const struct aspx_win_request *request)
{
    uint64_t mine = (uint64_t) request->bytes, sum = 0;

    aspx_real.MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM,
                            request->comm);
    return sum;
}

/* Exchange offers. Returns whether all agree that ghosts can serve it. */
static bool exchange_offers(struct making *making, bool possible)
{
    struct aspx_win_request *request = making->request;
    struct offer *mine = &making->offers[making->win->size];
    uint64_t block = (uint64_t) request->bytes;
    struct aspx_hints hints;

    aspx_hints_read(&hints, request->info);
    if (hints.noncontig && request->memory == ASPX_MEMORY_SHARED)
        request->memory = ASPX_MEMORY_OWN;
    /* All processes of a shared window pass the same value of the key. */
    if (request->memory == ASPX_MEMORY_SHARED)
        block = sum_bytes(request);
    making->win->turn.asked = hints.async;
    *mine = (struct offer){
        .bytes = (uint64_t) request->bytes,
        .disp_unit = request->disp_unit,
        .number = atomic_fetch_add(&offers_made, 1),
        .no_locks = hints.no_locks,
        .native = aspx_adapt_native(hints.async),
        .wish = aspx_switch_wish(hints.async, true),
        .contig_full = aspx_win_contig_full(),
    };
    if (possible && !mine->native) {
        offer_memory(making, mine, block, hints.align);
        offer_words(making, mine);
    }
    return aspx_real.MPI_Allgather(mine, sizeof(*mine), MPI_BYTE,
                                   making->offers, sizeof(*mine), MPI_BYTE,
                                   request->comm) == MPI_SUCCESS &&
           complete_targets(making);
}

/* MPICH shows MPI_Win_get_info a key that depends on the flavor: it has to be
 * said of a window that seems to be made by MPI_Win_create. */
static MPI_Info add_flavor(const struct aspx_win_request *request)
{
    static const char key[] = "alloc_shm";
    MPI_Info info = MPI_INFO_NULL;
    int said = 0, length;

    if (request->flavor == MPI_WIN_FLAVOR_CREATE)
        return info;
    if (request->info == MPI_INFO_NULL)
        aspx_real.MPI_Info_create(&info);
    else
        aspx_real.MPI_Info_dup(request->info, &info);
    aspx_real.MPI_Info_get_valuelen(info, key, &length, &said);
    if (!said)
        aspx_real.MPI_Info_set(info, key, "true");
    return info;
}

/* The program's handle. */
static int make_handle(const struct aspx_win_request *request, MPI_Win *handle)
{
    MPI_Info info = add_flavor(request);
    int rc = aspx_real.MPI_Win_create_c(
        request->base, request->bytes, request->disp_unit,
        info == MPI_INFO_NULL ? request->info : info, request->comm, handle);

    if (info != MPI_INFO_NULL)
        aspx_real.MPI_Info_free(&info);
    return rc;
}

/* The windows of MPI beneath ours: the program's handle, and one that stays
 * locked where a device carries out Put and Get, or targets of other nodes may
 * do so while redirection is off. */
static int make_native(struct making *making)
{
    const struct aspx_win_request *request = making->request;
    struct aspx_win *win = making->win;
    int rc = make_handle(request, &win->handle);

    if (rc != MPI_SUCCESS)
        return rc;
    if (aspx_engine.settings.hardware ||
        (win->turn.able && aspx_engine.settings.contig_win &&
         win->nnodes > 1)) {
        if (!making->contig_full)
            aspx_win_contig_make(request, win);
        win->contig_missing = win->contig_win == MPI_WIN_NULL;
    }
    win->device = aspx_engine.settings.hardware &&
                  win->contig_win != MPI_WIN_NULL;
    return rc;
}

/* Returns false when the window has to be native. */
static bool make_with(struct making *making, MPI_Win *handle, int *rc)
{
    struct aspx_win *win = making->win;
    bool possible = find_ranks(making, win->size);

    /* Processes of another job do not take part in our exchange. */
    if (!possible)
        return false;
    possible = place_targets(making);
    if (making->request->flavor == MPI_WIN_FLAVOR_SHARED && win->nnodes > 1)
        return false; /* MPI's error; nobody gets further */
    if (!exchange_offers(making, possible))
        return false;
    *rc = make_native(making);
    *handle = win->handle;
    if (*rc == MPI_SUCCESS &&
        aspx_table_insert(&aspx_redirected, win->handle, win) == 0) {
        making->win = NULL; /* the table has it */
        aspx_switch_begin(win);
        return true;
    }
    if (*rc == MPI_SUCCESS)
        aspx_abort(); /* no memory for a slot */
    return true;
}

bool aspx_win_make(struct aspx_win_request *request, MPI_Win *handle, int *rc)
{
    struct making making = {.request = request};
    size_t size;
    int rank, n;
    bool made;

    aspx_real.MPI_Comm_rank(request->comm, &rank);
    aspx_real.MPI_Comm_size(request->comm, &n);
    size = (size_t) n;
    making.win = new_win(request, rank, n);
    making.offers = calloc(size + 1, sizeof(*making.offers));
    making.ranks = calloc(2 * size, sizeof(*making.ranks));
    making.leader = calloc(size, sizeof(*making.leader));
    if (!making.win || !making.offers || !making.ranks || !making.leader) {
        /* The others wait for our offer: there is no way out. */
        aspx_abort();
    }
    made = make_with(&making, handle, rc);
    aspx_win_destroy(making.win);
    free(making.offers);
    free(making.ranks);
    free(making.leader);
    return made;
}

void aspx_win_destroy(struct aspx_win *win)
{
    if (!win)
        return;
    if (win->words_block)
        aspx_arena_free(&aspx_engine.arena, win->words_block, win->words_bytes);
    if (win->block_bytes)
        aspx_arena_free(&aspx_engine.arena, win->block_off, win->block_bytes);
    pthread_mutex_destroy(&win->mutex);
    free(win->ghosts);
    free(win->nodes);
    free(win->turn.taken);
    free((void *) win->traced);
    free(win);
}
