/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of aspen-task; see task.h. */
#include "config.h"

#include "cpus.h"
#include "task.h"

#include "tools/base/installed.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As a shell says it of what it cannot start. */
enum { EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

void aspt_task_say(const char *fmt, ...)
{
    char text[2 * ASP_ERR_TEXT_MAX];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    fprintf(stderr, "aspen: %s\n", text);
}

static _Noreturn void fail(const struct asp_err *err)
{
    aspt_task_say("%s; ending this task", err->text);
    exit(EXIT_FAILURE);
}

static _Noreturn void become_program(const struct aspt_task *task)
{
    char **argv = task->arguments.program;
    int status;

    execvp(argv[0], argv);
    status = errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
    aspt_task_say("cannot run %.300s: %s", argv[0], strerror(errno));
    exit(status);
}

static _Noreturn void become_ghost(void)
{
    char path[PATH_MAX], *argv[] = {path, NULL};

    aspt_installed(ASPT_FILE_GHOST, path);
    execv(path, argv);
    aspt_task_say("cannot run %s: %s", path, strerror(errno));
    exit(EXIT_FAILURE);
}

/* The plugin, too, has made a layout for this step: whatever asked for it, two
 * cannot hold. Its ghosts never come here, they are not ours to start. */
static void look_for_plugin(const struct aspt_task *task)
{
    bool speaks = task->place.node == 0 && task->place.local == 0;

    if (!getenv("ASPEN_LAYOUT") && !getenv("ASPEN_ROLE"))
        return;
    if (speaks)
        aspt_task_say("this site's plugin has given the step a layout; %s",
                      task->spec.ghosts
                          ? "start it with srun alone: the step fails"
                          : "that of aspen run is left out");
    if (task->spec.ghosts)
        exit(EXIT_FAILURE);
    become_program(task);
}

static void lead(const struct aspt_task *task, struct aspt_decision *decision)
{
    struct asp_cpuset cpus = aspt_cpus_own();
    struct aspt_meeting meeting;
    struct asp_err err;
    int rc = aspt_meet_gather(&meeting, task->place.nlocal, &cpus,
                              ASPT_GATHER_MS, &err);

    aspt_task_decide(task, rc == 0 ? &meeting : NULL, err.text, decision);
    aspt_meet_answer(&meeting, decision);
    aspt_meet_close(&meeting);
}

/* What goes wrong here is this task's alone: with ghosts others would wait for
 * it, without it runs as it would without us. */
static void lose(const struct aspt_task *task, const struct asp_err *err)
{
    if (task->spec.ghosts || task->spec.require)
        fail(err);
    aspt_task_say("%s: local task %u runs without Aspen: %s",
                  task->place.nodename, (unsigned) task->place.local,
                  err->text);
}

static void follow(const struct aspt_task *task, struct aspt_decision *decision)
{
    struct asp_cpuset cpus = aspt_cpus_own();
    struct asp_err err;

    if (aspt_meet_follow(task->place.local, &cpus, ASPT_FOLLOW_MS, decision,
                         &err) == 0)
        return;
    lose(task, &err);
    decision->verdict = ASPT_PLAIN;
}

/* Mode off with a report: the ranks need nothing of each other, and what goes
 * wrong costs the report alone. */
static void observe(const struct aspt_task *task,
                    struct aspt_decision *decision)
{
    *decision = (struct aspt_decision){.verdict = ASPT_WITH_LAYOUT,
                                       .board = -1,
                                       .text = aspt_task_observe(task)};
}

static void read_words(char **argv, struct aspt_task *task)
{
    struct asp_err err;

    if (aspt_task_arguments_read(argv + 1, &task->arguments, &err) < 0)
        fail(&err);
    if (asp_request_spec_parse(task->arguments.spec, &task->spec) < 0) {
        asp_errf(&err, EINVAL, "aspen run of another version: \"%.80s\"",
                 task->arguments.spec);
        fail(&err);
    }
}

/* A task that does not know its place must not run: it may be a ghost's.
 * Without ghosts it is the user's, whatever it is. */
static void find_place(struct aspt_task *task)
{
    struct asp_err err;

    if (aspt_place_find(&task->arguments, &task->place, &err) == 0)
        return;
    if (task->spec.ghosts || task->spec.require)
        fail(&err);
    aspt_task_say("%s; the program runs without asynchronous progress",
                  err.text);
    become_program(task);
}

static _Noreturn void act(const struct aspt_task *task,
                          const struct aspt_decision *decision)
{
    struct asp_err err;

    if (decision->verdict == ASPT_GIVE_UP)
        exit(EXIT_FAILURE);
    if (decision->verdict == ASPT_WITH_LAYOUT) {
        if (aspt_task_enter(task, decision, &err) == 0) {
            if (aspt_task_is_ghost(task))
                become_ghost();
            become_program(task);
        }
        lose(task, &err);
    }
    aspt_task_clear();
    become_program(task);
}

int main(int argc, char **argv)
{
    static struct aspt_task task;
    struct aspt_decision decision;

    (void) argc;
    read_words(argv, &task);
    find_place(&task);
    look_for_plugin(&task);
    if (strcmp(task.spec.mode, "off") == 0)
        observe(&task, &decision);
    else if (task.place.local == 0)
        lead(&task, &decision);
    else
        follow(&task, &decision);
    act(&task, &decision);
}
