/* SPDX-License-Identifier: BSD-3-Clause */
/* From a file to a struct aspt_record; called by tools/report/report.c. */
#include "config.h"

#include "record.h"
#include "field.h"
#include "parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A rank takes about 100 bytes of a record: enough for a million of them. */
enum { FILE_MAX = 256 << 20 };

static FILE *open_record(const char *path, struct asp_err *err)
{
    FILE *in = strcmp(path, "-") ? fopen(path, "re") : stdin;
    struct stat st;

    if (!in || fstat(fileno(in), &st) < 0) {
        asp_errf(err, errno, "cannot read %.200s: %s", path, strerror(errno));
    } else if (S_ISDIR(st.st_mode)) {
        asp_errf(err, EISDIR, "cannot read %.200s: it is a folder", path);
    } else if (st.st_size > FILE_MAX) {
        asp_errf(err, EFBIG, "%.200s is larger than any record", path);
    } else {
        return in;
    }
    if (in && in != stdin)
        fclose(in);
    return NULL;
}

struct source {
    FILE *in;
    size_t used;
};

/* For jansson; what is too long ends early, and so is refused. */
static size_t feed(void *buffer, size_t size, void *data)
{
    struct source *source = data;
    size_t n = 0;

    if (source->used < FILE_MAX)
        n = fread(buffer, 1, size, source->in);
    source->used += n;
    return n;
}

/* The form is looked at first: the keys of another one mean other things. */
static int check_form(const struct aspt_record *record, const char *file,
                      struct asp_err *err)
{
    const json_t *form;

    if (!json_is_object(record->root))
        return asp_err_in(err, EINVAL, file, "is not a record of Aspen");
    form = json_object_get(record->root, "aspen_record");
    if (!json_is_integer(form))
        return asp_err_in(err, EINVAL, file,
                          "is not a record of Aspen: \"aspen_record\" is "
                          "not a number, or not there");
    if (json_integer_value(form) != ASPT_RECORD_FORM)
        return asp_err_in(err, EPROTO, file,
                          "is a record of form %lld; this aspen (%s) reads "
                          "form %d",
                          (long long) json_integer_value(form), PACKAGE_VERSION,
                          ASPT_RECORD_FORM);
    return 0;
}

static int read_head(struct aspt_record *record, const char *file,
                     struct asp_err *err)
{
    static const struct aspt_field fields[] = {
        ASPT_FIELD(aspt_record, version, ASPT_TEXT),
        ASPT_FIELD(aspt_record, job, ASPT_TEXT),
        ASPT_FIELD(aspt_record, mode, ASPT_TEXT),
        ASPT_FIELD(aspt_record, users, ASPT_COUNT),
        ASPT_FIELD(aspt_record, ghosts, ASPT_COUNT),
        ASPT_FIELD(aspt_record, nodes, ASPT_COUNT),
        ASPT_FIELD(aspt_record, bound, ASPT_BOOL),
        ASPT_FIELD(aspt_record, reason, ASPT_TEXT),
        {"program", ASPT_TEXT, offsetof(struct aspt_record, program), false},
        ASPT_FIELD(aspt_record, mpi, ASPT_TEXT),
        ASPT_FIELD(aspt_record, mpi_build, ASPT_TEXT),
        {"mpi_device", ASPT_TEXT, offsetof(struct aspt_record, mpi_device),
         true},
        {"mpi_fixes", ASPT_TEXT, offsetof(struct aspt_record, mpi_fixes), true},
        {"profile_build", ASPT_TEXT,
         offsetof(struct aspt_record, profile_build), true},
        {"policy_digest", ASPT_TEXT, offsetof(struct aspt_record, digest),
         false},
        {"service_cpus", ASPT_TEXT, offsetof(struct aspt_record, service_list),
         false},
    };
    struct aspt_json_place place = {file, "", 0};

    return aspt_fields_read(record->root, &place, fields,
                            sizeof(fields) / sizeof(fields[0]), record, err);
}

/* Everything behind the form. */
static int read_all(struct aspt_record *record, const char *file,
                    struct asp_err *err)
{
    static int (*const parts[])(struct aspt_record *, const char *,
                                struct asp_err *) = {
        read_head,
        aspt_part_tasks,
        aspt_part_calls,
        aspt_part_windows,
        aspt_part_helpers,
        aspt_part_messages,
        aspt_part_time,
        aspt_part_busy,
        aspt_part_scaling,
        aspt_part_adaptation,
        aspt_part_collectives,
    };

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (parts[i](record, file, err) < 0)
            return -1;
    return 0;
}

int aspt_record_read(const char *path, struct aspt_record **record_p,
                     struct asp_err *err)
{
    const char *file = strcmp(path, "-") ? path : "stdin";
    struct source source = {open_record(path, err), 0};
    struct aspt_record *record;
    json_error_t error;

    if (!source.in)
        return -1;
    record = calloc(1, sizeof(*record));
    if (!record) {
        if (source.in != stdin)
            fclose(source.in);
        return asp_errf(err, ENOMEM, "out of memory");
    }
    record->root = json_load_callback(feed, &source, JSON_REJECT_DUPLICATES,
                                      &error);
    if (!record->root)
        asp_err_at(err, EINVAL,
                   &(struct asp_location){
                       file, error.line > 0 ? (size_t) error.line : 0,
                       error.column > 0 ? (size_t) error.column : 0},
                   "is not JSON: %s", error.text);
    if (record->root && check_form(record, file, err) == 0 &&
        read_all(record, file, err) == 0) {
        *record_p = record;
        record = NULL;
    }
    if (source.in != stdin)
        fclose(source.in);
    if (!record)
        return 0;
    aspt_record_free(record);
    return -1;
}

void aspt_record_free(struct aspt_record *record)
{
    if (!record)
        return;
    free(record->tasks);
    free(record->loads);
    free(record->windows);
    free(record->sources);
    free(record->rules);
    free(record->time.ranks);
    free(record->time.calls);
    free(record->busy);
    free(record->adaptation.decisions);
    free(record->scaling);
    free(record->adaptation.switches);
    free(record->adaptation.strips);
    free(record->messages.rules);
    free(record->collectives.links);
    free(record->collectives.found);
    json_decref(record->root);
    free(record);
}
