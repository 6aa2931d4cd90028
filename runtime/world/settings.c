/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* UNTOLD -> WRITING -> TOLD or TOO_MANY: one user takes it through. */
enum { UNTOLD, WRITING, TOLD, TOO_MANY };

/* MPICH's own, UCX's, libfabric's. */
static const char *const prefixes[] = {"MPIR_", "MPICH_", "UCX_", "FI_"};

static bool is_setting(const char *variable)
{
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(variable, prefixes[i], strlen(prefixes[i])) == 0)
            return strchr(variable, '=') != NULL;
    return false;
}

static int write_all(struct asp_board_settings *settings)
{
    uint32_t at = 0;

    for (char **variable = environ; *variable; variable++) {
        size_t bytes = strlen(*variable) + 1;

        if (!is_setting(*variable))
            continue;
        if (bytes > sizeof(settings->text) - at) {
            errno = ENOSPC;
            return -1;
        }
        memcpy(settings->text + at, *variable, bytes);
        at += (uint32_t) bytes;
    }
    settings->bytes = at;
    return 0;
}

int aspx_settings_tell(struct asp_board_settings *settings)
{
    uint32_t untold = UNTOLD;
    int rc;

    if (!settings ||
        !atomic_compare_exchange_strong(&settings->state, &untold, WRITING))
        return 0;
    rc = write_all(settings);
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

void aspx_settings_take(const struct asp_board_settings *settings)
{
    uint32_t bytes;
    char *text;

    if (!settings || atomic_load(&settings->state) != TOLD)
        return;
    bytes = settings->bytes;
    if (bytes > sizeof(settings->text))
        return;
    text = malloc(bytes + 1); /* stays: the environment is made of it */
    if (!text)
        return;
    memcpy(text, settings->text, bytes);
    text[bytes] = '\0';
    forget_own();
    for (uint32_t at = 0; at < bytes; at += (uint32_t) strlen(text + at) + 1)
        if (is_setting(text + at))
            putenv(text + at);
}
