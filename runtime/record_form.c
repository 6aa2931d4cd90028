/* SPDX-License-Identifier: BSD-3-Clause */
/* What the records of all modes have in common. */
#include "config.h"

#include "record_form.h"

#include <stdlib.h>
#include <string.h>

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

static void put_tasks(FILE *out, const struct asp_layout *layout)
{
    char cpus[1024];

    for (uint32_t i = 0; i < layout->ntasks; i++) {
        const struct asp_layout_task *task = &layout->tasks[i];

        if (asp_cpuset_print(&task->cpus, cpus, sizeof(cpus)) < 0)
            snprintf(cpus, sizeof(cpus), "...");
        fprintf(out, "%s\n    {\"local\": %u, \"role\": \"%s\", "
                "\"cpus\": \"%s\", \"numa\": %d, \"helper_cpu\": %d}",
                i ? "," : "", i, asp_role_name(task->role), cpus, task->numa,
                task->cpu_helper_os);
    }
}

void aspx_record_head(FILE *out, const struct asp_layout *layout, int users,
                      int ghosts, uint32_t nodes)
{
    fprintf(out, "{\n  \"aspen_record\": 1,\n  \"version\": \"%s\",\n"
            "  \"job\": ", PACKAGE_VERSION);
    put_string(out, layout->job);
    fprintf(out, ",\n  \"mode\": \"%s\",\n  \"users\": %d,\n  \"ghosts\": %d,\n"
            "  \"nodes\": %u,\n  \"bound\": %s,\n  \"reason\": ",
            asp_mode_name(layout->mode), users, ghosts, nodes,
            layout->bound ? "true" : "false");
    put_string(out, layout->reason);
    fprintf(out, ",\n  \"policy_digest\": ");
    put_string(out, layout->policy_digest);
    fprintf(out, ",\n  \"first_node\": [");
    put_tasks(out, layout);
    fprintf(out, "\n  ],\n");
}
