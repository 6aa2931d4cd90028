/* SPDX-License-Identifier: BSD-3-Clause */
/* A preloaded library is found by the linker and by dlsym(RTLD_DEFAULT), and
 * that is not all. Tools behind us look the next function up with
 * dlsym(RTLD_NEXT, "PMPI_X"), Python's ctypes and Julia ask libmpich's own
 * handle, and a plugin that was loaded with RTLD_DEEPBIND is bound to its own
 * libraries first. So the values of libmpich's symbols MPI_X and PMPI_X are
 * replaced by the addresses of our inner entries, which never lead to a tool:
 * whoever comes there has passed the tools that there are, or did not want to.
 *
 * A value is relative to where libmpich was loaded, and the loader adds modulo
 * 2^64, so it may lead anywhere. Names stay, and the hash table with them. */
#include "config.h"

#include "redirect.h"

#include "entry.h"
#include "image.h"
#include "real.h"
#include "plt_patch.h"

#include "runtime/base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

typedef void (*call_f)(void);

static const call_f *const real_calls =
    (const call_f *) (const void *) &aspx_real;
static const call_f *const inner_calls =
    (const call_f *) (const void *) &aspx_inner;

bool aspx_redirect_is_wanted(void)
{
    return getenv("ASPEN_LAYOUT") && !getauxval(AT_SECURE);
}

static ElfW(Sym) *
    find_symbol(const struct aspx_image *image, const char *prefix, size_t i)
{
    ElfW(Addr) real = (ElfW(Addr))(uintptr_t) real_calls[i];
    ElfW(Sym) * symbol;
    char name[80];

    snprintf(name, sizeof(name), "%s%s", prefix, aspx_real_names[i]);
    symbol = real ? aspx_image_symbol(image, name) : NULL;
    return symbol && image->base + symbol->st_value == real ? symbol : NULL;
}

/* All symbols and where each is to lead. */
struct change {
    ElfW(Sym) * symbol;
    ElfW(Addr) value;
};

static size_t find_changes(const struct aspx_image *image,
                           struct change changes[2 * ASPX_CALLS])
{
    static const char *const prefixes[] = {"", "P"};
    size_t n = 0;

    for (size_t i = 0; i < ASPX_CALLS; i++)
        for (int p = 0; p < 2; p++) {
            ElfW(Sym) *symbol = find_symbol(image, prefixes[p], i);

            if (symbol)
                changes[n++] = (struct change){
                    symbol,
                    (ElfW(Addr))(uintptr_t) inner_calls[i] - image->base};
        }
    return n;
}

/* Returns 0, or -1 with errno. */
static int change_symbols(const struct aspx_image *image)
{
    static struct change changes[2 * ASPX_CALLS];
    size_t n = find_changes(image, changes);
    ElfW(Sym) * first, *last;

    if (n == 0) {
        errno = ENOEXEC;
        return -1;
    }
    first = last = changes[0].symbol;
    for (size_t i = 1; i < n; i++) {
        first = changes[i].symbol < first ? changes[i].symbol : first;
        last = changes[i].symbol > last ? changes[i].symbol : last;
    }
    if (!aspx_image_open(image, first, last + 1))
        return -1;
    for (size_t i = 0; i < n; i++)
        __atomic_store_n(&changes[i].symbol->st_value, changes[i].value,
                         __ATOMIC_RELEASE);
    aspx_image_close(image, first, last + 1);
    return 0;
}

static int compare_names(const void *name, const void *other)
{
    return strcmp(name, *(const char *const *) other);
}

/* A library that was bound to libmpich before. */
static void rebind(const struct aspx_image *image,
                   const struct aspx_reference *reference, void *unused)
{
    const char *name = reference->name;
    const char *const *found;
    size_t i;

    (void) unused;
    name += name[0] == 'P';
    if (strncmp(name, "MPI", 3) != 0)
        return;
    found = bsearch(name, aspx_real_names, ASPX_CALLS, sizeof(*aspx_real_names),
                    compare_names);
    if (!found)
        return;
    i = (size_t) (found - aspx_real_names);
    if (*reference->slot == *(void *const *) (const void *) &real_calls[i])
        aspx_image_store(image, reference->slot,
                         *(void *const *) (const void *) &inner_calls[i]);
}

/* The libraries that are bound to libmpich past us: RTLD_DEEPBIND. */
static int rebind_object(struct dl_phdr_info *object, size_t size,
                         void *libmpich)
{
    const struct aspx_image *mpi = libmpich;
    struct aspx_image image;

    (void) size;
    if (aspx_image_read(object, &image) && image.base != mpi->base &&
        !aspx_image_contains(&image, &aspx_real))
        aspx_image_each(&image, rebind, NULL);
    return 0;
}

static void complain(const char *why)
{
    const char *rank = getenv("PMI_RANK");

    if (!rank || strcmp(rank, "0") == 0)
        aspx_log(ASPX_LOG_WARNING,
                 "the symbols of libmpich cannot be changed "
                 "(%s): tools behind Aspen that use RTLD_NEXT, and what looks "
                 "MPI up in libmpich's own handle, go around it",
                 why);
}

/* libmpich itself keeps calling itself, so that comes first. */
static void redirect(void)
{
    struct aspx_image image;

    if (!aspx_image_of_handle(aspx_real_library(), &image))
        return;
    aspx_plt_patch();
    if (change_symbols(&image) == 0)
        dl_iterate_phdr(rebind_object, &image);
    else
        complain(strerror(errno));
}

void aspx_redirect(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool done;

    if (!aspx_redirect_is_wanted() || !aspx_real_library())
        return;
    /* Nothing in here waits for the loader to end a dlopen(): the thread that
     * is inside one may wait for this lock. */
    pthread_mutex_lock(&lock);
    if (!done)
        redirect();
    done = true;
    pthread_mutex_unlock(&lock);
}
