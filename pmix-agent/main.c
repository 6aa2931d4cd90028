/* SPDX-License-Identifier: BSD-3-Clause */
/* aspen-agent: one per node and step, started by the Slurm plugin as the
 * job's user.
 *
 *   stdin   the request, then silence until the plugin closes it: that is
 *           the end of the step and of this process
 *   stdout  one framed answer, then closed
 *   stderr  nothing, unless PMIx itself complains
 *
 * A failure of PMIx costs the tasks their PMIx keys, not their layout. A
 * failure of the plan costs the step its async progress, not its life, unless
 * the request says require. Every phase is under an alarm: an agent that
 * hangs ends itself. Signals that Slurm sends to end a job are ignored: tasks
 * may still be at work, and the pipe says when they are done. */
#include "config.h"

#include "answer.h"
#include "explain.h"
#include "publish.h"
#include "request.h"
#include "resolve.h"
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    START_LIMIT_S = 15, /* request, plan, server, answer: all of it, until
                           the request says how long the plugin waits */
    STOP_LIMIT_S = 1,   /* PMIx_server_finalize() */
    REQUEST_TIMEOUT_MS = 5000,
    ANSWER_TIMEOUT_MS = 5000,
    EXIT_USAGE = 2,
    EXIT_HUNG = 3,
};

struct options {
    bool explain;
    bool serve; /* with explain: also start the server, until EOF */
    bool pmix;
    const char *tmpdir;
    const char *file;
};

static const char usage[] =
    "usage: aspen-agent [--no-pmix] [--tmpdir=DIR] < request > answer\n"
    "       aspen-agent --explain [--serve] [--tmpdir=DIR] [FILE]\n"
    "Plan and publish the layout of one node of a Slurm step (started by the\n"
    "Aspen plugin), or show what would be planned for a request.\n"
    "  --explain     print layout and answer as text, then end\n"
    "  --serve       with --explain: start the PMIx server, until stdin ends\n"
    "  --no-pmix     start no PMIx server: layout goes by environment only\n"
    "  --tmpdir=DIR  where the server's private directory goes (/tmp)\n"
    "  --version, --help\n";

/* The step is over and only the farewell is left; see run_to_end(). */
static volatile sig_atomic_t stopping;

/* Something hung: leave nothing behind and go. */
static void on_alarm(int sig)
{
    static const char text[] = "aspen-agent: timed out\n";
    ssize_t ignored;

    (void) sig;
    if (stopping)
        _exit(0);
    ignored = write(STDERR_FILENO, text, sizeof(text) - 1);
    (void) ignored;
    aspa_publish_abandon();
    _exit(EXIT_HUNG);
}

static void set_signals(const struct options *options)
{
    static const int ignored[] = {SIGPIPE, SIGHUP,  SIGINT, SIGTERM,
                                  SIGUSR1, SIGUSR2, SIGQUIT};
    struct sigaction action = {.sa_handler = on_alarm};
    sigset_t none;

    sigaction(SIGALRM, &action, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        signal(ignored[i], options->explain ? SIG_DFL : SIG_IGN);
}

static int parse_options(int argc, char **argv, struct options *options)
{
    static const struct option longs[] = {
        {"explain", no_argument, NULL, 'e'},
        {"serve", no_argument, NULL, 's'},
        {"no-pmix", no_argument, NULL, 'n'},
        {"tmpdir", required_argument, NULL, 't'},
        {"version", no_argument, NULL, 'V'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int c;

    while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        switch (c) {
        case 'e':
            options->explain = true;
            break;
        case 's':
            options->serve = true;
            break;
        case 'n':
            options->pmix = false;
            break;
        case 't':
            options->tmpdir = optarg;
            break;
        case 'V':
            puts("aspen-agent " PACKAGE_VERSION
                 "\nbuilt with " ASPEN_BUILT_WITH);
            exit(0);
        case 'h':
            fputs(usage, stdout);
            exit(0);
        default:
            return -1;
        }
    }
    if (optind < argc)
        options->file = argv[optind++];
    if (optind < argc || (options->file != NULL && !options->explain))
        return -1;
    return 0;
}

/* Until the plugin, or whoever holds the other end, closes it. */
static void wait_for_end(int fd)
{
    char junk[256];
    ssize_t got;

    do
        got = read(fd, junk, sizeof(junk));
    while (got > 0 || (got < 0 && errno == EINTR));
}

/* PMIx_server_finalize() was seen to hang after clients were killed in the
 * middle of their handshake. Nothing depends on it: no file is left to remove.
 */
static void run_to_end(void)
{
    alarm(0);
    wait_for_end(STDIN_FILENO);
    stopping = 1;
    alarm(STOP_LIMIT_S);
    aspa_serve_stop();
}

/* The agent proper. Returns the exit status. */
static int run(const struct options *options)
{
    struct aspa_request request = {0};
    struct aspa_answer answer = {0};
    struct aspa_plan plan = {0};
    struct asp_err err = {0};
    struct asp_err why;
    char *text = NULL;
    int rc;

    alarm(START_LIMIT_S);
    rc = aspa_request_read(STDIN_FILENO, REQUEST_TIMEOUT_MS, &text, &err);
    if (rc == 0 && (rc = aspa_request_parse(text, &request, &err)) < 0)
        free(text);
    if (rc == 0 && request.timeout_ms) /* a second longer: the plugin says it */
        alarm(request.timeout_ms / 1000 + 2);
    if (rc == 0 && request.uid != getuid())
        rc = asp_errf(&err, EPERM, "request is for uid %u, the agent has %u",
                      (unsigned) request.uid, (unsigned) getuid());
    if (rc == 0)
        rc = aspa_resolve(&request, &plan, &err);
    if (rc == 0)
        rc = aspa_publish(&plan, options->pmix ? options->tmpdir : NULL,
                          &answer, &err);
    if (rc < 0) {
        why = err;
        rc = aspa_publish_failure(&answer, plan.require, &why, &err);
    }
    if (rc == 0)
        rc = aspa_answer_write(&answer, STDOUT_FILENO, ANSWER_TIMEOUT_MS, &err);
    close(STDOUT_FILENO);
    if (rc == 0 && plan.layout != NULL)
        run_to_end();
    aspa_answer_clear(&answer);
    aspa_plan_clear(&plan);
    aspa_request_clear(&request);
    return rc == 0 ? 0 : 1;
}

/* Descriptors 0-2 must exist, or the server's sockets would take their
 * numbers; anything above is somebody else's and would outlive its purpose. */
static int set_descriptors(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd < 0)
        return -1;
    return close_range(STDERR_FILENO + 1, ~0U, 0);
}

int main(int argc, char **argv)
{
    struct options options = {.pmix = true, .tmpdir = "/tmp"};

    /* Slurm neither tracks us nor counts what we use, so we are no place for
     * the user to move into. */
    if (prctl(PR_SET_DUMPABLE, 0) < 0)
        return EXIT_FAILURE;
    if (set_descriptors() < 0)
        return EXIT_FAILURE;
    if (parse_options(argc, argv, &options) < 0) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    set_signals(&options);
    umask(077);
    if (options.explain)
        return aspa_explain(options.file,
                            options.serve ? options.tmpdir : NULL);
    if (chdir("/") < 0)
        return EXIT_FAILURE;
    return run(&options);
}
