/* SPDX-License-Identifier: BSD-3-Clause */
/* Policy files: open them safely, read them whole, spread their maps into
 * settings. A site policy steers other people's jobs, so nobody but its owner
 * may be able to write it, or to put another file in its place. */
#include "config.h"

#include "priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef ASPEN_SITE_POLICY
#define ASPEN_SITE_POLICY "/etc/aspen/policy.yaml"
#endif

const char *asp_policy_site_path(void)
{
    return ASPEN_SITE_POLICY;
}

static int check_owner(const char *path, const struct stat *st, uid_t owner_uid,
                       const char *what, struct asp_err *err)
{
    /* A sticky folder lets only owners replace their files. */
    bool sticky = S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX;

    if (st->st_uid != owner_uid && st->st_uid != 0)
        return asp_err_in(err, EPERM, path,
                          "%s belongs to user %u, not %u: it is ignored until "
                          "chown %u",
                          what, st->st_uid, owner_uid, owner_uid);
    if (st->st_mode & (S_IWGRP | S_IWOTH) && !sticky)
        return asp_err_in(err, EPERM, path,
                          "%s can be written by others (mode %04o): it is "
                          "ignored until chmod go-w",
                          what, st->st_mode & 07777);
    return 0;
}

/* The folders above a site policy, up to the root. */
static int check_parents(const char *path, uid_t owner_uid, struct asp_err *err)
{
    char real[PATH_MAX], *slash;
    struct stat st;

    if (!realpath(path, real))
        return asp_err_in(err, errno, path, "%s", strerror(errno));
    while ((slash = strrchr(real, '/')) != NULL) {
        *slash = '\0';
        if (stat(real[0] ? real : "/", &st) < 0)
            return asp_err_in(err, errno, path, "%s: %s", real,
                              strerror(errno));
        if (check_owner(path, &st, owner_uid, "its folder", err) < 0)
            return -1;
    }
    return 0;
}

static int check_file(const char *path, int fd, uid_t owner_uid,
                      struct asp_err *err)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return asp_err_in(err, errno, path, "%s", strerror(errno));
    if (S_ISDIR(st.st_mode))
        return asp_err_in(err, EISDIR, path,
                          "is a folder; name a policy file in it");
    if (!S_ISREG(st.st_mode))
        return asp_err_in(err, EINVAL, path, "is not a regular file");
    if (st.st_size > ASP_POLICY_FILE_MAX)
        return asp_err_in(err, EFBIG, path,
                          "has %lld bytes; a policy has at most %d",
                          (long long) st.st_size, ASP_POLICY_FILE_MAX);
    if (owner_uid == (uid_t) -1)
        return 0;
    if (check_owner(path, &st, owner_uid, "the site policy", err) < 0)
        return -1;
    return check_parents(path, owner_uid, err);
}

static int read_whole(const char *path, int fd, char **text_p, size_t *len_p,
                      struct asp_err *err)
{
    char *text = malloc(ASP_POLICY_FILE_MAX + 1);
    size_t len = 0;

    if (!text)
        return asp_err_in(err, ENOMEM, path, "no memory to read it");
    for (;;) {
        ssize_t got = read(fd, text + len, ASP_POLICY_FILE_MAX + 1 - len);

        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0)
            break;
        if (got < 0 || (len += (size_t) got) > ASP_POLICY_FILE_MAX) {
            asp_err_in(err, got < 0 ? errno : EFBIG, path, "%s",
                       got < 0 ? strerror(errno) : "grew while it was read");
            free(text);
            return -1;
        }
    }
    *text_p = text;
    *len_p = len;
    return 0;
}

int asp_policy_read(const char *path, uid_t owner_uid, char **text_p,
                    size_t *len_p, struct asp_err *err)
{
    int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    int fd, rc, saved;

    if (owner_uid != (uid_t) -1)
        flags |= O_NOFOLLOW;
    fd = open(path, flags);
    if (fd < 0)
        return asp_err_in(err, errno, path, "cannot be opened: %s",
                          errno == ELOOP ? "it is a symbolic link"
                                         : strerror(errno));
    rc = check_file(path, fd, owner_uid, err);
    if (rc == 0)
        rc = read_whole(path, fd, text_p, len_p, err);
    saved = errno;
    close(fd);
    errno = saved;
    return rc;
}

int asp_policy_map(struct asp_setting settings[ASP_KNOB_COUNT],
                   const struct asp_yaml_node *map, const char *prefix,
                   enum asp_layer layer, struct asp_err *err)
{
    for (const struct asp_yaml_node *n = map->first; n; n = n->next) {
        char name[ASP_NAME_MAX * 2];

        snprintf(name, sizeof(name), "%s%s%.64s", prefix, prefix[0] ? "." : "",
                 n->key);
        if (!prefix[0] && layer == ASP_LAYER_JOB &&
            (strcmp(name, "version") == 0 ||
             asp_policy_objects_section(name) < ASP_OBJ_KINDS))
            continue;
        if (n->kind == ASP_YAML_MAP) {
            if (prefix[0])
                return asp_err_at(err, EINVAL, &n->at,
                                  "\"%.64s\" is nested too deeply", name);
            if (asp_policy_map(settings, n, name, layer, err) < 0)
                return -1;
            continue;
        }
        if (n->kind != ASP_YAML_SCALAR)
            return asp_err_at(err, EINVAL, &n->at,
                              "%.64s takes one value, not a list", name);
        if (asp_policy_set(settings, name, n->text, layer,
                           asp_knob_find(name) == ASP_KNOB_COUNT ? &n->key_at
                                                                 : &n->at,
                           err) < 0)
            return -1;
    }
    return 0;
}

