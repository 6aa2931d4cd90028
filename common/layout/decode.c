/* SPDX-License-Identifier: BSD-3-Clause */
/* Text -> layout. Every byte is accounted for: fields come in one order, each
 * number has a range, and the whole must agree with itself (check.c).
 * The text may come from anybody; nothing in it is trusted. */
#include "wire.h"

#include "common/base/escape.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A span of the text that is being read. */
struct scan {
    const char *text; /* start of the whole, for error columns */
    const char *at;
    const char *end;
    struct asp_err *err;
    bool seen[ASP_KNOB_COUNT]; /* knobs */
};

static int bad(const struct scan *scan, const char *what)
{
    const struct asp_location at = {"layout", 1,
                                    (size_t) (scan->at - scan->text) + 1};

    return asp_err_at(scan->err, EINVAL, &at, "%s", what);
}

static bool scan_word(struct scan *scan, const char *word)
{
    size_t len = strlen(word);

    if ((size_t) (scan->end - scan->at) < len || memcmp(scan->at, word, len))
        return false;
    scan->at += len;
    return true;
}

/* A decimal number up to max, without sign or leading zeros. */
static int scan_number(struct scan *scan, uint32_t max, uint32_t *out_p)
{
    uint64_t value = 0;
    const char *p = scan->at;

    for (; p < scan->end && *p >= '0' && *p <= '9'; p++) {
        value = value * 10 + (uint64_t) (*p - '0');
        if (value > max)
            return bad(scan, "number out of range");
    }
    if (p == scan->at || (*scan->at == '0' && p > scan->at + 1))
        return bad(scan, "expected a number");
    scan->at = p;
    *out_p = (uint32_t) value;
    return 0;
}

/* A number or "-". */
static int scan_rank(struct scan *scan, uint32_t *out_p)
{
    if (scan_word(scan, "-")) {
        *out_p = ASP_RANK_NONE;
        return 0;
    }
    return scan_number(scan, ASP_RANKS_MAX - 1, out_p);
}

/* A number or "-1". */
static int scan_index(struct scan *scan, uint32_t max, int *out_p)
{
    uint32_t value;

    if (scan_word(scan, "-1")) {
        *out_p = -1;
        return 0;
    }
    if (scan_number(scan, max, &value))
        return -1;
    *out_p = (int) value;
    return 0;
}

/* One byte of an escaped value into *out_p. */
static int scan_byte(struct scan *scan, char *out_p)
{
    const char *wrong = asp_unescape(&scan->at, scan->end, ASP_ESCAPE_MARKS,
                                     out_p);

    return wrong ? bad(scan, wrong) : 0;
}

/* An escaped value up to a space, or up to stop (0: none). */
static int scan_string(struct scan *scan, char stop, char *out, size_t size)
{
    size_t used = 0;

    while (scan->at < scan->end && *scan->at != ' ' &&
           !(stop && *scan->at == stop)) {
        if (used + 1 >= size)
            return bad(scan, "value too long");
        if (scan_byte(scan, &out[used++]))
            return -1;
    }
    out[used] = '\0';
    return 0;
}

static int scan_cpus(struct scan *scan, struct asp_cpuset *out_p)
{
    const char *stop = memchr(scan->at, ' ', (size_t) (scan->end - scan->at));

    if (!stop)
        stop = scan->end;
    if (asp_cpuset_parse(scan->at, (size_t) (stop - scan->at), out_p))
        return bad(scan, "bad CPU list");
    scan->at = stop;
    return 0;
}

/* One run of ranks, "4", "0-3" or "0-6/2", appended to ranks[*count_p]. */
static int scan_run(struct scan *scan, uint32_t *ranks, uint32_t *count_p)
{
    uint32_t first, last, step = 1, count = *count_p;

    if (scan_number(scan, ASP_RANKS_MAX - 1, &first))
        return -1;
    last = first;
    if (scan_word(scan, "-")) {
        if (scan_number(scan, ASP_RANKS_MAX - 1, &last))
            return -1;
        if (scan_word(scan, "/") && scan_number(scan, ASP_RANKS_MAX - 1, &step))
            return -1;
    }
    if (last < first || !step || (last - first) % step)
        return bad(scan, "bad range of ranks");
    if (count && first <= ranks[count - 1])
        return bad(scan, "ranks are not ascending");
    for (uint32_t rank = first; rank <= last; rank += step) {
        if (count == ASP_TASKS_MAX)
            return bad(scan, "too many tasks on a node");
        ranks[count++] = rank;
    }
    *count_p = count;
    return 0;
}

