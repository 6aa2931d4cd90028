/* SPDX-License-Identifier: BSD-3-Clause */
/* How requests end: by all calls of MPI that wait or test. */
#include "player.h"
#include "bytes.h"

enum { CALLS = 4, FEW = 5 };

/* ---- one that has ended ----------------------------------------------------- */

/* Which message has come, as envelope and length tell, and its first bytes. */
static int find_message(const struct player *p, const struct receive *r,
                        const struct place *place, const MPI_Status *status,
                        int units)
{
    unsigned char head[SMALL_BYTES] = {0};
    int number = -1;

    if (units >= 0 && units <= place->units)
        place_read(
            place, head,
            units * place->unit < SMALL_BYTES ? 0 : SMALL_BYTES / place->unit);
    memcpy(&number, head, sizeof(number));
    for (int i = 0; i < p->phase.n; i++) {
        const struct message *m = &p->phase.messages[i];

        if (m->to == p->rank && m->comm == r->comm &&
            m->source == status->MPI_SOURCE && m->tag == status->MPI_TAG &&
            (r->truncates ||
             (m->units == units && (bytes_of(m) < SMALL_BYTES || i == number))))
            return i;
    }
    fail(p, "nobody sent this: comm %d source %d tag %d units %d number %d",
         r->comm, status->MPI_SOURCE, status->MPI_TAG, units, number);
}

static void check_bytes(const struct player *p, const struct receive *r,
                        const struct place *place)
{
    unsigned char *bytes = message_bytes(&p->phase, r->got);
    int units = p->phase.messages[r->got].units;

    if (r->truncates ? !place_gaps_are_whole(place)
                     : !place_is(place, bytes, units))
        fail(p, "message %d of %d bytes, kind %d: wrong bytes, or bytes around",
             r->got, units * place->unit, (int) p->phase.messages[r->got].kind);
    free(bytes);
}

static void end_receive(struct player *p, struct flight *f,
                        const MPI_Status *status, int code)
{
    struct receive *r = &p->receives[f->index];
    int class = MPI_SUCCESS, units = -1, elements = -1;

    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    if (class != (r->truncates ? MPI_ERR_TRUNCATE : MPI_SUCCESS))
        fail(p, "a receive%s ended with class %d",
             r->truncates ? " that truncates" : "", class);
    MPI_Get_count(status, unit_type(f->place.unit), &units);
    r->got = find_message(p, r, &f->place, status, units);
    r->ended = p->now++;
    if (f->place.own_type && !r->truncates) {
        MPI_Get_elements(status, f->place.type, &elements);
        MUST(p, elements == units || f->place.units == 0);
    }
    if (p->came[r->got])
        fail(p, "message %d came twice", r->got);
    p->came[r->got] = true;
    check_bytes(p, r, &f->place);
}

/* Nothing has written into what was sent; the program may, now. */
static void end_send(struct player *p, struct flight *f, int code)
{
    unsigned char *bytes = message_bytes(&p->phase, f->index);

    MUST(p, code == MPI_SUCCESS);
    MUST(p, place_is(&f->place, bytes, f->place.units));
    memset(f->place.memory, OVERWRITTEN, f->place.span);
    free(bytes);
}

void end_flight(struct player *p, struct flight *f, const MPI_Status *status,
                int code)
{
    MUST(p, f->persistent == (f->request != MPI_REQUEST_NULL));
    f->active = false;
    if (f->is_send)
        end_send(p, f, code);
    else
        end_receive(p, f, status, code);
    place_free(&f->place);
    if (f->persistent && prng_chance(&p->own, 50))
        MPI_Request_free(&f->request); /* others stay, inactive */
}

/* ---- calls that wait and test ----------------------------------------------- */

/* What a call gets: requests of some flights, in any order. */
struct choice {
    int n;
    struct flight *of[REQUESTS_MOST];
    MPI_Request requests[REQUESTS_MOST];
    MPI_Status statuses[REQUESTS_MOST];
    int indexes[REQUESTS_MOST];
};

static bool is_which(const struct flight *f, enum which which)
{
    return which == BOTH || f->is_send == (which == SENDS);
}

/* Now and then, one that has ended is among them: null, or inactive. */
static void choose(struct player *p, enum which which, struct choice *c)
{
    int most = prng_chance(&p->own, 70) ? prng_range(&p->own, 1, FEW)
                                        : REQUESTS_MOST;

    c->n = 0;
    for (int i = 0; i < p->nflights; i++) {
        struct flight *f = &p->flights[i];
        int at = prng_below(&p->own, c->n + 1);

        if (f->forgotten || (!f->active && !prng_chance(&p->own, 5)) ||
            (f->active && !is_which(f, which)))
            continue;
        c->of[c->n] = c->of[at];
        c->of[at] = f;
        c->n++;
    }
    if (c->n > most)
        c->n = most;
    for (int i = 0; i < c->n; i++)
        c->requests[i] = c->of[i]->request;
}

