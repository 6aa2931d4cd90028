/* SPDX-License-Identifier: BSD-3-Clause */
/* aspen-pmix-put: hand a step's layout to a PMIx server that is not Aspen's, so
 * that tools find it there. Started by layout_fetch.c, never by hand.
 *
 *   aspen-pmix-put put     read a layout from stdin, Put and Commit it
 *
 * Exit status 0, or 1 with the reason on stdout. A program of its own
 * because PMIx_Init() waits for its server without a limit and cannot be
 * called off: the caller kills this process when time is up. It also keeps
 * libpmix, its thread and its one-per-process state out of the MPI program,
 * which may use PMIx itself. It reads PMIX_* from its environment like any
 * client. */
#include "config.h"

#include "common/layout/layout.h"

#include <pmix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { FINALIZE_LIMIT_US = 400 * 1000 };

/* PMIx_Finalize() asks the server, which may have been stopped just now. What
 * was to be said is said by then. */
static void on_alarm(int sig)
{
    (void) sig;
    _exit(0);
}

static void finalize(void)
{
    struct itimerval limit = {.it_value = {.tv_usec = FINALIZE_LIMIT_US}};

    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &limit, NULL);
    PMIx_Finalize(NULL, 0);
}

static int fail(const char *what, pmix_status_t status)
{
    printf("%s: %s", what, PMIx_Error_string(status));
    fflush(stdout);
    return 1;
}

static int put_layout(void)
{
    static char text[ASP_LAYOUT_TEXT_MAX + 1];
    size_t len = fread(text, 1, sizeof(text) - 1, stdin);
    pmix_status_t status;
    pmix_value_t value;

    text[len] = '\0';
    PMIX_VALUE_CONSTRUCT(&value);
    value.type = PMIX_STRING;
    value.data.string = text;
    status = PMIx_Put(PMIX_GLOBAL, "aspen.layout", &value);
    if (status == PMIX_SUCCESS)
        status = PMIx_Commit();
    return status == PMIX_SUCCESS ? 0 : fail("cannot put the layout", status);
}

int main(int argc, char **argv)
{
    pmix_status_t status;
    pmix_proc_t me;
    int rc;

    if (argc != 2 || strcmp(argv[1], "put") != 0) {
        fputs("usage: aspen-pmix-put put (started by Aspen's runtime)\n",
              stderr);
        return 2;
    }
    status = PMIx_Init(&me, NULL, 0);
    if (status != PMIX_SUCCESS)
        return fail("PMIx_Init", status);
    rc = put_layout();
    if (rc != 0)
        return rc;
    /* Ends the caller's wait for output; it then waits for our end. */
    fclose(stdout);
    finalize();
    _exit(0);
}
