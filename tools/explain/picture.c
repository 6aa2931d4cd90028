/* SPDX-License-Identifier: BSD-3-Clause */
/* Drawing of nodes for `aspen explain`; see picture.h. */
#include "config.h"

#include "picture.h"

#include "tools/base/command.h"

#include "common/base/strbuf.h"
#include "common/plan/plan.h"

#include <inttypes.h>
#include <string.h>

enum { CELL_MAX = 48, HEAD_WIDTH = 14 };

/* The three lines of a core. */
struct cell {
    char core[CELL_MAX];
    char cpus[CELL_MAX];
    char who[CELL_MAX];
};

int aspt_on_core(const struct asp_core *core, const struct asp_cpuset *cpus)
{
    for (uint32_t i = 0; i < core->ncpus; i++) {
        if (asp_cpuset_has(cpus, core->cpu_os[i]))
            return 1;
    }
    return 0;
}

/* Which ghost of this node has that world rank? */
static uint32_t ghost_number(const struct asp_layout *layout, uint32_t rank)
{
    uint32_t users = layout->ntasks - layout->ghosts_per_node;

    for (uint32_t t = users; t < layout->ntasks; t++) {
        if (layout->tasks[t].rank_world == rank)
            return t - users;
    }
    return ASP_RANK_NONE;
}

static void add_task(struct asp_strbuf *text, const struct asp_layout *layout,
                     uint32_t task)
{
    uint32_t users = layout->ntasks - layout->ghosts_per_node;

    if (text->len)
        asp_strbuf_add(text, "+");
    if (task >= users)
        asp_strbuf_add(text, "g%" PRIu32, task - users);
    else if (layout->tasks[task].rank_user == ASP_RANK_NONE)
        asp_strbuf_add(text, "u?");
    else
        asp_strbuf_add(text, "u%" PRIu32, layout->tasks[task].rank_user);
}

/* Who sits on the core: "u0", "u3+g0", "h2" (helper thread of u2), "S". */
static void add_sitters(struct asp_strbuf *who, const struct asp_layout *layout,
                        const struct asp_core *core)
{
    for (uint32_t t = 0; t < layout->ntasks; t++) {
        const struct asp_layout_task *task = &layout->tasks[t];
        struct asp_cpuset helper = {0};

        if (aspt_on_core(core, &task->cpus))
            add_task(who, layout, t);
        if (task->cpu_helper_os < 0)
            continue;
        asp_cpuset_add(&helper, (unsigned) task->cpu_helper_os);
        if (aspt_on_core(core, &helper))
            asp_strbuf_add(who, "%sh%" PRIu32, who->len ? "+" : "",
                           task->rank_user);
    }
    if (aspt_on_core(core, &layout->service))
        asp_strbuf_add(who, "%sS", who->len ? "+" : "");
    if (!who->len)
        asp_strbuf_add(who, "%s", core->nallowed ? "." : "x");
    if (core->nallowed && core->nallowed < core->ncpus)
        asp_strbuf_add(who, "*");
}

static void make_cell(const struct asp_layout *layout,
                      const struct asp_core *core, struct cell *cell)
{
    struct asp_strbuf who = ASP_STRBUF(cell->who);
    struct asp_cpuset cpus = {0};

    for (uint32_t i = 0; i < core->ncpus; i++)
        asp_cpuset_add(&cpus, core->cpu_os[i]);
    snprintf(cell->core, sizeof(cell->core), "%" PRIu32, core->core_log);
    asp_cpuset_print(&cpus, cell->cpus, sizeof(cell->cpus));
    add_sitters(&who, layout, core);
}

static int cell_width(const struct cell *cell)
{
    size_t width = strlen(cell->core);

    if (strlen(cell->cpus) > width)
        width = strlen(cell->cpus);
    if (strlen(cell->who) > width)
        width = strlen(cell->who);
    return (int) width + 1;
}

static void print_cells(FILE *to, const char *head, const char *cells)
{
    size_t len = strlen(cells);

    while (len && cells[len - 1] == ' ')
        len--;
    fprintf(to, "%*s  %.*s\n", HEAD_WIDTH - 2, head, (int) len, cells);
}

