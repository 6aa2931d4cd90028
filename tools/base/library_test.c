/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs and libraries are made here, byte by byte: the search among them,
 * and what comes of files that say anything. */
#include "config.h"

#include "elf_file.h"
#include "library.h"

#include "common/base/clock.h"

#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    TEXT = 4096, /* room for names */
    ENTRIES = 300,
    FUZZ_ROUNDS = 500,
    BOUND_MS = 30000, /* on a busy machine; the search takes 2 s at most */
};

static char top[] = "/tmp/aspen-library-test-XXXXXX";
static char own_linker[PATH_MAX];

struct image {
    Elf64_Ehdr file;
    Elf64_Phdr headers[3];
    Elf64_Dyn entries[ENTRIES];
    char linker[PATH_MAX];
    char text[TEXT];
};

struct making {
    struct image image;
    size_t n, used;
};

static void add(struct making *making, Elf64_Sxword tag, const char *text)
{
    struct image *image = &making->image;

    image->entries[making->n++] = (Elf64_Dyn){
        .d_tag = tag,
        .d_un.d_val = making->used,
    };
    strcpy(image->text + making->used, text);
    making->used += strlen(text) + 1;
}

static void begin(struct making *making)
{
    struct image *image = &making->image;
    struct aspt_elf own;

    memset(making, 0, sizeof(*making));
    assert_true(aspt_elf_open("/proc/self/exe", &own));
    assert_true(aspt_elf_get(&own, &image->file, sizeof(image->file), 0));
    assert_true(aspt_elf_linker(&own, own_linker));
    aspt_elf_close(&own);
    image->file.e_phoff = offsetof(struct image, headers);
    image->file.e_phnum = 3;
    image->headers[0] = (Elf64_Phdr){
        .p_type = PT_LOAD, .p_vaddr = 0x10000, .p_filesz = sizeof(*image)};
    image->headers[1] = (Elf64_Phdr){
        .p_type = PT_DYNAMIC,
        .p_offset = offsetof(struct image, entries),
        .p_filesz = sizeof(image->entries),
    };
    image->headers[2] = (Elf64_Phdr){.p_type = PT_INTERP,
                                     .p_offset = offsetof(struct image, linker),
                                     .p_filesz = strlen(own_linker) + 1};
    strcpy(image->linker, own_linker);
    making->used = 1;
    image->entries[making->n++] = (Elf64_Dyn){
        .d_tag = DT_STRTAB,
        .d_un.d_ptr = 0x10000 + offsetof(struct image, text),
    };
    image->entries[making->n++] = (Elf64_Dyn){.d_tag = DT_STRSZ,
                                              .d_un.d_val = TEXT};
}

static void path_of(const char *name, char path[PATH_MAX])
{
    assert_true(snprintf(path, PATH_MAX, "%s/%s", top, name) < PATH_MAX);
}

