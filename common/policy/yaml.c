/* SPDX-License-Identifier: BSD-3-Clause */
/* libyaml events -> tree; see yaml.h. */
#include "yaml.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

enum { DEPTH_MAX = 8, NODES_MAX = 20000 };

struct reader {
    yaml_parser_t parser;
    yaml_event_t event;
    bool has_event;
    const char *file;
    const char *text;
    size_t nodes;
    struct asp_err *err;
};

static int bad_at(const struct reader *reader, const yaml_mark_t *mark,
                  const char *what)
{
    const struct asp_location at = {reader->file, mark->line + 1,
                                    mark->column + 1};

    return asp_err_at(reader->err, EINVAL, &at, "%s", what);
}

static int bad_memory(const struct reader *reader)
{
    return asp_errf(reader->err, ENOMEM, "out of memory");
}

/* What libyaml says, with its place. Its reader (bytes that are no UTF-8)
 * knows only an offset. */
static int bad_parser(const struct reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    struct asp_location at = {reader->file, parser->problem_mark.line + 1,
                              parser->problem_mark.column + 1};

    if (parser->error == YAML_MEMORY_ERROR)
        return bad_memory(reader);
    if (parser->error == YAML_READER_ERROR) {
        at.line = at.column = 1;
        for (size_t i = 0; i < parser->problem_offset; i++) {
            at.column++;
            if (reader->text[i] == '\n') {
                at.line++;
                at.column = 1;
            }
        }
    }
    return asp_err_at(reader->err, EINVAL, &at, "not valid YAML: %s%s%s",
                      parser->problem, parser->context ? ", " : "",
                      parser->context ? parser->context : "");
}

/* The next event into reader->event; the one before it is freed. */
static int next_event(struct reader *reader)
{
    if (reader->has_event)
        yaml_event_delete(&reader->event);
    reader->has_event = false;
    if (!yaml_parser_parse(&reader->parser, &reader->event))
        return bad_parser(reader);
    reader->has_event = true;
    return 0;
}

static void node_free(struct asp_yaml_node *node)
{
    while (node) {
        struct asp_yaml_node *next = node->next;

        node_free(node->first);
        free(node->key);
        free(node->text);
        free(node);
        node = next;
    }
}

static int read_children(struct reader *reader, struct asp_yaml_node *node,
                         unsigned depth);

/* Refuse what makes a tree more than its text, or means something else. */
static int check_plain(const struct reader *reader, const yaml_char_t *anchor,
                       const yaml_char_t *tag)
{
    if (anchor)
        return bad_at(reader, &reader->event.start_mark,
                      "anchors (&) are not allowed: write the value out");
    if (tag)
        return bad_at(reader, &reader->event.start_mark,
                      "tags (!) are not allowed");
    return 0;
}

/* Set node->kind and, for a scalar, its text, from the current event. */
static int read_kind(struct reader *reader, struct asp_yaml_node *node)
{
    const yaml_event_t *event = &reader->event;

    switch (event->type) {
    case YAML_SCALAR_EVENT:
        if (check_plain(reader, event->data.scalar.anchor,
                        event->data.scalar.tag))
            return -1;
        if (memchr(event->data.scalar.value, '\0', event->data.scalar.length))
            return bad_at(reader, &event->start_mark, "value with a NUL");
        node->kind = ASP_YAML_SCALAR;
        node->text = strdup((const char *) event->data.scalar.value);
        return node->text ? 0 : bad_memory(reader);
    case YAML_MAPPING_START_EVENT:
        node->kind = ASP_YAML_MAP;
        return check_plain(reader, event->data.mapping_start.anchor,
                           event->data.mapping_start.tag);
    case YAML_SEQUENCE_START_EVENT:
        node->kind = ASP_YAML_LIST;
        return check_plain(reader, event->data.sequence_start.anchor,
                           event->data.sequence_start.tag);
    case YAML_ALIAS_EVENT:
        return bad_at(reader, &event->start_mark,
                      "aliases (*) are not allowed: write the value out");
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        break;
    }
    return bad_at(reader, &event->start_mark, "expected a value");
}

/* The current event and what belongs to it. */
static int read_node(struct reader *reader, unsigned depth,
                     struct asp_yaml_node **out_p)
{
    struct asp_yaml_node *node;

