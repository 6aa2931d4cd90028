/* SPDX-License-Identifier: BSD-3-Clause */
/* Called by casper/report/record.c. Every window is listed by its first
 * process, so the lists are only put together and sorted here. */
#include "config.h"

#include "windows.h"

#include "runtime/casper/window/registry.h"
#include "runtime/casper/window/rules.h"
#include "runtime/mpi/real.h"
#include "runtime/casper/window/counts.h"

#include <inttypes.h>
#include <stdlib.h>

enum { LINES = 12 }; /* of windows on stderr; the file has all */

struct aspx_windows {
    int n;
    uint64_t more, contig_missing;
    uint64_t hits[ASP_WINRULES_MAX];
    struct aspx_registry_entry entry[];
};

static int by_order(const void *a, const void *b)
{
    const struct aspx_registry_entry *left = a, *right = b;

    return (left->first > right->first) - (left->first < right->first);
}

/* Rank 0 learns how many bytes come from whom. Returns their sum. */
static int count(const struct aspx_world *world, int *bytes, int *starts)
{
    int mine = (int) (aspx_registry.n * sizeof(aspx_registry.entry[0])),
        sum = 0;

    aspx_real.MPI_Gather(&mine, 1, MPI_INT, bytes, 1, MPI_INT, 0, world->users);
    for (int r = 0; world->rank_user == 0 && r < world->size_users; r++) {
        starts[r] = sum;
        sum += bytes[r];
    }
    return sum;
}

struct aspx_windows *aspx_windows_gather(const struct aspx_world *world)
{
    size_t users = world->rank_user == 0 ? (size_t) world->size_users : 1;
    int *bytes = malloc(2 * users * sizeof(*bytes)), ok = bytes != NULL, sum;
    struct aspx_windows *windows = NULL;
    uint64_t more = aspx_registry.more,
             contig_missing = aspx_registry.contig_missing;

    aspx_registry_close();
    aspx_real.MPI_Bcast(&ok, 1, MPI_INT, 0, world->users);
    if (!ok)
        goto out;
    sum = count(world, bytes, bytes ? bytes + users : NULL);
    windows = malloc(sizeof(*windows) + (size_t) sum);
    ok = windows != NULL;
    aspx_real.MPI_Bcast(&ok, 1, MPI_INT, 0, world->users);
    if (!ok)
        goto out;
    aspx_real.MPI_Gatherv(
        aspx_registry.entry,
        (int) (aspx_registry.n * sizeof(aspx_registry.entry[0])), MPI_BYTE,
        windows ? windows->entry : NULL, bytes, bytes ? bytes + users : NULL,
        MPI_BYTE, 0, world->users);
    aspx_real.MPI_Reduce(&more, windows ? &windows->more : NULL, 1,
                         MPI_UINT64_T, MPI_SUM, 0, world->users);
    aspx_real.MPI_Reduce(&contig_missing,
                         windows ? &windows->contig_missing : NULL, 1,
                         MPI_UINT64_T, MPI_SUM, 0, world->users);
    aspx_real.MPI_Reduce(aspx_registry.hits, windows ? windows->hits : NULL,
                         ASP_WINRULES_MAX, MPI_UINT64_T, MPI_SUM, 0,
                         world->users);
    if (windows && world->rank_user == 0) {
        windows->n = sum / (int) sizeof(windows->entry[0]);
        qsort(windows->entry, (size_t) windows->n, sizeof(windows->entry[0]),
              by_order);
        free(bytes);
        return windows;
    }
out:
    free(bytes);
    free(windows);
    return NULL;
}

void aspx_windows_free(struct aspx_windows *windows)
{
    free(windows);
}

static const char *maker(int flavor)
{
    switch (flavor) {
    case MPI_WIN_FLAVOR_CREATE:
        return "MPI_Win_create";
    case MPI_WIN_FLAVOR_ALLOCATE:
        return "MPI_Win_allocate";
    case MPI_WIN_FLAVOR_DYNAMIC:
        return "MPI_Win_create_dynamic";
    case MPI_WIN_FLAVOR_SHARED:
        return "MPI_Win_allocate_shared";
    }
    return "?";
}

static void print_entry(FILE *to, const struct aspx_registry_entry *entry)
{
    const struct asp_winrules *rules = aspx_rules_all();
    const char *between = "; rules ";

    fprintf(to, "aspen: window %" PRIu32, entry->first);
    if (entry->count > 1)
        fprintf(to, "-%" PRIu32 " (%" PRIu32 " of a kind)", entry->last,
                entry->count);
    if (entry->name[0])
        fprintf(to, " \"%s\"", entry->name);
    fprintf(to, ": %s at %s%s%s%s, %" PRIu32 " processes, ",
            maker(entry->flavor),
            entry->call_site.place[0] ? entry->call_site.place : "?",
            entry->call_site.function[0] ? " (" : "", entry->call_site.function,
            entry->call_site.function[0] ? ")" : "", entry->processes);
    if (entry->least != entry->most)
        fprintf(to, "%" PRIu64 " to ", entry->least);
    fprintf(to, "%" PRIu64 " bytes each, %s%s%s", entry->most,
            entry->way == ASPX_WAY_GHOST ? "" : "native: ",
            aspx_way_words((enum aspx_way) entry->way),
            entry->switchable ? " (can be switched off)" : "");
    for (uint32_t r = 0; r < rules->n; r++)
        if (entry->holds >> r & 1) {
            fprintf(to, "%s%s", between, rules->rule[r].origin);
            between = ", ";
        }
    fputc('\n', to);
}

