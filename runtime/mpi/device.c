/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "device.h"

#include "real.h"

#include "common/base/strbuf.h"

#include <stdlib.h>
#include <string.h>

static const char label[] = "MPICH Device:";

/* Whichever of them a device reads. */
static const char *const settings[] = {"MPIR_CVAR_CH4_NETMOD", "UCX_TLS",
                                       "UCX_NET_DEVICES", "FI_PROVIDER"};

/* What MPI says of itself, as this text; returns where the device is in it, or
 * NULL. */
static const char *find_device(char text[MPI_MAX_LIBRARY_VERSION_STRING])
{
    const char *at;
    int len = 0;

    if (aspx_real.MPI_Get_library_version(text, &len) != MPI_SUCCESS)
        return NULL;
    at = strstr(text, label);
    if (!at)
        return NULL;
    at += strlen(label);
    return at + strspn(at, " \t");
}

/* How MPICH was configured is in its version. Only ch4:ucx has none unless it
 * is asked for. */
bool aspx_mpi_shares_memory(void)
{
    static const char without[] = "ch4:ucx\n";
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    const char *device = find_device(text);

    return !device || strncmp(device, without, strlen(without)) != 0 ||
           strstr(text, "shmmods=posix");
}

const char *aspx_mpi_device(void)
{
    static char device[160];
    struct asp_strbuf sb = ASP_STRBUF(device);
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    const char *at;

    if (device[0])
        return device;
    at = find_device(text);
    if (!at)
        at = "unknown";
    asp_strbuf_add(&sb, "%.*s", (int) strcspn(at, "\n"), at);
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        const char *value = getenv(settings[i]);

        if (value && *value)
            asp_strbuf_add(&sb, " %s=%s", settings[i], value);
    }
    return device;
}