/* Cores from..end-1, which are of one domain, as lines of cells. */
static void draw_domain(FILE *to, const struct asp_topo *topo,
                        const struct asp_layout *layout, uint32_t from,
                        uint32_t end)
{
    while (from < end) {
        char core[ASPT_WIDTH + 1] = "", cpus[ASPT_WIDTH + 1] = "";
        char who[ASPT_WIDTH + 1] = "";
        int used = HEAD_WIDTH;

        for (; from < end; from++) {
            struct cell cell;
            int width, at = used - HEAD_WIDTH;

            make_cell(layout, &topo->cores[from], &cell);
            width = cell_width(&cell);
            if (used + width > ASPT_WIDTH && at > 0)
                break;
            snprintf(core + at, sizeof(core) - (size_t) at, "%-*s", width,
                     cell.core);
            snprintf(cpus + at, sizeof(cpus) - (size_t) at, "%-*s", width,
                     cell.cpus);
            snprintf(who + at, sizeof(who) - (size_t) at, "%-*s", width,
                     cell.who);
            used += width;
        }
        print_cells(to, "core", core);
        print_cells(to, "CPU", cpus);
        print_cells(to, "", who);
    }
}

static void draw_cores(FILE *to, const struct asp_topo *topo,
                       const struct asp_layout *layout)
{
    uint32_t package = UINT32_MAX;

    for (uint32_t at = 0, end; at < topo->ncores; at = end) {
        const struct asp_core *core = &topo->cores[at];

        if (core->package_log != package)
            fprintf(to, "  package %" PRIu32 "\n", core->package_log);
        package = core->package_log;
        end = at + 1;
        while (end < topo->ncores &&
               topo->cores[end].numa_log == core->numa_log &&
               topo->cores[end].package_log == package)
            end++;
        fprintf(to, "    NUMA domain %" PRIu32 "\n", core->numa_log);
        draw_domain(to, topo, layout, at, end);
    }
}

/* "u0-u2,u5": the users whose main ghost is that task. */
static void add_served(struct asp_strbuf *text, const struct asp_layout *layout,
                       uint32_t ghost)
{
    uint32_t users = layout->ntasks - layout->ghosts_per_node;
    uint32_t rank = layout->tasks[ghost].rank_world;
    bool any = false;

    for (uint32_t u = 0, end; u < users; u = end) {
        const struct asp_layout_task *task = &layout->tasks[u];

        end = u + 1;
        if (task->ghost != rank || rank == ASP_RANK_NONE)
            continue;
        while (end < users && layout->tasks[end].ghost == rank &&
               layout->tasks[end].rank_user == task->rank_user + (end - u))
            end++;
        asp_strbuf_add(text, "%su%" PRIu32, any ? "," : "", task->rank_user);
        if (end - u > 1)
            asp_strbuf_add(text, "-u%" PRIu32,
                           layout->tasks[end - 1].rank_user);
        any = true;
    }
    if (!any)
        asp_strbuf_add(text, "nobody");
}

static const struct asp_core *core_of(const struct asp_topo *topo,
                                      const struct asp_cpuset *cpus)
{
    for (uint32_t c = 0; topo && c < topo->ncores; c++) {
        if (aspt_on_core(&topo->cores[c], cpus))
            return &topo->cores[c];
    }
    return NULL;
}

/* Print text at an indent, broken at blanks where a line is full. */
static void print_wrapped(FILE *to, int indent, const char *text)
{
    size_t columns = (size_t) (ASPT_WIDTH - indent);

    while (*text) {
        size_t len = strlen(text);

        if (len > columns) {
            for (len = columns; len > 1 && text[len] != ' '; len--)
                ;
            if (len == 1)
                len = columns;
        }
        fprintf(to, "%*s%.*s\n", indent, "", (int) len, text);
        text += len;
        text += strspn(text, " ");
    }
}

static void print_ghost(FILE *to, const struct asp_topo *topo,
                        const struct asp_layout *layout, uint32_t ghost)
{
    const struct asp_layout_task *task = &layout->tasks[ghost];
    uint32_t users = layout->ntasks - layout->ghosts_per_node;
    const struct asp_core *core = core_of(topo, &task->cpus);
    char line[4096], why[512];
    struct asp_strbuf text = ASP_STRBUF(line);

    asp_strbuf_add(&text, "g%" PRIu32, ghost - users);
    if (task->rank_world != ASP_RANK_NONE)
        asp_strbuf_add(&text, " (world rank %" PRIu32 ")", task->rank_world);
    if (core)
        asp_strbuf_add(&text, " on core %" PRIu32, core->core_log);
    asp_strbuf_add(&text, " serves ");
    add_served(&text, layout, ghost);
    print_wrapped(to, 2, line);
    if (core)
        print_wrapped(to, 6,
                      aspt_why(topo, layout, ghost, core, why, sizeof(why)));
}