void aspx_windows_print(FILE *to, const struct aspx_windows *windows)
{
    const struct asp_winrules *rules = aspx_rules_all();
    uint64_t more;

    if (!windows)
        return;
    more = windows->more;
    for (int i = 0; i < windows->n; i++) {
        if (i < LINES)
            print_entry(to, &windows->entry[i]);
        else
            more += windows->entry[i].count;
    }
    if (more)
        fprintf(to, "aspen: and %" PRIu64 " more windows\n", more);
    if (windows->contig_missing)
        fprintf(to,
                "aspen: %" PRIu64 " windows had no flat window of their "
                "own: puts and gets to targets themselves took longer\n",
                windows->contig_missing);
    for (uint32_t r = 0; r < rules->n; r++)
        if (!windows->hits[r])
            fprintf(to, "aspen: the rule at %s held for no window\n",
                    rules->rule[r].origin);
}

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

/* A JSON string. Names are bytes of the program's, cut at any place: what is
 * not UTF-8 becomes the replacement character. */
static void put_text(FILE *to, const char *key, const char *text)
{
    const unsigned char *at = (const unsigned char *) text;

    fprintf(to, "\"%s\": \"", key);
    while (*at) {
        size_t n = character(at);

        if (n == 0)
            fputs("\\ufffd", to);
        else if (*at < ' ' || *at == 127 || *at == '"' || *at == '\\')
            fprintf(to, "\\u%04x", *at);
        else
            fwrite(at, 1, n, to);
        at += n ? n : 1;
    }
    fputc('"', to);
}

static void put_entry(FILE *to, const struct aspx_registry_entry *entry)
{
    const struct asp_winrules *rules = aspx_rules_all();
    const char *between = "";

    fprintf(to,
            "{\"order\": %" PRIu32 ", \"last\": %" PRIu32
            ", \"count\": %" PRIu32 ", ",
            entry->first, entry->last, entry->count);
    put_text(to, "name", entry->name);
    fputs(", ", to);
    put_text(to, "site", entry->call_site.place);
    fputs(", ", to);
    put_text(to, "function", entry->call_site.function);
    fprintf(to,
            ",\n     \"made_by\": \"%s\", \"processes\": %" PRIu32
            ", \"bytes_least\": %" PRIu64 ", \"bytes_most\": %" PRIu64
            ", \"way\": \"%s\", \"switchable\": %s, \"rules\": [",
            maker(entry->flavor), entry->processes, entry->least, entry->most,
            aspx_way_key((enum aspx_way) entry->way),
            entry->switchable ? "true" : "false");
    for (uint32_t r = 0; r < rules->n; r++)
        if (entry->holds >> r & 1) {
            fprintf(to, "%s%" PRIu32, between, r);
            between = ", ";
        }
    fputs("]}", to);
}

static void put_rule(FILE *to, const struct asp_winrule *rule, uint64_t hits)
{
    char text[2048];

    fputc('{', to);
    put_text(to, "from", rule->origin);
    fputs(", ", to);
    put_text(to, "match", asp_winrule_matchers(rule, text, sizeof(text)));
    fputs(", ", to);
    put_text(to, "set", asp_winrule_values(rule, text, sizeof(text)));
    fprintf(to, ", \"windows\": %" PRIu64 "}", hits);
}

void aspx_windows_json(FILE *to, const struct aspx_windows *windows)
{
    const struct asp_winrules *rules = aspx_rules_all();

    fputs(",\n  \"windows\": [", to);
    for (int i = 0; windows && i < windows->n; i++) {
        fputs(i ? ",\n    " : "\n    ", to);
        put_entry(to, &windows->entry[i]);
    }
    fputs("\n  ]", to);
    if (windows && windows->contig_missing)
        fprintf(to, ",\n  \"windows_flat_less\": %" PRIu64,
                windows->contig_missing);
    fprintf(to, ",\n  \"windows_more\": %" PRIu64 ",\n  \"window_rules\": [",
            windows ? windows->more : 0);
    for (uint32_t r = 0; windows && r < rules->n; r++) {
        fputs(r ? ",\n    " : "\n    ", to);
        put_rule(to, &rules->rule[r], windows->hits[r]);
    }
    fputs("\n  ]", to);
}
