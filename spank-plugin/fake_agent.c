/* SPDX-License-Identifier: BSD-3-Clause */
/* An agent that misbehaves, for tests. What it does is in its name, behind the
 * last dash: fake_agent-short is a link to this program. It also reports, as
 * variables of its answer, what the plugin left it of slurmstepd. */
#include "config.h"

#include "common/agent_wire.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENV_MAX = 4096, ANSWER_MAX = 256 * 1024 };

static char request[ASP_REQUEST_MAX + 1];
static char env_text[ENV_MAX];
static size_t env_used;
static unsigned char answer[ANSWER_MAX];
static size_t answer_used;

static void read_request(void)
{
    size_t used = 0;
    ssize_t got;

    while ((used < 4 || memcmp(request + used - 4, "end\n", 4) != 0) &&
           (got = read(STDIN_FILENO, request + used, ASP_REQUEST_MAX - used)) >
               0)
        used += (size_t) got;
}

static uint32_t number(const char *key)
{
    const char *at = strstr(request, key);

    return at != NULL ? (uint32_t) strtoul(at + strlen(key), NULL, 10) : 0;
}

static void add_env(const char *name, const char *value)
{
    int n = snprintf(env_text + env_used, ENV_MAX - env_used, "%s=%s", name,
                     value);

    if (n < 0 || (size_t) n >= ENV_MAX - env_used)
        exit(9);
    env_used += (size_t) n + 1;
}

/* Lines of /proc/self/status that say who we are. */
static void report_status(void)
{
    static const char *const wanted[] = {"Uid",        "Gid",    "Groups",
                                         "NoNewPrivs", "SigBlk", "Threads"};
    FILE *file = fopen("/proc/self/status", "r");
    char line[512], name[64];

    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
            size_t len = strlen(wanted[i]);

            if (strncmp(line, wanted[i], len) != 0 || line[len] != ':')
                continue;
            line[strcspn(line, "\n")] = '\0';
            for (char *c = line; *c; c++)
                *c = *c == '\t' ? ' ' : *c;
            snprintf(name, sizeof(name), "ASPEN_T_%s", wanted[i]);
            add_env(name, line + len + 2);
        }
    if (file != NULL)
        fclose(file);
}

static void report_rest(void)
{
    char text[2048] = "", cwd[512] = "";
    DIR *dir = opendir("/proc/self/fd");
    struct rlimit files = {0}, locked = {0};
    struct dirent *entry;
    size_t used = 0;

    while (dir != NULL && (entry = readdir(dir)) != NULL)
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(dir))
            used += (size_t) snprintf(text + used, sizeof(text) - used, "%s,",
                                      entry->d_name);
    if (dir != NULL)
        closedir(dir);
    add_env("ASPEN_T_FDS", text);
    used = 0;
    text[0] = '\0';
    for (char **var = environ; *var != NULL; var++)
        used += (size_t) snprintf(text + used, sizeof(text) - used, "%.*s,",
                                  (int) strcspn(*var, "="), *var);
    add_env("ASPEN_T_ENV", text);
    if (getcwd(cwd, sizeof(cwd)) != NULL)
        add_env("ASPEN_T_CWD", cwd);
    snprintf(text, sizeof(text), "%04o", (unsigned) umask(0));
    add_env("ASPEN_T_UMASK", text);
    getrlimit(RLIMIT_NOFILE, &files);
    getrlimit(RLIMIT_MEMLOCK, &locked);
    snprintf(text, sizeof(text), "%d,%d", files.rlim_max <= 4096,
             (int) locked.rlim_max);
    add_env("ASPEN_T_LIMITS", text);
    snprintf(text, sizeof(text), "%d", (int) getpid());
    add_env("ASPEN_T_PID", text);
}

static void add(const void *bytes, size_t len)
{
    if (answer_used + len > ANSWER_MAX)
        exit(9);
    memcpy(answer + answer_used, bytes, len);
    answer_used += len;
}

static bool is(const char *mode, const char *name)
{
    return strcmp(mode, name) == 0;
}

static void build(const char *mode)
{
    uint32_t nlocal = number("\nlocal "), ghosts = number("\nspec ghost:");
    struct asp_answer header = {.magic = ASP_ANSWER_MAGIC,
                                .version = ASP_WIRE_VERSION,
                                .ntasks = nlocal};

    if (is(mode, "plain") || is(mode, "refuse")) {
        header.status = is(mode, "plain") ? ASP_ANSWER_PLAIN
                                          : ASP_ANSWER_REFUSE;
        header.ntasks = 0;
        strcpy(header.message, "no\033free core");
    }
    if (is(mode, "magic"))
        header.magic++;
    if (is(mode, "version"))
        header.version++;
    add(&header, sizeof(header));
    for (uint32_t i = 0; i < header.ntasks; i++) {
        struct asp_answer_task task = {.role = i + ghosts >= nlocal,
                                       .env_bytes = (uint32_t) env_used};

        if (is(mode, "role"))
            task.role = !task.role;
        if (is(mode, "lying"))
            task.env_bytes += 1000000;
        add(&task, sizeof(task));
        add(env_text, env_used);
    }
    header.total_bytes = (uint32_t) answer_used;
    if (is(mode, "oversize"))
        header.total_bytes = UINT32_MAX;
    if (is(mode, "longer"))
        header.total_bytes -= 8;
    memcpy(answer, &header, sizeof(header));
    if (is(mode, "short"))
        answer_used /= 2;
}

static void flood(void)
{
    static char noise[65536];

    memset(noise, 'x', sizeof(noise));
    while (write(STDOUT_FILENO, noise, sizeof(noise)) > 0)
        ;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 0 ? strrchr(argv[0], '-') : NULL;
    char byte;

    mode = mode != NULL ? mode + 1 : "good";
    if (is(mode, "die"))
        return 3;
    if (is(mode, "deaf") || is(mode, "hang"))
        for (;;) {
            if (is(mode, "hang"))
                read_request();
            pause();
        }
    read_request();
    if (is(mode, "garbage"))
        flood();
    report_status();
    report_rest();
    if (is(mode, "preload"))
        add_env("LD_PRELOAD", "/tmp/evil.so");
    if (is(mode, "heap"))
        add_env("ASPEN_HEAP", "shared");
    if (is(mode, "endless"))
        env_text[env_used - 1] = 'x';
    build(mode);
    if (write(STDOUT_FILENO, answer, answer_used) != (ssize_t) answer_used)
        return 4;
    if (is(mode, "brief") || is(mode, "short"))
        return 0;
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    while (is(mode, "stay"))
        pause();
    return 0;
}
