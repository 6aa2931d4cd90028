/* SPDX-License-Identifier: BSD-3-Clause */
/* Configurations of MPICH: their texts, and what they can be applied to. */
#include "config.h"

#include "native_rows.h"

#include "common/base/pairs.h"
#include "common/base/words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    K_LEAST = 2,
    K_MOST = 1 << 16, /* of a text: far above any that fits */
    /* Bytes of a piece: no element of a built-in type is larger than the least,
     * so that no piece is empty, and the most fits MPICH's int. */
    CHUNK_LEAST = 4096,
    CHUNK_MOST = 1 << 30,
    PIECES_MOST = 64,  /* of a message: each takes a tag of the communicator */
    ELEMENT_MOST = 32, /* bytes of a built-in type: MPI_C_LONG_DOUBLE_COMPLEX */
};

/* Bytes of all ranks together up to which MPICH's ints hold them. */
#define BYTES_MOST INT32_MAX

/* ---- texts -------------------------------------------------------------- */

enum key { K, CHUNK, DEVICE, KEYS };

static const char *const on[] = {NULL, "on"};

#define CONFIG struct aspx_native_config
static const struct asp_pair keys[KEYS] = {
    [K] = ASP_PAIR_NUMBER("k", CONFIG, k, K_LEAST, K_MOST),
    [CHUNK] = ASP_PAIR_NUMBER("chunk", CONFIG, chunk, CHUNK_LEAST, CHUNK_MOST),
    [DEVICE] = ASP_PAIR_WORD("device", CONFIG, device, on),
};
#undef CONFIG

const char *aspx_native_text(const struct aspx_native_config *config, char *buf)
{
    struct asp_strbuf sb = asp_strbuf_on(buf, ASPX_NATIVE_TEXT);
    uint32_t which = (uint32_t) (config->k != 0) << K |
                     (uint32_t) (config->chunk != 0) << CHUNK |
                     (uint32_t) config->device << DEVICE;

    asp_strbuf_add(&sb, "%s:mpich=%s", asp_coll_op_name(config->row->op),
                   config->row->name);
    asp_pairs_write(keys, KEYS, config, which, &sb);
    return buf;
}

/* Its name is the first len bytes. */
static const struct aspx_native_row *find_row(enum asp_coll_op op,
                                              const char *name, size_t len)
{
    for (size_t i = 0; i < aspx_native_row_count; i++)
        if (aspx_native_rows[i].op == op &&
            asp_is_word(name, len, aspx_native_rows[i].name))
            return &aspx_native_rows[i];
    return NULL;
}

/* Has it the parameters that its row has, and no others? */
static bool is_whole(const struct aspx_native_config *config)
{
    const struct aspx_native_row *row = config->row;

    return (config->k != 0) == (row->radix[0] != NULL) &&
           (!config->chunk || row->chunk) &&
           (config->chunk || !(row->needs & ASPX_NATIVE_CHUNKED)) &&
           (!config->device || row->needs & ASPX_NATIVE_DEVICE);
}

/* Behind "OP:mpich=". */
static bool take(enum asp_coll_op op, const char *text,
                 struct aspx_native_config *config)
{
    size_t len = strcspn(text, ",");
    struct asp_err err;
    uint32_t given;

    config->row = find_row(op, text, len);
    return config->row &&
           (!text[len] || asp_pairs_read(keys, KEYS, text + len + 1, config,
                                         &given, &err) == 0) &&
           is_whole(config);
}

int aspx_native_parse(enum asp_coll_op op, const char *text,
                      struct aspx_native_config *config_p, struct asp_err *err)
{
    const char *rest = asp_after(text, asp_coll_op_name(op));
    struct aspx_native_config config = {0};

    rest = rest ? asp_after(rest, ":mpich=") : NULL;
    if (!rest || !take(op, rest, &config))
        return asp_errf(err, EINVAL, "MPICH has no algorithm \"%.100s\"", text);
    *config_p = config;
    return 0;
}

bool aspx_native_is_named(const struct aspx_native_config *config,
                          const char *name)
{
    return strcmp(config->row->name, name) == 0;
}

bool aspx_native_is_told_apart(const struct aspx_native_config *config)
{
    enum {
        TOLD = 1 << ASP_COLL_BCAST | 1 << ASP_COLL_REDUCE |
               1 << ASP_COLL_SCATTER | 1 << ASP_COLL_GATHER |
               1 << ASP_COLL_ALLGATHER | 1 << ASP_COLL_EXSCAN,
    };

    return TOLD >> config->row->op & 1 && config->k == 0 &&
           config->chunk == 0 && !aspx_native_builds_schedule(config);
}

/* A release that lacks it says so: 0 is that of a blocking one. */
bool aspx_native_builds_schedule(const struct aspx_native_config *config)
{
    return config->row->schedule[ASPX_NATIVE_40] != 0;
}

bool aspx_native_like_divided(const struct aspx_native_config *config,
                              char *buf)
{
    const char *like = config->device ? config->row->divided : NULL;

    if (like)
        snprintf(buf, ASPX_NATIVE_TEXT, "%s:%s",
                 asp_coll_op_name(config->row->op), like);
    return like;
}

