/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys as text: a table of fields, by which they are printed and read. */
#include "key.h"

#include "common/base/limits.h"
#include "common/base/strbuf.h"
#include "common/base/words.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* What a field can be, in the order of the enum it stands for; NULL where the
 * value has no word. The words of a reduction have its floating flag in them.
 */
static const char *const reductions[] = {NULL, "builtin", "user", "ordered",
                                         "builtin-float"};
static const char *const in_places[] = {NULL, "yes"};
static const char *const roots[] = {NULL, "0", "other"};
static const char *const patterns[] = {"strict", "loose", "nonblocking"};

enum { BUILTIN_FLOAT = 4, SIZED = ASP_TUNE_BYTES | ASP_TUNE_AGREED };

/* The fields of a call that are words. */
static const struct field {
    const char *name;
    unsigned rule; /* the operation has it; 0: every one has */
    bool optional; /* left out where the value is 0 */
    int shift, bits;
    const char *const *words;
    uint32_t nwords;
} fields[] = {
    {"op", ASP_TUNE_REDUCES, false, ASP_TUNE_REDUCTION_SHIFT, 3, reductions, 5},
    {"in_place", ASP_TUNE_IN_PLACE, true, ASP_TUNE_IN_PLACE_SHIFT, 1, in_places,
     2},
    {"root", ASP_TUNE_ROOT, false, ASP_TUNE_ROOT_SHIFT, 2, roots, 3},
    {"pattern", 0, false, ASP_TUNE_PATTERN_SHIFT, 2, patterns, 3},
};

/* The numbers. */
static const struct number {
    const char *name;
    size_t offset; /* in struct asp_tune_shape */
    uint32_t max;
} numbers[] = {
    {"ranks", offsetof(struct asp_tune_shape, ranks), ASP_RANKS_MAX},
    {"nodes", offsetof(struct asp_tune_shape, nodes), ASP_NODES_MAX},
    {"ppn", offsetof(struct asp_tune_shape, ppn), ASP_TASKS_MAX},
};

enum {
    FIELDS = sizeof(fields) / sizeof(fields[0]),
    NUMBERS = sizeof(numbers) / sizeof(numbers[0]),
    /* Bits of what was seen: fields, numbers, then these. */
    SEEN_BYTES = FIELDS + NUMBERS,
    SEEN_MAP,
};

/* The field of the reduction has three bits, the third of which is the floating
 * flag: 5 is builtin (1) and floating (4). */
static uint32_t word_of(const struct field *field, uint32_t value)
{
    if (field->rule == ASP_TUNE_REDUCES && value == (4 | ASP_TUNE_BUILTIN))
        return BUILTIN_FLOAT;
    return value;
}

static uint32_t value_of(const struct field *field, uint32_t word)
{
    if (field->rule == ASP_TUNE_REDUCES && word == BUILTIN_FLOAT)
        return 4 | ASP_TUNE_BUILTIN;
    return word;
}

const char *asp_tune_key_print(const struct asp_tune_key *key,
                               char buf[ASP_TUNE_KEY_MAX])
{
    struct asp_strbuf sb = asp_strbuf_on(buf, ASP_TUNE_KEY_MAX);
    const struct asp_tune_shape *shape = &key->shape;
    struct asp_tune_args args;
    unsigned rules;

    asp_tune_call_args(key->call, &args);
    rules = asp_tune_ops[args.op].rules;
    asp_strbuf_add(&sb, "%s:", asp_coll_op_name(args.op));
    if (rules & SIZED &&
        (key->call & ASP_TUNE_BUCKET_MASK) != ASP_TUNE_BUCKET_ANY)
        asp_strbuf_add(&sb, "bytes=%" PRIu64 ",", args.bytes);
    for (size_t i = 0; i < FIELDS; i++) {
        const struct field *field = &fields[i];
        uint32_t value = key->call >> field->shift & ((1u << field->bits) - 1);

        if ((field->rule == 0 || rules & field->rule) &&
            !(field->optional && value == 0))
            asp_strbuf_add(&sb, "%s=%s,", field->name,
                           field->words[word_of(field, value)]);
    }
    asp_strbuf_add(&sb, "ranks=%u,nodes=%u,ppn=%u,", shape->ranks, shape->nodes,
                   shape->ppn);
    if (shape->map)
        asp_strbuf_add(&sb, "map=%016" PRIx64, shape->map);
    else
        asp_strbuf_add(&sb, "map=block");
    return buf;
}

/* ---- reading ---- */

struct reading {
    struct asp_tune_key key;
    unsigned rules;
    unsigned seen;
    struct asp_err *err;
};

static int refuse(struct reading *in, const char *name, const char *value)
{
    return asp_errf(in->err, EINVAL, "key: %s=%.40s is no value of it", name,
                    value);
}

/* Sizes are the powers of two that buckets stand for. */
static int set_bytes(struct reading *in, const char *value)
{
    uint64_t bytes = 0;
    const char *at = value;

    for (; *at >= '0' && *at <= '9' && bytes <= UINT64_MAX / 20; at++)
        bytes = bytes * 10 + (uint64_t) (*at - '0');
    if (at == value || *at || (value[0] == '0' && value[1]) ||
        (bytes & (bytes - 1)) || bytes > UINT64_C(1) << 60)
        return asp_errf(in->err, EINVAL,
                        "key: bytes=%.40s is neither 0 nor a power of two",
                        value);
    in->key.call |= asp_tune_bucket(bytes);
    return 0;
}