static int scan_node(struct scan *scan, struct asp_layout_node *node)
{
    uint32_t ranks[ASP_TASKS_MAX], count = 0;

    if (scan_string(scan, ':', node->name, sizeof(node->name)))
        return -1;
    if (!scan_word(scan, ":"))
        return bad(scan, "expected \":\" after the node name");
    do {
        if (scan_run(scan, ranks, &count))
            return -1;
    } while (scan_word(scan, ","));
    node->ranks_world = malloc(count * sizeof(ranks[0]));
    if (!node->ranks_world)
        return asp_errf(scan->err, ENOMEM, "out of memory");
    memcpy(node->ranks_world, ranks, count * sizeof(ranks[0]));
    node->ntasks = count;
    return 0;
}

static int read_magic(struct scan *scan, struct asp_layout *out)
{
    if (!scan_word(scan, ASP_LAYOUT_MAGIC))
        return bad(scan, "this is not a layout");
    if (scan_number(scan, UINT32_MAX, &out->version))
        return -1;
    if (out->version != ASP_LAYOUT_VERSION)
        return asp_errf(scan->err, EPROTO,
                        "layout version %" PRIu32 ", this is Aspen with "
                        "version %d: plugin and library are of different "
                        "installations",
                        out->version, ASP_LAYOUT_VERSION);
    return 0;
}

static int read_job(struct scan *scan, struct asp_layout *out)
{
    return scan_string(scan, 0, out->job, sizeof(out->job));
}

static int read_mode(struct scan *scan, struct asp_layout *out)
{
    char name[16];

    if (scan_string(scan, 0, name, sizeof(name)))
        return -1;
    if (asp_mode_parse(name, &out->mode))
        return bad(scan, "unknown mode");
    asp_knobs_init(&out->knobs, out->mode == ASP_MODE_OFF);
    return 0;
}

static int read_gpn(struct scan *scan, struct asp_layout *out)
{
    return scan_number(scan, ASP_TASKS_MAX, &out->ghosts_per_node);
}

static int read_bound(struct scan *scan, struct asp_layout *out)
{
    if (scan_word(scan, "yes"))
        out->bound = true;
    else if (!scan_word(scan, "no"))
        return bad(scan, "expected yes or no");
    return 0;
}

static int read_reason(struct scan *scan, struct asp_layout *out)
{
    return scan_string(scan, 0, out->reason, sizeof(out->reason));
}

static int read_digest(struct scan *scan, struct asp_layout *out)
{
    return scan_string(scan, 0, out->policy_digest, sizeof(out->policy_digest));
}

static int read_size(struct scan *scan, struct asp_layout *out)
{
    return scan_number(scan, ASP_RANKS_MAX, &out->size_world);
}

static int read_nnodes(struct scan *scan, struct asp_layout *out)
{
    return scan_number(scan, ASP_NODES_MAX, &out->nnodes);
}

static int read_node(struct scan *scan, struct asp_layout *out)
{
    return scan_number(scan, ASP_NODES_MAX - 1, &out->node);
}

static int read_nodes(struct scan *scan, struct asp_layout *out)
{
    /* Each entry takes at least three characters of text: no more memory
     * than the text is long. */
    if (out->nnodes > (size_t) (scan->end - scan->at))
        return bad(scan, "fewer nodes than announced");
    out->nodes = calloc(out->nnodes ? out->nnodes : 1, sizeof(out->nodes[0]));
    if (!out->nodes)
        return asp_errf(scan->err, ENOMEM, "out of memory");
    for (uint32_t n = 0; n < out->nnodes; n++) {
        if (n && !scan_word(scan, ";"))
            return bad(scan, "fewer nodes than announced");
        if (scan_node(scan, &out->nodes[n]))
            return -1;
    }
    return 0;
}

static int read_service(struct scan *scan, struct asp_layout *out)
{
    return scan_cpus(scan, &out->service);
}

static int read_task(struct scan *scan, struct asp_layout *out)
{
    struct asp_layout_task *task = &out->tasks[out->ntasks];

    if (out->ntasks == ASP_TASKS_MAX)
        return bad(scan, "too many tasks");
    if (scan_rank(scan, &task->rank_world))
        return -1;
    if (scan_word(scan, ":user:"))
        task->role = ASP_ROLE_USER;
    else if (scan_word(scan, ":ghost:"))
        task->role = ASP_ROLE_GHOST;
    else
        return bad(scan, "expected a role");
    if (scan_rank(scan, &task->rank_user))
        return -1;
    if (!scan_word(scan, ":"))
        return bad(scan, "expected \":\"");
    if (scan_rank(scan, &task->ghost))
        return -1;
    if (!scan_word(scan, ":numa"))
        return bad(scan, "expected \":numa\"");
    if (scan_index(scan, ASP_CPUS_MAX - 1, &task->numa))
        return -1;
    if (!scan_word(scan, ":h"))
        return bad(scan, "expected \":h\"");
    if (scan_index(scan, ASP_CPUS_MAX - 1, &task->cpu_helper_os))
        return -1;
    if (!scan_word(scan, ":c"))
        return bad(scan, "expected \":c\"");
    if (scan_cpus(scan, &task->cpus))
        return -1;
    out->ntasks++;
    return 0;
}

