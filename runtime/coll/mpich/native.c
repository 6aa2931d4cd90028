/* SPDX-License-Identifier: BSD-3-Clause */
/* The control variables of MPICH: found at the start, written for a call. */
#include "config.h"

#include "native.h"
#include "native_rows.h"

#include "runtime/base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void (*aspx_native_in_turn)(void (*work)(void *argument), void *argument);

enum { VARIABLES = 128 };

struct variable {
    char name[ASPX_NATIVE_NAME];
    MPI_T_cvar_handle handle;
    bool works; /* there is a handle, and what is written is read back */
};

/* What to write, by row and device. */
struct step {
    uint8_t variable;
    uint8_t from; /* enum aspx_native_value */
    int8_t fixed;
};

struct plan {
    uint32_t n;
    struct step steps[ASPX_NATIVE_SETTINGS];
};

static struct variable variables[VARIABLES];
static uint32_t nvariables;
static struct plan plans[ASPX_NATIVE_ROWS_MAX][2];
static uint64_t alive; /* a bit for each row; the same on all ranks */
static bool has_tools; /* MPI_T runs for us */

static uint32_t number_of(const struct aspx_native_row *row)
{
    return (uint32_t) (row - aspx_native_rows);
}

bool aspx_native_lives(const struct aspx_native_row *row)
{
    return alive >> number_of(row) & 1;
}

/* ---- one variable ------------------------------------------------------- */

static int read_it(const struct variable *variable, int *value)
{
    return aspx_coll_behind.MPI_T_cvar_read(variable->handle, value);
}

static int write_it(const struct variable *variable, int value)
{
    return aspx_coll_behind.MPI_T_cvar_write(variable->handle, &value);
}

/* Its handle, if it is one number of the process. */
static bool open_it(struct variable *variable, MPI_Datatype type_wanted)
{
    int index, count = 0, verbosity, bind, scope;
    MPI_Datatype type;
    MPI_T_enum names;

    if (aspx_coll_behind.MPI_T_cvar_get_index(variable->name, &index) !=
            MPI_SUCCESS ||
        aspx_coll_behind.MPI_T_cvar_get_info(index, NULL, NULL, &verbosity,
                                             &type, &names, NULL, NULL, &bind,
                                             &scope) != MPI_SUCCESS ||
        type != type_wanted || bind != MPI_T_BIND_NO_OBJECT ||
        aspx_coll_behind.MPI_T_cvar_handle_alloc(index, NULL, &variable->handle,
                                                 &count) != MPI_SUCCESS)
        return false;
    return type_wanted == MPI_CHAR || count == 1;
}

/* No call comes between, so any number will do. */
static bool try_it(const struct variable *variable)
{
    int was, tried, is;

    if (read_it(variable, &was) != MPI_SUCCESS)
        return false;
    tried = was == 1 ? 0 : 1;
    if (write_it(variable, tried) != MPI_SUCCESS)
        return false;
    is = was;
    (void) read_it(variable, &is);
    return write_it(variable, was) == MPI_SUCCESS && is == tried &&
           read_it(variable, &is) == MPI_SUCCESS && is == was;
}

/* Its number among ours, opened when it is first asked for; -1: it is no good.
 */
static int variable_of(const char *name)
{
    struct variable *variable;
    uint32_t i;

    for (i = 0; i < nvariables; i++)
        if (strcmp(variables[i].name, name) == 0)
            return variables[i].works ? (int) i : -1;
    if (nvariables == VARIABLES)
        return -1;
    variable = &variables[nvariables++];
    snprintf(variable->name, sizeof(variable->name), "%.63s", name);
    variable->works = open_it(variable, MPI_INT) && try_it(variable);
    return variable->works ? (int) i : -1;
}

/* Trees have the shape that the environment asked for when MPI started. */
static bool is_kary(const char *name)
{
    enum { VALUE_MAX = 4096 };
    struct variable variable;
    char value[VALUE_MAX] = "";
    bool kary;

    snprintf(variable.name, sizeof(variable.name), "MPIR_CVAR_%.50s", name);
    if (!open_it(&variable, MPI_CHAR))
        return false;
    kary = aspx_coll_behind.MPI_T_cvar_read(variable.handle, value) ==
               MPI_SUCCESS &&
           strcmp(value, "kary") == 0;
    aspx_coll_behind.MPI_T_cvar_handle_free(&variable.handle);
    return kary;
}

/* ---- the start ---------------------------------------------------------- */

static bool plan_row(const struct aspx_native_row *row, int column, bool device,
                     struct plan *plan)
{
    struct aspx_native_setting settings[ASPX_NATIVE_SETTINGS];

