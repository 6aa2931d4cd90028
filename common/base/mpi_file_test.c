/* SPDX-License-Identifier: BSD-3-Clause */
/* The kind of MPI of files: of the library that is installed, of what is none,
 * and of files that lie about their sizes. */
#define _GNU_SOURCE
#include "config.h"

#include "mpi_file.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { SYMBOLS = 8 }; /* and a NULL behind them */

/* What all have. */
#define MPI   "PMPI_Init", "PMPI_Comm_size", "PMPI_Type_commit", "PMPI_Wtime"
#define MPICH "MPIR_Dup_fn", "MPI_UNWEIGHTED"

/* A library in miniature: a header, three sections, symbols and their names. */
struct file {
    Elf64_Ehdr head;
    Elf64_Shdr sections[3];
    Elf64_Sym symbols[1 + SYMBOLS];
    char names[128];
};

/* Defines those names, each with its null byte. */
static struct file make(const char *const *names)
{
    struct file file = {
        .head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
                             ELFDATA2LSB},
                 .e_shoff = offsetof(struct file, sections),
                 .e_shentsize = sizeof(Elf64_Shdr),
                 .e_shnum = 3},
        .sections = {[1] = {.sh_type = SHT_DYNSYM,
                            .sh_offset = offsetof(struct file, symbols),
                            .sh_size = sizeof(file.symbols),
                            .sh_link = 2},
                     [2] = {.sh_type = SHT_STRTAB,
                            .sh_offset = offsetof(struct file, names),
                            .sh_size = sizeof(file.names)}},
    };
    size_t at = 1;

    if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
        file.head.e_ident[EI_DATA] = ELFDATA2MSB;
    for (size_t i = 0; names[i]; i++) {
        file.symbols[1 + i].st_name = (Elf64_Word) at;
        file.symbols[1 + i].st_shndx = 1;
        strcpy(file.names + at, names[i]);
        at += strlen(names[i]) + 1;
    }
    return file;
}

static enum asp_mpi_kind kind_of(const void *bytes, size_t n)
{
    int fd = memfd_create("library", MFD_CLOEXEC);
    enum asp_mpi_kind kind;
    char path[40];

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    kind = asp_mpi_of_file(path);
    close(fd);
    return kind;
}

static void test_kinds(void **state)
{
    static const struct {
        const char *names[SYMBOLS];
        enum asp_mpi_kind kind;
    } cases[] = {
        {{MPI, MPICH}, ASP_MPI_MPICH},
        {{MPI, MPICH, "PMPI_Abi_get_version"}, ASP_MPI_MPICH},
        {{MPI, "ompi_mpi_comm_world"}, ASP_MPI_OPEN},
        {{MPI, "OMPI_Affinity_str", "PMPI_Abi_get_version"}, ASP_MPI_OPEN},
        {{MPI, "PMPI_Abi_get_version"}, ASP_MPI_STANDARD},
        {{MPI, "MPIR_Dup_fn", "PMPI_Abi_get_version"}, ASP_MPI_STANDARD},
        {{MPI}, ASP_MPI_OTHER},
        {{"MPI_Init", "MPI_Send"}, ASP_MPI_NONE}, /* a tool */
        {{"MPI_Init", "MPI_Comm_size", "MPI_Type_commit", "MPI_Wtime"},
         ASP_MPI_PLAIN},
        {{"MPI_Init", "PMPI_Init", "PMPI_File_open"}, ASP_MPI_NONE},
        {{MPICH}, ASP_MPI_NONE},
    };

    (void) state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct file file = make(cases[i].names);

        assert_int_equal(kind_of(&file, sizeof(file)), cases[i].kind);
    }
}

static void test_undefined_names(void **state)
{
    static const char *const names[] = {MPI, MPICH, NULL};
    struct file file = make(names);

    (void) state;
    file.symbols[1].st_shndx = SHN_UNDEF;
    assert_int_equal(kind_of(&file, sizeof(file)), ASP_MPI_NONE);
}

static void test_other_files(void **state)
{
    char fifo[] = "/tmp/mpi_file_test.XXXXXX";

    (void) state;
    assert_int_equal(asp_mpi_of_file("/proc/self/exe"), ASP_MPI_NONE);
    assert_int_equal(asp_mpi_of_file("/no/such/file"), ASP_MPI_NONE);
    assert_int_equal(asp_mpi_of_file("/"), ASP_MPI_NONE);
    assert_int_equal(asp_mpi_of_file("/dev/zero"), ASP_MPI_NONE);
    assert_int_equal(kind_of("#!/bin/sh\n", 10), ASP_MPI_NONE);
    assert_non_null(mkdtemp(fifo));
    assert_int_equal(rmdir(fifo), 0);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(asp_mpi_of_file(fifo), ASP_MPI_NONE);
    unlink(fifo);
}

/* Every length, and every word with the largest number in it. */
static void test_lies(void **state)
{
    static const char *const names[] = {MPI, MPICH, NULL};
    struct file file = make(names);

    (void) state;
    for (size_t n = 0; n < offsetof(struct file, names); n++)
        assert_int_equal(kind_of(&file, n), ASP_MPI_NONE);
    for (size_t at = 0; at < sizeof(file); at += 4)
        for (int which = 0; which < 3; which++) {
            static const uint32_t words[] = {0, 0x7fffffff, 0xffffffff};
            struct file lie = file;

            memcpy((char *) &lie + at, &words[which], 4);
            (void) kind_of(&lie, sizeof(lie));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_undefined_names),
        cmocka_unit_test(test_other_files),
        cmocka_unit_test(test_lies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
