/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables from text: aspen-coll-table(5). A reader of lines that trusts
 * nothing. */
#include "table.h"

#include "table_words.h"

#include "common/base/escape.h"
#include "common/base/limits.h"
#include "common/base/printable.h"
#include "common/base/words.h"
#include "common/coll/model/fit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS = 7 };

struct reader {
    const char *at, *end;
    struct asp_location where;
    asp_tune_config_check_f check;
    struct asp_err *err;
    char line[ASP_TUNE_LINE_MAX];
};

static int wrong(struct reader *in, const char *what)
{
    return asp_err_at(in->err, EINVAL, &in->where, "%s", what);
}

/* A reason that a parser of a part has given, with its line. */
static int wrong_because(struct reader *in, const struct asp_err *why)
{
    return asp_err_at(in->err, errno, &in->where, "%s", why->text);
}

/* The next line that says something, into line. Returns 0, or -1 with err also
 * when there is none. */
static int next_line(struct reader *in)
{
    do {
        size_t left = (size_t) (in->end - in->at), len;
        const char *newline = memchr(in->at, '\n', left);

        in->where.line++;
        if (!newline)
            return wrong(in, left ? "the last line has no end: the file was "
                                    "cut off"
                                  : "the file ends without \"end\": it was cut "
                                    "off");
        len = (size_t) (newline - in->at);
        if (len >= sizeof(in->line))
            return asp_err_at(in->err, EFBIG, &in->where,
                              "the line is longer than %zu bytes",
                              sizeof(in->line) - 1);
        memcpy(in->line, in->at, len);
        in->line[len] = '\0';
        in->at = newline + 1;
        if (strlen(in->line) != len)
            return wrong(in, "a NUL byte");
        for (const char *c = in->line; *c; c++)
            if (asp_control(c))
                return wrong(in, "a control character");
    } while (in->line[0] == '\0' || in->line[0] == '#');
    return 0;
}

/* What follows this word in the line, if it begins with it. */
static const char *value_of(const struct reader *in, const char *name)
{
    const char *value = asp_after(in->line, name);

    return value && *value == ' ' ? value + 1 : NULL;
}

/* The same, of a line that must begin with it. */
static const char *wanted_value(struct reader *in, const char *name)
{
    const char *value = value_of(in, name);

    if (!value)
        asp_err_at(in->err, EINVAL, &in->where, "\"%s\" was expected", name);
    return value;
}

static const char *next_value(struct reader *in, const char *name)
{
    return next_line(in) < 0 ? NULL : wanted_value(in, name);
}

static int read_fact(struct reader *in, const struct machine_fact *fact,
                     char *to)
{
    const char *at = next_value(in, fact->name), *end;
    size_t len = 0;

    if (!at)
        return -1;
    for (end = at + strlen(at); at < end;) {
        const char *why;

        if (len + 1 >= fact->size)
            return wrong(in, "the value is too long");
        why = asp_unescape(&at, end, marks, &to[len++]);
        if (why)
            return wrong(in, why);
    }
    to[len] = '\0';
    return len ? 0 : wrong(in, "the value is empty");
}

/* Of the line that was read. */
static int read_count(struct reader *in, const char *name, uint32_t max,
                      uint32_t *n_p)
{
    const char *value = wanted_value(in, name);

    if (!value)
        return -1;
    return asp_parse_number(value, max, n_p) < 0
               ? asp_err_at(in->err, EINVAL, &in->where,
                            "%s: \"%.32s\" is no number up to %u", name, value,
                            max)
               : 0;
}

/* "1x16,2x8" */
static int read_jobs(struct reader *in, struct asp_tune_table *table)
{
    const char *at = next_value(in, "jobs");
    struct asp_err why = {.text = ""};

    if (!at)
        return -1;
    for (;; at++) {
        struct asp_tune_job job;

        if (asp_take_number(&at, ASP_NODES_MAX, &job.nodes) < 0 ||
            *at++ != 'x' || asp_take_number(&at, ASP_TASKS_MAX, &job.ppn) < 0 ||
            job.nodes == 0 || job.ppn == 0 || (*at && *at != ','))
            return wrong(in, "jobs: nodes x ranks per node, as 1x16,2x8");
        if (asp_tune_table_add_job(table, &job, &why) < 0)
            return wrong_because(in, &why);
        if (*at == '\0')
            return 0;
    }
}