static int read_knob(struct scan *scan, struct asp_layout *out)
{
    char name[ASP_NAME_MAX], value[ASP_VALUE_MAX];
    enum asp_knob_id id;

    if (scan_string(scan, ':', name, sizeof(name)))
        return -1;
    if (!name[0])
        return bad(scan, "knob without a name");
    if (!scan_word(scan, ":"))
        return bad(scan, "expected \":\"");
    if (scan_string(scan, 0, value, sizeof(value)))
        return -1;
    id = asp_knob_find(name);
    if (id == ASP_KNOB_COUNT || !(asp_knobs[id].flags & ASP_KNOB_TO_RUNTIME))
        return 0;
    if (scan->seen[id])
        return bad(scan, "knob given twice");
    scan->seen[id] = true;
    (void) asp_knobs_set(&out->knobs, id, value); /* else as it is */
    return 0;
}

static int read_rule(struct scan *scan, struct asp_layout *out,
                     enum asp_objkind_id kind)
{
    const char *stop = memchr(scan->at, ' ', (size_t) (scan->end - scan->at));
    struct asp_objrules *rules = &out->rules[kind];
    struct asp_err why;

    if (!stop)
        stop = scan->end;
    if (rules->n == ASP_OBJRULES_MAX)
        return bad(scan, "too many rules of a kind");
    if (asp_objrule_parse(kind, scan->at, (size_t) (stop - scan->at),
                          &rules->rule[rules->n], &why))
        return bad(scan, why.text);
    scan->at = stop;
    rules->n++;
    return 0;
}

static int read_window(struct scan *scan, struct asp_layout *out)
{
    return read_rule(scan, out, ASP_OBJ_WINDOW);
}

static int read_communicator(struct scan *scan, struct asp_layout *out)
{
    return read_rule(scan, out, ASP_OBJ_COMM);
}

enum field_flag { FIELD_ONE, FIELD_MAYBE, FIELD_MANY };

/* The fields in their order. */
static const struct field {
    const char *key;
    int (*read)(struct scan *scan, struct asp_layout *out);
    enum field_flag flag;
} fields[] = {
    {"", read_magic, FIELD_ONE},
    {" job=", read_job, FIELD_ONE},
    {" mode=", read_mode, FIELD_ONE},
    {" gpn=", read_gpn, FIELD_ONE},
    {" bound=", read_bound, FIELD_ONE},
    {" reason=", read_reason, FIELD_ONE},
    {" digest=", read_digest, FIELD_ONE},
    {" size=", read_size, FIELD_ONE},
    {" nnodes=", read_nnodes, FIELD_ONE},
    {" node=", read_node, FIELD_ONE},
    {" nodes=", read_nodes, FIELD_MAYBE},
    {" service=", read_service, FIELD_ONE},
    {" task=", read_task, FIELD_MANY},
    {" knob=", read_knob, FIELD_MANY},
    {" window=", read_window, FIELD_MANY},
    {" communicator=", read_communicator, FIELD_MANY},
};

static int bad_word(const struct scan *scan, const char *word)
{
    char text[64];

    snprintf(text, sizeof(text), "expected \"%s\"", word);
    return bad(scan, text);
}

static int read_fields(struct scan *scan, struct asp_layout *out)
{
    for (size_t f = 0; f < sizeof(fields) / sizeof(fields[0]); f++) {
        const struct field *field = &fields[f];
        bool found = scan_word(scan, field->key);

        if (!found && field->flag == FIELD_ONE)
            return bad_word(scan, field->key + 1);
        while (found) {
            if (field->read(scan, out))
                return -1;
            found = field->flag == FIELD_MANY && scan_word(scan, field->key);
        }
    }
    if (!scan_word(scan, " end") || scan->at != scan->end)
        return bad(scan, "unknown field, or the text was cut");
    return 0;
}

int asp_layout_decode(const char *text, size_t len, struct asp_layout **out_p,
                      struct asp_err *err)
{
    struct scan scan = {text, text, text + len, err, {false}};
    struct asp_layout *out;

    if (len > ASP_LAYOUT_TEXT_MAX)
        return asp_errf(err, EINVAL, "layout of %zu bytes: too long", len);
    out = calloc(1, sizeof(*out));
    if (!out)
        return asp_errf(err, ENOMEM, "out of memory");
    out->tasks = calloc(ASP_TASKS_MAX + 1, sizeof(out->tasks[0]));
    if (!out->tasks) {
        asp_errf(err, ENOMEM, "out of memory");
        goto err_destroy;
    }
    if (read_fields(&scan, out) || asp_layout_check(out, err))
        goto err_destroy;
    if (out->ntasks) {
        void *tasks = realloc(out->tasks, out->ntasks * sizeof(*out->tasks));

        if (tasks)
            out->tasks = tasks;
    }
    *out_p = out;
    return 0;
err_destroy:
    asp_layout_destroy(out);
    return -1;
}
