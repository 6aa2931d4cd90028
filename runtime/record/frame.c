/* SPDX-License-Identifier: BSD-3-Clause */
/* What the records of all modes have in common. */
#include "config.h"

#include "frame.h"

#include "runtime/mpi/build.h"

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
