/* SPDX-License-Identifier: BSD-3-Clause */
/* The decisions of one communicator; see decide.h. */
#include "decide.h"

#include "search_parts.h"

#include <string.h>

enum {
    PLACES = 2 * ASP_DECIDE_KEYS, /* of a hash: a power of two, half full */
    FREE = 0,
};

/* What is known of a bare call word, whose pattern is STRICT: it is the line
 * that says which it is. */
struct line {
    uint32_t word;
    uint32_t granted, left; /* calls that are decided alike and need nothing */
    struct asp_decide_line straight; /* instead of left: they are MPI's */
    struct asp_decision decision;    /* of these calls */
    struct asp_pattern pattern;
    struct asp_size size;
    uint32_t entered; /* calls but those that were passed since they were
                         granted */
    uint32_t others;  /* what count_others() said in the latest of these */
};

struct searched {
    uint32_t word;
    struct asp_search search;
    struct asp_search_try tries[ASP_DECIDE_FEW + 1];
};

struct asp_decide {
    struct asp_decide_config config;
    uint32_t shape;    /* in the table */
    bool detects;      /* a pattern could change what is chosen */
    bool broken;       /* ranks differed */
    uint32_t standard; /* the configuration of the table that is MPI's;
                          UINT32_MAX: none */
    uint64_t agreements;
    uint32_t unlined; /* calls in which all wait for all, and that have no line
                       */
    /* The call that goes on: its own, NULL where there is none. */
    struct searched *search;
    struct line *line, *latest; /* latest: of a call before, NULL: none */
    bool separated, timed, search_due, pattern_due, size_due;
    /* Hash of call words: 1 + index, or FREE. */
    uint8_t of_line[PLACES], of_search[PLACES];
    uint32_t nlines, nsearches;
    struct line lines[ASP_DECIDE_KEYS];
    struct searched searches[ASP_DECIDE_KEYS];
};

_Static_assert(ASP_DECIDE_KEYS < 256, "an index in a byte");

size_t asp_decide_bytes(void)
{
    return sizeof(struct asp_decide);
}

/* Does the table tell loose calls from strict ones? */
static bool has_loose(const struct asp_tune_table *table)
{
    struct asp_tune_args args;

    for (uint32_t i = 0; table && i < table->nrows; i++) {
        asp_tune_call_args(table->rows[i].key.call, &args);
        if (args.pattern == ASP_TUNE_LOOSE)
            return true;
    }
    return false;
}

static bool searches(const struct asp_decide *d)
{
    return d->config.order && d->config.effort.budget_us > 0;
}

/* Could something be chosen but the default? */
static bool has_choice(const struct asp_decide *d)
{
    return searches(d) || d->shape != ASP_TUNE_NO_SHAPE;
}

static uint32_t find_standard(const struct asp_tune_table *table)
{
    for (uint32_t i = 0; table && i < table->nconfigs; i++)
        if (strcmp(table->configs[i], ASP_DECIDE_DEFAULT_TEXT) == 0)
            return i;
    return UINT32_MAX;
}

struct asp_decide *asp_decide_start(void *memory,
                                    const struct asp_decide_config *config)
{
    struct asp_decide *d = memory;

    memset(d, 0, sizeof(*d));
    d->config = *config;
    d->shape = config->table
                   ? asp_tune_table_shape(config->table, &config->shape)
                   : ASP_TUNE_NO_SHAPE;
    d->standard = find_standard(config->table);
    d->detects = searches(d) || has_loose(config->table);
    return d;
}

/* ---- keys in use ---- */

static enum asp_coll_op op_of(uint32_t word)
{
    return (enum asp_coll_op)(word >> ASP_TUNE_OP_SHIFT & 31);
}

static bool is_sized(const struct line *line)
{
    return line->size.epoch > 0;
}

/* A line's bare word, with what was agreed on. */
static uint32_t agreed_word(const struct line *line)
{
    uint32_t word = line->word | (uint32_t) line->pattern.now
                                     << ASP_TUNE_PATTERN_SHIFT;

    return is_sized(line)
               ? (word & ~(uint32_t) ASP_TUNE_BUCKET_MASK) | line->size.now
               : word;
}

/* Has a key of these args to wait for a size that is not agreed on? */
static bool lacks_size(const struct asp_tune_args *args, uint32_t word)
{
    return asp_tune_ops[args->op].rules & ASP_TUNE_AGREED &&
           (word & ASP_TUNE_BUCKET_MASK) == ASP_TUNE_BUCKET_ANY;
}

