/* SPDX-License-Identifier: BSD-3-Clause */
/* Gathers, prints and writes the record of a job: its head here, the rest by
 * the sections of its mode. */
#include "config.h"

#include "frame.h"

#include "runtime/base/log.h"
#include "runtime/mpi/build.h"
#include "runtime/net/device.h"
#include "runtime/mpi/fixes.h"
#include "runtime/mpi/real.h"
#include "runtime/world/mode.h"
#include "runtime/world/world.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *aspx_record_where(const struct asp_layout *layout)
{
    const char *where = getenv("ASPEN_REPORT");

    if (!where && layout)
        where = layout->knobs.report;
    if (!where || !where[0] || strcmp(where, "0") == 0 ||
        strcmp(where, "no") == 0)
        return NULL;
    /* trace: and base/log.h */
    return strcmp(where, "yes") == 0 || strcmp(where, "trace") == 0 ? "1"
                                                                    : where;
}

/* ---- JSON ----------------------------------------------------------------- */

/* Bytes of the UTF-8 character that begins here; 0: it is none (RFC 3629). */
static size_t character(const unsigned char *at)
{
    uint32_t c = at[0], least;
    size_t n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;

    if (n < 2 || c > 0xf4)
        return n == 1;
    c &= 0x3f >> (n - 1);
    for (size_t i = 1; i < n; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (at[i] & 0x3f);
    }
    least = n == 2 ? 0x80 : n == 3 ? 0x800 : 0x10000;
    return c < least || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : n;
}

void aspx_record_put_string(FILE *out, const char *text)
{
    const unsigned char *at = (const unsigned char *) text;

    fputc('"', out);
    while (*at) {
        size_t n = character(at);

        if (n == 0)
            fputs("\\ufffd", out);
        else if (*at < ' ' || *at == 127)
            fprintf(out, "\\u%04x", *at);
        else if (*at == '"' || *at == '\\')
            fprintf(out, "\\%c", *at);
        else
            fwrite(at, 1, n, out);
        at += n ? n : 1;
    }
    fputc('"', out);
}

void aspx_record_put_rule(FILE *out, const struct asp_objrule *rule,
                          const char *counted, uint64_t count)
{
    char text[ASP_OBJRULE_TEXT_MAX];

    fputs("{\"from\": ", out);
    aspx_record_put_string(out, rule->origin);
    fputs(", \"match\": ", out);
    aspx_record_put_string(out, asp_objrule_matchers(rule, text, sizeof(text)));
    fputs(", \"set\": ", out);
    aspx_record_put_string(out, asp_objrule_values(rule, text, sizeof(text)));
    fprintf(out, ", \"%s\": %" PRIu64 "}", counted, count);
}

/* ---- what sections gather ------------------------------------------------- */

struct aspx_record_block {
    struct aspx_record_block *next;
    max_align_t data[];
};

void *aspx_record_alloc(struct aspx_record *record, size_t size)
{
    struct aspx_record_block *block = calloc(1, sizeof(*block) + size);

    if (!block)
        return NULL;
    block->next = record->blocks;
    record->blocks = block;
    return block->data;
}

static void free_blocks(struct aspx_record *record)
{
    while (record->blocks) {
        struct aspx_record_block *block = record->blocks;

        record->blocks = block->next;
        free(block);
    }
}

/* Memory for what arrives, which is in rank 0; *ok: it is there if needed. */
static void *alloc_result(struct aspx_record *record, size_t size, bool *ok)
{
    void *result = record->rank == 0 ? aspx_record_alloc(record, size) : NULL;

    *ok = record->rank != 0 || result;
    return result;
}

static bool is_true_everywhere(const struct aspx_record *record, bool here)
{
    int mine = here, all;

    aspx_real.MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, record->users);
    return all;
}

static uint64_t *reduce(struct aspx_record *record, const uint64_t *own,
                        size_t n, MPI_Op op)
{
    bool ok;
    uint64_t *result = alloc_result(record, n * sizeof(*result), &ok);

    if (!is_true_everywhere(record, own && ok))
        return NULL;
    aspx_real.MPI_Reduce(own, result, (int) n, MPI_UINT64_T, op, 0,
                         record->users);
    return result;
}

uint64_t *aspx_record_sum(struct aspx_record *record, const uint64_t *own,
                          size_t n)
{
    return reduce(record, own, n, MPI_SUM);
}

