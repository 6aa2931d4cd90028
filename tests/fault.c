/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into ghosts only: raises a signal in one of them at the place that
 * ASPEN_FAULT names, or brings it in a state of fault_state.h. t5040 and t5041
 * look at what becomes of the job.
 *
 *   ASPEN_FAULT=PLACE:SIGNAL[:RANK]   of any ghost, or of that world rank
 *   ASPEN_FAULT=PLACE:STATE[:RANK]    while the file ASPEN_FAULT_FILE exists
 *
 *   start     before main()
 *   init      MPI_Init opens UCX
 *   arena     the arena is made, between MPI_Init and the first message
 *   progress  MPI makes progress, once ASPEN_FAULT_FILE exists
 *   finalize  MPI_Finalize disconnects from the others
 *   exit      after MPI_Finalize
 *
 *   ASPEN_FAULT=pidfd:ERRNO           pidfd_open() fails with it */
#include "config.h"

#include "fault_state.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void reach(const char *place)
{
    const char *fault = getenv("ASPEN_FAULT"), *rank = getenv("PMI_RANK");
    const char *file = getenv("ASPEN_FAULT_FILE");
    char at[32], what[32];
    int only = -1;

    if (!fault || !strstr(program_invocation_short_name, "aspen-ghost") ||
        sscanf(fault, "%31[^:]:%31[^:]:%d", at, what, &only) < 2 ||
        strcmp(at, place) != 0 || (only >= 0 && rank && atoi(rank) != only))
        return;
    if (!file || fault_state(what, file) != 0)
        kill(getpid(), atoi(what));
}

static void *next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    if (!found)
        abort(); /* whoever called us by this name found the other first */
    return found;
}

static void deny_pidfds(int error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned) error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {
        .len = sizeof(filter) / sizeof(filter[0]), .filter = filter};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        abort();
}

__attribute__((constructor)) static void at_start(void)
{
    const char *fault = getenv("ASPEN_FAULT");
    int error;

    reach("start");
    if (fault && strstr(program_invocation_short_name, "aspen-ghost") &&
        sscanf(fault, "pidfd:%d", &error) == 1)
        deny_pidfds(error);
}

__attribute__((destructor)) static void at_exit(void)
{
    reach("exit");
}

#define HOOK __attribute__((visibility("default")))

HOOK int ucp_init_version(unsigned major, unsigned minor, const void *params,
                          const void *config, void *context);

int ucp_init_version(unsigned major, unsigned minor, const void *params,
                     const void *config, void *context)
{
    int (*real)(unsigned, unsigned, const void *, const void *, void *);

    reach("init");
    *(void **) &real = next("ucp_init_version");
    return real(major, minor, params, config, context);
}

HOOK unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*real)(void *);
    const char *file = getenv("ASPEN_FAULT_FILE");

    if (!real)
        *(void **) &real = next("ucp_worker_progress");
    if (file && access(file, F_OK) == 0)
        reach("progress");
    return real(worker);
}

HOOK void *ucp_disconnect_nb(void *endpoint);

void *ucp_disconnect_nb(void *endpoint)
{
    void *(*real)(void *);

    reach("finalize");
    *(void **) &real = next("ucp_disconnect_nb");
    return real(endpoint);
}

HOOK int memfd_create(const char *name, unsigned flags);

int memfd_create(const char *name, unsigned flags)
{
    if (strcmp(name, "aspen-arena") == 0)
        reach("arena");
    return (int) syscall(SYS_memfd_create, name, flags);
}
