/* SPDX-License-Identifier: BSD-3-Clause */
/* Another process of this node, as /proc shows it. Needs no descriptor that
 * stays open, so a program that closes descriptors which it does not know
 * cannot take it away; and it works where there are no pidfds. */
#ifndef ASPEN_RUNTIME_BASE_PROCESS_H
#define ASPEN_RUNTIME_BASE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct aspx_process {
    pid_t pid;        /* 0: none */
    uint64_t started; /* in clock ticks since boot; 0: not known */
};

struct aspx_process_look {
    char state;       /* of its first thread, proc(5); '?' if not known */
    bool ended;       /* certainly */
    uint64_t cpu;     /* clock ticks that its first thread has used */
    uint64_t started; /* as above */
};

/* From now on this pid stands for the process that has it now. */
void aspx_process_know(struct aspx_process *process, pid_t pid);

/* What can be seen of it. `ended` is never a guess: without /proc only what
 * kill() says counts.  Cost: 15 us. */
struct aspx_process_look aspx_process_look(const struct aspx_process *process);

#endif
