/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of redirected windows; errors raised on one; and what a rule may
 * change of one. */
#include "config.h"

#include "rules.h"
#include "window.h"

#include "runtime/base/log.h"
#include "runtime/mpi/real.h"

#include <string.h>

struct aspx_table aspx_redirected = ASPX_TABLE_INITIALIZER;

void aspx_win_choose_balance(struct aspx_win *win)
{
    const char *word = aspx_rules_value(win->holds, ASP_WIN_BALANCE);

    atomic_store(&win->balance, word ? asp_knob_word(ASP_KNOB_RMA_BALANCE, word)
                                     : (int) aspx_engine.settings.balance);
}

int aspx_win_raise(const struct aspx_win *win, int errclass)
{
    aspx_real.MPI_Win_call_errhandler(win->handle, errclass);
    return errclass;
}

int aspx_win_pass(const struct aspx_win *win, int code)
{
    if (code == MPI_SUCCESS)
        return code;
    aspx_real.MPI_Win_call_errhandler(win->handle, code);
    return code;
}

int aspx_win_refuse(struct aspx_win *win, const char *call)
{
    static const enum asp_winkey_id keys[] = {ASP_WIN_EPOCHS_USED,
                                              ASP_WIN_NO_LOCKS};

    bool told = atomic_flag_test_and_set(&win->refused);

    for (int k = 0; !told && k < 2; k++) {
        const struct asp_objrule *rule = aspx_rules_last(win->holds, keys[k]);

        if (rule && strcmp(rule->value[keys[k]], "false") != 0)
            aspx_log(ASPX_LOG_ERROR,
                     "rank %d: %s on window %u, but the rule at "
                     "%s says %s=%s",
                     aspx_engine.world->rank_user, call, win->order,
                     rule->origin, asp_winkeys[keys[k]].name,
                     rule->value[keys[k]]);
    }
    return aspx_win_raise(win, MPI_ERR_RMA_SYNC);
}
