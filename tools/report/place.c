/* SPDX-License-Identifier: BSD-3-Clause */
/* Which CPU of the first node does what, as a picture: a field for each CPU
 * that somebody has, by NUMA domain as far as the record tells it. */
#include "config.h"

#include "page.h"

#include "html.h"
#include "svg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    NUMA_UNKNOWN = -1,
    LARGE_MAX = 128, /* CPUs that are drawn large enough for words */
    LARGE = 50,
    SMALL = 17, /* pixels from one CPU to the next */
    PER_ROW = 16,
    PER_ROW_SMALL = 48,
};

/* Who is on a CPU. */
struct cpu {
    int numa;
    unsigned users, ghosts, threads, service;
    uint64_t task; /* one of them, by local number */
};

static void enter(struct cpu *cpus, const struct aspt_recorded_task *task)
{
    for (int c = asp_cpuset_next(&task->cpus, 0); c >= 0;
         c = asp_cpuset_next(&task->cpus, (unsigned) c + 1)) {
        cpus[c].task = task->local;
        cpus[c].numa = (int) task->numa;
        if (task->ghost)
            cpus[c].ghosts++;
        else
            cpus[c].users++;
    }
    if (task->helper_cpu < 0)
        return;
    if (!cpus[task->helper_cpu].users)
        cpus[task->helper_cpu].task = task->local;
    cpus[task->helper_cpu].numa = (int) task->numa;
    cpus[task->helper_cpu].threads++;
}

static unsigned sitters(const struct cpu *cpu)
{
    return cpu->users + cpu->ghosts + cpu->threads + cpu->service;
}

/* Returns how many CPUs are taken; cpus has ASP_CPUS_MAX of them. */
static unsigned fill(struct cpu *cpus, const struct aspt_record *record)
{
    unsigned n = 0;

    for (int c = 0; c < ASP_CPUS_MAX; c++)
        cpus[c].numa = NUMA_UNKNOWN;
    for (size_t t = 0; t < record->ntasks; t++)
        enter(cpus, &record->tasks[t]);
    for (int c = asp_cpuset_next(&record->service, 0); c >= 0;
         c = asp_cpuset_next(&record->service, (unsigned) c + 1))
        cpus[c].service = 1;
    for (int c = 0; c < ASP_CPUS_MAX; c++)
        n += sitters(&cpus[c]) > 0;
    return n;
}

static const char *cpu_class(const struct cpu *cpu)
{
    if (sitters(cpu) > 1)
        return "shared";
    if (cpu->users)
        return "user";
    if (cpu->ghosts)
        return "ghost";
    return "thread";
}

static void draw_cpu(FILE *to, const struct cpu *cpu, int number, int x, int y,
                     bool small)
{
    char who[32], title[160];
    unsigned n = sitters(cpu);

    if (n > 1)
        snprintf(who, sizeof(who), "%ux", n);
    else if (cpu->users)
        snprintf(who, sizeof(who), "%" PRIu64, cpu->task);
    else
        snprintf(who, sizeof(who), "%s",
                 cpu->ghosts    ? "G"
                 : cpu->threads ? "T"
                                : "S");
    if (n == cpu->service)
        snprintf(title, sizeof(title), "CPU %d: progress threads", number);
    else
        snprintf(title, sizeof(title), "CPU %d: %stask %" PRIu64, number,
                 n > 1          ? "several, one of them of "
                 : cpu->ghosts  ? "ghost, "
                 : cpu->threads ? "offload thread of "
                                : "",
                 cpu->task);
    aspt_svg_cpu(to, x, y, number, cpu_class(cpu), who, title, small);
}

static void draw_domain(FILE *to, const struct cpu *cpus, int numa, bool small)
{
    int step = small ? SMALL : LARGE, row = small ? PER_ROW_SMALL : PER_ROW;
    int n = 0, at = 0;

    for (int c = 0; c < ASP_CPUS_MAX; c++)
        n += sitters(&cpus[c]) && cpus[c].numa == numa;
    if (!n)
        return;
    if (numa == NUMA_UNKNOWN)
        aspt_html_tag(to, "h3", NULL, "CPUs");
    else
        aspt_html_tag(to, "h3", NULL, "NUMA domain %d", numa);
    fprintf(to,
            "\n<svg class=\"cpus\" role=\"img\" width=\"%d\" "
            "height=\"%d\" viewBox=\"0 0 %d %d\">\n",
            (n < row ? n : row) * step, (n + row - 1) / row * step,
            (n < row ? n : row) * step, (n + row - 1) / row * step);
    for (int c = 0; c < ASP_CPUS_MAX; c++) {
        if (!sitters(&cpus[c]) || cpus[c].numa != numa)
            continue;
        draw_cpu(to, &cpus[c], c, at % row * step, at / row * step, small);
        at++;
    }
    fputs("</svg>\n", to);
}

/* What is not there needs no word in the legend. */
static const struct aspt_legend kinds[] = {
    {"user", "rank, by its task number on the node"},
    {"ghost", "G: ghost"},
    {"thread", "T: offload thread, S: service CPU of progress threads"},
    {"shared", "shared by several"},
};

static void draw(FILE *to, const struct aspt_record *record,
                 const struct cpu *cpus, bool small)
{
    struct aspt_legend legend[5];
    size_t n = 0;

    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
        for (int c = 0; c < ASP_CPUS_MAX; c++)
            if (sitters(&cpus[c]) &&
                strcmp(cpu_class(&cpus[c]), kinds[k].class) == 0) {
                legend[n++] = kinds[k];
                break;
            }
    legend[n].name = NULL;
    aspt_html_legend(to, legend);
    draw_domain(to, cpus, NUMA_UNKNOWN, small);
    for (int numa = 0; numa < ASP_CPUS_MAX; numa++)
        draw_domain(to, cpus, numa, small);
    if (!record->bound)
        aspt_html_tag(to, "p", "note",
                      "As planned; the CPUs were not enforced (%s).",
                      record->reason[0] ? record->reason : "no reason given");
}

void aspt_page_place(FILE *to, const struct aspt_record *record)
{
    struct cpu *cpus = calloc(ASP_CPUS_MAX, sizeof(*cpus));
    unsigned n = cpus ? fill(cpus, record) : 0;
    size_t ghosts = 0;

    for (size_t t = 0; t < record->ntasks; t++)
        ghosts += record->tasks[t].ghost;
    aspt_html_section(to, "Who sits where on the first node");
    aspt_html_tag(to, "p", "note", "%zu rank%s, %zu ghost%s.",
                  record->ntasks - ghosts,
                  record->ntasks - ghosts == 1 ? "" : "s", ghosts,
                  ghosts == 1 ? "" : "s");
    fputc('\n', to);
    if (n)
        draw(to, record, cpus, n > LARGE_MAX);
    else
        aspt_html_tag(to, "p", NULL, "No CPUs were planned for the tasks%s%s.",
                      record->reason[0] ? ": " : "", record->reason);
    aspt_html_section_end(to);
    free(cpus);
}
