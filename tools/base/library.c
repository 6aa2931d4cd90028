/* SPDX-License-Identifier: BSD-3-Clause */
/* The search of ld.so(8), read only: breadth first through what the program and
 * its libraries need; a name without a slash is looked for in DT_RPATH of the
 * file that needs it and of those that brought it in (unless that file has
 * DT_RUNPATH), LD_LIBRARY_PATH, its DT_RUNPATH, the cache and the usual
 * folders. A name that some file has brought in already is not looked for
 * again. */
#include "config.h"

#include "library.h"

#include "elf_file.h"
#include "library_cache.h"
#include "program.h"

#include "common/base/clock.h"
#include "common/base/mpi_file.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A large program of C++ and Python has some 150 libraries. */
enum { OBJECTS_MAX = 512, SEARCH_MS = 2000 };

struct object {
    struct object *next; /* in the order in which they are loaded */
    const struct object *by;
    const char *name; /* as it was asked for; NULL: the program */
    char path[PATH_MAX], origin[PATH_MAX];
    struct aspt_elf_dynamic dynamic;
};

struct search {
    const char *wanted; /* NULL: an MPI library */
    struct object *first, *last;
    struct aspt_library_cache cache;
    uint16_t machine;
    unsigned n;
    int64_t until_ms;
    bool unsure; /* something was met that is not followed */
    const struct object *found;
    enum asp_mpi_kind kind; /* of an MPI library that was found */
};

/* ---- files ---------------------------------------------------------------------- */

static bool is_over(struct search *search)
{
    if (search->n >= OBJECTS_MAX || asp_now_ms() > search->until_ms)
        search->unsure = true;
    return search->unsure;
}

/* What $ORIGIN is for a file: of the program the folder of the file itself, of
 * others that by which they were found. */
static void set_origin(struct object *object)
{
    char *resolved = object->name ? NULL : realpath(object->path, NULL);
    char *slash;

    snprintf(object->origin, sizeof(object->origin), "%s",
             resolved ? resolved : object->path);
    free(resolved);
    slash = strrchr(object->origin, '/');
    if (slash)
        slash[slash == object->origin] = '\0';
    else
        strcpy(object->origin, ".");
}

/* Is there a file at object->path that the linker takes? One of another machine
 * it passes over. */
static bool read_object(struct search *search, struct object *object)
{
    struct aspt_elf elf;
    bool taken;

    if (!aspt_elf_open(object->path, &elf))
        return false;
    if (search->machine == 0) /* the program's */
        search->machine = elf.machine;
    taken = elf.machine == search->machine;
    if (taken && !aspt_elf_dynamic(&elf, &object->dynamic))
        search->unsure = true;
    aspt_elf_close(&elf);
    set_origin(object);
    return taken && !search->unsure;
}

/* Is it an MPI library, and the best so far? Aspen's own defines the names of
 * MPI, too; and what has no PMPI_ names may be a tool, with an MPI to come. */
static bool is_mpi(struct search *search, const struct object *object)
{
    const char *soname = object->dynamic.soname;
    enum asp_mpi_kind kind = ASP_MPI_NONE;

    if (!soname || strcmp(soname, "libaspen.so") != 0)
        kind = asp_mpi_of_file(object->path);
    if (kind == ASP_MPI_PLAIN || !asp_mpi_kind_is_better(kind, search->kind))
        return false;
    search->kind = kind;
    return true;
}

/* Behind something that has the names of MPI may come MPICH. */
static bool is_done(const struct search *search)
{
    return search->found && (search->wanted || search->kind == ASP_MPI_MPICH);
}

static bool is_wanted(struct search *search, const struct object *object)
{
    const char *soname = object->dynamic.soname;

    if (!object->name) /* the program */
        return false;
    if (!search->wanted)
        return is_mpi(search, object);
    return (soname && strcmp(soname, search->wanted) == 0) ||
           strcmp(object->name, search->wanted) == 0;
}

static void add_object(struct search *search, struct object *object)
{
    if (search->last)
        search->last->next = object;
    else
        search->first = object;
    search->last = object;
    search->n++;
    if (is_wanted(search, object))
        search->found = object;
}

static bool is_there(const struct search *search, const char *name)
{
    for (const struct object *o = search->first; o; o = o->next)
        if (o->name && (strcmp(o->name, name) == 0 ||
                        (o->dynamic.soname && !strchr(name, '/') &&
                         strcmp(o->dynamic.soname, name) == 0)))
            return true;
    return false;
}

/* ---- folders -------------------------------------------------------------------- */

/* "$ORIGIN/../lib" in a folder of at most so many bytes. Returns false for what
 * is not followed. */
static bool expand(const char *from, size_t len, const char *origin, char *to,
                   size_t size)
{
    static const char *const words[] = {"$ORIGIN", "${ORIGIN}"};
    size_t used = 0;

    for (size_t i = 0; i < len;) {
        const char *word = NULL;
        int n;

        for (int w = 0; w < 2; w++)
            if (strncmp(from + i, words[w], strlen(words[w])) == 0)
                word = words[w];
        if (from[i] == '$' && !word)
            return false;
        n = word ? snprintf(to + used, size - used, "%s", origin)
                 : snprintf(to + used, size - used, "%c", from[i]);
        used += (size_t) n;
        if (used >= size)
            return false;
        i += word ? strlen(word) : 1;
    }
    return used > 0 || snprintf(to, size, ".") == 1;
}