const char *aspx_native_like(const struct aspx_native_config *config, char *buf)
{
    char like[64];
    const char *k = strstr(config->row->like, "%u");
    int n = k ? (int) (k - config->row->like) : (int) strlen(config->row->like);

    snprintf(like, sizeof(like), "%.*s", n, config->row->like);
    if (k)
        snprintf(like + n, sizeof(like) - (size_t) n, "%" PRIu32, config->k);
    n = snprintf(buf, ASPX_NATIVE_TEXT, "%s:%s",
                 asp_coll_op_name(config->row->op), like);
    if (config->chunk)
        snprintf(buf + n, ASPX_NATIVE_TEXT - (size_t) n, ",segment=%" PRIu32,
                 config->chunk);
    return buf;
}

/* ---- what it can be applied to ------------------------------------------ */

/* The largest k that differs from the one below. */
static uint32_t most_k(const struct aspx_native_row *row, uint32_t ranks)
{
    uint32_t most = row->needs & ASPX_NATIVE_TREE ? ranks - 1 : ranks;

    return most > K_LEAST ? most : K_LEAST;
}

static uint32_t power_below(uint32_t ranks)
{
    return UINT32_C(1) << (31 - __builtin_clz(ranks));
}

static bool meets(const struct aspx_native_config *config,
                  const struct aspx_native_problem *problem)
{
    const struct asp_tune_args *args = problem->args;
    unsigned needs = config->row->needs;
    uint32_t power = power_below(problem->ranks);

    if (needs & ASPX_NATIVE_POWER && problem->ranks != power)
        return false;
    /* Elements are not known, and at most this large. */
    if (needs & ASPX_NATIVE_FULL &&
        args->bytes / ELEMENT_MOST < (uint64_t) power)
        return false;
    if (needs & ASPX_NATIVE_IN_PLACE && !args->in_place)
        return false;
    if (needs & ASPX_NATIVE_NOT_IN_PLACE && args->in_place)
        return false;
    if (needs & ASPX_NATIVE_COMMUTATIVE && args->reduction == ASP_TUNE_ORDERED)
        return false;
    if (needs & ASPX_NATIVE_BUILTIN && args->reduction != ASP_TUNE_BUILTIN)
        return false;
    if (needs & ASPX_NATIVE_ROOT_0 && args->root != 0)
        return false;
    return !(needs & ASPX_NATIVE_EXACT && config->k > K_LEAST &&
             (args->floating || args->reduction != ASP_TUNE_BUILTIN));
}

/* Would the device? Of MPI_Reduce only to rank 0: with another root that says
 * MPI_IN_PLACE, which only that one knows, MPICH 4.0 reads at that address. */
static bool divides(const struct aspx_native_problem *problem)
{
    return problem->nodes > 1 && problem->nodes < problem->ranks &&
           (problem->op != ASP_COLL_REDUCE || problem->args->root == 0);
}

bool aspx_native_fits(const struct aspx_native_config *config,
                      const struct aspx_native_problem *problem)
{
    uint64_t bytes = problem->args->bytes;

    if (config->row->op != problem->op || problem->ranks < 2 ||
        !aspx_native_lives(config->row) || bytes > BYTES_MOST / problem->ranks)
        return false;
    if (config->k > most_k(config->row, problem->ranks))
        return false;
    if (config->chunk && (config->chunk >= bytes ||
                          bytes > (uint64_t) PIECES_MOST * config->chunk))
        return false;
    if (config->device && !divides(problem))
        return false;
    return meets(config, problem);
}

/* ---- all of them -------------------------------------------------------- */

/* A choice is a number of three digits: device, chunk, radix. */
enum { DEVICES = 2, CHUNKS = 4, RADICES = 9 };

/* Powers of two, and the most. False: it was that already. */
static bool choose_k(struct aspx_native_config *config, uint32_t ranks,
                     uint32_t i)
{
    uint32_t most = most_k(config->row, ranks);

    if (!config->row->radix[0])
        return i == 0;
    config->k = UINT32_C(2) << i;
    if (config->k < most)
        return true;
    config->k = most;
    return i == 0 || UINT32_C(2) << (i - 1) < most;
}

/* 0: whole; then 4 KiB, 64 KiB and 1 MiB. */
static bool choose_chunk(struct aspx_native_config *config, uint32_t i)
{
    if (!config->row->chunk)
        return i == 0;
    config->chunk = i ? UINT32_C(256) << (4 * i) : 0;
    return config->chunk || !(config->row->needs & ASPX_NATIVE_CHUNKED);
}

static bool choose(struct aspx_native_config *config, uint32_t ranks,
                   uint32_t choice)
{
    config->device = choice % DEVICES;
    if (config->device && !(config->row->needs & ASPX_NATIVE_DEVICE))
        return false;
    return choose_chunk(config, choice / DEVICES % CHUNKS) &&
           choose_k(config, ranks, choice / DEVICES / CHUNKS);
}

bool aspx_native_configs_next(struct aspx_native_configs *configs,
                              const struct aspx_native_problem *problem)
{
    for (; configs->row < aspx_native_row_count;
         configs->row++, configs->choice = 0) {
        if (aspx_native_rows[configs->row].op != problem->op)
            continue;
        while (configs->choice < DEVICES * CHUNKS * RADICES) {
            configs->config = (struct aspx_native_config){
                .row = &aspx_native_rows[configs->row]};
            if (choose(&configs->config, problem->ranks, configs->choice++) &&
                aspx_native_fits(&configs->config, problem))
                return true;
        }
    }
    return false;
}
