/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict: sentences that claim what the record shows and no more. What a
 * job would have taken without Aspen no single run can tell, so nothing here
 * speaks of time saved. */
#include "config.h"

#include "report.h"

#include "common/base/build_id.h"
#include "common/base/strbuf.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

static void say(struct aspt_lines *lines, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct aspt_lines *lines, const char *fmt, ...)
{
    va_list args;

    if (lines->n == sizeof(lines->line) / sizeof(lines->line[0]))
        return;
    va_start(args, fmt);
    vsnprintf(lines->line[lines->n++], sizeof(lines->line[0]), fmt, args);
    va_end(args);
}

static bool is_off(const struct aspt_record *record)
{
    return strcmp(record->mode, "off") == 0;
}

/* "accumulate 101, flush 101": calls of a doer, the most frequent first. */
static void name_calls(const struct aspt_record *record, enum aspt_doer doer,
                       char *buf, size_t size)
{
    uint64_t sums[ASPT_CALLS_MAX] = {0};
    struct asp_strbuf text = asp_strbuf_on(buf, size);

    for (size_t c = 0; c < record->ncalls; c++)
        for (size_t w = 0; w < record->nhandlings; w++)
            if (aspt_handling_words(record->handlings[w]).doer == doer)
                sums[c] += record->calls[c].count[w];
    for (int named = 0; named < 4; named++) {
        size_t most = 0;

        for (size_t c = 1; c < record->ncalls; c++)
            if (sums[c] > sums[most])
                most = c;
        if (!record->ncalls || !sums[most])
            return;
        asp_strbuf_add(&text, "%s%.40s %" PRIu64, named ? ", " : "",
                       record->calls[most].name, sums[most]);
        sums[most] = 0;
    }
    for (size_t c = 0; c < record->ncalls; c++)
        if (sums[c]) {
            asp_strbuf_add(&text, ", ...");
            return;
        }
}

static void say_redirected(const struct aspt_record *record,
                           struct aspt_lines *lines)
{
    uint64_t ghost = aspt_doer_sum(record, ASPT_BY_GHOST);
    uint64_t all = aspt_calls_sum(record);
    uint64_t direct = aspt_doer_sum(record, ASPT_BY_COPY) +
                      aspt_doer_sum(record, ASPT_BY_DEVICE);
    uint64_t target = aspt_doer_sum(record, ASPT_BY_TARGET);
    char calls[256], share[ASPT_SAY_MAX];

    if (!all) {
        say(lines, "The program made no call on a window%s.",
            record->has_messages ? ""
                                 : ", so there was nothing for ghosts to do");
        return;
    }
    name_calls(record, ASPT_BY_GHOST, calls, sizeof(calls));
    if (ghost)
        say(lines,
            "Ghosts carried out %" PRIu64 " of %" PRIu64
            " calls on windows, %s (%s).",
            ghost, all,
            aspt_say_percent((double) ghost, (double) all, share,
                             sizeof(share)),
            calls);
    else
        say(lines,
            "Ghosts carried out none of the %" PRIu64 " calls on windows.",
            all);
    if (direct)
        say(lines,
            "%" PRIu64 " needed no ghost: copies on the node, or the "
            "RDMA device.",
            direct);
    if (target)
        say(lines,
            "%" PRIu64 " were left to their targets while redirection "
            "was off.",
            target);
}

static void say_native(const struct aspt_record *record,
                       struct aspt_lines *lines)
{
    uint64_t native = aspt_doer_sum(record, ASPT_BY_MPI);
    char reasons[512];
    struct asp_strbuf text = ASP_STRBUF(reasons);

    if (!native)
        return;
    for (size_t w = 0; w < record->nhandlings; w++) {
        struct aspt_handling_words words = aspt_handling_words(
            record->handlings[w]);
        uint64_t sum = aspt_handling_sum(record, w);

        if (words.doer == ASPT_BY_MPI && sum)
            asp_strbuf_add(&text, "%s%.80s %" PRIu64, text.len ? "; " : "",
                           words.words, sum);
    }
    say(lines, "%" PRIu64 " stayed plain MPI: %s.", native, reasons);
}

static void say_messages(const struct aspt_record *record,
                         struct aspt_lines *lines)
{
    const struct aspt_messages *messages = &record->messages;
    char bytes[ASPT_SAY_MAX], comms[ASPT_SAY_MAX], share[ASPT_SAY_MAX];

    if (!record->has_messages)
        return;
    if (messages->reason[0]) {
        say(lines, "Ghosts carried no messages: %.200s.", messages->reason);
        return;
    }
    say(lines,
        "Ghosts carried %" PRIu64 " messages of %s on %s; %" PRIu64
        " more were left to MPI.",
        messages->sent,
        aspt_say_bytes(messages->bytes_sent, bytes, sizeof(bytes)),
        aspt_say_many(messages->communicators, "communicator", comms,
                      sizeof(comms)),
        messages->communicators_left);
    if (messages->bytes_received)
        say(lines,
            "They wrote %s of the bytes in place; the others were copied once "
            "more, by the ranks that received them.",
            aspt_say_percent((double) messages->bytes_direct,
                             (double) messages->bytes_received, share,
                             sizeof(share)));
}

