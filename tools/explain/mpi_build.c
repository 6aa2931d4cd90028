/* SPDX-License-Identifier: BSD-3-Clause */
/* Called by advice.c, in srun as the user. The program is not run, nor anything
 * that it names: the dynamic linker of this process is, which only lists what
 * it would load (as ldd does). What it says, and the library's file, are
 * checked like any input. */
#include "config.h"

#include "mpi_build.h"

#include "tools/base/program.h"

#include "common/base/clock.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HEADERS_MAX = 64, NOTES_MAX = 65536, LIST_LIMIT_MS = 2000 };

/* Exactly so many bytes at an offset. */
static bool get(int fd, void *out, size_t bytes, uint64_t at)
{
    return at < INT64_MAX &&
           pread(fd, out, bytes, (off_t) at) == (ssize_t) bytes;
}

/* The program headers of a 64-bit file of this machine. Returns how many. */
static size_t get_headers(int fd, Elf64_Phdr *headers)
{
    Elf64_Ehdr file;

    if (!get(fd, &file, sizeof(file), 0) ||
        memcmp(file.e_ident, ELFMAG, SELFMAG) != 0 ||
        file.e_ident[EI_CLASS] != ELFCLASS64 ||
        file.e_ident[EI_DATA] != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
                                      ? ELFDATA2LSB
                                      : ELFDATA2MSB) ||
        file.e_phentsize != sizeof(*headers) || file.e_phnum > HEADERS_MAX ||
        !get(fd, headers, file.e_phnum * sizeof(*headers), file.e_phoff))
        return 0;
    return file.e_phnum;
}

/* The program headers of a file. *fd_p is to be closed if it is not -1. */
static size_t open_headers(const char *path, int *fd_p, Elf64_Phdr *headers)
{
    *fd_p = aspt_program_open(path);
    return *fd_p < 0 ? 0 : get_headers(*fd_p, headers);
}

static bool build_of_file(const char *path, char out[ASP_BUILD_MAX])
{
    Elf64_Phdr headers[HEADERS_MAX];
    int fd;
    size_t n = open_headers(path, &fd, headers);
    bool found = false;

    for (size_t i = 0; i < n && !found; i++) {
        size_t bytes = headers[i].p_filesz;
        void *notes = NULL;

        if (headers[i].p_type != PT_NOTE || bytes > NOTES_MAX)
            continue;
        notes = malloc(bytes + 1);
        found = notes && get(fd, notes, bytes, headers[i].p_offset) &&
                asp_build_of_notes(notes, bytes, out);
        free(notes);
    }
    if (fd >= 0)
        close(fd);
    return found;
}

/* The dynamic linker that a program names. */
static bool named_linker(const char *program, char linker[PATH_MAX])
{
    Elf64_Phdr headers[HEADERS_MAX];
    int fd;
    size_t n = open_headers(program, &fd, headers);
    bool found = false;

    for (size_t i = 0; i < n && !found; i++) {
        size_t bytes = headers[i].p_filesz;

        found = headers[i].p_type == PT_INTERP && bytes > 1 &&
                bytes <= PATH_MAX &&
                get(fd, linker, bytes, headers[i].p_offset) &&
                linker[0] == '/' && linker[bytes - 1] == '\0';
    }
    if (fd >= 0)
        close(fd);
    return found;
}

/* The dynamic linker of a program, if it is this process's own. Another one is
 * not run: the file can name anything. */
static bool linker_of(const char *program, char linker[PATH_MAX])
{
    char named[PATH_MAX];
    struct stat st, own;

    return named_linker(program, named) &&
           named_linker("/proc/self/exe", linker) && stat(named, &st) == 0 &&
           stat(linker, &own) == 0 && st.st_dev == own.st_dev &&
           st.st_ino == own.st_ino;
}

/* Start "LINKER --list PROGRAM"; what it prints comes from *fd_p. */
static int start_list(char *linker, char *program, pid_t *pid_p, int *fd_p)
{
    char list[] = "--list";
    char *argv[] = {linker, list, program, NULL};
    posix_spawn_file_actions_t actions;
    int ends[2], rc;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                     O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
                                     O_WRONLY, 0);
    rc = posix_spawn(pid_p, linker, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    *fd_p = ends[0];
    if (rc)
        close(ends[0]);
    return rc ? -1 : 0;
}

/* All that comes until the end, or as much as there is room and time for. */
static void read_list(int fd, char *text, size_t size)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    int64_t until = asp_now_ms() + LIST_LIMIT_MS, left = LIST_LIMIT_MS;
    size_t used = 0;
    ssize_t got = 1;

    for (; got > 0 && used + 1 < size && left > 0;
         left = until - asp_now_ms()) {
        if (poll(&ready, 1, (int) left) <= 0)
            break;
        got = read(fd, text + used, size - 1 - used);
        used += got > 0 ? (size_t) got : 0;
    }
    text[used] = '\0';
}

/* "\tlibmpich.so.12 => /usr/lib/libmpich.so.12 (0x00007f...)": the path. */
static bool find_library(char *text, char **path_p)
{
    static const char name[] = "\tlibmpich.so.12 => /";
    char *at = strstr(text, name);

    if (!at)
        return false;
    *path_p = at + sizeof(name) - 2;
    at = strstr(*path_p, " (0x");
    if (!at || memchr(*path_p, '\n', (size_t) (at - *path_p)))
        return false;
    *at = '\0';
    return true;
}

int aspt_mpi_build(const char *program, char out[ASP_BUILD_MAX])
{
    static char text[65536];
    char path[PATH_MAX], linker[PATH_MAX], *library;
    pid_t pid;
    int fd;

    if (!aspt_program_find(program, path) || !linker_of(path, linker) ||
        start_list(linker, path, &pid, &fd) < 0)
        return -1;
    read_list(fd, text, sizeof(text));
    close(fd);
    kill(pid, SIGKILL); /* of no effect on one that has ended */
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return find_library(text, &library) && build_of_file(library, out) ? 0 : -1;
}