/* The place of a word, or a free one. Words of 19 bits are never all ones. */
static uint8_t *find_place(uint8_t *places, const void *array, size_t size,
                           uint32_t word)
{
    uint32_t at = asp_tune_hash(word);

    for (;; at++) {
        uint8_t *place = &places[at % PLACES];
        uint32_t there;

        if (*place == FREE)
            return place;
        memcpy(&there, (const char *) array + (*place - 1u) * size,
               sizeof(there));
        if (there == word)
            return place;
    }
}

/* Begin a line unless there is no room. */
static struct line *line_of(struct asp_decide *d, uint32_t word)
{
    uint8_t *place = find_place(d->of_line, d->lines, sizeof(d->lines[0]),
                                word);
    struct line *line;

    if (*place != FREE)
        return &d->lines[*place - 1];
    if (d->nlines == ASP_DECIDE_KEYS)
        return NULL;
    line = &d->lines[d->nlines];
    line->word = word;
    asp_pattern_start(&line->pattern);
    if (asp_tune_ops[op_of(word)].rules & ASP_TUNE_AGREED && has_choice(d))
        asp_size_start(&line->size);
    *place = (uint8_t) ++d->nlines;
    return line;
}

/* Order the candidates and begin. Returns false where there is nothing to
 * search. */
static bool begin_search(struct asp_decide *d, struct searched *searched)
{
    struct asp_search_candidate candidates[ASP_DECIDE_CANDIDATES];
    struct asp_tune_args args;
    uint32_t n, standard = 0;

    asp_tune_call_args(searched->word, &args);
    n = d->config.order(d->config.data, &d->config.shape, &args, candidates);
    while (standard < n && candidates[standard].config != ASP_DECIDE_DEFAULT)
        standard++;
    if (standard == n)
        return false;
    asp_search_start(&searched->search, searched->tries, ASP_DECIDE_FEW + 1,
                     &d->config.effort, candidates, n, standard,
                     asp_search_mix(d->config.seed, searched->word));
    return true;
}

/* The search of a word; begins it unless there is no room. A key that its model
 * leaves alone has one too, which is settled: the model is asked once. */
static struct searched *search_of(struct asp_decide *d, uint32_t word)
{
    static const struct asp_search_candidate alone = {ASP_DECIDE_DEFAULT, 1};
    uint8_t *place = find_place(d->of_search, d->searches,
                                sizeof(d->searches[0]), word);
    struct searched *searched;

    if (*place != FREE)
        return &d->searches[*place - 1];
    if (d->nsearches == ASP_DECIDE_KEYS)
        return NULL;
    searched = &d->searches[d->nsearches];
    searched->word = word;
    if (!begin_search(d, searched))
        asp_search_start(&searched->search, searched->tries, 1,
                         &d->config.effort, &alone, 1, 0, 0);
    *place = (uint8_t) ++d->nsearches;
    return searched;
}

/* ---- what another communicator found out ---- */

bool asp_decide_known(const struct asp_decide *decide, uint32_t i,
                      struct asp_decide_known *known_p)
{
    const struct searched *searched = &decide->searches[i];

    if (i >= decide->nsearches)
        return false;
    known_p->word = asp_search_known(&searched->search, &known_p->search)
                        ? searched->word
                        : 0;
    return true;
}

void asp_decide_resume(struct asp_decide *decide,
                       const struct asp_decide_known *known)
{
    struct asp_decide *d = decide;
    uint8_t *place = find_place(d->of_search, d->searches,
                                sizeof(d->searches[0]), known->word);
    struct searched *searched = &d->searches[d->nsearches];

    if (*place != FREE || d->nsearches == ASP_DECIDE_KEYS)
        return;
    searched->word = known->word;
    asp_search_resume(&searched->search, searched->tries, &d->config.effort,
                      &known->search, ASP_DECIDE_DEFAULT,
                      asp_search_mix(d->config.seed, known->word));
    *place = (uint8_t) ++d->nsearches;
}

/* ---- a call ---- */

/* Does every rank wait for all? With counts of its own it may get nothing. */
static bool waits_for_all(enum asp_coll_op op)
{
    const struct asp_coll_form *form = &asp_coll_forms[op];

    return !form->root && !form->prefix && form->counts != ASP_COLL_COUNTS_OWN;
}

