/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests: one aspx_layout_fetch(), and what it found, cost and left behind.
 *
 *   ok ROLE local=N rank=N node=N from-size=N     or   none / error TEXT
 *   ms=N threads=N fds=N children=yes|no sigchld=N pmix=yes|no
 *
 * fds counts what is open now but was not before. */
#include "config.h"

#include "runtime/world/layout_fetch.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

static volatile sig_atomic_t sigchlds;

static void on_sigchld(int sig)
{
    (void) sig;
    sigchlds++;
}

static int count(const char *path)
{
    DIR *dir = opendir(path);
    int n = 0;

    if (dir == NULL)
        return -1;
    while (readdir(dir) != NULL)
        n++;
    closedir(dir);
    return n - 2;
}

static const char *has_pmix(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    const char *found = "no";
    char line[512];

    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL)
        if (strstr(line, "libpmix") != NULL)
            found = "yes";
    if (maps != NULL)
        fclose(maps);
    return found;
}

int main(void)
{
    struct asp_layout *layout = NULL;
    struct asp_err err = {0};
    struct timespec from;
    struct timespec to;
    uint32_t local = 0;
    int fds = count("/proc/self/fd");
    int rc;

    signal(SIGCHLD, on_sigchld);
    clock_gettime(CLOCK_MONOTONIC, &from);
    rc = aspx_layout_fetch(&layout, &local, &err);
    clock_gettime(CLOCK_MONOTONIC, &to);
    if (rc == 0)
        printf("ok %s local=%u rank=%u node=%u size=%u job=%s\n",
               asp_role_name(layout->tasks[local].role), (unsigned) local,
               (unsigned) layout->tasks[local].rank_world,
               (unsigned) layout->node, (unsigned) layout->size_world,
               layout->job);
    else if (errno == ENOENT)
        puts("none");
    else
        printf("error %s\n", err.text);
    printf("ms=%ld threads=%d fds=%d children=%s sigchld=%d pmix=%s\n",
           (to.tv_sec - from.tv_sec) * 1000 +
               (to.tv_nsec - from.tv_nsec) / 1000000,
           count("/proc/self/task"), count("/proc/self/fd") - fds,
           waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD ? "no" : "yes",
           (int) sigchlds, has_pmix());
    asp_layout_destroy(layout);
    return rc == 0 ? 0 : 1;
}
