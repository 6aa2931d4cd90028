/* SPDX-License-Identifier: BSD-3-Clause */
/* Call sites are looked up with elfutils' libdw, in a child: the files may come
 * from anywhere, and the child may crash or hang on one. It writes a line for
 * each window; whatever came until its end counts. */
#include "config.h"

#include "source.h"

#include "tools/base/program.h"

#include "common/base/clock.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LIMIT_S = 5,        /* for all sites; a library of 1 GB takes about 2 */
    NAME_MAX_SITE = 64, /* of the file: the runtime cuts it at 56 */
    SOURCE_MAX = 160,   /* of an answer, with its NUL */
};

/* The file that the last site was in; the next one is mostly in the same. */
struct object {
    char name[NAME_MAX_SITE];
    Dwfl *dwfl;
    Dwfl_Module *module; /* NULL: there is none, or none to be trusted */
};

/* "app+0x1202": returns the offset, 0 if the text is of another form. */
static GElf_Addr split_site(const char *site, char name[NAME_MAX_SITE])
{
    const char *plus = strrchr(site, '+');
    char *end;
    unsigned long long at;

    if (!plus || plus == site || plus - site >= NAME_MAX_SITE ||
        strncmp(plus, "+0x", 3) != 0 ||
        memchr(site, '/', (size_t) (plus - site)))
        return 0;
    at = strtoull(plus + 1, &end, 16);
    snprintf(name, NAME_MAX_SITE, "%.*s", (int) (plus - site), site);
    return *end ? 0 : at;
}

/* Open the first regular file of that name in a list of folders. Returns -1 if
 * there is none. */
static int open_along(const char *folders, const char *name)
{
    char path[PATH_MAX];
    int fd = -1;

    while (folders && *folders && fd < 0) {
        int len = (int) strcspn(folders, ":");

        if (len && snprintf(path, sizeof(path), "%.*s/%s", len, folders, name) <
                       (int) sizeof(path))
            fd = aspt_program_open(path);
        folders += len + (folders[len] == ':');
    }
    return fd;
}

/* Of the file that the record means, as far as that can be told. */
static int open_object(const char *name, const char *record_path)
{
    const char *slash = strrchr(record_path, '/');
    char beside[PATH_MAX];
    struct stat record, file;
    int fd;

    snprintf(beside, sizeof(beside), "%.*s:.",
             slash ? (int) (slash - record_path) : 1,
             slash ? record_path : ".");
    if ((fd = open_along(beside, name)) < 0 &&
        (fd = open_along(getenv("PATH"), name)) < 0)
        fd = open_along(getenv("LD_LIBRARY_PATH"), name);
    if (fd >= 0 && strcmp(record_path, "-") &&
        stat(record_path, &record) == 0 && fstat(fd, &file) == 0 &&
        file.st_mtime > record.st_mtime) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Only what the file itself has: separate files of debugging information are
 * found by names in it, or from the network. */
static int find_no_debuginfo(Dwfl_Module *module, void **data, const char *name,
                             Dwarf_Addr base, const char *file,
                             const char *link, GElf_Word crc, char **path_p)
{
    (void) module, (void) data, (void) name, (void) base, (void) file;
    (void) link, (void) crc, (void) path_p;
    return -1;
}

static void load_object(struct object *object, const char *name,
                        const char *record_path)
{
    static const Dwfl_Callbacks callbacks = {
        .find_debuginfo = find_no_debuginfo,
        .section_address = dwfl_offline_section_address,
    };
    int fd = open_object(name, record_path);

    if (object->dwfl)
        dwfl_end(object->dwfl);
    *object = (struct object){0};
    snprintf(object->name, sizeof(object->name), "%s", name);
    if (fd < 0)
        return;
    object->dwfl = dwfl_begin(&callbacks);
    if (!object->dwfl)
        return;
    dwfl_report_begin(object->dwfl);
    /* Addresses are those in the file, as the offsets of the record are. */
    object->module = dwfl_report_elf(object->dwfl, name, name, fd, 0, true);
    if (!object->module)
        close(fd);
    dwfl_report_end(object->dwfl, NULL, NULL);
}

#ifdef __x86_64__
/* Does a call end with the byte at this address? In another build of the
 * program it hardly ever does. */
static bool ends_call(Dwfl_Module *module, GElf_Addr at)
{
    enum { BEFORE = 6 }; /* of the longest call without prefixes */
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(module, &bias);
    size_t headers = 0, size = 0;
    const char *file = elf ? elf_rawfile(elf, &size) : NULL;

    if (!file || elf_getphdrnum(elf, &headers) < 0)
        return false;
    for (size_t i = 0; i < headers; i++) {
        GElf_Phdr header;
        const unsigned char *last;
        uint64_t from;

        if (!gelf_getphdr(elf, (int) i, &header) || header.p_type != PT_LOAD ||
            at < header.p_vaddr + BEFORE ||
            at - header.p_vaddr >= header.p_filesz)
            continue;
        from = header.p_offset + (at - header.p_vaddr);
        if (from < BEFORE || from >= size)
            return false;
        last = (const unsigned char *) file + from;
        /* call rel32; call *..., whose second byte is /2: of a register, of
         * memory with an offset of 0, 1 or 4 bytes, with and without SIB. */
        return last[-4] == 0xe8 ||
               (last[-1] == 0xff && (last[0] & 0x38) == 0x10) ||
               (last[-2] == 0xff && (last[-1] & 0x38) == 0x10) ||
               (last[-3] == 0xff && (last[-2] & 0x38) == 0x10) ||
               (last[-5] == 0xff && (last[-4] & 0x38) == 0x10) ||
               (last[-6] == 0xff && (last[-5] & 0x38) == 0x10);
    }
    return false;
}
#else
static bool ends_call(Dwfl_Module *module, GElf_Addr at)
{
    (void) module, (void) at;
    return true;
}
#endif

/* The name behind "app:" is cut at 47 characters by the runtime. */
static bool contradicts(const char *known, const char *function)
{
    const char *colon = strchr(known, ':');

    return colon && (!function || strncmp(colon + 1, function, 47) != 0);
}

/* What the child knows of a site, into a text of SOURCE_MAX bytes. */
static void resolve_site(struct object *object,
                         const struct aspt_window *window,
                         const char *record_path, char *out)
{
    char name[NAME_MAX_SITE];
    GElf_Addr at = split_site(window->site, name);
    const char *function, *file = NULL;
    Dwfl_Line *line;
    int number = 0;

    out[0] = '\0';
    if (!at)
        return;
    if (strcmp(name, object->name) != 0)
        load_object(object, name, record_path);
    if (!object->module || !ends_call(object->module, at))
        return;
    function = dwfl_module_addrname(object->module, at);
    if (contradicts(window->function, function))
        return;
    line = dwfl_module_getsrc(object->module, at);
    if (line)
        file = dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL);
    if (file && strrchr(file, '/'))
        file = strrchr(file, '/') + 1;
    if (file && number > 0)
        snprintf(out, SOURCE_MAX, "%.80s%s%.60s:%d%s", function ? function : "",
                 function ? " (" : "", file, number, function ? ")" : "");
    else if (function)
        snprintf(out, SOURCE_MAX, "%.80s", function);
}

