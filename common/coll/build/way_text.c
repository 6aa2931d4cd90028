/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways as texts: "bcast:tree=kary,k=4,segment=65536", and back. */
#include "common/base/pairs.h"
#include "common/coll/build/rows.h"

#include <errno.h>
#include <string.h>

static const char *const shapes[ASP_COLL_SHAPES] = {
    [ASP_COLL_KARY] = "kary",
    [ASP_COLL_KNOMIAL] = "knomial",
    [ASP_COLL_FORK] = "fork",
    [ASP_COLL_BINE] = "bine",
};

static const char *const acrosses[ASP_COLL_ACROSSES] = {
    [ASP_COLL_ACROSS_TREE] = "tree", [ASP_COLL_ACROSS_EXCHANGE] = "exchange",
    [ASP_COLL_ACROSS_RING] = "ring", [ASP_COLL_ACROSS_HALVING] = "halving",
    [ASP_COLL_ACROSS_FLAT] = "flat",
};

enum key { TREE, DIMS, K, SEGMENT, ACROSS, LEADERS, INNER, KEYS };

#define WAY struct asp_coll_way
static const struct asp_pair keys[KEYS] = {
    [TREE] = ASP_PAIR_WORD("tree", WAY, tree.shape, shapes),
    [DIMS] = ASP_PAIR_SIDES("dims", WAY, tree.dims),
    [K] = ASP_PAIR_NUMBER("k", WAY, tree.k, 0, UINT32_MAX),
    [SEGMENT] = ASP_PAIR_NUMBER("segment", WAY, segment, 0, SIZE_MAX / 2),
    [ACROSS] = ASP_PAIR_WORD("across", WAY, across, acrosses),
    [LEADERS] = ASP_PAIR_NUMBER("leaders", WAY, leaders, 0, UINT32_MAX),
    [INNER] = ASP_PAIR_NUMBER("inner", WAY, inner, 0, UINT32_MAX),
};
#undef WAY

/* What they are parameters of: enum asp_coll_param_b. */
static const unsigned params_of[KEYS] = {
    [TREE] = ASP_COLL_TREE,
    [DIMS] = ASP_COLL_TREE,
    [K] = ASP_COLL_TREE | ASP_COLL_RADIX,
    [SEGMENT] = ASP_COLL_SEGMENT,
    [ACROSS] = ASP_COLL_ACROSS,
    [LEADERS] = ASP_COLL_LEADERS,
    [INNER] = ASP_COLL_INNER,
};

static bool has_dims(const struct asp_coll_way *way)
{
    return asp_coll_way_params(way) & ASP_COLL_TREE &&
           way->tree.shape == ASP_COLL_FORK;
}

/* Is there a k=? */
static bool has_k(const struct asp_coll_way *way)
{
    unsigned params = asp_coll_way_params(way);

    if (!(params & ASP_COLL_TREE))
        return params & ASP_COLL_RADIX;
    return way->tree.shape == ASP_COLL_KARY ||
           way->tree.shape == ASP_COLL_KNOMIAL;
}

/* The keys that its text has, as bits. */
static uint32_t keys_of(const struct asp_coll_way *way)
{
    unsigned params = asp_coll_way_params(way);
    const bool has[KEYS] = {
        [TREE] = params & ASP_COLL_TREE,
        [DIMS] = has_dims(way),
        [K] = has_k(way),
        [SEGMENT] = way->segment,
        [ACROSS] = params & ASP_COLL_ACROSS,
        [LEADERS] = params & ASP_COLL_LEADERS && way->leaders > 1,
        [INNER] = params & ASP_COLL_INNER,
    };
    uint32_t bits = 0;

    for (int i = 0; i < KEYS; i++)
        bits |= (uint32_t) has[i] << i;
    return bits;
}

