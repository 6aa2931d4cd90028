/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPICH says of its device in its version, and the variables that choose
 * below it. */
#include "config.h"

#include "device.h"

#include "kind.h"

#include "runtime/mpi/real.h"

#include "common/base/strbuf.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

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

static bool asks_for_shared_memory(const char *text)
{
    static const char option[] = "shmmods=";
    const char *modules = strstr(text, option);

    if (!modules)
        return false;
    modules += strlen(option);
    return strncmp(modules, "no", 2) != 0 && strncmp(modules, "auto", 4) != 0;
}

static bool is_ucx_alone(const char *device)
{
    static const char ucx[] = "ch4:ucx\n"; /* no other device beside it */

    return strncmp(device, ucx, strlen(ucx)) == 0;
}

/* How MPICH was configured is in its version. Only ch4:ucx has none unless it
 * is asked for. */
bool aspx_net_shares_memory(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    const char *device = find_device(text);

    return !device || !is_ucx_alone(device) || asks_for_shared_memory(text);
}

/* Devices that put and get with no help of the target's processor: where the
 * kernel lists them, and which words of which variable leave them in use. */
static const struct rdma {
    const char *netmod, *sysfs, *variable, *words[6];
    const char *devices; /* the variable that names some of them; NULL: none */
} rdma[] = {
    {"ucx",
     "/sys/class/infiniband",
     "UCX_TLS",
     {"all", "ib", "rc", "dc", NULL},
     "UCX_NET_DEVICES"},
    {"ofi", "/sys/class/cxi", "FI_PROVIDER", {"cxi", NULL}, NULL},
};

/* Is the text, up to `length`, the word, or the word and what is behind "_"? */
static bool begins(const char *text, size_t length, const char *word)
{
    size_t n = strlen(word);

    return length >= n && strncmp(text, word, n) == 0 &&
           (length == n || text[n] == '_');
}

/* Is one of them named, where only some are to be used? */
static bool has_device(const struct rdma *row)
{
    const char *list = row->devices ? getenv(row->devices) : NULL;
    char path[128];

    if (!list || !*list || strcmp(list, "all") == 0)
        return true;
    for (; *list; list += strcspn(list, ","), list += strspn(list, ",")) {
        snprintf(path, sizeof(path), "%s/%.*s", row->sysfs,
                 (int) strcspn(list, ":,"), list);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}

/* A list begins with ^ where it says what is left out. */
static bool leaves_in_use(const struct rdma *row)
{
    const char *list = getenv(row->variable);
    bool named = false, negated;

    if (!list || !*list)
        return true;
    negated = *list == '^';
    for (list += negated; *list; list += strspn(list, ",;")) {
        size_t length = strcspn(list, ",;");

        for (const char *const *word = row->words; *word; word++)
            named |= begins(list, length, *word);
        list += length;
    }
    return named != negated;
}

/* The first netmod of a build with several is taken unless a variable names
 * another. */
static bool is_netmod(const char *device, const char *netmod)
{
    static const char ch4[] = "ch4:";
    const char *asked = getenv("MPIR_CVAR_CH4_NETMOD");
    size_t n = strlen(netmod);
    char behind;

    if (strncmp(device, ch4, strlen(ch4)) != 0)
        return false;
    device += strlen(ch4);
    behind = device[strcspn(device, ", \n")]; /* MPICH 4.0.2 has a blank */
    if (asked && *asked && (behind == ',' || behind == ' '))
        return strcasecmp(asked, netmod) == 0;
    return strncmp(device, netmod, n) == 0 && !isalnum((uint8_t) device[n]);
}

bool aspx_net_is_netmod(const char *netmod)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    const char *device = find_device(text);

    return !device || is_netmod(device, netmod);
}

bool aspx_net_flushes_early(void)
{
    return aspx_net_is_netmod("ofi");
}

const char *aspx_net_rdma_sysfs(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    const char *device = find_device(text);

    for (size_t i = 0; device && i < sizeof(rdma) / sizeof(rdma[0]); i++)
        if (is_netmod(device, rdma[i].netmod))
            return leaves_in_use(&rdma[i]) && has_device(&rdma[i])
                       ? rdma[i].sysfs
                       : NULL;
    return NULL;
}

const char *aspx_net_device(void)
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
    if (*aspx_net_provider())
        asp_strbuf_add(&sb, " %s", aspx_net_provider());
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        const char *value = getenv(settings[i]);

        if (value && *value)
            asp_strbuf_add(&sb, " %s=%s", settings[i], value);
    }
    return device;
}

const char *aspx_net_transports(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    const char *device = find_device(text), *tls = getenv("UCX_TLS");

    if (!device || !is_ucx_alone(device))
        return aspx_net_device();
    return tls && *tls ? tls : "any";
}

/* MPI may be loaded where only its own libraries see its names (Python). */
const char *aspx_net_ucx_release(void)
{
    void *ucp = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
    const char *(*release)(void);

    *(void **) &release = ucp ? dlsym(ucp, "ucp_get_version_string") : NULL;
    return release ? release() : "none";
}