/* In the child: a text of SOURCE_MAX bytes for each window. */
static void resolve_all(const struct aspt_record *record, const char *path,
                        int to)
{
    struct rlimit cpu = {LIMIT_S, LIMIT_S}, none = {0, 0};
    struct object object = {.name = ""};

    setrlimit(RLIMIT_CPU, &cpu);
    setrlimit(RLIMIT_CORE, &none);
    for (size_t i = 0; i < record->nwindows; i++) {
        char out[SOURCE_MAX] = "";

        resolve_site(&object, &record->windows[i], path, out);
        if (write(to, out, sizeof(out)) != sizeof(out))
            break;
    }
    _exit(0);
}

/* All that comes until the end or the limit. Returns how many bytes. */
static size_t read_answers(int from, char *out, size_t size)
{
    long long until = asp_now_ms() + LIMIT_S * 1000LL, left = LIMIT_S * 1000LL;
    struct pollfd ready = {.fd = from, .events = POLLIN};
    size_t used = 0;

    for (; used < size && left > 0; left = until - asp_now_ms()) {
        ssize_t got = poll(&ready, 1, (int) left) > 0
                          ? read(from, out + used, size - used)
                          : 0;

        if (got <= 0)
            break;
        used += (size_t) got;
    }
    return used;
}

void aspt_sources_find(struct aspt_record *record, const char *path)
{
    int ends[2];
    size_t got;
    pid_t pid;

    record->sources = calloc(record->nwindows + 1, SOURCE_MAX);
    if (!record->sources || !record->nwindows || pipe(ends) < 0)
        return;
    pid = fork();
    if (pid == 0)
        resolve_all(record, path, ends[1]);
    close(ends[1]);
    if (pid > 0) {
        got = read_answers(ends[0], record->sources,
                           record->nwindows * SOURCE_MAX);
        kill(pid, SIGKILL); /* of no effect on one that has ended */
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
        for (size_t i = 0; i < got / SOURCE_MAX; i++)
            record->windows[i].source = record->sources + i * SOURCE_MAX;
    }
    close(ends[0]);
}
