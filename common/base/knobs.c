/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of knobs at work: find a row, and move values between texts and
 * the fields of struct asp_knobs. Who may set what is the policy's business. */
#include "config.h"

#include "knobs.h"
#include "words.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#define PLAN_ROW(ID, NAME, TYPE, DEFAULT, WORDS, MIN, MAX, UNIT, FLAGS, HELP)  \
    [ASP_KNOB_##ID] = {NAME, ASP_TYPE_##TYPE, DEFAULT, ASP_WORDS_TEXT(WORDS),  \
                       MIN, MAX, UNIT, FLAGS, HELP, 0},
#define RUNTIME_ROW(ID, FIELD, NAME, TYPE, DEFAULT, WORDS, MIN, MAX, UNIT,     \
                    FLAGS, HELP)                                               \
    [ASP_KNOB_##ID] = {NAME, ASP_TYPE_##TYPE, DEFAULT, ASP_WORDS_TEXT(WORDS),  \
                       MIN, MAX, UNIT, (FLAGS) | ASP_KNOB_TO_RUNTIME, HELP,    \
                       offsetof(struct asp_knobs, FIELD)},
/* clang-format on */

const struct asp_knob asp_knobs[ASP_KNOB_COUNT] = {
    ASP_KNOBS(PLAN_ROW, RUNTIME_ROW)};

/* The enums of words are all of this size. */
_Static_assert(sizeof(enum asp_switch) == sizeof(int), "enums are ints");

enum asp_knob_id asp_knob_find(const char *name)
{
    enum asp_knob_id id = 0;

    while (id < ASP_KNOB_COUNT && strcmp(asp_knobs[id].name, name) != 0)
        id++;
    return id;
}

int asp_knob_word(enum asp_knob_id id, const char *word)
{
    const char *at = asp_knobs[id].values;

    for (int n = 0; *at; n++) {
        size_t len = strcspn(at, "|");

        if (asp_is_word(at, len, word))
            return n;
        at += len + (at[len] == '|');
    }
    return -1;
}

/* The text of a word by its number. */
static void print_word(enum asp_knob_id id, int number, char buf[ASP_VALUE_MAX])
{
    const char *at = asp_knobs[id].values;

    while (number-- > 0)
        at += strcspn(at, "|") + 1;
    snprintf(buf, ASP_VALUE_MAX, "%.*s", (int) strcspn(at, "|"), at);
}

int asp_knob_number(enum asp_knob_id id, const char *text, int *out_p)
{
    const struct asp_knob *knob = &asp_knobs[id];
    const char *at = text;
    int64_t n = 0;

    if (asp_knob_word(id, text) == 0) {
        *out_p = ASP_NUMBER_AUTO;
        return 0;
    }
    for (; *at >= '0' && *at <= '9'; at++)
        if (n <= knob->max)
            n = 10 * n + (*at - '0');
    if (at == text || *at) {
        errno = EINVAL;
        return -1;
    }
    if (n < knob->min || n > knob->max) {
        errno = ERANGE;
        return -1;
    }
    *out_p = (int) n;
    return 0;
}

static int set_text(char field[ASP_VALUE_MAX], const char *text)
{
    size_t len = strlen(text);

    if (len == 0 || len >= ASP_VALUE_MAX) {
        errno = EINVAL;
        return -1;
    }
    if (strcmp(text, "no") == 0)
        len = 0;
    memcpy(field, text, len);
    field[len] = '\0';
    return 0;
}

int asp_knob_bool(const char *text)
{
    size_t length = strlen(text);

    return asp_is_among(text, length, "yes|true|on|1")    ? 1
           : asp_is_among(text, length, "no|false|off|0") ? 0
                                                          : -1;
}

int asp_knobs_set(struct asp_knobs *knobs, enum asp_knob_id id,
                  const char *text)
{
    char *field = (char *) knobs + asp_knobs[id].offset;
    int n = asp_knob_word(id, text);

    switch (asp_knobs[id].type) {
    case ASP_TYPE_WORD:
        if (n >= 0)
            memcpy(field, &n, sizeof(n));
        break;
    case ASP_TYPE_BOOL:
        n = asp_knob_bool(text);
        if (n >= 0)
            memcpy(field, &(bool){n == 1}, sizeof(bool));
        break;
    case ASP_TYPE_NUMBER:
        if (asp_knob_number(id, text, &n) < 0)
            return -1;
        memcpy(field, &n, sizeof(n));
        return 0;
    case ASP_TYPE_NAME:
    case ASP_TYPE_FILE:
        return set_text(field, text);
    }
    if (n >= 0)
        return 0;
    errno = EINVAL;
    return -1;
}

void asp_knobs_init(struct asp_knobs *knobs, bool off)
{
    memset(knobs, 0, sizeof(*knobs));
    for (enum asp_knob_id id = 0; id < ASP_KNOB_COUNT; id++) {
        const struct asp_knob *knob = &asp_knobs[id];
        bool unsaid = off && knob->flags & ASP_KNOB_SAID_IN_OFF;

        if (knob->flags & ASP_KNOB_TO_RUNTIME)
            (void) asp_knobs_set(knobs, id, unsaid ? "off" : knob->builtin);
    }
}

const char *asp_knobs_text(const struct asp_knobs *knobs, enum asp_knob_id id,
                           char buf[ASP_VALUE_MAX])
{
    const char *field = (const char *) knobs + asp_knobs[id].offset;
    int n = 0;

    switch (asp_knobs[id].type) {
    case ASP_TYPE_WORD:
        memcpy(&n, field, sizeof(n));
        print_word(id, n, buf);
        break;
    case ASP_TYPE_BOOL:
        print_word(id, *field != 0, buf);
        break;
    case ASP_TYPE_NUMBER:
        memcpy(&n, field, sizeof(n));
        if (n == ASP_NUMBER_AUTO)
            print_word(id, 0, buf);
        else
            snprintf(buf, ASP_VALUE_MAX, "%d", n);
        break;
    case ASP_TYPE_NAME:
    case ASP_TYPE_FILE:
        snprintf(buf, ASP_VALUE_MAX, "%s", *field ? field : "no");
        break;
    }
    return buf;
}
