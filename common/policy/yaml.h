/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of YAML that policies use, as a tree with places: one document of
 * maps, lists and scalars. Aliases, anchors, tags, duplicate keys and deep
 * nesting are refused, so the tree is never larger than its text. */
#ifndef ASPEN_COMMON_POLICY_YAML_H
#define ASPEN_COMMON_POLICY_YAML_H

#include "common/base/err.h"

#include <stddef.h>

enum asp_yaml_kind { ASP_YAML_SCALAR, ASP_YAML_MAP, ASP_YAML_LIST };

struct asp_yaml_node {
    enum asp_yaml_kind kind;
    char *key;                   /* when inside a map, else NULL */
    char *text;                  /* scalar */
    struct asp_location at;      /* of the value */
    struct asp_location key_at;  /* of the key */
    struct asp_yaml_node *first; /* children */
    struct asp_yaml_node *next;  /* sibling */
};

struct asp_yaml {
    struct asp_yaml_node *root; /* NULL: nothing but comments */
};

/* Parse text.
 *   file    for messages; borrowed by the places in the tree
 *   out_p   owned by the caller, asp_yaml_destroy()
 * Returns 0, or -1 with errno EINVAL (place and reason in err) or ENOMEM. */
int asp_yaml_parse(const char *file, const char *text, size_t len,
                   struct asp_yaml **out_p, struct asp_err *err);

/* Takes NULL; keeps errno. */
void asp_yaml_destroy(struct asp_yaml *yaml);

#endif