static void save(const void *bytes, size_t n, const char *name)
{
    char path[PATH_MAX];
    FILE *file;

    path_of(name, path);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

/* A file in the top folder: "needed=libx.so rpath=$ORIGIN/a soname=..." */
static void make(const char *name, const char *says)
{
    static const struct {
        const char *word;
        Elf64_Sxword tag;
    } words[] = {{"needed=", DT_NEEDED},   {"rpath=", DT_RPATH},
                 {"runpath=", DT_RUNPATH}, {"soname=", DT_SONAME},
                 {"audit=", DT_AUDIT},     {"depaudit=", DT_DEPAUDIT}};
    struct making *making = malloc(sizeof(*making));
    char *copy = strdup(says), *rest = NULL;

    assert_true(making && copy);
    begin(making);
    for (char *word = strtok_r(copy, " ", &rest); word;
         word = strtok_r(NULL, " ", &rest))
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
            if (strncmp(word, words[i].word, strlen(words[i].word)) == 0)
                add(making, words[i].tag, word + strlen(words[i].word));
    save(&making->image, sizeof(making->image), name);
    free(copy);
    free(making);
}

/* The path below the top folder of what a program gets; "": not told. */
static const char *found(const char *program, const char *library)
{
    static char path[PATH_MAX];
    char from[PATH_MAX];
    struct stat st;

    path_of(program, from);
    if (!aspt_library_find(from, library, path))
        return "";
    assert_int_equal(stat(path, &st), 0);
    return strncmp(path, top, sizeof(top) - 1) == 0 ? path + sizeof(top) : path;
}

static void make_folders(void)
{
    char path[PATH_MAX];

    for (const char *name = "abcd"; *name; name++) {
        snprintf(path, sizeof(path), "%s/%c", top, *name);
        assert_int_equal(mkdir(path, 0700), 0);
    }
}

static int set_up(void **state)
{
    (void) state;
    unsetenv("LD_PRELOAD");
    unsetenv("LD_LIBRARY_PATH");
    if (!mkdtemp(top))
        return -1;
    make_folders();
    return 0;
}

static int tear_down(void **state)
{
    char command[PATH_MAX];

    (void) state;
    snprintf(command, sizeof(command), "rm -rf %s", top);
    return system(command); /* top is of this file */
}

/* ---- the search ------------------------------------------------------------------ */

static void test_folders(void **state)
{
    static const struct {
        const char *says, *env, *file;
    } rows[] = {
        {"needed=libw.so", NULL, ""},
        {"needed=libw.so rpath=$ORIGIN/a", NULL, "a/libw.so"},
        {"needed=libw.so rpath=${ORIGIN}/a", "b", "a/libw.so"},
        {"needed=libw.so runpath=$ORIGIN/a", "b", "b/libw.so"},
        {"needed=libw.so runpath=$ORIGIN/a", NULL, "a/libw.so"},
        {"needed=libw.so runpath=/none:$ORIGIN/b:$ORIGIN/a", NULL, "b/libw.so"},
        {"needed=libw.so rpath=$ORIGIN/a runpath=$ORIGIN/b", NULL, "b/libw.so"},
        {"needed=libw.so runpath=$ORIGIN/none", "a", "a/libw.so"},
        {"needed=libw.so audit=$ORIGIN/a/libw.so", NULL, ""},
        {"needed=libw.so depaudit=libw.so rpath=$ORIGIN/c", NULL, ""},
        {"needed=libw.so runpath=$LIB:$ORIGIN/a", NULL, ""}, /* not followed */
        {"needed=libnone.so needed=libw.so runpath=$ORIGIN/a", NULL,
         "a/libw.so"},
    };

    (void) state;
    make("a/libw.so", "soname=libw.so");
    make("b/libw.so", "soname=libw.so");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char folder[PATH_MAX];

        make("app", rows[i].says);
        if (rows[i].env) {
            path_of(rows[i].env, folder);
            setenv("LD_LIBRARY_PATH", folder, 1);
        }
        if (strcmp(found("app", "libw.so"), rows[i].file) != 0)
            fail_msg("row %zu: %s", i, found("app", "libw.so"));
        unsetenv("LD_LIBRARY_PATH");
    }
}

/* What a library needs: DT_RPATH holds for it too, DT_RUNPATH does not. */
static void test_inherited(void **state)
{
    (void) state;
    make("c/libx.so", "soname=libx.so needed=libw.so");
    make("app", "needed=libx.so rpath=$ORIGIN/c:$ORIGIN/a");
    assert_string_equal(found("app", "libw.so"), "a/libw.so");
    make("app", "needed=libx.so runpath=$ORIGIN/c:$ORIGIN/a");
    assert_string_equal(found("app", "libw.so"), "");
    make("c/libx.so", "soname=libx.so needed=libw.so runpath=$ORIGIN/../b");
    make("app", "needed=libx.so rpath=$ORIGIN/c:$ORIGIN/a");
    assert_string_equal(found("app", "libw.so"), "c/../b/libw.so");
}

