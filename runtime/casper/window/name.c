/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Win_set_name, and what rules by name can still change then. */
#include "config.h"

#include "native.h"
#include "registry.h"
#include "rules.h"
#include "window.h"

#include "runtime/mpi/real.h"
#include "mpi_hand.h"

#include <stdio.h>

/* The registry's entry may stand for several windows by now, or there is none,
 * so each window notes which rules were counted for it. */
static void count_rules(struct aspx_win *win)
{
    uint32_t known = atomic_fetch_or(&win->held_once, win->holds);

    if (win->rank == 0)
        aspx_registry_count_rules(win->holds & ~known);
}

/* A rule by name can still switch redirection, at the next legal point: each
 * process speaks for itself there. */
static void apply_async_rule(struct aspx_win *win, const char *name)
{
    const struct asp_winrule *rule = aspx_rules_last(win->holds,
                                                     ASP_WIN_ASYNC_CONFIG);

    if (!rule || !rule->name[0])
        return;
    if (win->turn.able)
        win->turn.asked = aspx_async_read(rule->value[ASP_WIN_ASYNC_CONFIG]);
    else if (win->rank == 0)
        fprintf(stderr,
                "aspen: the rule at %s says async_config=%s of window "
                "\"%s\", which cannot be switched (adapt=%s)\n",
                rule->origin, rule->value[ASP_WIN_ASYNC_CONFIG], name,
                aspx_adapt_mode());
}

int aspx_hand_MPI_Win_set_name(MPI_Win handle, const char *name)
{
    int rc = aspx_real.MPI_Win_set_name(handle, name);
    struct aspx_win *win;

    if (rc != MPI_SUCCESS || !aspx_rules_active())
        return rc;
    win = aspx_win_find(handle);
    if (win) {
        win->holds = aspx_rules_named(win->could, name);
        aspx_win_choose_balance(win);
        apply_async_rule(win, name);
        aspx_registry_set_name(win->serial, name);
        aspx_registry_set_rules(win->serial, win->holds);
        count_rules(win);
    } else {
        aspx_registry_set_name(aspx_native_serial(handle), name);
    }
    return rc;
}