uint64_t *aspx_record_most(struct aspx_record *record, const uint64_t *own,
                           size_t n)
{
    return reduce(record, own, n, MPI_MAX);
}

void *aspx_record_rows(struct aspx_record *record, const void *own, size_t n,
                       size_t size, size_t *total)
{
    size_t nusers = (size_t) record->nusers, sum = 0;
    int mine = (int) (n * size), *bytes, *starts;
    void *rows;
    bool ok;

    *total = 0;
    bytes = alloc_result(record, 2 * nusers * sizeof(*bytes), &ok);
    starts = bytes ? bytes + nusers : NULL;
    if (!is_true_everywhere(record, ok))
        return NULL;
    aspx_real.MPI_Gather(&mine, 1, MPI_INT, bytes, 1, MPI_INT, 0,
                         record->users);
    for (size_t r = 0; bytes && r < nusers; r++) {
        starts[r] = (int) sum;
        sum += (size_t) bytes[r];
    }
    rows = alloc_result(record, sum, &ok);
    if (!is_true_everywhere(record, ok))
        return NULL;
    aspx_real.MPI_Gatherv(own, mine, MPI_BYTE, rows, bytes, starts, MPI_BYTE, 0,
                          record->users);
    *total = sum / size;
    return rows;
}

/* ---- text ----------------------------------------------------------------- */

void aspx_record_print_ranks(FILE *out, const struct aspx_record *record)
{
    fprintf(out, "%d rank%s on %u node%s", record->nusers,
            record->nusers == 1 ? "" : "s", record->nnodes,
            record->nnodes == 1 ? "" : "s");
}

void aspx_record_print_threads(FILE *out, const struct aspx_record *record,
                               uint64_t threads)
{
    aspx_record_print_ranks(out, record);
    if (threads == (uint64_t) record->nusers)
        fputs(", a thread each", out);
    else
        fprintf(out, ", a thread in %" PRIu64 " of them", threads);
}

/* ---- the head ------------------------------------------------------------- */

static void put_cpus(FILE *out, const char *key, const struct asp_cpuset *cpus)
{
    char text[1024];

    if (asp_cpuset_print(cpus, text, sizeof(text)) < 0)
        snprintf(text, sizeof(text), "...");
    fprintf(out, "%s\"%s\"", key, text);
}

/* Of the file that this process runs. */
static void put_program(FILE *out)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    const char *slash;

    path[n < 0 ? 0 : n] = '\0';
    slash = strrchr(path, '/');
    aspx_record_put_string(out, slash ? slash + 1 : path);
}

static void put_tasks(FILE *out, const struct asp_layout *layout)
{
    for (uint32_t i = 0; i < layout->ntasks; i++) {
        const struct asp_layout_task *task = &layout->tasks[i];

        fprintf(out, "%s\n    {\"local\": %u, \"role\": \"%s\"", i ? "," : "",
                i, asp_role_name(task->role));
        put_cpus(out, ", \"cpus\": ", &task->cpus);
        fprintf(out, ", \"numa\": %d, \"helper_cpu\": %d}", task->numa,
                task->cpu_helper_os);
    }
}

/* Open the object, without a comma behind what is the same in all modes. */
static void put_head(FILE *out, const struct aspx_record *record)
{
    const struct asp_layout *layout = record->layout;
    const char *profile = layout->knobs.profile_build;

    fprintf(out,
            "{\n  \"aspen_record\": 1,\n  \"version\": \"%s\",\n"
            "  \"job\": ",
            PACKAGE_VERSION);
    aspx_record_put_string(out, layout->job);
    fprintf(out,
            ",\n  \"mode\": \"%s\",\n  \"users\": %d,\n  \"ghosts\": %d,\n"
            "  \"nodes\": %u,\n  \"bound\": %s,\n  \"reason\": ",
            asp_mode_name(layout->mode), record->nusers, record->nghosts,
            record->nnodes, layout->bound ? "true" : "false");
    aspx_record_put_string(out, layout->reason);
    fprintf(out, ",\n  \"program\": ");
    put_program(out);
    fprintf(out, ",\n  \"mpi\": ");
    aspx_record_put_string(out, aspx_mpi_name());
    fprintf(out, ",\n  \"mpi_build\": ");
    aspx_record_put_string(out, aspx_mpi_build());
    fprintf(out, ",\n  \"mpi_device\": ");
    aspx_record_put_string(out, aspx_net_device());
    fprintf(out, ",\n  \"mpi_fixes\": ");
    aspx_record_put_string(out, aspx_fixes());
    if (profile[0]) {
        fprintf(out, ",\n  \"profile_build\": ");
        aspx_record_put_string(out, profile);
    }
    fprintf(out, ",\n  \"policy_digest\": ");
    aspx_record_put_string(out, layout->policy_digest);
    put_cpus(out, ",\n  \"service_cpus\": ", &layout->service);
    fprintf(out, ",\n  \"first_node\": [");
    put_tasks(out, layout);
    fprintf(out, "\n  ]");
}

