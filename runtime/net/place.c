/* SPDX-License-Identifier: BSD-3-Clause */
/* Which processes share memory, and which of them cannot wake each other: by
 * the namespaces of the kernel that they are in. */
#include "config.h"

#include "kind.h"
#include "net.h"

#include "common/base/hash.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static uint64_t namespace_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? st.st_ino : 0;
}

void aspx_net_place(struct aspx_net_place *place)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    char id[64];

    *place = (struct aspx_net_place){
        .ipc = namespace_of("/proc/self/ns/ipc"),
        .net = namespace_of("/proc/self/ns/net"),
    };
    if (file && fgets(id, sizeof(id), file))
        place->host = asp_hash(ASP_HASH_START, id, strlen(id));
    if (file)
        fclose(file);
}

bool aspx_net_unheard(const struct aspx_net_place *one,
                      const struct aspx_net_place *other)
{
    if (aspx_net_ofi.is_open()) /* its descriptors and our rings go anywhere */
        return false;
    return one->host == other->host && one->ipc == other->ipc &&
           one->net != other->net;
}
