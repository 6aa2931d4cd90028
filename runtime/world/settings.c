/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the variables with certain prefixes side by side onto the board, and
 * sets them in a ghost in place of its own. A state on the board makes one user
 * write, and lets ghosts see when it has. */
#include "config.h"

#include "settings.h"

#include "runtime/mpi/build.h"
#include "runtime/net/device_files.h"
#include "runtime/mpi/real.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* UNTOLD -> WRITING -> TOLD or TOO_MANY: one user takes it through. */
enum { UNTOLD, WRITING, TOLD, TOO_MANY };

/* MPICH's own and those of MPIs made of it, and of the libraries below. */
static const char *const prefixes[] = {"MPIR_",  "MPICH_", "MV2_",  "MVP_",
                                       "UCX_",   "FI_",    "PSM2_", "PSM3_",
                                       "HCOLL_", "UCC_"};

static bool is_setting(const char *variable)
{
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(variable, prefixes[i], strlen(prefixes[i])) == 0)
            return strchr(variable, '=') != NULL;
    return false;
}

static int write_one(struct asp_board_settings *settings, const char *variable)
{
    size_t bytes = strlen(variable) + 1;

    if (bytes > sizeof(settings->text) - settings->bytes) {
        errno = ENOSPC;
        return -1;
    }
    memcpy(settings->text + settings->bytes, variable, bytes);
    settings->bytes += (uint32_t) bytes;
    return 0;
}

static void write_own(struct asp_board_settings *settings, const char *name,
                      const char *value)
{
    char variable[PATH_MAX + 64];

    if (snprintf(variable, sizeof(variable), "%s=%s", name, value) <
        (int) sizeof(variable))
        (void) write_one(settings, variable); /* they are the first */
}

/* What no variable says. */
static void write_mpi(struct asp_board_settings *settings, const int *required)
{
    char path[PATH_MAX], level[16], variable[ASPX_DEVICE_FILE_MAX];

    for (size_t i = 0; i < ASPX_DEVICE_FILES; i++)
        if (aspx_device_file_tell(i, variable))
            (void) write_one(settings, variable); /* likewise */
    if (aspx_real_path(path) == 0)
        write_own(settings, ASPX_MPI_LIBRARY_ENV, path);
    write_own(settings, ASPX_MPI_BUILD_ENV, aspx_mpi_build());
    if (!required)
        return;
    snprintf(level, sizeof(level), "%d", *required);
    write_own(settings, ASPX_MPI_THREADS_ENV, level);
}

static int write_all(struct asp_board_settings *settings, const int *required)
{
    uint32_t own_bytes;

    settings->bytes = 0;
    write_mpi(settings, required);
    own_bytes = settings->bytes;
    for (char **variable = environ; *variable; variable++)
        if (is_setting(*variable) && write_one(settings, *variable) < 0) {
            settings->bytes = own_bytes;
            return -1;
        }
    return 0;
}

int aspx_settings_tell(struct asp_board_settings *settings, const int *required)
{
    uint32_t untold = UNTOLD;
    int rc;

    if (!settings ||
        !atomic_compare_exchange_strong(&settings->state, &untold, WRITING))
        return 0;
    rc = write_all(settings, required);
    atomic_store(&settings->state, rc < 0 ? TOO_MANY : TOLD);
    return rc;
}

/* unsetenv() moves the rest of environ down. */
static void forget_own(void)
{
    char **variable = environ;

    while (*variable) {
        char name[256];
        size_t n = strcspn(*variable, "=");

        if (!is_setting(*variable) || n >= sizeof(name)) {
            variable++;
            continue;
        }
        memcpy(name, *variable, n);
        name[n] = '\0';
        unsetenv(name);
    }
}

/* A user with the library of an older installation writes none. */
bool aspx_settings_are_written(const struct asp_board_settings *settings)
{
    return !settings || atomic_load(&settings->state) != WRITING;
}

static bool is_own(const char *variable)
{
    static const char *const names[] = {
        ASPX_MPI_LIBRARY_ENV "=", ASPX_MPI_BUILD_ENV "=",
        ASPX_MPI_THREADS_ENV "=", ASPX_DEVICE_FILES_ENV};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

void aspx_settings_take(const struct asp_board_settings *settings)
{
    uint32_t state = settings ? atomic_load(&settings->state) : UNTOLD, bytes;
    char *text;

    if (state != TOLD && state != TOO_MANY)
        return;
    bytes = settings->bytes;
    if (bytes > sizeof(settings->text))
        return;
    text = malloc(bytes + 1); /* stays: the environment is made of it */
    if (!text)
        return;
    memcpy(text, settings->text, bytes);
    text[bytes] = '\0';
    if (state == TOLD)
        forget_own();
    for (uint32_t at = 0; at < bytes; at += (uint32_t) strlen(text + at) + 1)
        if (is_setting(text + at) || is_own(text + at))
            putenv(text + at);
}