static int set_map(struct reading *in, const char *value)
{
    uint64_t map = 0;
    const char *at = value;

    if (strcmp(value, "block") == 0)
        return 0;
    for (; (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'f'); at++)
        map = map << 4 | (uint64_t) (*at <= '9' ? *at - '0' : *at - 'a' + 10);
    if (*at || at - value != 16 || map == 0)
        return refuse(in, "map", value);
    in->key.shape.map = map;
    return 0;
}

static int set_word(struct reading *in, const struct field *field,
                    const char *value)
{
    for (uint32_t i = 0; i < field->nwords; i++)
        if (field->words[i] && strcmp(field->words[i], value) == 0) {
            in->key.call |= value_of(field, i) << field->shift;
            return 0;
        }
    return refuse(in, field->name, value);
}

static int set_number(struct reading *in, const struct number *number,
                      const char *value)
{
    uint32_t n;

    if (value[0] == '0' || asp_parse_number(value, number->max, &n) < 0)
        return refuse(in, number->name, value);
    memcpy((char *) &in->key.shape + number->offset, &n, sizeof(n));
    return 0;
}

/* Has the operation this field, and for the first time? */
static int admit(struct reading *in, const char *name, unsigned rule,
                 unsigned bit)
{
    if (rule && !(in->rules & rule))
        return asp_errf(in->err, EINVAL, "key: its operation has no %s", name);
    if (in->seen & 1u << bit)
        return asp_errf(in->err, EINVAL, "key: %s is there twice", name);
    in->seen |= 1u << bit;
    return 0;
}

static int set(struct reading *in, const char *name, const char *value)
{
    for (unsigned i = 0; i < FIELDS; i++)
        if (strcmp(name, fields[i].name) == 0)
            return admit(in, name, fields[i].rule, i) < 0
                       ? -1
                       : set_word(in, &fields[i], value);
    for (unsigned i = 0; i < NUMBERS; i++)
        if (strcmp(name, numbers[i].name) == 0)
            return admit(in, name, 0, FIELDS + i) < 0
                       ? -1
                       : set_number(in, &numbers[i], value);
    if (strcmp(name, "bytes") == 0)
        return admit(in, name, SIZED, SEEN_BYTES) < 0 ? -1
                                                      : set_bytes(in, value);
    if (strcmp(name, "map") == 0)
        return admit(in, name, 0, SEEN_MAP) < 0 ? -1 : set_map(in, value);
    return asp_errf(in->err, EINVAL, "key: unknown field \"%.32s\"", name);
}

/* Is all there that the operation has, and does it hold together? */
static int check(struct reading *in)
{
    const struct asp_tune_shape *shape = &in->key.shape;
    unsigned missing = (1u << (SEEN_MAP + 1)) - 1;

    for (unsigned i = 0; i < FIELDS; i++)
        if ((fields[i].rule && !(in->rules & fields[i].rule)) ||
            fields[i].optional)
            missing &= ~(1u << i);
    if (!(in->rules & SIZED))
        missing &= ~(1u << SEEN_BYTES);
    if (missing & ~in->seen)
        return asp_errf(in->err, EINVAL, "key: a field is missing");
    if ((uint64_t) shape->nodes * shape->ppn < shape->ranks ||
        shape->nodes > shape->ranks || shape->ppn > shape->ranks ||
        shape->nodes - 1 + shape->ppn > shape->ranks ||
        (shape->map == 0 && shape->nodes * shape->ppn != shape->ranks))
        return asp_errf(in->err, EINVAL,
                        "key: %u ranks cannot be on %u nodes, %u on the "
                        "fullest",
                        shape->ranks, shape->nodes, shape->ppn);
    if (!(in->rules & SIZED))
        in->key.call |= ASP_TUNE_BUCKET_ANY;
    return 0;
}

int asp_tune_key_parse(const char *text, struct asp_tune_key *key_p,
                       struct asp_err *err)
{
    struct reading in = {.err = err};
    char copy[ASP_TUNE_KEY_MAX], *at = copy, *next;
    enum asp_coll_op op;

    if (strlen(text) >= sizeof(copy))
        return asp_errf(err, EINVAL, "key: longer than %d bytes",
                        ASP_TUNE_KEY_MAX - 1);
    memcpy(copy, text, strlen(text) + 1);
    next = strchr(at, ':');
    if (!next)
        return asp_errf(err, EINVAL, "key: no ':' after an operation");
    *next++ = '\0';
    if (asp_coll_op_parse(at, &op, err) < 0)
        return -1;
    in.rules = asp_tune_ops[op].rules;
    in.key.call = (uint32_t) op << ASP_TUNE_OP_SHIFT;
    for (at = next; at; at = next) {
        char *value;

        next = strchr(at, ',');
        if (next)
            *next++ = '\0';
        value = strchr(at, '=');
        if (!value)
            return asp_errf(err, EINVAL, "key: \"%.32s\" has no value", at);
        *value++ = '\0';
        if (set(&in, at, value) < 0)
            return -1;
    }
    if (check(&in) < 0)
        return -1;
    *key_p = in.key;
    return 0;
}
