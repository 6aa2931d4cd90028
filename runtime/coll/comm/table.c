/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 reads a table, and all have its text; see table.h. */
#include "config.h"

#include "table.h"

#include "coll_config.h"

#include "runtime/coll/call/call.h"
#include "runtime/coll/machine/join.h"
#include "runtime/coll/machine/machine.h"
#include "runtime/coll/machine/settings.h"
#include "runtime/base/log.h"

#include <stdlib.h>
#include <unistd.h>

static void say(const char *what, const struct asp_err *err)
{
    char text[ASP_ERR_TEXT_MAX + ASP_ERR_PLACE_MAX];

    aspx_log(ASPX_LOG_WARNING, "%s%s", what,
             asp_err_print(err, text, sizeof(text)));
}

/* In rank 0: the canonical text of a table that may be used here, or NULL. */
static char *read_table(const char *path, uint64_t *bytes_p)
{
    struct asp_tune_table table;
    struct asp_err err;
    size_t bytes = 0;
    char *text = NULL;

    if (asp_tune_table_read(path, aspx_coll_config_check, &table, &err) != 0) {
        /* What is saved later is often what is read next time. */
        if (!aspx_coll_settings.save || access(path, F_OK) == 0)
            say("coll.table is not used: ", &err);
        return NULL;
    }
    if (asp_tune_table_fits(&table, aspx_coll_machine(), aspx_coll_job(),
                            &err) == 0)
        text = asp_tune_table_text(&table, &bytes);
    else
        say("", &err);
    asp_tune_table_clear(&table);
    *bytes_p = text ? bytes : 0;
    return text;
}

/* All get what rank 0 has; 0 bytes: nothing. Returns NULL when there is nothing
 * or no memory, which differs between ranks. */
static char *share(char *text, uint64_t *bytes)
{
    aspx_coll_behind.MPI_Bcast(bytes, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (*bytes == 0)
        return text;
    if (!text)
        text = malloc(*bytes);
    if (!text) /* the others would wait */
        aspx_coll_give_up();
    aspx_coll_behind.MPI_Bcast_c(text, (MPI_Count) *bytes, MPI_BYTE, 0,
                                 MPI_COMM_WORLD);
    return text;
}

bool aspx_coll_take_table(struct asp_tune_table *table_p)
{
    uint64_t bytes = 0;
    char *text = NULL;
    bool taken = false;
    struct asp_err err;

    if (aspx_coll_is_first() && aspx_coll_settings.table)
        text = read_table(aspx_coll_settings.table, &bytes);
    else if (aspx_coll_is_first() &&
             aspx_coll_settings.mode == ASP_COLL_MODE_TABLE)
        aspx_log(ASPX_LOG_WARNING, "coll=table without a table (coll.table): "
                                   "blocking collectives stay MPI's");
    text = share(text, &bytes);
    if (bytes)
        taken = asp_tune_table_parse("coll.table", text, bytes,
                                     aspx_coll_config_check, table_p,
                                     &err) == 0;
    free(text);
    return taken;
}
