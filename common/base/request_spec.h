/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a request, "ghost:2,key=value,word,...": its items, and what of a
 * canonical one (made by `aspen request`) decides about tasks and roles. What
 * the keys mean is for common/policy. The text comes from the user's side, and
 * slurmstepd, which is root, reads it too: it is treated as hostile. */
#ifndef ASPEN_COMMON_BASE_REQUEST_SPEC_H
#define ASPEN_COMMON_BASE_REQUEST_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ASP_SPEC_MAX = 8191 }; /* bytes of a request */

/* One item, in place. */
struct asp_spec_item {
    const char *key; /* or the word */
    size_t key_len;
    const char *value; /* NULL: no '=' */
    size_t value_len;
};

/* The next item of *rest_p, which moves on and is NULL behind the last. An item
 * may be empty. Returns false when there is none. */
bool asp_spec_next(const char **rest_p, struct asp_spec_item *out_p);

/* Is the key said with this value? A bare word is "yes". */
bool asp_spec_says(const char *spec, const char *key, const char *value);

/* Does it ask for what helps a rank without any helper, so that mode off is not
 * plain MPI? Knobs pack, match and coll. */
bool asp_spec_helps_without_helpers(const char *spec);

struct asp_request_spec {
    char mode[16];   /* "ghost", "offload", "thread", "off" */
    uint32_t ghosts; /* per node; 0 unless the mode is ghost */
    bool require;    /* fail the step rather than degrade */
    bool optional;   /* adapt=auto: do without ghosts rather than fail */
};

/* Returns 0, or -1 with errno EINVAL (no mode first, a character that is not
 * printable ASCII, a number out of range) or EMSGSIZE; *out_p is untouched
 * then. */
int asp_request_spec_parse(const char *spec, struct asp_request_spec *out_p);

#endif