    if (depth > DEPTH_MAX || ++reader->nodes > NODES_MAX)
        return bad_at(reader, &reader->event.start_mark,
                      "too deep or too large for a policy");
    node = calloc(1, sizeof(*node));
    if (!node)
        return bad_memory(reader);
    node->at = (struct asp_location){reader->file,
                                     reader->event.start_mark.line + 1,
                                     reader->event.start_mark.column + 1};
    if (read_kind(reader, node) || (node->kind != ASP_YAML_SCALAR &&
                                    read_children(reader, node, depth + 1))) {
        node_free(node);
        return -1;
    }
    *out_p = node;
    return 0;
}

static int check_key(const struct reader *reader,
                     const struct asp_yaml_node *map,
                     const struct asp_yaml_node *key)
{
    if (key->kind != ASP_YAML_SCALAR)
        return asp_err_at(reader->err, EINVAL, &key->at,
                          "a key must be a word");
    for (const struct asp_yaml_node *n = map->first; n; n = n->next) {
        if (!strcmp(n->key, key->text))
            return asp_err_at(reader->err, EINVAL, &key->at,
                              "key \"%.60s\" given twice: first at line %zu",
                              key->text, n->key_at.line);
    }
    return 0;
}

/* One "key: value" of a map whose key is the current event. */
static int read_pair(struct reader *reader, const struct asp_yaml_node *map,
                     unsigned depth, struct asp_yaml_node **out_p)
{
    struct asp_yaml_node *key = NULL, *value = NULL;

    if (read_node(reader, depth, &key))
        return -1;
    if (check_key(reader, map, key) || next_event(reader) ||
        read_node(reader, depth, &value)) {
        node_free(key);
        return -1;
    }
    value->key = key->text;
    value->key_at = key->at;
    key->text = NULL;
    node_free(key);
    *out_p = value;
    return 0;
}

static int read_children(struct reader *reader, struct asp_yaml_node *node,
                         unsigned depth)
{
    struct asp_yaml_node **tail = &node->first;

    for (;;) {
        int rc;

        if (next_event(reader))
            return -1;
        if (reader->event.type == YAML_MAPPING_END_EVENT ||
            reader->event.type == YAML_SEQUENCE_END_EVENT)
            return 0;
        if (node->kind == ASP_YAML_MAP)
            rc = read_pair(reader, node, depth, tail);
        else
            rc = read_node(reader, depth, tail);
        if (rc)
            return -1;
        tail = &(*tail)->next;
    }
}

static int read_document(struct reader *reader, struct asp_yaml *yaml)
{
    if (next_event(reader) || next_event(reader)) /* stream, then document */
        return -1;
    if (reader->event.type == YAML_STREAM_END_EVENT)
        return 0;
    if (next_event(reader) || read_node(reader, 0, &yaml->root) ||
        next_event(reader) || next_event(reader))
        return -1;
    if (reader->event.type != YAML_STREAM_END_EVENT)
        return bad_at(reader, &reader->event.start_mark,
                      "a second document: a policy is one document");
    return 0;
}

int asp_yaml_parse(const char *file, const char *text, size_t len,
                   struct asp_yaml **out_p, struct asp_err *err)
{
    struct reader reader = {.file = file, .text = text, .err = err};
    const char *nul = len ? memchr(text, '\0', len) : NULL;
    struct asp_yaml *yaml;
    int rc;

    if (nul)
        return asp_err_in(err, EINVAL, file,
                          "NUL byte at offset %zu: not a text file",
                          (size_t) (nul - text));
    yaml = calloc(1, sizeof(*yaml));
    if (!yaml || !yaml_parser_initialize(&reader.parser)) {
        free(yaml);
        return bad_memory(&reader);
    }
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *) text,
                                 len);
    rc = read_document(&reader, yaml);
    if (reader.has_event)
        yaml_event_delete(&reader.event);
    yaml_parser_delete(&reader.parser);
    if (rc) {
        asp_yaml_destroy(yaml);
        return -1;
    }
    *out_p = yaml;
    return 0;
}

void asp_yaml_destroy(struct asp_yaml *yaml)
{
    int saved = errno;

    if (!yaml)
        return;
    node_free(yaml->root);
    free(yaml);
    errno = saved;
}