/* n numbers of ps. */
static int read_ps(struct reader *in, const char *at, int64_t *ps, int n)
{
    for (int i = 0; i < n; i++) {
        uint32_t number;

        if ((i > 0 && *at++ != ' ') ||
            asp_take_number(&at, (uint32_t) ASP_COLL_LINK_PS_MAX, &number) < 0)
            return wrong(in, "links: L, o, g in ps and G in ps a byte, up to "
                             "4000000000; core: copy and reduce in ps a byte");
        ps[i] = number;
    }
    return *at ? wrong(in, "something follows the numbers") : 0;
}

static void take_link(const struct reader *in, struct asp_tune_links *links,
                      const struct asp_coll_link *link)
{
    if (value_of(in, link_inside)) {
        links->has_inside = true;
        links->inside = *link;
    } else {
        links->has_between = true;
        links->between = *link;
    }
}

/* Lines of links, in any order and number, to the next line. */
static int read_links(struct reader *in, struct asp_tune_links *links)
{
    const char *value;
    int64_t ps[4];

    while (next_line(in) == 0) {
        int n = 4;

        value = value_of(in, link_inside);
        value = value ? value : value_of(in, link_between);
        if (!value) {
            value = value_of(in, word_core);
            n = 2;
        }
        if (!value)
            return 0;
        if (read_ps(in, value, ps, n) < 0)
            return -1;
        if (n == 2) {
            links->has_core = true;
            links->core = (struct asp_tune_core){ps[0], ps[1]};
        } else {
            take_link(in, links,
                      &(struct asp_coll_link){ps[0], ps[1], ps[2], ps[3]});
        }
    }
    return -1;
}

static int read_header(struct reader *in, struct asp_tune_table *table,
                       uint32_t *rows_p)
{
    struct asp_tune_machine *machine = &table->machine;

    if (next_line(in) < 0)
        return -1;
    if (strcmp(in->line, magic) != 0)
        return wrong(in, "no table of collectives, or of another version: "
                         "\"aspen-coll-table 1\" was expected");
    for (size_t i = 0; i < FACTS; i++)
        if (read_fact(in, &facts[i], (char *) machine + facts[i].offset) < 0)
            return -1;
    if (next_line(in) < 0 ||
        read_count(in, "cpus", ASP_RANKS_MAX, &machine->cpus) < 0 ||
        read_jobs(in, table) < 0 || read_links(in, &table->links) < 0)
        return -1;
    return read_count(in, "rows", ASP_TUNE_ROWS_MAX, rows_p);
}

/* ---- rows ---- */

/* "12.345" microseconds: three digits. */
static int read_us(const char *text, uint64_t *ns_p)
{
    const char *at = text;
    uint32_t us = 0, ns = 0;
    const uint32_t max = (uint32_t) (ASP_TUNE_NS_MAX / 1000);

    if (asp_take_number(&at, max, &us) < 0 || *at++ != '.' || strlen(at) != 3 ||
        asp_parse_number(at, 999, &ns) < 0)
        return -1;
    *ns_p = (uint64_t) us * 1000 + ns;
    return 0;
}

static int read_source(const char *text, enum asp_tune_source *source_p)
{
    for (int i = 0; i < ASP_TUNE_SOURCES; i++)
        if (strcmp(text, sources[i]) == 0) {
            *source_p = (enum asp_tune_source) i;
            return 0;
        }
    return -1;
}

/* "2026-11-27" */
static int read_day(const char *text, char day[ASP_TUNE_DAY_MAX])
{
    static const char form[] = "dddd-dd-dd";

    for (size_t i = 0; i < sizeof(form); i++)
        if (form[i] == 'd' ? text[i] < '0' || text[i] > '9'
                           : text[i] != form[i])
            return -1;
    memcpy(day, text, ASP_TUNE_DAY_MAX);
    return 0;
}

/* Cut the line at its blanks. Returns the number of words. */
static size_t split(char *line, char *words[COLUMNS + 1])
{
    size_t n = 0;

    for (char *at = line; *at && n <= COLUMNS;) {
        words[n++] = at;
        at += strcspn(at, " ");
        if (*at)
            *at++ = '\0';
        at += strspn(at, " ");
    }
    return n;
}