/* Breadth first; by a path, and by the name that a file has. */
static void test_order(void **state)
{
    char preload[PATH_MAX];

    (void) state;
    make("c/libx.so", "soname=libx.so needed=libw.so runpath=$ORIGIN/../b");
    make("app", "needed=libx.so needed=libw.so runpath=$ORIGIN/c:$ORIGIN/a");
    assert_string_equal(found("app", "libw.so"), "a/libw.so");
    make("d/other.so", "soname=libw.so");
    make("app", "needed=$ORIGIN/d/other.so needed=libw.so runpath=$ORIGIN/a");
    assert_string_equal(found("app", "libw.so"), "d/other.so");
    make("app", "needed=libw.so runpath=$ORIGIN/a");
    path_of("d/other.so", preload);
    setenv("LD_PRELOAD", preload, 1);
    assert_string_equal(found("app", "libw.so"), "d/other.so");
    unsetenv("LD_PRELOAD");
    assert_int_equal(chdir(top), 0);
    make("app", "needed=libw.so");
    setenv("LD_LIBRARY_PATH", "/none:", 1); /* an empty one: here */
    make("libw.so", "soname=libw.so");
    assert_string_equal(found("app", "libw.so"), "./libw.so");
    unsetenv("LD_LIBRARY_PATH");
}

static int look_own(struct dl_phdr_info *info, size_t size, void *arg)
{
    const char *slash = strrchr(info->dlpi_name, '/');
    char path[PATH_MAX];
    struct stat loaded, read;

    (void) size;
    if (!slash || strcmp(info->dlpi_name, own_linker) == 0)
        return 0;
    assert_true(aspt_library_find("/proc/self/exe", slash + 1, path));
    assert_int_equal(stat(path, &read), 0);
    assert_int_equal(stat(info->dlpi_name, &loaded), 0);
    assert_int_equal(read.st_ino, loaded.st_ino);
    ++*(int *) arg;
    return 0;
}

/* What this process was given itself. */
static void test_own(void **state)
{
    char path[PATH_MAX];
    int n = 0;

    (void) state;
    dl_iterate_phdr(look_own, &n);
    assert_in_range(n, 2, 100); /* libcmocka, libc */
    assert_int_equal(aspt_library_find_mpi("/proc/self/exe", path),
                     ASP_MPI_NONE);
}

/* ---- files that say anything --------------------------------------------------------- */

static void test_no_program(void **state)
{
    static const char *const paths[] = {"/dev/zero",      "/dev/null",
                                        "/none",          "/",
                                        "/proc/self/mem", "/etc/passwd"};
    char path[PATH_MAX], out[PATH_MAX];

    (void) state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        assert_false(aspt_library_find(paths[i], "libw.so", out));
    path_of("pipe", path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(aspt_library_find(path, "libw.so", out)); /* no wait */
    path_of("loop", path);
    assert_int_equal(symlink("loop", path), 0);
    assert_false(aspt_library_find(path, "libw.so", out));
    make("app", "needed=pipe needed=loop needed=libw.so runpath=$ORIGIN:/dev");
    assert_string_equal(found("app", "libw.so"), "libw.so");
    assert_string_equal(found("app", "null"), "");
}

static void test_other_linker(void **state)
{
    struct making *making = malloc(sizeof(*making));
    static const char *const linkers[] = {"/none", "/dev/null", "none", "",
                                          "/"};

    (void) state;
    assert_non_null(making);
    for (size_t i = 0; i < sizeof(linkers) / sizeof(linkers[0]); i++) {
        begin(making);
        add(making, DT_NEEDED, "libw.so");
        add(making, DT_RUNPATH, "$ORIGIN/a");
        strcpy(making->image.linker, linkers[i]);
        making->image.headers[2].p_filesz = strlen(linkers[i]) + 1;
        save(&making->image, sizeof(making->image), "app");
        assert_string_equal(found("app", "libw.so"), "");
    }
    free(making);
}

/* Libraries that need each other; more than the limit; as many folders as can
 * be named. All end, in time. */
static void test_without_end(void **state)
{
    struct making *making = malloc(sizeof(*making));
    int64_t begun = asp_now_ms();
    char name[64];

    (void) state;
    make("c/liby.so", "soname=liby.so needed=libz.so runpath=$ORIGIN");
    make("c/libz.so", "soname=libz.so needed=liby.so needed=libz.so "
                      "runpath=$ORIGIN");
    make("app", "needed=liby.so runpath=$ORIGIN/c");
    assert_string_equal(found("app", "libw.so"), "");
    for (int i = 0; i < 600; i++) {
        char says[256], next[64];

        snprintf(name, sizeof(name), "d/lib%d.so", i);
        snprintf(next, sizeof(next), "lib%d.so", i + 1);
        snprintf(says, sizeof(says), "needed=%s runpath=$ORIGIN", next);
        make(name, says);
    }
    make("app", "needed=lib0.so runpath=$ORIGIN/d");
    assert_string_equal(found("app", "lib400.so"), "d/lib400.so");
    assert_string_equal(found("app", "lib599.so"), ""); /* past the limit */
    begin(making);
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        add(making, DT_NEEDED, name);
    }
    memset(making->image.text + making->used, ':', TEXT - making->used - 1);
    making->image.entries[making->n++] = (Elf64_Dyn){
        .d_tag = DT_RUNPATH,
        .d_un.d_val = making->used,
    };
    save(&making->image, sizeof(making->image), "app");
    assert_string_equal(found("app", "libw.so"), "");
    assert_in_range(asp_now_ms() - begun, 0, BOUND_MS);
    free(making);
}