static int check_version(const struct asp_yaml_node *root, bool needed,
                         struct asp_err *err)
{
    for (const struct asp_yaml_node *n = root->first; n; n = n->next) {
        if (strcmp(n->key, "version") != 0)
            continue;
        if (n->kind == ASP_YAML_SCALAR && strcmp(n->text, "1") == 0)
            return 0;
        return asp_err_at(err, EINVAL, &n->at,
                          "this Aspen reads version 1 of policies");
    }
    if (needed)
        return asp_err_at(err, EINVAL, &root->at,
                          "a site policy starts with \"version: 1\"");
    return 0;
}

static int add_site_doc(struct asp_policy *policy,
                        const struct asp_yaml_node *root, struct asp_err *err)
{
    static const char *const known[] = {"version", "defaults",      "rules",
                                        "windows", "communicators", "limits"};

    for (const struct asp_yaml_node *n = root->first; n; n = n->next) {
        bool defaults = strcmp(n->key, "defaults") == 0;
        bool limits = strcmp(n->key, "limits") == 0;
        enum asp_objkind_id kind = asp_policy_objects_section(n->key);
        int rc = 0;

        if ((defaults || limits) && n->kind != ASP_YAML_MAP)
            return asp_err_at(err, EINVAL, &n->at,
                              "%s: takes a map of settings", n->key);
        if (defaults)
            rc = asp_policy_map(policy->layers[ASP_LAYER_SITE], n, "",
                                ASP_LAYER_SITE, err);
        else if (limits)
            rc = asp_policy_limits(policy, n, err);
        else if (strcmp(n->key, "rules") == 0)
            rc = asp_policy_rules(policy, n, err);
        else if (kind < ASP_OBJ_KINDS)
            rc = asp_policy_objects_read(
                &policy->objects[kind].layers[ASP_LAYER_SITE], kind, n, err);
        else if (strcmp(n->key, "version") != 0)
            rc = asp_policy_unknown("section", n->key, known, 6, &n->key_at,
                                    err);
        if (rc < 0)
            return -1;
    }
    return 0;
}

static int add_job_doc(struct asp_policy *policy,
                       const struct asp_yaml_node *root, struct asp_err *err)
{
    if (asp_policy_map(policy->layers[ASP_LAYER_JOB], root, "", ASP_LAYER_JOB,
                       err) < 0)
        return -1;
    for (const struct asp_yaml_node *n = root->first; n; n = n->next) {
        enum asp_objkind_id kind = asp_policy_objects_section(n->key);

        if (kind < ASP_OBJ_KINDS &&
            asp_policy_objects_read(
                &policy->objects[kind].layers[ASP_LAYER_JOB], kind, n, err) < 0)
            return -1;
    }
    return 0;
}

int asp_policy_add_text(struct asp_policy *policy, const char *name,
                        const char *text, size_t len, enum asp_policy_kind kind,
                        struct asp_err *err)
{
    struct asp_yaml *doc;
    int rc = 0;

    if (asp_yaml_parse(name, text, len, &doc, err) < 0)
        return -1;
    if (!doc->root) {
        asp_yaml_destroy(doc);
        return 0;
    }
    if (doc->root->kind != ASP_YAML_MAP)
        rc = asp_err_at(err, EINVAL, &doc->root->at,
                        "a policy is a map of settings");
    else
        rc = check_version(doc->root, kind == ASP_POLICY_SITE, err);
    if (rc == 0 && kind == ASP_POLICY_JOB)
        rc = add_job_doc(policy, doc->root, err);
    if (rc < 0 || kind == ASP_POLICY_JOB) {
        asp_yaml_destroy(doc);
        return rc;
    }
    if (policy->doc) {
        asp_yaml_destroy(doc);
        return asp_err_in(err, EINVAL, name, "there is a site policy already");
    }
    policy->doc = doc; /* rules point into it */
    return add_site_doc(policy, doc->root, err);
}

static int add_file(struct asp_policy *policy, const char *path,
                    uid_t owner_uid, enum asp_policy_kind kind,
                    struct asp_err *err)
{
    char *text;
    size_t len;
    int rc;

    if (asp_policy_read(path, owner_uid, &text, &len, err) < 0)
        return -1;
    rc = asp_policy_add_text(policy, path, text, len, kind, err);
    free(text);
    return rc;
}

int asp_policy_add_job(struct asp_policy *policy, const char *path,
                       struct asp_err *err)
{
    return add_file(policy, path, (uid_t) -1, ASP_POLICY_JOB, err);
}

int asp_policy_add_site(struct asp_policy *policy, const char *path,
                        uid_t owner_uid, struct asp_err *err)
{
    return add_file(policy, path, owner_uid, ASP_POLICY_SITE, err);
}

int asp_policy_add_default_site(struct asp_policy *policy, const char *path,
                                struct asp_err *err)
{
    bool given = path && path[0];

    if (!given)
        path = asp_policy_site_path();
    if (access(path, F_OK) < 0 && errno == ENOENT &&
        (!given || strcmp(path, asp_policy_site_path()) == 0))
        return 0;
    return asp_policy_add_site(policy, path, 0, err);
}
