/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways as texts: "bcast:tree=kary,k=4,segment=65536", and back. */
#include "common/base/strbuf.h"
#include "common/coll/build/rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
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

/* Is there a k=? */
static bool has_k(const struct asp_coll_way *way)
{
    unsigned params = asp_coll_way_params(way);

    if (!(params & ASP_COLL_TREE))
        return params & ASP_COLL_RADIX;
    return way->tree.shape == ASP_COLL_KARY ||
           way->tree.shape == ASP_COLL_KNOMIAL;
}

static void add_tree(struct asp_strbuf *sb, const struct asp_coll_way *way)
{
    unsigned params = asp_coll_way_params(way);

    if (params & ASP_COLL_TREE)
        asp_strbuf_add(sb, "%stree=%s", sb->text[sb->len - 1] == ':' ? "" : ",",
                       shapes[way->tree.shape]);
    if (params & ASP_COLL_TREE && way->tree.shape == ASP_COLL_FORK) {
        for (int d = 0; d < ASP_COLL_DIMS && way->tree.dims[d]; d++)
            asp_strbuf_add(sb, "%s%u",
                           d ? "x" : ",dims=", (unsigned) way->tree.dims[d]);
    } else if (has_k(way))
        asp_strbuf_add(sb, ",k=%" PRIu32, way->tree.k);
}

const char *asp_coll_way_text(const struct asp_coll_way *way, char *buf)
{
    struct asp_strbuf sb = asp_strbuf_on(buf, ASP_COLL_WAY_TEXT);
    unsigned params = asp_coll_way_params(way);
    const struct asp_coll_row *row = way->row;

    asp_strbuf_add(&sb, "%s:%s", asp_coll_op_name(row->op),
                   strcmp(row->name, "tree") ? row->name : "");
    add_tree(&sb, way);
    if (way->segment)
        asp_strbuf_add(&sb, ",segment=%zu", way->segment);
    if (params & ASP_COLL_ACROSS)
        asp_strbuf_add(&sb, ",across=%s", acrosses[way->across]);
    if (params & ASP_COLL_LEADERS && way->leaders > 1)
        asp_strbuf_add(&sb, ",leaders=%" PRIu32, way->leaders);
    if (params & ASP_COLL_INNER)
        asp_strbuf_add(&sb, ",inner=%" PRIu32, way->inner);
    return buf;
}

static int find_word(const char *value, const char *const *words, int nwords)
{
    for (int i = 0; i < nwords; i++)
        if (strcmp(value, words[i]) == 0)
            return i;
    return -1;
}

static bool read_number(const char *text, uint64_t max, uint64_t *value_p)
{
    char *end;
    unsigned long long value;

    errno = 0;
    value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || value > max)
        return false;
    *value_p = value;
    return true;
}

static bool read_dims(const char *text, struct asp_coll_tree *tree)
{
    char *end;

    for (int d = 0; d < ASP_COLL_DIMS; d++, text = end + 1) {
        unsigned long side = *text >= '1' && *text <= '9'
                                 ? strtoul(text, &end, 10)
                                 : 0;

        if (!side || side > UINT16_MAX || (*end && *end != 'x'))
            return false;
        tree->dims[d] = (uint16_t) side;
        if (!*end)
            return true;
    }
    return false;
}

/* One key of a way; each has a bit of enum asp_coll_param_b. */
static bool set_key(struct asp_coll_way *way, const char *key,
                    const char *value, unsigned *params_p)
{
    uint64_t number = 0;
    bool good = read_number(value, UINT32_MAX, &number);
    int word;

    if (strcmp(key, "tree") == 0) {
        word = find_word(value, shapes, ASP_COLL_SHAPES);
        way->tree.shape = (enum asp_coll_shape) word;
        *params_p = ASP_COLL_TREE;
        return word >= 0;
    }
    if (strcmp(key, "across") == 0) {
        word = find_word(value, acrosses, ASP_COLL_ACROSSES);
        way->across = (enum asp_coll_across) word;
        *params_p = ASP_COLL_ACROSS;
        return word >= 0;
    }
    if (strcmp(key, "dims") == 0) {
        *params_p = ASP_COLL_TREE;
        return read_dims(value, &way->tree);
    }
    if (strcmp(key, "segment") == 0) {
        good = read_number(value, SIZE_MAX / 2, &number);
        *params_p = ASP_COLL_SEGMENT;
        way->segment = (size_t) number;
    } else if (strcmp(key, "k") == 0) {
        *params_p = ASP_COLL_TREE | ASP_COLL_RADIX;
        way->tree.k = (uint32_t) number;
    } else if (strcmp(key, "leaders") == 0) {
        *params_p = ASP_COLL_LEADERS;
        way->leaders = (uint32_t) number;
    } else if (strcmp(key, "inner") == 0) {
        *params_p = ASP_COLL_INNER;
        way->inner = (uint32_t) number;
    }
    return good && *params_p;
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
    if (!(params & ASP_COLL_TREE) || way->tree.shape != ASP_COLL_FORK)
        memset(way->tree.dims, 0, sizeof(way->tree.dims));
}

static int read_keys(struct asp_coll_way *way, char *keys, struct asp_err *err)
{
    unsigned given = 0, params;
    char *save = NULL;

    for (char *key = strtok_r(keys, ",", &save); key;
         key = strtok_r(NULL, ",", &save)) {
        char *value = strchr(key, '=');

        params = 0;
        if (value)
            *value++ = '\0';
        if (!value || !set_key(way, key, value, &params))
            return asp_errf(err, EINVAL,
                            "\"%.40s%s%.40s\" is no parameter of a way", key,
                            value ? "=" : "", value ? value : "");
        if (!(params & way->row->params))
            return asp_errf(err, EINVAL, "%s:%s has no parameter %.40s",
                            asp_coll_op_name(way->row->op), way->row->name,
                            key);
        given |= params & way->row->params;
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
    char copy[ASP_COLL_WAY_TEXT], *name, *keys;
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
    keys = tree ? name : name + strcspn(name, ",");
    if (!tree && *keys)
        *keys++ = '\0';
    way.row = find_row(op, tree ? "tree" : name);
    if (!way.row)
        return asp_errf(err, EINVAL, "%s has no algorithm \"%.40s\"", copy,
                        name);
    set_defaults(&way);
    if (read_keys(&way, keys, err) < 0)
        return -1;
    *way_p = way;
    return 0;
}