/* Without a topology: a line for each task. */
static void list_tasks(FILE *to, const struct asp_layout *layout)
{
    for (uint32_t t = 0; t < layout->ntasks; t++) {
        const struct asp_layout_task *task = &layout->tasks[t];
        char line[8192], cpus[4096] = "";
        struct asp_strbuf text = ASP_STRBUF(line);

        add_task(&text, layout, t);
        if (task->rank_world != ASP_RANK_NONE)
            asp_strbuf_add(&text, " (world rank %" PRIu32 ")",
                           task->rank_world);
        asp_cpuset_print(&task->cpus, cpus, sizeof(cpus));
        asp_strbuf_add(&text, " %s%s", cpus[0] ? "on CPUs " : "has no CPUs",
                       cpus);
        if (task->numa >= 0)
            asp_strbuf_add(&text, ", NUMA domain %d", task->numa);
        if (task->cpu_helper_os >= 0)
            asp_strbuf_add(&text, ", helper thread on CPU %d",
                           task->cpu_helper_os);
        if (task->ghost != ASP_RANK_NONE)
            asp_strbuf_add(&text, ", served by g%" PRIu32,
                           ghost_number(layout, task->ghost));
        print_wrapped(to, 2, line);
    }
}

static unsigned all_cpus(const struct asp_topo *topo)
{
    unsigned count = 0;

    for (uint32_t c = 0; c < topo->ncores; c++)
        count += topo->cores[c].ncpus;
    return count;
}

/* Who carries which messages, where ghosts carry some. */
static void print_messages(FILE *to, const struct asp_layout *layout)
{
    char which[160] = "on communicators whose rule says so", line[512];

    if (!asp_layout_carries(layout))
        return;
    if (layout->knobs.p2p == ASP_P2P_ALL)
        snprintf(which, sizeof(which), "p2p=all");
    if (layout->knobs.p2p == ASP_P2P_LARGE)
        snprintf(which, sizeof(which),
                 "p2p=large: with mpi_assert_exact_length those of more than "
                 "%d KiB, else all",
                 layout->knobs.p2p_large_kb);
    snprintf(line, sizeof(line),
             "messages: carried by ghosts (%s); g0 matches those to ranks of "
             "this node. Partitioned ones, and those of intercommunicators and "
             "of what MPI_Comm_idup makes stay MPI's",
             which);
    print_wrapped(to, 2, line);
}

static void print_head(FILE *to, const struct asp_topo *topo,
                       const struct asp_layout *layout)
{
    const char *name = layout->nodes ? layout->nodes[layout->node].name : "";
    uint32_t ghosts = layout->ghosts_per_node;
    uint32_t users = layout->ntasks - ghosts;
    char line[1024];
    struct asp_strbuf text = ASP_STRBUF(line);

    asp_strbuf_add(&text, "node %" PRIu32 " of %" PRIu32, layout->node + 1,
                   layout->nnodes);
    if (name[0])
        asp_strbuf_add(&text, " (%s)", name);
    asp_strbuf_add(&text, ": mode %s, %" PRIu32 " user%s, %" PRIu32 " ghost%s",
                   asp_mode_name(layout->mode), users, users == 1 ? "" : "s",
                   ghosts, ghosts == 1 ? "" : "s");
    if (topo)
        asp_strbuf_add(&text, "; %" PRIu32 " cores, %u of %u CPUs",
                       topo->ncores, asp_cpuset_count(&topo->allowed),
                       all_cpus(topo));
    print_wrapped(to, 0, line);
    text = ASP_STRBUF(line);
    asp_strbuf_add(&text, "bound: %s%s%s", layout->bound ? "yes" : "no",
                   layout->reason[0] ? ", " : "", layout->reason);
    print_wrapped(to, 2, line);
    if (asp_layout_offloads(layout))
        print_wrapped(to, 2,
                      asp_plan_describe_cpus(topo, layout, line, sizeof(line)));
    print_messages(to, layout);
}

void aspt_picture(FILE *to, const struct asp_topo *topo,
                  const struct asp_layout *layout)
{
    uint32_t users = layout->ntasks - layout->ghosts_per_node;

    print_head(to, topo, layout);
    if (topo)
        draw_cores(to, topo, layout);
    else
        list_tasks(to, layout);
    for (uint32_t t = users; t < layout->ntasks; t++)
        print_ghost(to, topo, layout, t);
}