static int read_row(struct reader *in, struct asp_tune_row *row,
                    const char **config_p)
{
    char *word[COLUMNS + 1];
    struct asp_tune_args args;
    struct asp_err why = {.text = ""};

    if (split(in->line, word) != COLUMNS)
        return wrong(
            in,
            "a row has 7 words: key, configuration, best and default in us, "
            "tried, source, day");
    if (asp_tune_key_parse(word[0], &row->key, &why) < 0)
        return wrong_because(in, &why);
    asp_tune_call_args(row->key.call, &args);
    if (in->check && in->check(args.op, word[1], &why) < 0)
        return wrong_because(in, &why);
    *config_p = word[1];
    if (read_us(word[2], &row->best_ns) < 0 ||
        read_us(word[3], &row->default_ns) < 0)
        return wrong(in, "times are in us with three digits: 12.345");
    if (asp_parse_number(word[4], UINT32_MAX - 1, &row->tried) < 0)
        return wrong(in, "\"tried\" is no number");
    if (read_source(word[5], &row->source) < 0)
        return wrong(in, "the source is sweep, search, model or hand");
    if (read_day(word[6], row->day) < 0)
        return wrong(in, "the day is as 2026-11-27");
    return 0;
}

static int read_rows(struct reader *in, struct asp_tune_table *table,
                     uint32_t rows)
{
    for (uint32_t i = 0; i < rows; i++) {
        struct asp_tune_row row;
        struct asp_err why = {.text = ""};
        const char *config = NULL;

        if (next_line(in) < 0 || read_row(in, &row, &config) < 0)
            return -1;
        /* In order: files of any size are read in a time that their size
         * bounds, and a key cannot be there twice. */
        if (table->nrows > 0 &&
            asp_tune_key_compare(&table->rows[table->nrows - 1].key,
                                 &row.key) >= 0)
            return wrong(in, "the key is there already, or rows are not in "
                             "order");
        if (asp_tune_table_add(table, &row, config, &why) < 0)
            return wrong_because(in, &why);
    }
    if (next_line(in) < 0)
        return -1;
    if (strcmp(in->line, mark_end) != 0)
        return wrong(in, "more rows than \"rows\" says");
    if (in->at < in->end)
        return wrong(in, "something follows \"end\"");
    return 0;
}

static int index_table(struct reader *in, struct asp_tune_table *table)
{
    if (asp_tune_table_index(table) == 0)
        return 0;
    return errno == EFBIG
               ? asp_err_in(in->err, EFBIG, in->where.file,
                            "more than %d shapes of communicators",
                            ASP_TUNE_SHAPES_MAX)
               : asp_err_in(in->err, ENOMEM, in->where.file, "out of memory");
}

int asp_tune_table_parse(const char *name, const char *text, size_t len,
                         asp_tune_config_check_f check,
                         struct asp_tune_table *table_p, struct asp_err *err)
{
    struct asp_tune_table table = {.rows = NULL};
    struct reader in = {.at = text,
                        .end = text + len,
                        .where = {.file = name},
                        .check = check,
                        .err = err};
    uint32_t rows;
    int rc;

    if (len > ASP_TUNE_FILE_MAX)
        return asp_err_in(err, EFBIG, name, "larger than %d bytes",
                          ASP_TUNE_FILE_MAX);
    rc = read_header(&in, &table, &rows);
    if (rc == 0)
        rc = read_rows(&in, &table, rows);
    if (rc == 0)
        rc = index_table(&in, &table);
    if (rc < 0) {
        int saved = errno;

        asp_tune_table_clear(&table);
        errno = saved;
        return -1;
    }
    *table_p = table;
    return 0;
}

/* Read to the end, or one byte past the limit. Returns the bytes, or -1. */
static ssize_t read_all(int fd, char *buf, size_t size)
{
    size_t len = 0;

    while (len < size) {
        ssize_t n = read(fd, buf + len, size - len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        len += (size_t) n;
    }
    return (ssize_t) len;
}

int asp_tune_table_read(const char *path, asp_tune_config_check_f check,
                        struct asp_tune_table *table_p, struct asp_err *err)
{
    /* Not to wait for the writer of a FIFO. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc = -1, saved;
    char *buf = fd < 0 ? NULL : malloc(ASP_TUNE_FILE_MAX + 1);
    ssize_t len;

    if (!buf) {
        asp_err_in(err, errno, path, "%s", strerror(errno));
        goto out;
    }
    len = read_all(fd, buf, ASP_TUNE_FILE_MAX + 1);
    if (len < 0)
        asp_err_in(err, errno, path, "%s", strerror(errno));
    else
        rc = asp_tune_table_parse(path, buf, (size_t) len, check, table_p, err);
out:
    saved = errno;
    if (fd >= 0)
        close(fd);
    free(buf);
    errno = saved;
    return rc;
}
