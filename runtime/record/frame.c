/* SPDX-License-Identifier: BSD-3-Clause */
/* What the records of all modes have in common. */
#include "config.h"

#include "frame.h"

#include "runtime/mpi/build.h"
#include "runtime/mpi/real.h"
#include "runtime/profile/profile.h"
#include "runtime/profile/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *aspx_record_where(const struct asp_layout *layout)
{
    const char *where = getenv("ASPEN_REPORT");

    if (!where && layout)
        where = asp_layout_knob(layout, "report", NULL);
    if (!where || !where[0] || strcmp(where, "0") == 0 ||
        strcmp(where, "no") == 0)
        return NULL;
    return strcmp(where, "yes") == 0 ? "1" : where;
}

const char *aspx_record_profile(const struct asp_layout *layout)
{
    const char *build = asp_layout_knob(layout, "profile.build", "no");

    return strcmp(build, "no") == 0 ? "" : build;
}

/* A JSON string; job names, reasons and digests are printable ASCII. */
static void put_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc((unsigned char) *text < ' ' ? ' ' : *text, out);
    }
    fputc('"', out);
}

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
    put_string(out, slash ? slash + 1 : path);
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

void aspx_record_head(FILE *out, const struct asp_layout *layout, int users,
                      int ghosts, uint32_t nodes)
{
    const char *profile = aspx_record_profile(layout);

    fprintf(out,
            "{\n  \"aspen_record\": 1,\n  \"version\": \"%s\",\n"
            "  \"job\": ",
            PACKAGE_VERSION);
    put_string(out, layout->job);
    fprintf(out,
            ",\n  \"mode\": \"%s\",\n  \"users\": %d,\n  \"ghosts\": %d,\n"
            "  \"nodes\": %u,\n  \"bound\": %s,\n  \"reason\": ",
            asp_mode_name(layout->mode), users, ghosts, nodes,
            layout->bound ? "true" : "false");
    put_string(out, layout->reason);
    fprintf(out, ",\n  \"program\": ");
    put_program(out);
    fprintf(out, ",\n  \"mpi\": ");
    put_string(out, aspx_mpi_name());
    fprintf(out, ",\n  \"mpi_build\": ");
    put_string(out, aspx_mpi_build());
    if (profile[0]) {
        fprintf(out, ",\n  \"profile_build\": ");
        put_string(out, profile);
    }
    fprintf(out, ",\n  \"policy_digest\": ");
    put_string(out, layout->policy_digest);
    put_cpus(out, ",\n  \"service_cpus\": ", &layout->service);
    fprintf(out, ",\n  \"first_node\": [");
    put_tasks(out, layout);
    fprintf(out, "\n  ]");
}

static int write_counts(const char *path, const struct asp_layout *layout,
                        const struct aspx_record_mode *mode, int users,
                        int threads, const uint64_t *sum,
                        const struct aspx_times *times)
{
    FILE *out = fopen(path, "we");

    if (!out)
        return -1;
    aspx_record_head(out, layout, users, 0, layout->nnodes);
    fprintf(out, ",\n  \"%s\": {\n    \"threads\": %d,\n", mode->json_key,
            threads);
    mode->json(out, sum);
    fprintf(out, "\n  }");
    aspx_times_json(out, times);
    fprintf(out, "\n}\n");
    return fclose(out);
}

FILE *aspx_record_text_open(struct aspx_record_text *text)
{
    text->out = open_memstream(&text->text, &text->size);
    return text->out ? text->out : stderr;
}

void aspx_record_text_close(struct aspx_record_text *text)
{
    if (!text->out)
        return;
    if (fclose(text->out) == 0)
        fwrite(text->text, 1, text->size, stderr);
    else
        fputs("aspen: no memory for the text of the record\n", stderr);
    free(text->text);
}

static void name_ranks(const struct asp_layout *layout, int users, int threads,
                       char *buf, size_t size)
{
    int n = snprintf(buf, size, "%d rank%s on %u node%s, ", users,
                     users == 1 ? "" : "s", layout->nnodes,
                     layout->nnodes == 1 ? "" : "s");

    if (threads == users)
        snprintf(buf + n, size - (size_t) n, "a thread each");
    else
        snprintf(buf + n, size - (size_t) n, "a thread in %d of them", threads);
}

void aspx_record_counts(const struct asp_layout *layout,
                        const struct aspx_record_mode *mode, bool has_thread,
                        const uint64_t *own, int n)
{
    const char *where = aspx_record_where(layout);
    uint64_t mine[ASPX_RECORD_COUNTS + 1], sum[ASPX_RECORD_COUNTS + 1];
    struct aspx_record_text text;
    struct aspx_times *times;
    int rank, users, threads;
    char who[96];
    FILE *out;

    if (!where)
        return;
    aspx_profile_stop();
    times = aspx_times_gather(MPI_COMM_WORLD, layout->node);
    aspx_real.MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    aspx_real.MPI_Comm_size(MPI_COMM_WORLD, &users);
    memcpy(mine, own, (size_t) n * sizeof(mine[0]));
    mine[n] = has_thread;
    aspx_real.MPI_Reduce(mine, sum, n + 1, MPI_UINT64_T, MPI_SUM, 0,
                         MPI_COMM_WORLD);
    threads = (int) sum[n];
    if (rank != 0 || threads == 0) { /* all run plain, and have said so */
        aspx_times_free(times);
        return;
    }
    name_ranks(layout, users, threads, who, sizeof(who));
    out = aspx_record_text_open(&text);
    mode->line(layout, who, threads, sum, out);
    aspx_times_print(out, times);
    aspx_record_text_close(&text);
    if (strcmp(where, "1") != 0 &&
        write_counts(where, layout, mode, users, threads, sum, times) != 0)
        fprintf(stderr, "aspen: cannot write the record to %s: %s\n", where,
                strerror(errno));
    aspx_times_free(times);
}
