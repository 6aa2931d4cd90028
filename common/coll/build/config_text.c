/* SPDX-License-Identifier: BSD-3-Clause */
/* Configurations as texts: "bcast:tree=kary,k=4,segment=65536", and back. */
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

#define CONFIG struct asp_coll_config
static const struct asp_pair keys[KEYS] = {
    [TREE] = ASP_PAIR_WORD("tree", CONFIG, tree.shape, shapes),
    [DIMS] = ASP_PAIR_SIDES("dims", CONFIG, tree.dims),
    [K] = ASP_PAIR_NUMBER("k", CONFIG, tree.k, 0, UINT32_MAX),
    [SEGMENT] = ASP_PAIR_NUMBER("segment", CONFIG, segment, 0, SIZE_MAX / 2),
    [ACROSS] = ASP_PAIR_WORD("across", CONFIG, across, acrosses),
    [LEADERS] = ASP_PAIR_NUMBER("leaders", CONFIG, leaders, 0, UINT32_MAX),
    [INNER] = ASP_PAIR_NUMBER("inner", CONFIG, inner, 0, UINT32_MAX),
};
#undef CONFIG

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

static bool has_dims(const struct asp_coll_config *config)
{
    return asp_coll_config_params(config) & ASP_COLL_TREE &&
           config->tree.shape == ASP_COLL_FORK;
}

/* Is there a k=? */
static bool has_k(const struct asp_coll_config *config)
{
    unsigned params = asp_coll_config_params(config);

    if (!(params & ASP_COLL_TREE))
        return params & ASP_COLL_RADIX;
    return config->tree.shape == ASP_COLL_KARY ||
           config->tree.shape == ASP_COLL_KNOMIAL;
}

/* The keys that its text has, as bits. */
static uint32_t keys_of(const struct asp_coll_config *config)
{
    unsigned params = asp_coll_config_params(config);
    const bool has[KEYS] = {
        [TREE] = params & ASP_COLL_TREE,
        [DIMS] = has_dims(config),
        [K] = has_k(config),
        [SEGMENT] = config->segment,
        [ACROSS] = params & ASP_COLL_ACROSS,
        [LEADERS] = params & ASP_COLL_LEADERS && config->leaders > 1,
        [INNER] = params & ASP_COLL_INNER,
    };
    uint32_t bits = 0;

    for (int i = 0; i < KEYS; i++)
        bits |= (uint32_t) has[i] << i;
    return bits;
}

const char *asp_coll_config_text(const struct asp_coll_config *config,
                                 char *buf)
{
    struct asp_strbuf sb = asp_strbuf_on(buf, ASP_COLL_CONFIG_TEXT);
    const struct asp_coll_row *row = config->row;

    asp_strbuf_add(&sb, "%s:%s", asp_coll_op_name(row->op),
                   strcmp(row->name, "tree") ? row->name : "");
    asp_pairs_write(keys, KEYS, config, keys_of(config), &sb);
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
static void set_defaults(struct asp_coll_config *config)
{
    unsigned params = config->row->params;

    config->tree.shape = ASP_COLL_KNOMIAL;
    config->tree.k = 2;
    config->leaders = params & ASP_COLL_LEADERS ? 1 : 0;
    config->inner = params & ASP_COLL_INNER ? 2 : 0;
    while (config->row->across && !(config->row->across >> config->across & 1))
        config->across++;
}

/* What has no meaning is 0, so that configurations that are the same are equal.
 */
static void clear_unused(struct asp_coll_config *config)
{
    unsigned params = asp_coll_config_params(config);

    if (!has_k(config))
        config->tree.k = 0;
    if (!(params & ASP_COLL_TREE))
        config->tree.shape = ASP_COLL_KARY;
    if (!has_dims(config))
        memset(config->tree.dims, 0, sizeof(config->tree.dims));
}

static int read_keys(struct asp_coll_config *config, const char *text,
                     struct asp_err *err)
{
    unsigned given = 0, params;
    uint32_t bits;

    if (asp_pairs_read(keys, KEYS, text, config, &bits, err) < 0)
        return -1;
    for (int i = 0; i < KEYS; i++) {
        if (!(bits >> i & 1))
            continue;
        if (!(params_of[i] & config->row->params))
            return asp_errf(err, EINVAL, "%s:%s has no parameter %s",
                            asp_coll_op_name(config->row->op),
                            config->row->name, keys[i].key);
        given |= params_of[i] & config->row->params;
    }
    if (config->tree.shape == ASP_COLL_FORK && !config->tree.dims[0])
        return asp_errf(err, EINVAL, "tree=fork needs dims=, such as 4x4");
    params = asp_coll_config_params(config);
    if (given & ~params & ~(unsigned) (ASP_COLL_TREE | ASP_COLL_RADIX))
        return asp_errf(err, EINVAL, "parameters that do not go together");
    clear_unused(config);
    return 0;
}

int asp_coll_config_parse(const char *text, struct asp_coll_config *config_p,
                          struct asp_err *err)
{
    struct asp_coll_config config = {0};
    char copy[ASP_COLL_CONFIG_TEXT], *name, *pairs;
    bool tree;
    enum asp_coll_op op;

    if (strlen(text) >= sizeof(copy))
        return asp_errf(err, EINVAL,
                        "a configuration is shorter than %zu characters",
                        sizeof(copy));
    strcpy(copy, text);
    name = strchr(copy, ':');
    if (!name)
        return asp_errf(
            err, EINVAL,
            "\"%.60s\" is no configuration such as bcast:tree=kary,k=4", text);
    *name++ = '\0';
    if (asp_coll_op_parse(copy, &op, err) < 0)
        return -1;
    tree = strncmp(name, "tree=", 5) == 0; /* its name is its first key */
    pairs = tree ? name : name + strcspn(name, ",");
    if (!tree && *pairs)
        *pairs++ = '\0';
    config.row = find_row(op, tree ? "tree" : name);
    if (!config.row)
        return asp_errf(err, EINVAL, "%s has no algorithm \"%.40s\"", copy,
                        name);
    set_defaults(&config);
    if (read_keys(&config, pairs, err) < 0)
        return -1;
    *config_p = config;
    return 0;
}
