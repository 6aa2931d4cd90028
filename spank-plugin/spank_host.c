/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into the unit tests in place of Slurm. */
#include "config.h"

#include "spank_host.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct spank_host host;

static char program[] = "./app", argument[] = "argument";

static void clear(char **list)
{
    for (int i = 0; list[i] != NULL; i++) {
        free(list[i]);
        list[i] = NULL;
    }
}

void host_reset(void)
{
    clear(host.env);
    clear(host.control);
    memset(&host, 0, sizeof(host));
    host.argv[0] = program;
    host.argv[1] = argument;
}

void host_exec(void)
{
    if (host.argv[0] == program)
        return;
    execve(host.argv[0], host.argv, host.env);
    _exit(127);
}

static int find_variable(char *const *list, const char *name)
{
    size_t len = strlen(name);
    int i = 0;

    while (list[i] != NULL &&
           !(strncmp(list[i], name, len) == 0 && list[i][len] == '='))
        i++;
    return i;
}

static void put_variable(char **list, const char *name, const char *value)
{
    int i = find_variable(list, name);

    free(list[i]);
    if (i >= HOST_ENV_MAX || asprintf(&list[i], "%s=%s", name, value) < 0)
        abort();
}

static const char *get(char *const *list, const char *name)
{
    int i = find_variable(list, name);

    return list[i] != NULL ? list[i] + strlen(name) + 1 : NULL;
}

void host_setenv(const char *name, const char *value)
{
    put_variable(host.env, name, value);
}

const char *host_getenv(const char *name)
{
    return get(host.env, name);
}

const char *host_control(const char *name)
{
    return get(host.control, name);
}

int host_option(const char *name, const char *arg, int remote)
{
    for (int i = 0; i < host.noptions; i++)
        if (strcmp(host.options[i].name, name) == 0)
            return host.options[i].cb(host.options[i].val, arg, remote);
    return -1;
}

static void append(const char *prefix, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

static void append(const char *prefix, const char *format, va_list args)
{
    size_t used = strlen(host.log);
    int saved = errno;

    used += (size_t) snprintf(host.log + used, sizeof(host.log) - used, "%s",
                              prefix);
    errno = saved; /* for %m */
    used += (size_t) vsnprintf(host.log + used, sizeof(host.log) - used, format,
                               args);
    snprintf(host.log + used, sizeof(host.log) - used, "\n");
}

void slurm_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    append("error: ", format, args);
    va_end(args);
}

void slurm_spank_log(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    append("", format, args);
    va_end(args);
}

spank_context_t spank_context(void)
{
    return host.context;
}

spank_err_t spank_option_register(spank_t spank, struct spank_option *opt)
{
    (void) spank;
    if (host.noptions == HOST_OPTIONS_MAX)
        return ESPANK_NOSPACE;
    host.options[host.noptions++] = *opt;
    return ESPANK_SUCCESS;
}

spank_err_t spank_getenv(spank_t spank, const char *var, char *buf, int len)
{
    const char *value = host_getenv(var);

    (void) spank;
    if (value == NULL)
        return ESPANK_ENV_NOEXIST;
    return snprintf(buf, (size_t) len, "%s", value) >= len ? ESPANK_NOSPACE
                                                           : ESPANK_SUCCESS;
}

spank_err_t spank_setenv(spank_t spank, const char *var, const char *val,
                         int overwrite)
{
    (void) spank;
    if (!overwrite && host_getenv(var) != NULL)
        return ESPANK_ENV_EXISTS;
    host_setenv(var, val);
    return ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv(spank_t spank, const char *var)
{
    int i = find_variable(host.env, var);

    (void) spank;
    free(host.env[i]);
    for (; host.env[i] != NULL; i++)
        host.env[i] = host.env[i + 1];
    return ESPANK_SUCCESS;
}

spank_err_t spank_job_control_setenv(spank_t spank, const char *name,
                                     const char *value, int overwrite)
{
    (void) spank;
    if (!overwrite && host_control(name) != NULL)
        return ESPANK_ENV_EXISTS;
    put_variable(host.control, name, value);
    return ESPANK_SUCCESS;
}

static spank_err_t get_number(spank_item_t item, va_list *args)
{
    const struct {
        spank_item_t item;
        uint32_t value;
    } numbers[] = {{S_JOB_ID, host.job},
                   {S_JOB_STEPID, host.step},
                   {S_JOB_NNODES, host.nnodes},
                   {S_JOB_NODEID, host.node},
                   {S_JOB_TOTAL_TASK_COUNT, host.ntasks},
                   {S_JOB_LOCAL_TASK_COUNT, host.nlocal}};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (numbers[i].item == item) {
            *va_arg(*args, uint32_t *) = numbers[i].value;
            return ESPANK_SUCCESS;
        }
    return ESPANK_BAD_ARG;
}

static spank_err_t get_other(spank_item_t item, va_list *args)
{
    static char cores[] = "0-2";
    uint32_t local;

    switch ((int) item) {
    case S_JOB_UID:
        *va_arg(*args, uid_t *) = host.uid;
        return ESPANK_SUCCESS;
    case S_JOB_GID:
        *va_arg(*args, gid_t *) = host.gid;
        return ESPANK_SUCCESS;
    case S_JOB_SUPPLEMENTARY_GIDS:
        *va_arg(*args, gid_t **) = host.gids;
        *va_arg(*args, int *) = host.ngids;
        return ESPANK_SUCCESS;
    case S_JOB_ARGV:
        *va_arg(*args, int *) = 2;
        *va_arg(*args, char ***) = host.argv;
        return ESPANK_SUCCESS;
    case S_SLURM_VERSION:
        *va_arg(*args, char **) = host.release;
        return ESPANK_SUCCESS;
    case S_STEP_ALLOC_CORES:
        *va_arg(*args, char **) = cores;
        return ESPANK_SUCCESS;
    case S_JOB_ENV:
        *va_arg(*args, char ***) = host.env;
        return ESPANK_SUCCESS;
    case S_TASK_ID:
        *va_arg(*args, int *) = host.task;
        return ESPANK_SUCCESS;
    case S_TASK_EXIT_STATUS:
        *va_arg(*args, int *) = host.exit_status;
        return ESPANK_SUCCESS;
    case S_JOB_LOCAL_TO_GLOBAL_ID:
        local = va_arg(*args, uint32_t);
        if (local >= host.nlocal)
            return ESPANK_NOEXIST;
        *va_arg(*args, uint32_t *) = host.ranks[local];
        return ESPANK_SUCCESS;
    }
    return get_number(item, args);
}

spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
    spank_err_t rc;
    va_list args;

    (void) spank;
    va_start(args, item);
    rc = get_other(item, &args);
    va_end(args);
    return rc;
}