    plan->n = aspx_native_settings(row, column, device, settings);
    for (uint32_t i = 0; i < plan->n; i++) {
        int variable = variable_of(settings[i].name);

        if (variable < 0)
            return false;
        plan->steps[i] = (struct step){
            .variable = (uint8_t) variable,
            .from = (uint8_t) settings[i].from,
            .fixed = (int8_t) settings[i].fixed,
        };
    }
    return true;
}

static bool find_row(const struct aspx_native_row *row, int column)
{
    struct plan *plan = plans[number_of(row)];

    if (row->algorithm[column] == ASPX_NATIVE_LACKS ||
        row->schedule[column] == ASPX_NATIVE_LACKS)
        return false;
    if (row->kary && !is_kary(row->kary))
        return false;
    return plan_row(row, column, false, &plan[0]) &&
           (!(row->needs & ASPX_NATIVE_DEVICE) ||
            plan_row(row, column, true, &plan[1]));
}

static bool may_be_used(void)
{
    int level = MPI_THREAD_MULTIPLE, provided;

    /* With several threads in MPI, another call would see what is written. */
    if (aspx_coll_behind.MPI_Query_thread(&level) != MPI_SUCCESS ||
        level == MPI_THREAD_MULTIPLE)
        return false;
    /* MPICH takes the level of the latest caller for all: tools of the program
     * may have threads. */
    has_tools = aspx_coll_behind.MPI_T_init_thread(MPI_THREAD_MULTIPLE,
                                                   &provided) == MPI_SUCCESS;
    return has_tools;
}

static void find_rows(int column)
{
    for (size_t i = 0; i < aspx_native_row_count; i++)
        if (find_row(&aspx_native_rows[i], column))
            alive |= UINT64_C(1) << i;
}

/* A row that is missing anywhere is missing everywhere. */
static void agree(void)
{
    uint64_t all = 0;

    if (aspx_coll_behind.MPI_Allreduce(&alive, &all, 1, MPI_UINT64_T, MPI_BAND,
                                       MPI_COMM_WORLD) != MPI_SUCCESS)
        all = 0;
    alive = all;
}

void aspx_native_start(int release)
{
    int column = aspx_native_column(release);

    if (column >= 0 && may_be_used())
        find_rows(column);
    agree();
}

void aspx_native_stop(void)
{
    alive = 0;
    for (uint32_t i = 0; i < nvariables; i++)
        if (variables[i].works)
            aspx_coll_behind.MPI_T_cvar_handle_free(&variables[i].handle);
    nvariables = 0;
    if (has_tools)
        aspx_coll_behind.MPI_T_finalize();
    has_tools = false;
}

/* ---- a call ------------------------------------------------------------- */

/* What was there, and what we wrote. */
struct turn {
    const struct aspx_native_config *config;
    int was[ASPX_NATIVE_SETTINGS], is[ASPX_NATIVE_SETTINGS];
};

static const struct plan *plan_of(const struct aspx_native_config *config)
{
    return &plans[number_of(config->row)][config->device];
}

static int value_of(const struct step *step,
                    const struct aspx_native_config *config)
{
    switch (step->from) {
    case ASPX_NATIVE_K:
        return (int) config->k;
    case ASPX_NATIVE_CHUNK:
        return (int) config->chunk;
    default:
        return step->fixed;
    }
}

/* It could be written when MPI started. Another rank, where it can still be,
 * would wait for messages of an algorithm that nobody carries out. */
static void must(int rc, const struct variable *variable)
{
    if (rc == MPI_SUCCESS)
        return;
    aspx_log(ASPX_LOG_ERROR,
             "MPICH does not let %s be written any more; run with "
             "coll=off",
             variable->name);
    aspx_coll_behind.MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    abort();
}

static void set(void *argument)
{
    struct turn *turn = argument;
    const struct plan *plan = plan_of(turn->config);

    for (uint32_t i = 0; i < plan->n; i++) {
        const struct variable *variable = &variables[plan->steps[i].variable];

        turn->is[i] = value_of(&plan->steps[i], turn->config);
        must(read_it(variable, &turn->was[i]), variable);
        must(write_it(variable, turn->is[i]), variable);
    }
}

static void restore(void *argument)
{
    struct turn *turn = argument;
    const struct plan *plan = plan_of(turn->config);

    for (uint32_t i = plan->n; i-- > 0;) {
        const struct variable *variable = &variables[plan->steps[i].variable];
        int is = turn->is[i];

        must(read_it(variable, &is), variable);
        if (is == turn->is[i])
            must(write_it(variable, turn->was[i]), variable);
    }
}

static void in_turn(void (*work)(void *argument), void *argument)
{
    if (aspx_native_in_turn)
        aspx_native_in_turn(work, argument);
    else
        work(argument);
}

int aspx_native_call(const struct aspx_native_config *config,
                     const struct aspx_coll_call *call)
{
    struct turn turn = {.config = config};
    int rc;

    in_turn(set, &turn);
    rc = call->mpi(call);
    in_turn(restore, &turn);
    return rc;
}
