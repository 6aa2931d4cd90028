/* SPDX-License-Identifier: BSD-3-Clause */
/* Words and numbers of a report; see report.h. */
#include "config.h"

#include "report.h"

#include "common/base/strbuf.h"

#include <inttypes.h>
#include <string.h>

/* Keys as in runtime/casper/window/counts.c. */
static const struct aspt_handling_words handlings[] = {
    {"ghost", ASPT_BY_GHOST, "redirected to ghosts", NULL},
    {"copy", ASPT_BY_COPY, "copied on the node by the rank itself", NULL},
    {"device", ASPT_BY_DEVICE, "by the RDMA device", NULL},
    {"target", ASPT_BY_TARGET, "by targets, while redirection was off", NULL},
    {"private_memory", ASPT_BY_MPI, "window on private memory (MPI_Win_create)",
     "heap=shared lets ghosts reach windows on memory from malloc"},
    {"dynamic_window", ASPT_BY_MPI, "dynamic window", NULL},
    {"shared_window", ASPT_BY_MPI, "MPI_Win_allocate_shared outside the arena",
     NULL},
    {"asked", ASPT_BY_MPI, "window with async_config=off",
     "a rule or an info key of the program keeps windows from ghosts"},
    {"unknown_mpi", ASPT_BY_MPI, "an MPI that Aspen does not know",
     "this Aspen is younger or older than the program's MPICH"},
    {"arena_unavailable", ASPT_BY_MPI, "no room in the node's arena",
     "the arena was full or could not be mapped: look at the limits of the "
     "job on address space and file size (ulimit -v, -f)"},
};

struct aspt_handling_words aspt_handling_words(const char *key)
{
    for (size_t i = 0; i < sizeof(handlings) / sizeof(handlings[0]); i++)
        if (strcmp(handlings[i].key, key) == 0)
            return handlings[i];
    return (struct aspt_handling_words){key, ASPT_BY_MPI, key, NULL};
}

static const char *const classes[ASPT_DOERS] = {
    [ASPT_BY_GHOST] = "ghost",   [ASPT_BY_COPY] = "copy",
    [ASPT_BY_DEVICE] = "device", [ASPT_BY_TARGET] = "target",
    [ASPT_BY_MPI] = "mpi",
};

const char *aspt_doer_class(enum aspt_doer doer)
{
    return classes[doer];
}

uint64_t aspt_handling_sum(const struct aspt_record *record, size_t handling)
{
    uint64_t sum = 0;

    for (size_t c = 0; c < record->ncalls; c++)
        sum += record->calls[c].count[handling];
    return sum;
}

uint64_t aspt_doer_sum(const struct aspt_record *record, enum aspt_doer doer)
{
    uint64_t sum = 0;

    for (size_t w = 0; w < record->nhandlings; w++)
        if (aspt_handling_words(record->handlings[w]).doer == doer)
            sum += aspt_handling_sum(record, w);
    return sum;
}

uint64_t aspt_calls_sum(const struct aspt_record *record)
{
    uint64_t sum = 0;

    for (size_t c = 0; c < record->ncalls; c++)
        sum += record->calls[c].sum;
    return sum;
}

const char *aspt_say_fixes(const struct aspt_record *record, char *buf,
                           size_t size)
{
    const char *at = record->mpi_fixes ? record->mpi_fixes : "";
    struct asp_strbuf sb = asp_strbuf_on(buf, size);

    while (*at) {
        size_t name = strcspn(at, "="), whole = strcspn(at, ",");

        if (whole == name + strlen("=yes") &&
            memcmp(at + name, "=yes", strlen("=yes")) == 0)
            asp_strbuf_add(&sb, "%s%.*s", sb.len ? ", " : "", (int) name, at);
        at += whole + (at[whole] == ',');
    }
    if (sb.len == 0)
        asp_strbuf_add(&sb, "nothing");
    return buf;
}

const char *aspt_say_helpers(const struct aspt_record *record, char *buf,
                             size_t size)
{
    const char *kind = record->has_offload ? "offload" : "progress";
    uint64_t threads = record->has_offload ? record->offload.threads
                                           : record->thread.threads;
    char ghosts[ASPT_SAY_MAX] = "";
    const char *and = "";

    if (record->ghosts)
        aspt_say_many(record->ghosts, "ghost", ghosts, sizeof(ghosts));
    if (record->ghosts && (record->has_offload || record->has_thread))
        and = ", and ";
    if (!record->has_offload && !record->has_thread)
        snprintf(buf, size, "%s", record->ghosts ? ghosts : "none");
    else if (threads == record->users)
        snprintf(buf, size, "%s%s%s %s thread in each rank", ghosts, and,
                 record->has_offload ? "an" : "a", kind);
    else
        snprintf(buf, size,
                 "%s%s%s threads in %" PRIu64 " of %" PRIu64 " ranks", ghosts,
                 and, kind, threads, record->users);
    return buf;
}