/* ---- the record ----------------------------------------------------------- */

/* A section, and what it has gathered. */
struct part {
    const struct aspx_section *section;
    const void *data;
};

struct parts {
    struct part list[ASPX_SECTIONS_MAX];
    size_t n;
};

static void learn_ranks(struct aspx_record *record,
                        const struct asp_layout *layout)
{
    const struct aspx_world *world = &aspx_world;

    *record = (struct aspx_record){
        .layout = layout,
        .users = world->users, /* MPI_COMM_WORLD where no world was made */
        .node = layout->node,
        .nnodes = layout->nnodes,
    };
    aspx_real.MPI_Comm_rank(record->users, &record->rank);
    aspx_real.MPI_Comm_size(record->users, &record->nusers);
    if (world->layout) {
        record->nghosts = world->size_all - world->size_users;
        record->node = world->node;
        record->nnodes = world->nnodes;
    }
}

/* False: the first section has nothing, and there is no record. */
static bool gather(struct aspx_record *record, const struct aspx_mode *mode,
                   struct parts *parts)
{
    const struct aspx_section *const *sections = mode->sections;

    parts->n = 0;
    for (size_t i = 0; i < ASPX_SECTIONS_MAX && sections[i]; i++)
        if (sections[i]->close)
            sections[i]->close();
    for (size_t i = 0; i < ASPX_SECTIONS_MAX && sections[i]; i++) {
        struct part part = {sections[i], sections[i]->gather(record)};

        if (part.data)
            parts->list[parts->n++] = part;
    }
    return parts->n && parts->list[0].section == sections[0];
}

static int by_text_place(const void *a, const void *b)
{
    const struct part *left = a, *right = b;

    return left->section->text_place - right->section->text_place;
}

/* Text for stderr, which arrives there in one piece, as other ranks may write
 * there, too; without memory, piece by piece. */
static void print(const struct aspx_record *record, struct parts sorted)
{
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size),
         *out = memory ? memory : stderr;

    qsort(sorted.list, sorted.n, sizeof(sorted.list[0]), by_text_place);
    for (size_t i = 0; i < sorted.n; i++)
        if (sorted.list[i].section->print)
            sorted.list[i].section->print(out, record, sorted.list[i].data);
    if (!memory)
        return;
    if (fclose(memory) == 0)
        fwrite(text, 1, size, stderr);
    else
        aspx_log(ASPX_LOG_WARNING, "no memory for the text of the record");
    free(text);
}

static int write_json(const char *path, const struct aspx_record *record,
                      const struct parts *parts)
{
    FILE *out = fopen(path, "we");

    if (!out)
        return -1;
    put_head(out, record);
    for (size_t i = 0; i < parts->n; i++)
        if (parts->list[i].section->json)
            parts->list[i].section->json(out, record, parts->list[i].data);
    fprintf(out, "\n}\n");
    return fclose(out);
}

void aspx_record_report(const struct asp_layout *layout,
                        const struct aspx_mode *mode)
{
    const char *where = aspx_record_where(layout);
    struct aspx_record record;
    struct parts parts;

    if (!where)
        return;
    learn_ranks(&record, layout);
    if (gather(&record, mode, &parts) && record.rank == 0) {
        print(&record, parts);
        if (strcmp(where, "1") != 0 && write_json(where, &record, &parts) != 0)
            aspx_log(ASPX_LOG_WARNING, "cannot write the record to %s: %s",
                     where, strerror(errno));
    }
    free_blocks(&record);
}
