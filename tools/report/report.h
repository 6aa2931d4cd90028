/* SPDX-License-Identifier: BSD-3-Clause */
/* `aspen report`: what its two forms, a page and a text, have in common. */
#ifndef ASPEN_TOOLS_REPORT_REPORT_H
#define ASPEN_TOOLS_REPORT_REPORT_H

#include "tools/record/record.h"

#include "common/base/advice.h"

#include <stdio.h>

int aspt_report(int argc, char **argv);

/* Who carried a call out. */
enum aspt_doer {
    ASPT_BY_GHOST,
    ASPT_BY_COPY,
    ASPT_BY_DEVICE,
    ASPT_BY_TARGET,
    ASPT_BY_MPI,
    ASPT_DOERS,
};

/* A handling of the record in words. Handlings that this aspen does not know
 * are MPI's, under their own name. */
struct aspt_handling_words {
    const char *key;
    enum aspt_doer doer;
    const char *words;
    const char *hint; /* what a user can do about it; NULL: nothing */
};

struct aspt_handling_words aspt_handling_words(const char *key);

/* The doer's CSS class. */
const char *aspt_doer_class(enum aspt_doer doer);

/* Calls of a handling, of a doer, and of all. */
uint64_t aspt_handling_sum(const struct aspt_record *record, size_t handling);
uint64_t aspt_doer_sum(const struct aspt_record *record, enum aspt_doer doer);
uint64_t aspt_calls_sum(const struct aspt_record *record);

/* Part of a whole in percent; 0 of nothing. */
double aspt_percent(double part, double whole);

/* Mistakes of MPI that were worked around: "tcp_finalize, signal", or
 * "nothing". Untrusted text: the caller escapes it. Returns buf. */
const char *aspt_say_fixes(const struct aspt_record *record, char *buf,
                           size_t size);

/* "2 ghosts", "an offload thread in each rank", "none". Returns buf. */
const char *aspt_say_helpers(const struct aspt_record *record, char *buf,
                             size_t size);

/* What was counted, in words. */
struct aspt_counts {
    const char *title;
    size_t n;
    struct {
        uint64_t count;
        const char *words;
    } item[13];
};

/* By the threads of a mode; n is 0 in other modes. */
struct aspt_counts aspt_thread_counts(const struct aspt_record *record);

/* Messages by ghosts; n is 0 where they carried none. */
struct aspt_counts aspt_messages_counts(const struct aspt_record *record);

/* Messages of types with gaps; n is 0 where there were none. */
struct aspt_counts aspt_typed_counts(const struct aspt_record *record);

/* The time of all ranks together, and the part of it in which they waited in
 * calls of this kind. 0 when it was not measured. */
double aspt_ranks_s(const struct aspt_record *record);
double aspt_waited_s(const struct aspt_record *record,
                     enum asp_advice_kind advice);

/* How long ghosts were there, all together; negative: not measured. */
double aspt_ghosts_s(const struct aspt_record *record);

/* What all helpers cost, in core-seconds, or where they hold no cores of their
 * own (*cores_p) in seconds of CPU time; negative: not measured. */
double aspt_helpers_s(const struct aspt_record *record, bool *cores_p);

/* The part of a call's time in which it worked. */
double aspt_call_work(const struct aspt_call_time *call);

/* The share of ranks that were on in the c-th of `columns` equal parts of a
 * strip; columns is at most strip->n. */
double aspt_strip_mean(const struct aspt_strip *strip, size_t c,
                       size_t columns);

enum { ASPT_SAY_MAX = 40 };

/* A count, digits of five and more in groups of three, apart by a narrow
 * no-break space (U+202F). Returns buf. */
const char *aspt_say_count(uint64_t count, char *buf, size_t size);

/* Numbers for people; all return buf: "6.80"; "2.41 s", "850 us"; "12 %";
 * "808 B", "1.5 GiB"; "3 ghosts", "1 ghost". */
const char *aspt_say_number(double number, char *buf, size_t size);
const char *aspt_say_seconds(double seconds, char *buf, size_t size);
const char *aspt_say_percent(double part, double whole, char *buf, size_t size);
const char *aspt_say_bytes(uint64_t bytes, char *buf, size_t size);
const char *aspt_say_many(uint64_t n, const char *what, char *buf, size_t size);

/* The site of a window in words: "exchange (app.c:42)" where that was found,
 * else what the record has, "app:exchange" or "". */
const char *aspt_window_place(const struct aspt_window *window);

/* A chosen configuration in one sentence. tools/report/collectives.c */
void aspt_say_links(const struct aspt_collectives *collectives, char *buf,
                    size_t size);
void aspt_say_chosen(const struct aspt_chosen *found, char *buf, size_t size);

/* How many non-blocking calls were carried out otherwise than by MPI, in one
 * sentence of at most ASPT_POSTED_MAX bytes. Returns whether there are any. */
enum { ASPT_POSTED_MAX = 192 };
bool aspt_say_posted(const struct aspt_collectives *collectives, char *buf,
                     size_t size);

/* Lines of a report that are the same in both forms. */
struct aspt_lines {
    size_t n;
    char line[24][1024];
};

/* What happened and what it cost, sentence by sentence, as far as the record
 * shows it. tools/report/verdict.c */
void aspt_verdict(const struct aspt_record *record, struct aspt_lines *lines);

/* What a user may try, and what this run did not measure. */
void aspt_hints(const struct aspt_record *record, struct aspt_lines *lines);
void aspt_unmeasured(const struct aspt_record *record,
                     struct aspt_lines *lines);

/* The two forms. tools/report/text.c, tools/report/page.c */
void aspt_report_text(FILE *to, const struct aspt_record *record);
void aspt_report_page(FILE *to, const struct aspt_record *record);

/* What every page begins with, and no other file. */
#define ASPT_PAGE_BEGIN                                                        \
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n" \
    "<meta name=\"generator\" content=\"aspen report\"/>\n"

/* Write a report to a file.
 *   path     "-" is stdout
 *   made_up  the user did not name the file. Then nobody said that the name is
 *            free: a page of an earlier aspen report is replaced, anything else,
 *            a link too, is left as it is and named in err
 * Returns 0, or -1 with err. */
int aspt_report_write(const char *path, bool made_up, const char *text,
                      size_t len, struct asp_err *err);

/* The next character of a text as something that is safe to show: printable
 * UTF-8 of one character, or U+FFFD. Writes up to 4 bytes and a NUL; returns
 * how many bytes of the text it stands for. tools/report/words.c */
size_t aspt_safe_char(const char *text, char out[5]);

#endif
