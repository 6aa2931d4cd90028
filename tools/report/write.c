/* SPDX-License-Identifier: BSD-3-Clause */
/* Called by report.c with the whole text of a report. */
#include "config.h"

#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Is what stands under this name a page that Aspen made? A link is not. */
static bool is_own_page(const char *path)
{
    char begin[sizeof(ASPT_PAGE_BEGIN) - 1];
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    ssize_t got = -1;

    if (file < 0)
        return false;
    if (fstat(file, &st) == 0 && S_ISREG(st.st_mode))
        got = pread(file, begin, sizeof(begin), 0);
    close(file);
    return got == (ssize_t) sizeof(begin) &&
           memcmp(begin, ASPT_PAGE_BEGIN, sizeof(begin)) == 0;
}

/* The file that becomes `path` when it is complete: with a name of its own,
 * which goes to `made`, so that nothing is followed or written over. */
static FILE *open_beside(const char *path, char made[PATH_MAX])
{
    mode_t mask = umask(0);
    FILE *out = NULL;
    int file;

    umask(mask);
    if (snprintf(made, PATH_MAX, "%s.XXXXXX", path) >= PATH_MAX) {
        made[0] = '\0';
        errno = ENAMETOOLONG;
        return NULL;
    }
    file = mkostemp(made, O_CLOEXEC);
    if (file < 0)
        made[0] = '\0';
    else if (fchmod(file, 0666 & ~mask) == 0)
        out = fdopen(file, "w");
    if (file >= 0 && !out)
        close(file);
    return out;
}

int aspt_report_write(const char *path, bool made_up, const char *text,
                      size_t len, struct asp_err *err)
{
    bool to_stdout = strcmp(path, "-") == 0;
    char made[PATH_MAX] = "";
    struct stat st;
    FILE *out;
    bool good;

    if (made_up && lstat(path, &st) == 0 && !is_own_page(path))
        return asp_errf(err, EEXIST,
                        "%.200s is there and is no page of aspen "
                        "report: name the page with -o",
                        path);
    out = to_stdout ? stdout
          : made_up ? open_beside(path, made)
                    : fopen(path, "we");
    good = out && fwrite(text, 1, len, out) == len && fflush(out) == 0;
    if (out && !to_stdout)
        good = fclose(out) == 0 && good;
    good = good && (!made[0] || rename(made, path) == 0);
    if (!good)
        asp_errf(err, errno, "cannot write %.200s: %s",
                 to_stdout ? "the report" : path, strerror(errno));
    if (!good && made[0])
        unlink(made);
    return good ? 0 : -1;
}