/* In the folders of a list. Returns whether it is found. */
static bool try_folders(struct search *search, struct object *object,
                        const char *list, const char *separators,
                        const char *origin)
{
    char folder[PATH_MAX];

    if (!list || !list[0])
        return false;
    for (size_t len; !is_over(search); list += len + 1) {
        len = strcspn(list, separators);
        if (!expand(list, len, origin, folder, sizeof(folder)))
            search->unsure = true;
        else if (snprintf(object->path, PATH_MAX, "%s/%s", folder,
                          object->name) < PATH_MAX &&
                 read_object(search, object))
            return true;
        if (!list[len])
            break;
    }
    return false;
}

/* DT_RPATH of the file that needs it, of the one that brought that in, ... */
static bool try_rpaths(struct search *search, struct object *object)
{
    if (object->by->dynamic.runpath)
        return false;
    for (const struct object *by = object->by; by; by = by->by)
        if (!by->dynamic.runpath && by->dynamic.rpath &&
            try_folders(search, object, by->dynamic.rpath, ":", by->origin))
            return true;
    return false;
}

static bool try_cache(struct search *search, struct object *object)
{
    size_t from = 0;

    while (!is_over(search) &&
           aspt_library_cache_next(&search->cache, object->name, &from,
                                   object->path))
        if (read_object(search, object))
            return true;
    return false;
}

static bool try_path(struct search *search, struct object *object)
{
    if (!expand(object->name, strlen(object->name), object->by->origin,
                object->path, PATH_MAX))
        search->unsure = true;
    return !search->unsure && read_object(search, object);
}

static bool try_all(struct search *search, struct object *object)
{
    const struct object *by = object->by;

    if (strchr(object->name, '/'))
        return try_path(search, object);
    return try_rpaths(search, object) ||
           try_folders(search, object, getenv("LD_LIBRARY_PATH"), ":;",
                       search->first->origin) ||
           try_folders(search, object, by->dynamic.runpath, ":", by->origin) ||
           (!by->dynamic.no_default &&
            (try_cache(search, object) ||
             try_folders(search, object, "/lib64:/usr/lib64:/lib:/usr/lib", ":",
                         "")));
}

/* ---- the order ------------------------------------------------------------------ */

/* What is not found does not end the search: the linker would end the program,
 * but on the nodes of the job it may be there. */
static void need(struct search *search, const struct object *by,
                 const char *name)
{
    struct object *object;

    if (is_there(search, name) || is_over(search))
        return;
    object = calloc(1, sizeof(*object));
    if (!object) {
        search->unsure = true;
        return;
    }
    object->by = by;
    object->name = name;
    if (try_all(search, object))
        add_object(search, object);
    else
        free(object);
}

/* Of LD_PRELOAD: spaces and colons between the names. */
static void need_preloads(struct search *search, char *names)
{
    char *rest = NULL;

    for (char *name = names ? strtok_r(names, " :", &rest) : NULL;
         name && !is_done(search); name = strtok_r(NULL, " :", &rest))
        need(search, search->first, name);
}

static bool start_at(struct search *search, const char *program)
{
    struct object *object = calloc(1, sizeof(*object));

    if (object && snprintf(object->path, PATH_MAX, "%s", program) < PATH_MAX &&
        read_object(search, object)) {
        add_object(search, object);
        return true;
    }
    free(object);
    return false;
}

static void run_search(struct search *search, const char *program)
{
    const char *preload = getenv("LD_PRELOAD");
    char *preloads = preload ? strdup(preload) : NULL;

    if (start_at(search, program))
        need_preloads(search, preloads);
    for (const struct object *by = search->first;
         by && !is_done(search) && !search->unsure; by = by->next)
        for (size_t i = 0; i < by->dynamic.n && !is_done(search); i++)
            need(search, by, by->dynamic.needed[i]);
    while (search->first) {
        struct object *object = search->first;

        search->first = object->next;
        if (object != search->found)
            free(object);
    }
    free(preloads);
}

/* A program of another linker (musl's) has other rules. */
static bool has_own_linker(const char *program)
{
    char named[PATH_MAX], linker[PATH_MAX];
    struct stat st, own;
    struct aspt_elf elf;
    bool same = false;

    if (aspt_elf_open(program, &elf)) {
        same = aspt_elf_linker(&elf, named);
        aspt_elf_close(&elf);
    }
    if (!same || !aspt_elf_open("/proc/self/exe", &elf))
        return false;
    same = aspt_elf_linker(&elf, linker) && stat(named, &st) == 0 &&
           stat(linker, &own) == 0 && st.st_dev == own.st_dev &&
           st.st_ino == own.st_ino;
    aspt_elf_close(&elf);
    return same;
}

/* Returns whether it was found; path is undefined if not. */
static bool find(struct search *search, const char *program,
                 char path[PATH_MAX])
{
    bool found;

    if (!has_own_linker(program))
        return false;
    search->until_ms = asp_now_ms() + SEARCH_MS;
    aspt_library_cache_read(&search->cache);
    run_search(search, program);
    aspt_library_cache_free(&search->cache);
    found = search->found && !search->unsure;
    if (found)
        snprintf(path, PATH_MAX, "%s", search->found->path);
    free((void *) (uintptr_t) search->found);
    return found;
}

bool aspt_library_find(const char *program, const char *name,
                       char path[PATH_MAX])
{
    struct search search = {.wanted = name};

    return find(&search, program, path);
}

enum asp_mpi_kind aspt_library_find_mpi(const char *program,
                                        char path[PATH_MAX])
{
    struct search search = {0};
    char file[PATH_MAX];

    return aspt_program_find(program, file) && find(&search, file, path)
               ? search.kind
               : ASP_MPI_NONE;
}