static void say_time(const struct aspt_record *record, struct aspt_lines *lines)
{
    const struct aspt_time *time = &record->time;
    double all = aspt_ranks_s(record);
    char wall[ASPT_SAY_MAX], wait[ASPT_SAY_MAX], mpi[ASPT_SAY_MAX];
    char share[ASPT_SAY_MAX];

    if (!record->has_time)
        return;
    aspt_say_seconds(time->wall_s, wall, sizeof(wall));
    aspt_say_seconds(time->mpi_s, mpi, sizeof(mpi));
    aspt_say_seconds(time->wait_s, wait, sizeof(wait));
    say(lines,
        "In the %s from MPI_Init to MPI_Finalize the ranks together "
        "spent %s inside MPI (%s of their time), %s of it waiting.",
        wall, mpi, aspt_say_percent(time->mpi_s, all, share, sizeof(share)),
        wait);
}

/* Does a ghost of the first node sit on a CPU that a user has, too? */
static bool shares_cpu(const struct aspt_record *record)
{
    struct asp_cpuset users = {0};

    for (size_t t = 0; t < record->ntasks; t++)
        for (int w = 0; w < ASP_CPUSET_WORDS && !record->tasks[t].ghost; w++)
            users.word[w] |= record->tasks[t].cpus.word[w];
    for (size_t t = 0; t < record->ntasks; t++)
        for (int w = 0; w < ASP_CPUSET_WORDS && record->tasks[t].ghost; w++)
            if (users.word[w] & record->tasks[t].cpus.word[w])
                return true;
    return false;
}

static void say_ghosts_cost(const struct aspt_record *record,
                            struct aspt_lines *lines)
{
    double held = aspt_ghosts_s(record);
    char ghosts[ASPT_SAY_MAX], each[ASPT_SAY_MAX] = "", all[ASPT_SAY_MAX];
    bool many = record->ghosts != 1;

    if (!record->ghosts)
        return;
    aspt_say_many(record->ghosts, "core", ghosts, sizeof(ghosts));
    if (held >= 0)
        aspt_say_seconds(held / (double) record->ghosts, each, sizeof(each));
    aspt_say_number(held, all, sizeof(all));
    if (!record->bound || shares_cpu(record))
        say(lines, "The helpers were %" PRIu64 " ghost process%s%s%s%s%s; %s.",
            record->ghosts, many ? "es" : "", each[0] ? " for " : "", each,
            each[0] ? ", in core-seconds up to " : "", each[0] ? all : "",
            record->bound ? "they shared CPUs with ranks"
                          : "they were not bound to cores of their own");
    else if (held < 0)
        say(lines, "The helpers cost %s as long as the job ran.", ghosts);
    else
        say(lines, "The helpers cost %s for %s: %s core-seconds.", ghosts, each,
            all);
}

static void say_busy(const struct aspt_record *record, struct aspt_lines *lines)
{
    double busy = 0, held = 0, cpu = 0, start = 0, parked = 0, parked_cpu = 0;
    char share[ASPT_SAY_MAX], text[ASPT_SAY_MAX], changes[ASPT_SAY_MAX];
    char start_text[ASPT_SAY_MAX];

    for (size_t i = 0; i < record->nbusy; i++) {
        busy += record->busy[i].busy_s;
        held += record->busy[i].held_s;
        cpu += record->busy[i].cpu_s;
        start += record->busy[i].start_cpu_s;
        parked += record->busy[i].parked_s;
        parked_cpu += record->busy[i].parked_cpu_s;
    }
    if (held > 0)
        say(lines,
            "Ghosts were at work for %s of the time they were there "
            "and used %s of CPU time%s%s%s.",
            aspt_say_percent(busy, held, share, sizeof(share)),
            aspt_say_seconds(cpu - start, text, sizeof(text)),
            start > 0 ? ", and " : "",
            start > 0 ? aspt_say_seconds(start, start_text, sizeof(start_text))
                      : "",
            start > 0 ? " to start" : "");
    if (held > 0 && record->has_scaling)
        say(lines,
            "They were parked for %s of the time and used %s of CPU time "
            "then; how many were active changed %s.",
            aspt_say_percent(parked, held, share, sizeof(share)),
            aspt_say_seconds(parked_cpu, text, sizeof(text)),
            aspt_say_many(record->nscaling + record->scaling_more, "time",
                          changes, sizeof(changes)));
}