static uint32_t draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t) (*seed >> 33);
}

/* Mostly where files say sizes and places. */
static void spoil(unsigned char *bytes, size_t n, uint64_t *seed)
{
    static const uint64_t odd[] = {0,         1,          UINT64_MAX,
                                   INT64_MAX, 0x10000,    UINT32_MAX,
                                   1u << 31,  (1u << 16), 4095};
    const size_t head = offsetof(struct image, entries) +
                        20 * sizeof(Elf64_Dyn);

    for (uint32_t i = 0, times = 1 + draw(seed) % 4; i < times; i++) {
        size_t at = draw(seed) % (draw(seed) % 8 ? head : n);

        if (draw(seed) % 2 && at + 8 < n)
            memcpy(bytes + (at & ~(size_t) 7),
                   &odd[draw(seed) % (sizeof(odd) / sizeof(odd[0]))], 8);
        else
            bytes[at] = (unsigned char) draw(seed);
    }
}

/* ASPEN_FUZZ_ROUNDS: more, by hand, with sanitizers. */
static void test_spoilt(void **state)
{
    const char *asked = getenv("ASPEN_FUZZ_ROUNDS");
    int rounds = asked ? atoi(asked) : FUZZ_ROUNDS, told = 0;
    struct making *making = malloc(sizeof(*making)),
                  *spoilt = malloc(sizeof(*making));
    uint64_t seed = 1;

    (void) state;
    assert_true(making && spoilt);
    begin(making);
    add(making, DT_NEEDED, "libx.so");
    add(making, DT_NEEDED, "libw.so");
    add(making, DT_RUNPATH, "$ORIGIN/c:$ORIGIN/a");
    for (int i = 0; i < rounds; i++) {
        size_t n = sizeof(making->image);

        memcpy(spoilt, making, sizeof(*spoilt));
        spoil((unsigned char *) &spoilt->image, n, &seed);
        if (draw(&seed) % 4 == 0)
            n = draw(&seed) % n;
        save(&spoilt->image, n, draw(&seed) % 2 ? "app" : "c/libx.so");
        told += found("app", "libw.so")[0] != '\0';
        (void) found("app", "libmpich.so.12");
        if (i % 2 == 0) {
            save(&making->image, sizeof(making->image), "app");
            make("c/libx.so", "soname=libx.so");
        }
    }
    assert_in_range(told, rounds / 50, rounds - rounds / 50);
    free(making);
    free(spoilt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folders),     cmocka_unit_test(test_inherited),
        cmocka_unit_test(test_order),       cmocka_unit_test(test_own),
        cmocka_unit_test(test_no_program),  cmocka_unit_test(test_other_linker),
        cmocka_unit_test(test_without_end), cmocka_unit_test(test_spoilt),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
