/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands before dlsym() and dlopen(), to see that libmpich is there before
 * anybody can look something up in it: Python and others load it when they run,
 * and go to its own handle at once.
 *
 * Both functions look at who called them (RTLD_NEXT, the caller's RUNPATH), so
 * the C library's are not called but jumped to, with the stack as it was. */
#include "config.h"

#include "real.h"
#include "redirect.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#ifdef __x86_64__
#define FIRST_VERSION "GLIBC_2.2.5"
#define STAND_BEFORE(name)                                                     \
    __asm__(".text\n"                                                          \
            ".globl " #name "\n"                                               \
            ".type " #name ", @function\n" #name ":\n"                         \
            ".cfi_startproc\n"                                                 \
            "    endbr64\n"                                                    \
            "    push %rdi\n"                                                  \
            "    .cfi_adjust_cfa_offset 8\n"                                   \
            "    push %rsi\n"                                                  \
            "    .cfi_adjust_cfa_offset 8\n"                                   \
            "    sub $8, %rsp\n"                                               \
            "    .cfi_adjust_cfa_offset 8\n"                                   \
            "    call aspx_before_" #name "\n"                                 \
            "    add $8, %rsp\n"                                               \
            "    .cfi_adjust_cfa_offset -8\n"                                  \
            "    pop %rsi\n"                                                   \
            "    .cfi_adjust_cfa_offset -8\n"                                  \
            "    pop %rdi\n"                                                   \
            "    .cfi_adjust_cfa_offset -8\n"                                  \
            "    jmp *%rax\n"                                                  \
            ".cfi_endproc\n"                                                   \
            ".size " #name ", . - " #name "\n")
#else /* aarch64; hint #34 is "bti c" */
#define FIRST_VERSION "GLIBC_2.17"
#define STAND_BEFORE(name)                                                     \
    __asm__(".text\n"                                                          \
            ".balign 4\n"                                                      \
            ".globl " #name "\n"                                               \
            ".type " #name ", %function\n" #name ":\n"                         \
            ".cfi_startproc\n"                                                 \
            "    hint #34\n"                                                   \
            "    stp x29, x30, [sp, #-32]!\n"                                  \
            "    .cfi_adjust_cfa_offset 32\n"                                  \
            "    .cfi_offset x29, -32\n"                                       \
            "    .cfi_offset x30, -24\n"                                       \
            "    stp x0, x1, [sp, #16]\n"                                      \
            "    bl aspx_before_" #name "\n"                                   \
            "    mov x16, x0\n"                                                \
            "    ldp x0, x1, [sp, #16]\n"                                      \
            "    ldp x29, x30, [sp], #32\n"                                    \
            "    .cfi_restore x29\n"                                           \
            "    .cfi_restore x30\n"                                           \
            "    .cfi_adjust_cfa_offset -32\n"                                 \
            "    br x16\n"                                                     \
            ".cfi_endproc\n"                                                   \
            ".size " #name ", . - " #name "\n")
#endif

/* Called by what STAND_BEFORE() makes; they return where to jump. */
void *aspx_before_dlsym(void);
void *aspx_before_dlopen(void);

STAND_BEFORE(dlsym);
STAND_BEFORE(dlopen);

/* Sanitizers look up what they stand in front of before they can be called
 * themselves, and we would call them. With them libmpich's symbols lead to us
 * from the first call of MPI on (entry.c). */
extern void __asan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));

/* How many objects have been loaded so far. */
static int count_objects(struct dl_phdr_info *object, size_t size, void *count)
{
    (void) size;
    *(unsigned long long *) count = object->dlpi_adds;
    return 1;
}

static void check_for_mpi(void)
{
    static atomic_ullong checked_at; /* with as many objects */
    static atomic_bool done;
    unsigned long long now = 0;

    if (done || __asan_init || __tsan_init || !aspx_redirect_is_wanted())
        return;
    dl_iterate_phdr(count_objects, &now);
    if (checked_at == now)
        return;
    if (aspx_real_resolve() == 0) {
        aspx_redirect();
        done = true;
    }
    checked_at = now; /* last: a thread that sees it may go on */
}

/* Our own calls come here, too. The other models of thread-local memory call a
 * function, in front of which sanitizers stand. */
static void check_once(void)
{
    static __thread bool checking __attribute__((tls_model("initial-exec")));

    if (checking)
        return;
    checking = true;
    check_for_mpi();
    checking = false;
}

/* What stands behind us under this name. */
static void *find_next(const char *name)
{
    void *next = dlvsym(RTLD_NEXT, name, "GLIBC_2.34");

    if (!next)
        next = dlvsym(RTLD_NEXT, name, FIRST_VERSION);
    if (!next)
        abort(); /* another C library than any that this was built for */
    return next;
}

void *aspx_before_dlsym(void)
{
    static void *_Atomic next;

    check_once();
    if (!next)
        next = find_next("dlsym");
    return next;
}

void *aspx_before_dlopen(void)
{
    static void *_Atomic next;

    check_once();
    if (!next)
        next = find_next("dlopen");
    return next;
}