/* Calls of other operations in which all wait for all, up to now. */
static uint32_t count_others(const struct asp_decide *d, enum asp_coll_op op)
{
    uint32_t calls = d->unlined;

    for (uint32_t i = 0; i < d->nlines; i++) {
        const struct line *line = &d->lines[i];
        enum asp_coll_op other = op_of(line->word);

        if (other != op && waits_for_all(other))
            calls += line->entered + line->granted - line->left -
                     line->straight.left;
    }
    return calls;
}

/* Strict or loose, as it was agreed. */
static void detect(struct asp_decide *d, struct line *line)
{
    d->pattern_due = asp_pattern_call(&line->pattern);
    if (asp_pattern_looks(&line->pattern)) {
        uint32_t others = count_others(d, op_of(line->word));

        d->separated = others != line->others;
        line->others = others;
    }
}

static bool look_up(const struct asp_decide *d, uint32_t word,
                    struct asp_decision *decision)
{
    const struct asp_tune_row *row = d->shape == ASP_TUNE_NO_SHAPE
                                         ? NULL
                                         : asp_tune_find(d->config.table,
                                                         d->shape, word);

    if (!row)
        return false;
    decision->config = row->config == d->standard ? ASP_DECIDE_DEFAULT
                                                  : row->config;
    decision->from = row->key.call == word ? ASP_DECIDE_FROM_TABLE
                                           : ASP_DECIDE_FROM_NEAR;
    return true;
}

static void search(struct asp_decide *d, const struct asp_tune_args *args,
                   uint32_t word, struct asp_decision *decision)
{
    unsigned rules = asp_tune_ops[args->op].rules;
    uint64_t bytes = rules & ASP_TUNE_BYTES ? args->bytes : 0;
    struct asp_search_step step;

    d->search = search_of(d, word);
    if (!d->search)
        return;
    if (rules & ASP_TUNE_AGREED)
        bytes = asp_tune_bucket_bytes(word & ASP_TUNE_BUCKET_MASK);
    step = asp_search_next(&d->search->search, bytes);
    decision->config = step.config;
    decision->from = ASP_DECIDE_FROM_SEARCH;
    decision->timed = step.timed;
    d->search_due = step.agree;
}

/* Calls that were passed. */
static void catch_up(struct asp_decide *d, struct line *line)
{
    uint32_t passed = line->granted;

    line->granted = 0;
    line->entered += passed + 1;
    if (passed == 0)
        return;
    if (d->detects)
        asp_pattern_pass(&line->pattern, passed);
    if (is_sized(line))
        asp_size_pass(&line->size, passed);
    if (line->decision.from == ASP_DECIDE_FROM_SEARCH)
        asp_search_pass(&search_of(d, agreed_word(line))->search, passed);
}

/* As many calls like this one as need nothing. */
static void grant(const struct asp_decide *d, struct line *line,
                  const struct asp_decision *decision)
{
    uint32_t calls = d->detects ? asp_pattern_rest(&line->pattern) : UINT32_MAX;
    uint32_t rest = d->search ? asp_search_rest(&d->search->search)
                              : UINT32_MAX;

    if (is_sized(line) && asp_size_rest(&line->size) < calls)
        calls = asp_size_rest(&line->size);
    line->granted = rest < calls ? rest : calls;
    line->decision = *decision;
    if (decision->config == ASP_DECIDE_DEFAULT)
        line->straight.left = line->granted;
    else
        line->left = line->granted;
}

/* A call that is not decided yet, or of which something is wanted. */
static struct asp_decision decide_anew(struct asp_decide *d,
                                       const struct asp_tune_args *args,
                                       uint32_t word)
{
    struct asp_decision decision = {.config = ASP_DECIDE_DEFAULT};
    struct line *line = d->line;

    if (line)
        catch_up(d, line);
    else
        d->unlined += waits_for_all(args->op);
    if (line && d->detects)
        detect(d, line);
    if (line && is_sized(line))
        d->size_due = asp_size_call(&line->size);
    if (line)
        word = agreed_word(line);
    if (!look_up(d, word, &decision) && searches(d) &&
        args->pattern != ASP_TUNE_NONBLOCKING && !lacks_size(args, word))
        search(d, args, word, &decision);
    d->timed = decision.timed;
    decision.timed = d->timed ||
                     (line && d->detects && asp_pattern_looks(&line->pattern));
    decision.agree = d->search_due || d->pattern_due || d->size_due;
    if (line && !decision.timed && !decision.agree)
        grant(d, line, &decision);
    return decision;
}

static bool pass(struct line *line)
{
    if (line->left == 0)
        return asp_decide_pass(&line->straight);
    line->left--;
    return true;
}

