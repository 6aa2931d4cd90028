/* SPDX-License-Identifier: BSD-3-Clause */
/* aspen report: the record of a job as a page or as text. */
#include "config.h"

#include "report.h"
#include "source.h"

#include "tools/base/command.h"
#include "tools/base/options.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] =
    "usage: aspen report FILE [-o OUT.html]\n"
    "       aspen report --text FILE [-o OUT]\n\n"
    "Shows the record that a job wrote (srun --async-report=FILE): as one "
    "HTML\n"
    "page that needs nothing else, by default beside FILE (job.json:\n"
    "job.html); or as text, by default on the terminal. FILE and OUT can be "
    "-.\n";

typedef void report_f(FILE *to, const struct aspt_record *record);

/* "job.json": "job.html". Owned by the caller; NULL without memory. */
static char *page_name(const char *path)
{
    size_t len = strlen(path);
    char *name = malloc(len + sizeof(".html"));

    if (!name)
        return NULL;
    if (len > 5 && strcmp(path + len - 5, ".json") == 0)
        len -= 5;
    memcpy(name, path, len);
    strcpy(name + len, ".html");
    return name;
}

static bool same_file(const char *path, const char *other)
{
    struct stat st, other_st;

    return stat(path, &st) == 0 && stat(other, &other_st) == 0 &&
           st.st_dev == other_st.st_dev && st.st_ino == other_st.st_ino;
}

/* In memory first, so that a mishap leaves no half of a page. */
static int show(const struct aspt_record *record, report_f *form,
                const char *path, bool made_up, struct asp_err *err)
{
    char *text = NULL;
    size_t len = 0;
    FILE *memory = open_memstream(&text, &len);
    int rc;

    if (!memory)
        return asp_errf(err, ENOMEM, "out of memory");
    form(memory, record);
    rc = ferror(memory);
    if (fclose(memory) != 0 || rc)
        rc = asp_errf(err, ENOMEM, "out of memory");
    else
        rc = aspt_report_write(path, made_up, text, len, err);
    free(text);
    return rc;
}

static int report(const char *path, const char *out, bool as_text)
{
    struct aspt_record *record = NULL;
    struct asp_err err = {.text = ""};
    char *name = NULL;
    int rc = -1;

    if (!out && (as_text || strcmp(path, "-") == 0))
        out = "-";
    else if (!out)
        out = name = page_name(path);
    if (!out)
        asp_errf(&err, ENOMEM, "out of memory");
    else if (same_file(path, out))
        asp_errf(&err, EINVAL,
                 "%.200s is the record itself: name another "
                 "file for the report",
                 out);
    else if (aspt_record_read(path, &record, &err) == 0) {
        aspt_sources_find(record, path);
        rc = show(record, as_text ? aspt_report_text : aspt_report_page, out,
                  name != NULL, &err);
    }
    if (rc == 0 && name)
        printf("%s\n", name);
    aspt_record_free(record);
    free(name);
    return rc == 0 ? ASPT_OK : aspt_complain(&err);
}

struct given {
    const char *out; /* NULL: not given */
    bool as_text;
};

static int take_option(int option, const char *value, void *data,
                       struct asp_err *err)
{
    struct given *given = data;

    (void) err;
    if (option == 'o')
        given->out = value;
    given->as_text |= option == 't';
    return 0;
}

int aspt_report(int argc, char **argv)
{
    static const struct option table[] = {
        {"text", no_argument, NULL, 't'},
        {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, ASPT_OPTION_HELP},
        {NULL, 0, NULL, 0},
    };
    static const struct aspt_options options = {"aspen report", ":o:", table,
                                                usage, take_option};
    struct given given = {NULL, false};
    int status = aspt_options_read(&options, argc, argv, &given);

    if (status >= 0)
        return status;
    if (optind != argc - 1) {
        fputs(usage, stderr);
        return ASPT_REFUSED;
    }
    return report(argv[optind], given.out, given.as_text);
}