struct aspt_counts aspt_thread_counts(const struct aspt_record *record)
{
    const struct aspt_offload *offload = &record->offload;
    const struct aspt_thread *thread = &record->thread;

    if (record->has_offload)
        return (struct aspt_counts){
            "What the offload threads did",
            5,
            {{offload->commands, "calls that the threads carried out"},
             {offload->posted, "of them that gave a request"},
             {offload->ended, "requests that they saw end"},
             {offload->naps, "naps, when there was nothing to do"},
             {offload->callbacks, "functions of the program that they left to "
                                  "its threads"}}};
    if (record->has_thread)
        return (struct aspt_counts){
            "What the progress threads did",
            7,
            {{thread->watched, "operations that they were to help"},
             {thread->wakes, "wakes by calls that began one"},
             {thread->polls, "looks into MPI"},
             {thread->busy_polls, "looks that took long enough to have moved "
                                  "something"},
             {thread->kept_out, "times they kept out, because the program was "
                                "inside MPI"},
             {thread->held_back, "times they kept out, because MPI might have "
                                 "called a function of the program"},
             {thread->confined, record->ghosts
                                    ? "ranks whose thread was on the ghosts' "
                                      "CPUs"
                                    : "ranks whose thread was on the service "
                                      "CPUs"}}};
    return (struct aspt_counts){0};
}

struct aspt_counts aspt_messages_counts(const struct aspt_record *record)
{
    const struct aspt_messages *messages = &record->messages;

    if (!record->has_messages || messages->reason[0])
        return (struct aspt_counts){0};
    return (struct aspt_counts){
        "What ghosts did with messages",
        13,
        {{messages->communicators, "communicators whose messages they carried"},
         {messages->communicators_left, "communicators that were left to MPI"},
         {messages->large_as_all, "communicators where p2p=large was all"},
         {messages->sent, "messages sent by ghosts"},
         {messages->bytes_sent, "their bytes"},
         {messages->received, "messages received from ghosts"},
         {messages->bytes_received, "their bytes"},
         {messages->bytes_direct, "of them written in place by a ghost"},
         {messages->bytes_landed, "of them copied to their place by the "
                                  "receiving rank"},
         {messages->bytes_copied, "bytes sent that the rank copied, as its "
                                  "ghost may not read them"},
         {messages->posted_most, "receives that waited at one ghost at most"},
         {messages->unexpected_most, "messages that waited at one ghost at "
                                     "most"},
         {messages->given_back_ms, "ms after which adaptation gave messages "
                                   "back to MPI (0: it did not)"}}};
}

struct aspt_counts aspt_typed_counts(const struct aspt_record *record)
{
    const struct aspt_typed *typed = &record->typed;

    if (!record->has_typed)
        return (struct aspt_counts){0};
    return (struct aspt_counts){
        "What was done for messages of types with gaps",
        10,
        {{typed->described, "messages that Aspen packed or unpacked"},
         {typed->bytes, "their bytes"},
         {typed->pieces, "pieces in which UCX asked for them"},
         {typed->undescribed, "messages that were left to MPI"},
         {typed->types_refused, "types that Aspen could not describe"},
         {typed->threaded, "buffers that OpenMP threads of the program helped "
                           "to pack or unpack"},
         {typed->threaded_bytes, "their bytes"},
         {typed->threaded_chunks, "chunks that these were cut into"},
         {typed->threaded_helpers, "times that a thread helped with one"},
         {typed->threaded_us, "microseconds that this took its callers"}}};
}

double aspt_ranks_s(const struct aspt_record *record)
{
    double all = 0;

    for (size_t r = 0; r < record->time.nranks; r++)
        all += record->time.ranks[r].wall_s;
    return all;
}

double aspt_waited_s(const struct aspt_record *record,
                     enum asp_advice_kind advice)
{
    double sum = 0;

    for (size_t i = 0; i < record->time.ncalls; i++)
        if (asp_advice_of(record->time.calls[i].name) == advice)
            sum += record->time.calls[i].wait_s;
    return sum;
}

double aspt_ghosts_s(const struct aspt_record *record)
{
    double held = 0;

    for (size_t i = 0; i < record->nbusy; i++)
        held += record->busy[i].held_s;
    if (record->has_busy)
        return held;
    return record->has_time ? record->time.wall_s * (double) record->ghosts
                            : -1;
}

double aspt_helpers_s(const struct aspt_record *record, bool *cores_p)
{
    double ghosts = record->ghosts ? aspt_ghosts_s(record) : 0;

    *cores_p = !record->has_thread;
    if (record->has_thread)
        return record->thread.cpu_seconds;
    if (ghosts < 0)
        return -1;
    return ghosts + (record->has_offload ? record->offload.core_seconds : 0);
}