const char *asp_coll_way_text(const struct asp_coll_way *way, char *buf)
{
    struct asp_strbuf sb = asp_strbuf_on(buf, ASP_COLL_WAY_TEXT);
    const struct asp_coll_row *row = way->row;

    asp_strbuf_add(&sb, "%s:%s", asp_coll_op_name(row->op),
                   strcmp(row->name, "tree") ? row->name : "");
    asp_pairs_write(keys, KEYS, way, keys_of(way), &sb);
    return buf;
}

static const struct asp_coll_row *find_row(enum asp_coll_op op,
                                           const char *name)
{
    for (size_t i = 0; i < asp_coll_row_count; i++)
        if (asp_coll_row_table[i].op == op &&
            strcmp(asp_coll_row_table[i].name, name) == 0)
            return &asp_coll_row_table[i];
    return NULL;
}

/* The least legal values, before the keys are read. */
static void set_defaults(struct asp_coll_way *way)
{
    unsigned params = way->row->params;

    way->tree.shape = ASP_COLL_KNOMIAL;
    way->tree.k = 2;
    way->leaders = params & ASP_COLL_LEADERS ? 1 : 0;
    way->inner = params & ASP_COLL_INNER ? 2 : 0;
    while (way->row->across && !(way->row->across >> way->across & 1))
        way->across++;
}

/* What has no meaning is 0, so that ways that are the same are equal. */
static void clear_unused(struct asp_coll_way *way)
{
    unsigned params = asp_coll_way_params(way);

    if (!has_k(way))
        way->tree.k = 0;
    if (!(params & ASP_COLL_TREE))
        way->tree.shape = ASP_COLL_KARY;
    if (!has_dims(way))
        memset(way->tree.dims, 0, sizeof(way->tree.dims));
}

static int read_keys(struct asp_coll_way *way, const char *text,
                     struct asp_err *err)
{
    unsigned given = 0, params;
    uint32_t bits;

    if (asp_pairs_read(keys, KEYS, text, way, &bits, err) < 0)
        return -1;
    for (int i = 0; i < KEYS; i++) {
        if (!(bits >> i & 1))
            continue;
        if (!(params_of[i] & way->row->params))
            return asp_errf(err, EINVAL, "%s:%s has no parameter %s",
                            asp_coll_op_name(way->row->op), way->row->name,
                            keys[i].key);
        given |= params_of[i] & way->row->params;
    }
    if (way->tree.shape == ASP_COLL_FORK && !way->tree.dims[0])
        return asp_errf(err, EINVAL, "tree=fork needs dims=, such as 4x4");
    params = asp_coll_way_params(way);
    if (given & ~params & ~(unsigned) (ASP_COLL_TREE | ASP_COLL_RADIX))
        return asp_errf(err, EINVAL, "parameters that do not go together");
    clear_unused(way);
    return 0;
}

int asp_coll_way_parse(const char *text, struct asp_coll_way *way_p,
                       struct asp_err *err)
{
    struct asp_coll_way way = {0};
    char copy[ASP_COLL_WAY_TEXT], *name, *pairs;
    bool tree;
    enum asp_coll_op op;

    if (strlen(text) >= sizeof(copy))
        return asp_errf(err, EINVAL, "a way is shorter than %zu characters",
                        sizeof(copy));
    strcpy(copy, text);
    name = strchr(copy, ':');
    if (!name)
        return asp_errf(err, EINVAL,
                        "\"%.60s\" is no way such as bcast:tree=kary,k=4",
                        text);
    *name++ = '\0';
    if (asp_coll_op_parse(copy, &op, err) < 0)
        return -1;
    tree = strncmp(name, "tree=", 5) == 0; /* its name is its first key */
    pairs = tree ? name : name + strcspn(name, ",");
    if (!tree && *pairs)
        *pairs++ = '\0';
    way.row = find_row(op, tree ? "tree" : name);
    if (!way.row)
        return asp_errf(err, EINVAL, "%s has no algorithm \"%.40s\"", copy,
                        name);
    set_defaults(&way);
    if (read_keys(&way, pairs, err) < 0)
        return -1;
    *way_p = way;
    return 0;
}
