/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include "settings.h"

#include <dirent.h>
#include <string.h>

static const char *const balances[] = {
    [ASPX_BALANCE_NONE] = "none",
    [ASPX_BALANCE_RANDOM] = "random",
    [ASPX_BALANCE_OPS] = "ops",
    [ASPX_BALANCE_BYTES] = "bytes",
    [ASPX_BALANCE_QUEUE] = "queue",
};

enum aspx_balance aspx_settings_balance(const char *word)
{
    for (unsigned b = 0; b < sizeof(balances) / sizeof(*balances); b++)
        if (strcmp(word, balances[b]) == 0)
            return (enum aspx_balance) b;
    return ASPX_BALANCE_NONE;
}

unsigned aspx_settings_device(void)
{
    DIR *dir = opendir("/sys/class/infiniband");
    const struct dirent *entry;
    unsigned found = 0;

    while (dir && (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            found = 1;
    if (dir)
        closedir(dir);
    return found;
}

void aspx_settings_read(struct aspx_settings *settings,
                        const struct asp_layout *layout, bool device)
{
    const char *direct = asp_layout_knob(layout, "rma.direct", "auto");

    *settings = (struct aspx_settings) {
        .segments = strcmp(asp_layout_knob(layout, "rma.binding", "rank"),
                           "segment") == 0,
        .hardware = strcmp(direct, "yes") == 0 ||
                    (strcmp(direct, "auto") == 0 && device),
        .balance = aspx_settings_balance(
            asp_layout_knob(layout, "rma.balance", "none")),
    };
}
