/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading of /proc for status.h. Processes come and go meanwhile: a file that
 * cannot be read is a process that is gone. */
#include "config.h"

#include "status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SMALL_FILE = 4096 };

char *aspt_proc_read(pid_t pid, const char *name, size_t max, size_t *len_p)
{
    size_t size = SMALL_FILE, len = 0;
    char path[96], *text = NULL;
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/%s", (int) pid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    do {
        char *more = realloc(text, size + 1);

        if (!more) {
            n = -1;
            break;
        }
        text = more;
        n = read(fd, text + len, size - len);
        len += n > 0 ? (size_t) n : 0;
        size = len == size ? 2 * size : size;
    } while (n > 0 && len < max);
    close(fd);
    if (n < 0 || !text) {
        free(text);
        return NULL;
    }
    text[len] = '\0';
    *len_p = len;
    return text;
}

const char *aspt_proc_env(const char *env, size_t len, const char *name)
{
    size_t name_len = strlen(name);

    for (size_t at = 0; at < len; at += strlen(env + at) + 1)
        if (strncmp(env + at, name, name_len) == 0 && env[at + name_len] == '=')
            return env + at + name_len + 1;
    return NULL;
}

bool aspt_proc_mine(pid_t pid)
{
    char path[64];
    struct stat st;

    snprintf(path, sizeof(path), "/proc/%d", (int) pid);
    return stat(path, &st) == 0 && st.st_uid == geteuid();
}

/* State and CPU time; the command's name, in parentheses, can be anything. */
static bool read_stat(pid_t pid, struct aspt_proc *proc)
{
    unsigned long long user, kernel;
    size_t len;
    char *text = aspt_proc_read(pid, "stat", SMALL_FILE, &len), *at;
    bool good = false;

    at = text ? strrchr(text, ')') : NULL;
    /* Fields 3, 14 and 15 of proc(5). */
    if (at &&
        sscanf(at + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu",
               &proc->state, &user, &kernel) == 3) {
        proc->cpu_s = (double) (user + kernel) / (double) sysconf(_SC_CLK_TCK);
        good = proc->state != 'Z' && proc->state != 'X';
    }
    free(text);
    return good;
}

/* A file of a thread; NULL when that is gone. */
static char *thread_file(pid_t pid, const char *tid, const char *file)
{
    char name[64];
    size_t len;

    snprintf(name, sizeof(name), "task/%.20s/%s", tid, file);
    return aspt_proc_read(pid, name, SMALL_FILE, &len);
}

/* How long a thread has run. */
static double thread_seconds(pid_t pid, const char *tid)
{
    char *text = thread_file(pid, tid, "schedstat"); /* begins with ns */
    double seconds = text ? strtod(text, NULL) / 1e9 : 0;

    free(text);
    return seconds;
}

/* Is it the thread of mode offload or thread? (runtime/mpi/helper_thread.c) */
static bool is_helper(pid_t pid, const char *tid)
{
    char *text = thread_file(pid, tid, "comm");
    bool helper = text && (strcmp(text, "aspen-offload\n") == 0 ||
                           strcmp(text, "aspen-progress\n") == 0);

    free(text);
    return helper;
}

static void add_threads(pid_t pid, struct aspt_proc *proc)
{
    char path[64];
    DIR *folder;
    struct dirent *entry;

    snprintf(path, sizeof(path), "/proc/%d/task", (int) pid);
    folder = opendir(path);
    while (folder && (entry = readdir(folder))) {
        double seconds;

        if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
            continue;
        seconds = thread_seconds(pid, entry->d_name);
        proc->living_s += seconds;
        if (is_helper(pid, entry->d_name))
            proc->helper_s = seconds;
    }
    if (folder)
        closedir(folder);
}

void aspt_proc_look(pid_t pid, struct aspt_proc *proc)
{
    *proc = (struct aspt_proc){.state = '?', .helper_s = -1};
    if (pid <= 0 || !aspt_proc_mine(pid))
        return;
    proc->alive = read_stat(pid, proc);
    if (proc->alive)
        add_threads(pid, proc);
}