struct asp_decision asp_decide_enter(struct asp_decide *decide,
                                     const struct asp_tune_args *args)
{
    struct asp_decide *d = decide;
    uint32_t word = asp_tune_call(args);

    d->line = NULL;
    d->timed = false;
    if (d->broken)
        return (struct asp_decision){.config = ASP_DECIDE_DEFAULT};
    if (args->pattern != ASP_TUNE_NONBLOCKING) {
        d->line = d->latest && d->latest->word == word ? d->latest
                                                       : line_of(d, word);
        d->latest = d->line;
        if (d->line && is_sized(d->line))
            asp_size_note(&d->line->size, args->bytes);
    }
    if (d->line && pass(d->line))
        return d->line->decision;
    d->search = NULL;
    d->search_due = d->pattern_due = d->size_due = false;
    return decide_anew(d, args, word);
}

struct asp_decide_line *asp_decide_line(const struct asp_decide *decide)
{
    struct line *line = decide->line;

    return line && line->straight.left > 0 ? &line->straight : NULL;
}

void asp_decide_leave(struct asp_decide *decide,
                      const struct asp_decide_seen *seen)
{
    struct line *line = decide->line;

    if (decide->search && decide->timed)
        asp_search_note(&decide->search->search, seen->took_us);
    if (line && decide->detects)
        asp_pattern_note(&line->pattern, seen->gap_us, seen->last_us,
                         decide->separated);
}

/* ---- agreements ---- */

/* Of the call, in 52 bits, which a double holds: an agreement of a pattern
 * alone is checked, too. */
static double stamp(const struct asp_decide *d)
{
    uint64_t hash = asp_search_mix(d->config.seed, d->agreements);

    hash = asp_search_mix(hash, d->line ? d->line->word : 0);
    hash = asp_search_mix(hash, d->line ? d->line->pattern.seen : 0);
    hash = asp_search_mix(hash, d->line ? d->line->size.seen : 0);
    return (double) (hash >> 12);
}

void asp_decide_values(const struct asp_decide *decide,
                       double values[ASP_DECIDE_VALUES])
{
    const struct asp_decide *d = decide;

    memset(values, 0, ASP_DECIDE_VALUES * sizeof(values[0]));
    if (d->search_due)
        asp_search_values(&d->search->search, values);
    else {
        values[ASP_SEARCH_TIMES] = stamp(d);
        values[ASP_SEARCH_TIMES + 1] = -values[ASP_SEARCH_TIMES];
    }
    if (d->pattern_due)
        values[ASP_DECIDE_PATTERN] = asp_pattern_value(&d->line->pattern);
    if (d->line && is_sized(d->line))
        values[ASP_DECIDE_SIZE] = asp_size_value(&d->line->size);
}

/* All ranks were in the same state, or none of them is trusted any more. */
static bool agree_on_search(struct asp_decide *d, const double *values)
{
    if (!d->search_due)
        return values[ASP_SEARCH_TIMES] == stamp(d) &&
               values[ASP_SEARCH_TIMES + 1] == -values[ASP_SEARCH_TIMES];
    asp_search_agreed(&d->search->search, values);
    return d->search->search.end != ASP_SEARCH_MISMATCH;
}

/* The default from now on, of calls that were decided already, too. */
static void give_up(struct asp_decide *d)
{
    d->broken = true;
    for (uint32_t i = 0; i < d->nlines; i++)
        d->lines[i].left = d->lines[i].straight.left = 0;
}

void asp_decide_agreed(struct asp_decide *decide,
                       const double values[ASP_DECIDE_VALUES])
{
    struct asp_decide *d = decide;

    if (!agree_on_search(d, values))
        give_up(d);
    else if (d->pattern_due)
        asp_pattern_agreed(&d->line->pattern, values[ASP_DECIDE_PATTERN]);
    if (!d->broken && d->line && is_sized(d->line))
        asp_size_agreed(&d->line->size, values[ASP_DECIDE_SIZE]);
    d->search_due = d->pattern_due = d->size_due = false;
    d->agreements++;
}

/* ---- the record ---- */

bool asp_decide_account(const struct asp_decide *decide, uint32_t i,
                        struct asp_tune_key *key_p,
                        struct asp_search_sum *sum_p)
{
    if (i >= decide->nsearches)
        return false;
    *key_p = (struct asp_tune_key){decide->config.shape,
                                   decide->searches[i].word};
    asp_search_sum(&decide->searches[i].search, sum_p);
    return true;
}

bool asp_decide_broken(const struct asp_decide *decide)
{
    return decide->broken;
}