static void say_balance(const struct aspt_record *record,
                        struct aspt_lines *lines)
{
    uint64_t most = 0, sum = 0, rank = 0;
    char share[ASPT_SAY_MAX];

    for (size_t i = 0; i < record->nloads; i++) {
        sum += record->loads[i].ops;
        if (record->loads[i].ops > most) {
            most = record->loads[i].ops;
            rank = record->loads[i].rank;
        }
    }
    if (record->nloads > 1 && sum && most > 2 * sum / record->nloads)
        say(lines,
            "The load was uneven: the ghost with rank %" PRIu64
            " took %s of the operations that went to %zu ghosts.",
            rank,
            aspt_say_percent((double) most, (double) sum, share, sizeof(share)),
            record->nloads);
}

static void say_adaptation(const struct aspt_record *record,
                           struct aspt_lines *lines)
{
    const struct aspt_adaptation *adaptation = &record->adaptation;
    uint64_t switches = adaptation->nswitches + adaptation->switches_more;
    uint64_t decisions = adaptation->ndecisions + adaptation->decisions_more;
    char share[ASPT_SAY_MAX];
    double sum = 0;
    size_t n = 0, i;
    json_t *on;

    if (!record->has_adaptation)
        return;
    for (size_t s = 0; s < adaptation->nstrips; s++)
        json_array_foreach((json_t *) adaptation->strips[s].on, i, on)
        {
            sum += json_number_value(on);
            n++;
        }
    if (!switches)
        say(lines, "Redirection was never switched.");
    else
        say(lines, "Redirection was switched %" PRIu64 " time%s.", switches,
            switches == 1 ? "" : "s");
    for (i = adaptation->ndecisions; i-- > 0;)
        if (strcmp(adaptation->decisions[i].to, "trial") != 0) {
            say(lines,
                "adapt=auto decided %" PRIu64 " time%s, %s for %.40s: "
                "%.300s.",
                decisions, decisions == 1 ? "" : "s",
                adaptation->decisions_more ? "the last of which is known"
                                           : "in the end",
                adaptation->decisions[i].to, adaptation->decisions[i].why);
            break;
        }
    if (n)
        say(lines, "It was on for %s of the time, over all nodes.",
            aspt_say_percent(sum, (double) n, share, sizeof(share)));
}

static void say_offload(const struct aspt_record *record,
                        struct aspt_lines *lines)
{
    const struct aspt_offload *offload = &record->offload;
    char cpu[ASPT_SAY_MAX], share[ASPT_SAY_MAX], core[ASPT_SAY_MAX];

    if (!record->has_offload)
        return;
    say(lines,
        "The offload threads carried out %" PRIu64 " calls, %" PRIu64
        " of them non-blocking.",
        offload->commands, offload->posted);
    aspt_say_seconds(offload->cpu_seconds, cpu, sizeof(cpu));
    if (record->bound)
        say(lines,
            "They cost %s core-seconds and were at work for %s of "
            "them (%s of CPU time).",
            aspt_say_number(offload->core_seconds, core, sizeof(core)),
            aspt_say_percent(offload->cpu_seconds, offload->core_seconds, share,
                             sizeof(share)),
            cpu);
    else
        say(lines, "They used %s of CPU time; no CPU was reserved for them.",
            cpu);
}

static void say_thread(const struct aspt_record *record,
                       struct aspt_lines *lines)
{
    const struct aspt_thread *thread = &record->thread;
    char cpu[ASPT_SAY_MAX];

    if (!record->has_thread)
        return;
    if (record->ghosts)
        say(lines,
            "For a while, or to try, %" PRIu64 " of %" PRIu64 " ranks "
            "had progress threads.",
            thread->threads, record->users);
    say(lines,
        "The progress threads watched %" PRIu64 " operations and "
        "looked after them %" PRIu64 " times; %" PRIu64 " of these looks were "
        "long enough to have moved something.",
        thread->watched, thread->polls, thread->busy_polls);
    aspt_say_seconds(thread->cpu_seconds, cpu, sizeof(cpu));
    say(lines, "They used %s of CPU time, %s%s CPUs.", cpu,
        record->bound && thread->confined == thread->threads
            ? "on the "
            : "not all of it on the ",
        record->ghosts ? "ghosts'" : "service");
}

/* What was mended of MPI's messages; NULL: nothing. */
static const char *mended(const struct aspt_record *record)
{
    const char *fixes = record->mpi_fixes ? record->mpi_fixes : "";
    bool pack = strstr(fixes, "pack=yes") && record->typed.described > 0;
    bool match = strstr(fixes, "match=yes");

    if (pack && match)
        return "pack, match";
    return pack ? "pack" : (match ? "match" : NULL);
}

