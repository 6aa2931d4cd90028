/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what the policy says about one-sided communication, and looks for
 * devices that would pin memory. */
#include "config.h"

#include "settings.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

static const char *const balances[] = {
    [ASPX_BALANCE_NONE] = "none",   [ASPX_BALANCE_RANDOM] = "random",
    [ASPX_BALANCE_OPS] = "ops",     [ASPX_BALANCE_BYTES] = "bytes",
    [ASPX_BALANCE_QUEUE] = "queue",
};

enum aspx_balance aspx_settings_balance(const char *word)
{
    for (unsigned b = 0; b < sizeof(balances) / sizeof(*balances); b++)
        if (strcmp(word, balances[b]) == 0)
            return (enum aspx_balance) b;
    return ASPX_BALANCE_NONE;
}

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
    return filled("/sys/class/infiniband");
}

unsigned aspx_settings_pins(void)
{
    return filled("/sys/class/infiniband") || filled("/sys/class/cxi") ||
           access("/dev/knem", F_OK) == 0 || access("/dev/xpmem", F_OK) == 0;
}

void aspx_settings_read(struct aspx_settings *settings,
                        const struct asp_layout *layout, bool device, bool pins)
{
    const char *direct = asp_layout_knob(layout, "rma.direct", "auto");
    const char *adapt = asp_layout_knob(layout, "adapt", "off");

    *settings = (struct aspx_settings){
        .segments = strcmp(asp_layout_knob(layout, "rma.binding", "rank"),
                           "segment") == 0,
        .hardware = strcmp(direct, "yes") == 0 ||
                    (strcmp(direct, "auto") == 0 && device),
        .balance = aspx_settings_balance(
            asp_layout_knob(layout, "rma.balance", "none")),
        .contig_win = strcmp(direct, "auto") == 0 && !pins,
        .adapt = strcmp(adapt, "off") != 0,
        .tried = strcmp(adapt, "auto") == 0,
        .ghosts_decide = strcmp(adapt, "ghosts") == 0 ||
                         strcmp(adapt, "auto") == 0,
        .scaling = strcmp(asp_layout_knob(layout, "ghost.active", "all"),
                          "auto") == 0,
    };
}
