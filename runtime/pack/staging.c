/* SPDX-License-Identifier: BSD-3-Clause */
/* The piece that was given back last is kept in one atomic pointer, so any
 * thread may take it. A page in front of it holds its size. */
#include "config.h"

#include "staging.h"

#include <stdatomic.h>
#include <stdlib.h>

enum {
    KEPT_MAX = 64 << 20, /* more is not held back from the program */
    ALIGN = 4096,        /* also of what follows the head: a page */
};

/* In front of each piece. */
struct head {
    size_t bytes; /* behind it */
};

static struct head *_Atomic kept;

static char *behind(struct head *head)
{
    return (char *) head + ALIGN;
}

static struct head *allocate(size_t bytes)
{
    size_t rounded = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    struct head *head = aligned_alloc(ALIGN, ALIGN + rounded);

    if (head)
        head->bytes = rounded;
    return head;
}

char *aspx_staging_take(size_t bytes)
{
    struct head *head = atomic_exchange(&kept, NULL);

    if (head && head->bytes < bytes) {
        free(head);
        head = NULL;
    }
    if (!head)
        head = allocate(bytes);
    return head ? behind(head) : NULL;
}

void aspx_staging_give(char *staging)
{
    struct head *head = (struct head *) (void *) (staging - ALIGN);

    if (head->bytes <= KEPT_MAX)
        head = atomic_exchange(&kept, head);
    free(head);
}