static void say_off(const struct aspt_record *record, struct aspt_lines *lines)
{
    if (mended(record))
        say(lines,
            "Aspen had no helpers: it mended MPI's messages (%s), and its "
            "time was taken.",
            mended(record));
    else
        say(lines, "Aspen was off: this is plain MPI, and its time was taken.");
}

void aspt_verdict(const struct aspt_record *record, struct aspt_lines *lines)
{
    lines->n = 0;
    if (is_off(record))
        say_off(record, lines);
    if (record->has_calls) {
        say_redirected(record, lines);
        say_native(record, lines);
    }
    say_messages(record, lines);
    say_offload(record, lines);
    say_thread(record, lines);
    say_time(record, lines);
    say_ghosts_cost(record, lines);
    say_busy(record, lines);
    say_balance(record, lines);
    say_adaptation(record, lines);
}

/* Without helpers: what one could do, and what it would cost. */
static void hint_advice(const struct aspt_record *record,
                        struct aspt_lines *lines)
{
    static const struct {
        enum asp_advice_kind advice;
        const char *words;
    } rows[] = {
        {ASP_ADVICE_GHOST,
         "for operations on windows. While a target computes ghosts carry "
         "them out: --async-progress=ghost:1 takes a core more on each node"},
        {ASP_ADVICE_THREAD,
         "for messages. While the other side computes threads move them: "
         "--async-progress=offload takes a core more for each rank, thread "
         "one on each node"},
    };
    double all = aspt_ranks_s(record);
    char text[ASPT_SAY_MAX], share[ASPT_SAY_MAX];

    if (!is_off(record) || !record->has_time)
        return;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double wait = aspt_waited_s(record, rows[i].advice);

        if (wait < ASP_ADVICE_LEAST * all)
            continue;
        say(lines,
            "The ranks waited %s, %s of their time, %s; aspen compare "
            "tells what that brings.",
            aspt_say_seconds(wait, text, sizeof(text)),
            aspt_say_percent(wait, all, share, sizeof(share)), rows[i].words);
    }
    if (!lines->n)
        say(lines,
            "The ranks waited for windows and messages less than "
            "%.0f %% of their time: helpers would find little to do.",
            100 * ASP_ADVICE_LEAST);
}

static void hint_rules(const struct aspt_rule *rules, size_t n,
                       const char *what, struct aspt_lines *lines)
{
    for (size_t r = 0; r < n; r++)
        if (!rules[r].held)
            say(lines, "The rule at %.200s held for no %s.", rules[r].from,
                what);
}

static void hint_messages(const struct aspt_record *record,
                          struct aspt_lines *lines)
{
    const struct aspt_messages *messages = &record->messages;
    char bytes[ASPT_SAY_MAX];

    if (messages->large_as_all)
        say(lines,
            "p2p=large was all on %" PRIu64 " of the communicators: small "
            "messages go MPI's way only where mpi_assert_exact_length is "
            "promised, by the program or a rule (exact_length).",
            messages->large_as_all);
    if (messages->bytes_landed > messages->bytes_direct)
        say(lines,
            "%s came to ordinary memory, which costs a copy: heap=shared, "
            "MPI_Alloc_mem and MPI_Win_allocate give memory where ghosts "
            "write.",
            aspt_say_bytes(messages->bytes_landed, bytes, sizeof(bytes)));
    if (messages->bytes_copied)
        say(lines,
            "%s were copied when they were sent, because the ghost may not "
            "read the rank's memory (kernel.yama.ptrace_scope): heap=shared "
            "saves that copy.",
            aspt_say_bytes(messages->bytes_copied, bytes, sizeof(bytes)));
    hint_rules(messages->rules, messages->nrules, "communicator", lines);
}

void aspt_hints(const struct aspt_record *record, struct aspt_lines *lines)
{
    lines->n = 0;
    hint_advice(record, lines);
    if (record->profile_build &&
        asp_build_differs(record->profile_build, record->mpi_build))
        say(lines,
            "The mode was chosen by the record of a run with another "
            "build of MPI (%.90s): the next run with profile= and this record "
            "knows better.",
            record->profile_build);
    for (size_t w = 0; w < record->nhandlings; w++) {
        struct aspt_handling_words words = aspt_handling_words(
            record->handlings[w]);

        if (words.hint && aspt_handling_sum(record, w))
            say(lines, "%s: %s.", words.words, words.hint);
    }
    hint_rules(record->rules, record->nrules, "window", lines);
    hint_messages(record, lines);
}

void aspt_unmeasured(const struct aspt_record *record, struct aspt_lines *lines)
{
    bool ghosts = strcmp(record->mode, "ghost") == 0;

    lines->n = 0;
    if (!record->has_time)
        say(lines, "the time that ranks spent in MPI");
    if (ghosts && !record->has_busy)
        say(lines, "how busy the ghosts were");
    if (ghosts && !record->has_adaptation)
        say(lines, "adaptation, which was off");
}