static void ended(struct player *p, struct choice *c, int i,
                  const MPI_Status *status, int code)
{
    c->of[i]->request = c->requests[i];
    if (c->of[i]->active)
        end_flight(p, c->of[i], status, code);
}

static bool any_active(const struct choice *c)
{
    bool active = false;

    for (int i = 0; i < c->n; i++)
        active |= c->of[i]->active;
    return active;
}

/* Of a call with a status for each: the code of one. */
static int code_of(struct player *p, int code, const MPI_Status *status)
{
    int class;

    if (code == MPI_SUCCESS)
        return code;
    MPI_Error_class(code, &class);
    MUST(p, class == MPI_ERR_IN_STATUS);
    return status->MPI_ERROR;
}

static void one(struct player *p, struct choice *c, bool may_block)
{
    MPI_Status status;
    int code, flag = 1, seen = 0;

    if (prng_chance(&p->own, 30))
        MPI_Request_get_status(c->requests[0], &seen, &status);
    if (may_block)
        code = MPI_Wait(&c->requests[0], &status);
    else
        code = MPI_Test(&c->requests[0], &flag, &status);
    MUST(p, flag || !seen);
    if (flag)
        ended(p, c, 0, &status, code);
}

static void any(struct player *p, struct choice *c, bool may_block)
{
    bool were_active = any_active(c);
    MPI_Status status;
    int code, flag = 1, i = -1;

    if (may_block)
        code = MPI_Waitany(c->n, c->requests, &i, &status);
    else
        code = MPI_Testany(c->n, c->requests, &i, &flag, &status);
    MUST(p, were_active || (flag && i == MPI_UNDEFINED));
    if (!flag || i == MPI_UNDEFINED)
        return;
    MUST(p, i >= 0 && i < c->n && c->of[i]->active);
    ended(p, c, i, &status, code);
}

static void some(struct player *p, struct choice *c, bool may_block)
{
    bool were_active = any_active(c);
    int code, n = -1;

    if (may_block)
        code = MPI_Waitsome(c->n, c->requests, &n, c->indexes, c->statuses);
    else
        code = MPI_Testsome(c->n, c->requests, &n, c->indexes, c->statuses);
    MUST(p, were_active == (n != MPI_UNDEFINED));
    MUST(p, !may_block || n != 0);
    for (int j = 0; n != MPI_UNDEFINED && j < n; j++) {
        int i = c->indexes[j];

        MUST(p, i >= 0 && i < c->n && c->of[i]->active);
        ended(p, c, i, &c->statuses[j], code_of(p, code, &c->statuses[j]));
    }
}

static void all(struct player *p, struct choice *c, bool may_block)
{
    int code, flag = 1;

    if (may_block)
        code = MPI_Waitall(c->n, c->requests, c->statuses);
    else
        code = MPI_Testall(c->n, c->requests, &flag, c->statuses);
    /* Where one has failed, others may be under way still. */
    for (int i = 0; (flag || code != MPI_SUCCESS) && i < c->n; i++) {
        int one_code = code_of(p, code, &c->statuses[i]);

        if (one_code != MPI_ERR_PENDING)
            ended(p, c, i, &c->statuses[i], one_code);
    }
}

void complete_some(struct player *p, enum which which, bool may_block)
{
    static void (*const calls[CALLS])(struct player *, struct choice *,
                                      bool) = {one, any, some, all};
    struct choice *c = malloc(sizeof(*c));

    if (!c)
        abort();
    choose(p, which, c);
    if (c->n > 0)
        calls[prng_below(&p->own, CALLS)](p, c, may_block);
    free(c);
}

void complete_one(struct player *p, struct flight *f)
{
    MPI_Status status;
    int code = MPI_Wait(&f->request, &status);

    end_flight(p, f, &status, code);
}

int count_active(const struct player *p, enum which which)
{
    int n = 0;

    for (int i = 0; i < p->nflights; i++)
        n += p->flights[i].active && is_which(&p->flights[i], which);
    return n;
}

bool cancel(struct player *p, struct flight *f)
{
    struct receive *r = &p->receives[f->index];
    int code, is_cancelled = -1;
    MPI_Status status;

    r->revoked = p->now++;
    MPI_Cancel(&f->request);
    code = MPI_Wait(&f->request, &status);
    MPI_Test_cancelled(&status, &is_cancelled);
    if (!is_cancelled) {
        end_flight(p, f, &status, code);
        return false;
    }
    MUST(p, code == MPI_SUCCESS);
    MUST(p, place_is(&f->place, NULL, 0));
    f->active = false;
    r->cancelled = true;
    place_free(&f->place);
    return true;
}

void end_flights(struct player *p)
{
    for (int i = 0; i < p->nflights; i++) {
        struct flight *f = &p->flights[i];

        if (f->request != MPI_REQUEST_NULL)
            MPI_Request_free(&f->request);
        if (f->forgotten) {
            end_send(p, f, MPI_SUCCESS);
            place_free(&f->place);
        }
    }
    p->nflights = 0;
}
