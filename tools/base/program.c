/* SPDX-License-Identifier: BSD-3-Clause */
/* A program's file is found and read, never run; in srun as the user. */
#include "config.h"

#include "program.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

enum {
    CHUNK = 1 << 20,
    CHUNKS_MAX = 1024, /* 1 GiB: no program is larger, and srun waits for us */
    /* Names of settings in a program's file. MPICH has some 340; who sets a few
     * has a few. */
    SETTINGS_MIN = 100,
};

static bool is_regular(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

bool aspt_program_find(const char *program, char path[PATH_MAX])
{
    const char *dirs = getenv("PATH");

    if (strchr(program, '/'))
        return snprintf(path, PATH_MAX, "%s", program) < PATH_MAX;
    while (dirs && *dirs) {
        int len = (int) strcspn(dirs, ":");

        if (len > 0 &&
            snprintf(path, PATH_MAX, "%.*s/%s", len, dirs, program) <
                PATH_MAX &&
            access(path, X_OK) == 0 && is_regular(path))
            return true;
        dirs += len + (dirs[len] == ':');
    }
    return false;
}

int aspt_program_open(const char *path)
{
    int place = open(path, O_PATH | O_CLOEXEC), fd = -1;
    char again[64];
    struct stat st;

    /* What was looked at is what is opened, whoever changes the name. */
    if (place >= 0 && fstat(place, &st) == 0 && S_ISREG(st.st_mode)) {
        snprintf(again, sizeof(again), "/proc/self/fd/%d", place);
        fd = open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    }
    if (place >= 0)
        close(place);
    return fd;
}

/* How often the text stands in so many bytes. */
static unsigned count(const char *bytes, size_t n, const char *text)
{
    const size_t len = strlen(text);
    const char *end = bytes + n, *at = bytes;
    unsigned found = 0;

    while ((at = memmem(at, (size_t) (end - at), text, len)) != NULL) {
        at += len;
        found++;
    }
    return found;
}

bool aspt_program_has_mpich(const char *program)
{
    static const char setting[] = "MPIR_CVAR_";
    const size_t keep = sizeof(setting) - 2; /* it may lie across two chunks */
    char path[PATH_MAX], *buf;
    unsigned found = 0;
    size_t kept = 0;
    int fd;

    if (!aspt_program_find(program, path) || (fd = aspt_program_open(path)) < 0)
        return false;
    buf = malloc(CHUNK);
    for (int i = 0; buf && i < CHUNKS_MAX && found < SETTINGS_MIN; i++) {
        ssize_t got = read(fd, buf + kept, CHUNK - kept);

        if (got <= 0 ||
            (i == 0 && (got < SELFMAG || memcmp(buf, ELFMAG, SELFMAG) != 0)))
            break;
        kept += (size_t) got;
        found += count(buf, kept, setting);
        if (kept > keep)
            memmove(buf, buf + kept - keep, keep);
        kept = kept > keep ? keep : kept;
    }
    free(buf);
    close(fd);
    return found >= SETTINGS_MIN;
}

/* The kernel gives scripts no rights. One that cannot be read is none. */
static bool is_script(const char *path)
{
    char first[2] = "";
    int fd = aspt_program_open(path);
    bool script = fd >= 0 && read(fd, first, 2) == 2 && first[0] == '#' &&
                  first[1] == '!';

    if (fd >= 0)
        close(fd);
    return script;
}

/* As the kernel decides it at exec (AT_SECURE): another user or group than the
 * real one, or, but for root, capabilities of the file. */
bool aspt_program_gains_rights(const char *program)
{
    const mode_t group = S_ISGID | S_IXGRP; /* setgid alone is a lock mark */
    char path[PATH_MAX];
    struct statvfs fs;
    struct stat st;
    bool gains;

    if (!aspt_program_find(program, path) || stat(path, &st) < 0 ||
        !S_ISREG(st.st_mode))
        return false;
    gains = ((st.st_mode & S_ISUID) && st.st_uid != getuid()) ||
            ((st.st_mode & group) == group && st.st_gid != getgid()) ||
            (getuid() != 0 &&
             getxattr(path, "security.capability", NULL, 0) > 0);
    return gains && !is_script(path) &&
           prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 &&
           (statvfs(path, &fs) < 0 || !(fs.f_flag & ST_NOSUID));
}