double aspt_call_work(const struct aspt_call_time *call)
{
    return call->wait_s < call->seconds ? call->seconds - call->wait_s : 0;
}

double aspt_strip_mean(const struct aspt_strip *strip, size_t c, size_t columns)
{
    size_t from = c * strip->n / columns, end = (c + 1) * strip->n / columns;
    double sum = 0;

    for (size_t i = from; i < end; i++)
        sum += json_number_value(json_array_get(strip->on, i));
    return sum / (double) (end - from);
}

double aspt_percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

const char *aspt_say_count(uint64_t count, char *buf, size_t size)
{
    char digits[24];
    size_t n = (size_t) snprintf(digits, sizeof(digits), "%" PRIu64, count);
    struct asp_strbuf text = asp_strbuf_on(buf, size);

    for (size_t i = 0; i < n; i++)
        asp_strbuf_add(&text, "%s%c",
                       i && n > 4 && (n - i) % 3 == 0 ? "\xe2\x80\xaf" : "",
                       digits[i]);
    return buf;
}

/* Three digits or so; never an exponent. */
const char *aspt_say_number(double number, char *buf, size_t size)
{
    int digits = number < 9.995 ? 2 : number < 99.95 ? 1 : 0;

    snprintf(buf, size, "%.*f", digits, number);
    return buf;
}

const char *aspt_say_seconds(double seconds, char *buf, size_t size)
{
    static const struct {
        double least, scale;
        const char *unit;
    } units[] = {{0.9995, 1, "s"}, {0.0009995, 1e3, "ms"}, {0, 1e6, "us"}};
    char number[ASPT_SAY_MAX];
    size_t u = 0;

    while (seconds < units[u].least)
        u++;
    if (seconds <= 0)
        snprintf(buf, size, "0 s");
    else
        snprintf(
            buf, size, "%s %s",
            aspt_say_number(seconds * units[u].scale, number, sizeof(number)),
            units[u].unit);
    return buf;
}

const char *aspt_say_percent(double part, double whole, char *buf, size_t size)
{
    double percent = aspt_percent(part, whole);

    if (percent > 0 && percent < 0.1)
        snprintf(buf, size, "<0.1 %%");
    else if (percent < 100 && percent >= 99.5)
        snprintf(buf, size, ">99 %%");
    else
        snprintf(buf, size, "%.*f %%", percent > 0 && percent < 10, percent);
    return buf;
}

const char *aspt_say_bytes(uint64_t bytes, char *buf, size_t size)
{
    static const char *const units[] = {"B",   "KiB", "MiB", "GiB",
                                        "TiB", "PiB", "EiB"};
    double value = (double) bytes;
    size_t unit = 0;

    for (; value >= 1024; value /= 1024)
        unit++;
    if (unit == 0)
        snprintf(buf, size, "%" PRIu64 " B", bytes);
    else
        snprintf(buf, size, "%.*f %s", value < 9.95 ? 1 : 0, value,
                 units[unit]);
    return buf;
}

const char *aspt_say_many(uint64_t n, const char *what, char *buf, size_t size)
{
    snprintf(buf, size, "%" PRIu64 " %s%s", n, what, n == 1 ? "" : "s");
    return buf;
}

/* Characters that would act on the reader's screen instead of showing: control
 * characters, marks that turn the direction of text, and what XML forbids. */
static bool is_safe(uint32_t c)
{
    return c >= 0x20 && !(c >= 0x7f && c < 0xa0) &&
           !(c >= 0x200b && c <= 0x200f) && !(c >= 0x2028 && c <= 0x202e) &&
           !(c >= 0x2066 && c <= 0x206f) && !(c >= 0xd800 && c <= 0xdfff) &&
           c != 0xfeff && c < 0xfffe;
}

/* Decode one character, which jansson has checked; but a text may have been cut
 * since: *c is 0 then. */
static size_t decode(const char *text, uint32_t *c)
{
    const unsigned char *at = (const unsigned char *) text;
    size_t len = *at < 0x80 ? 1 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;

    *c = len == 1 ? *at : *at & (0xffu >> (len + 1));
    for (size_t i = 1; i < len; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            *c = 0;
            return i;
        }
        *c = *c << 6 | (at[i] & 0x3f);
    }
    return len;
}

size_t aspt_safe_char(const char *text, char out[5])
{
    uint32_t c = 0;
    size_t len = decode(text, &c);

    if (is_safe(c) || c >= 0x10000) {
        memcpy(out, text, len);
        out[len] = '\0';
    } else {
        strcpy(out, "\xef\xbf\xbd");
    }
    return len;
}

const char *aspt_window_place(const struct aspt_window *window)
{
    return window->source && window->source[0] ? window->source
                                               : window->function;
}
