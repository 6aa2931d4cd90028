/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what the policy says about one-sided communication, and looks for
 * devices that would pin memory. */
#include "config.h"

#include "settings.h"

#include "runtime/net/device.h"

#include <dirent.h>
#include <unistd.h>

/* Does the folder have anything in it? */
static unsigned filled(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;
    unsigned found = 0;

    while (dir && (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            found = 1;
    if (dir)
        closedir(dir);
    return found;
}

unsigned aspx_settings_device(void)
{
    const char *sysfs = aspx_net_rdma_sysfs();

    return sysfs ? filled(sysfs) : 0;
}

unsigned aspx_settings_pins(void)
{
    return filled("/sys/class/infiniband") || filled("/sys/class/cxi") ||
           access("/dev/knem", F_OK) == 0 || access("/dev/xpmem", F_OK) == 0;
}

void aspx_settings_read(struct aspx_settings *settings,
                        const struct asp_layout *layout, bool device, bool pins)
{
    const struct asp_knobs *knobs = &layout->knobs;

    *settings = (struct aspx_settings){
        .segments = knobs->rma_binding == ASP_BINDING_SEGMENT,
        .hardware = knobs->rma_direct == ASP_DIRECT_YES ||
                    (knobs->rma_direct == ASP_DIRECT_AUTO && device),
        .balance = knobs->rma_balance,
        .contig_win = knobs->rma_direct == ASP_DIRECT_AUTO && !pins,
        .adapt = knobs->adapt != ASP_ADAPT_OFF,
        .tried = knobs->adapt == ASP_ADAPT_AUTO,
        .ghosts_decide = knobs->adapt == ASP_ADAPT_GHOSTS ||
                         knobs->adapt == ASP_ADAPT_AUTO,
        .scaling = knobs->ghost_active == ASP_ACTIVE_AUTO,
    };
}
