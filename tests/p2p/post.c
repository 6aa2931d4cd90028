/* SPDX-License-Identifier: BSD-3-Clause */
/* How messages are sent and asked for: by all calls of MPI that do so. */
#include "player.h"
#include "bytes.h"

enum { TOGETHER = 4, FORGET_PERCENT = 5 };

static struct flight *flight_new(struct player *p, bool is_send, int index,
                                 int unit, int units)
{
    struct flight *f = &p->flights[p->nflights++];

    MUST(p, p->nflights <= REQUESTS_MOST);
    *f = (struct flight){.request = MPI_REQUEST_NULL,
                         .is_send = is_send,
                         .active = true,
                         .index = index,
                         .place = place_new(&p->own, unit, units)};
    return f;
}

/* MPI keeps a type as long as an operation needs it. */
static void posted(struct player *p, struct flight *f)
{
    if (prng_chance(&p->own, 30))
        place_free_type(&f->place);
}

/* ---- sends ------------------------------------------------------------------ */

static void send_now(struct player *p, struct flight *f,
                     const struct message *m)
{
    static int (*const calls[])(const void *, int, MPI_Datatype, int, int,
                                MPI_Comm) = {[SEND] = MPI_Send,
                                             [SSEND] = MPI_Ssend,
                                             [RSEND] = MPI_Rsend,
                                             [BSEND] = MPI_Bsend};
    int code = calls[m->kind](f->place.at, f->place.count, f->place.type,
                              m->dest, m->tag, p->comms[m->comm]);

    end_flight(p, f, NULL, code);
}

static void begin_send(struct player *p, struct flight *f,
                       const struct message *m)
{
    static int (*const calls[])(const void *, int, MPI_Datatype, int, int,
                                MPI_Comm, MPI_Request *) = {
        [ISEND] = MPI_Isend,
        [ISSEND] = MPI_Issend,
        [IRSEND] = MPI_Irsend,
        [IBSEND] = MPI_Ibsend,
        [PERSISTENT] = MPI_Send_init,
        [PERSISTENT_S] = MPI_Ssend_init,
        [PERSISTENT_R] = MPI_Rsend_init,
        [PERSISTENT_B] = MPI_Bsend_init};

    int code = calls[m->kind](f->place.at, f->place.count, f->place.type,
                              m->dest, m->tag, p->comms[m->comm], &f->request);

    MUST(p, code == MPI_SUCCESS);
    if (m->kind < PERSISTENT)
        posted(p, f);
}

static struct flight *fill_flight(struct player *p, int number)
{
    const struct message *m = &p->phase.messages[number];
    struct flight *f = flight_new(p, true, number, m->unit, m->units);
    unsigned char *bytes = message_bytes(&p->phase, number);

    place_write(&f->place, bytes, m->units);
    free(bytes);
    return f;
}

/* Nobody waits for this one: it is over when its receiver has told so. */
static void forget(struct flight *f)
{
    MPI_Request_free(&f->request);
    f->forgotten = true;
    f->active = false;
}

static void start(struct player *p, struct flight *const *group, int n)
{
    MPI_Request requests[TOGETHER];

    for (int i = 0; i < n; i++) {
        requests[i] = group[i]->request;
        group[i]->persistent = true;
    }
    if (n == 1 && prng_chance(&p->own, 50))
        MPI_Start(&requests[0]);
    else
        MPI_Startall(n, requests);
    for (int i = 0; i < n; i++) {
        group[i]->request = requests[i];
        posted(p, group[i]);
    }
}

/* Those of a group from message i on; the rest of it is posted after these, so
 * in an order that the reference does not ask for. */
static int post_group(struct player *p, int i)
{
    struct flight *flights[TOGETHER];
    const struct message *messages = p->phase.messages;
    int n = 0, group = messages[i].group;

    for (; i < p->phase.n && n < TOGETHER; i++) {
        if (messages[i].from != p->rank)
            continue;
        if (messages[i].group != group)
            break;
        flights[n] = fill_flight(p, i);
        begin_send(p, flights[n++], &messages[i]);
    }
    start(p, flights, n);
    return i;
}

int post_sends(struct player *p, int i)
{
    const struct message *m;
    struct flight *f;

    while (i < p->phase.n && p->phase.messages[i].from != p->rank)
        i++;
    if (i == p->phase.n)
        return i;
    m = &p->phase.messages[i];
    if (m->kind >= PERSISTENT)
        return post_group(p, i);
    f = fill_flight(p, i);
    if (m->kind <= BSEND) {
        send_now(p, f, m);
    } else {
        begin_send(p, f, m);
        /* MPICH 4.0 loses a message to itself whose request is freed. */
        if (m->to != p->rank && prng_chance(&p->own, FORGET_PERCENT))
            forget(f);
    }
    return i + 1;
}

/* ---- receives --------------------------------------------------------------- */

struct receive *receive_add(struct player *p, int comm, int source, int tag)
{
    struct receive *r = &p->receives[p->nreceives++];

    MUST(p, p->nreceives <= RECEIVES_MOST);
    *r = (struct receive){
        .comm = comm, .source = source, .tag = tag, .got = -1};
    for (int i = 0; i < p->phase.n; i++) {
        const struct message *m = &p->phase.messages[i];

        if (m->to == p->rank && fits(r, m) && m->units > r->units)
            r->units = m->units;
    }
    return r;
}

/* Any message that a communicator has in a phase is of one unit. */
static struct flight *empty_flight(struct player *p, const struct receive *r)
{
    int unit = 1;

    for (int i = 0; i < p->phase.n; i++)
        if (p->phase.messages[i].comm == r->comm)
            unit = p->phase.messages[i].unit;
    return flight_new(p, false, (int) (r - p->receives), unit, r->units);
}

void post_receives(struct player *p, struct receive *r, int n)
{
    struct flight *flights[TOGETHER];
    bool persistent = n > 1 || prng_chance(&p->own, 20);

    for (int i = 0; i < n; i++) {
        struct flight *f = flights[i] = empty_flight(p, &r[i]);
        int code = (persistent ? MPI_Recv_init : MPI_Irecv)(
            f->place.at, f->place.count, f->place.type, r[i].source, r[i].tag,
            p->comms[r[i].comm], &f->request);

        MUST(p, code == MPI_SUCCESS);
        r[i].posted = p->now;
        if (!persistent)
            posted(p, f);
    }
    if (persistent)
        start(p, flights, n);
    p->now++;
}

/* What a probe said, its receive must say again. */
static void check_probe(struct player *p, const struct flight *f,
                        MPI_Status *probed, MPI_Status *status)
{
    MPI_Datatype unit = unit_type(f->place.unit);
    int said = -1, came = -2;

    MPI_Get_count(probed, unit, &said);
    MPI_Get_count(status, unit, &came);
    if (said != came || probed->MPI_TAG != status->MPI_TAG ||
        probed->MPI_SOURCE != status->MPI_SOURCE)
        fail(p, "a probe said source %d tag %d units %d, its receive %d %d %d",
             probed->MPI_SOURCE, probed->MPI_TAG, said, status->MPI_SOURCE,
             status->MPI_TAG, came);
}

/* Receive a message that a matched probe has taken. */
static void receive_matched(struct player *p, struct receive *r,
                            MPI_Message message, MPI_Status *probed)
{
    struct flight *f = empty_flight(p, r);
    MPI_Status status;
    int code;

    if (prng_chance(&p->own, 50)) {
        MPI_Imrecv(f->place.at, f->place.count, f->place.type, &message,
                   &f->request);
        f->matched = true;
        posted(p, f);
    } else {
        code = MPI_Mrecv(f->place.at, f->place.count, f->place.type, &message,
                         &status);
        check_probe(p, f, probed, &status);
        end_flight(p, f, &status, code);
    }
    MUST(p, message == MPI_MESSAGE_NULL);
}

/* The one that a probe saw is the first of its envelope. */
static void receive_probed(struct player *p, struct receive *r,
                           MPI_Status *probed)
{
    struct flight *f = empty_flight(p, r);
    MPI_Status status;
    int code = MPI_Recv(f->place.at, f->place.count, f->place.type,
                        probed->MPI_SOURCE, probed->MPI_TAG, p->comms[r->comm],
                        &status);

    check_probe(p, f, probed, &status);
    end_flight(p, f, &status, code);
}

bool try_receive(struct player *p, struct receive *r)
{
    MPI_Comm comm = p->comms[r->comm];
    bool matched = prng_chance(&p->own, 50);
    MPI_Message message;
    MPI_Status probed;
    int flag = 0;

    if (matched)
        MPI_Improbe(r->source, r->tag, comm, &flag, &message, &probed);
    else
        MPI_Iprobe(r->source, r->tag, comm, &flag, &probed);
    if (!flag)
        return false;
    r->posted = p->now++;
    if (matched)
        receive_matched(p, r, message, &probed);
    else
        receive_probed(p, r, &probed);
    return true;
}

static void receive_plain(struct player *p, struct receive *r)
{
    struct flight *f = empty_flight(p, r);
    MPI_Status status;
    int code;

    r->posted = p->now++;
    code = MPI_Recv(f->place.at, f->place.count, f->place.type, r->source,
                    r->tag, p->comms[r->comm], &status);
    end_flight(p, f, &status, code);
}

void receive_now(struct player *p, struct receive *r)
{
    MPI_Comm comm = p->comms[r->comm];
    MPI_Message message;
    MPI_Status probed;

    switch (prng_below(&p->own, 5)) {
    case 0:
        MPI_Probe(r->source, r->tag, comm, &probed);
        r->posted = p->now++;
        receive_probed(p, r, &probed);
        break;
    case 1:
        MPI_Mprobe(r->source, r->tag, comm, &message, &probed);
        r->posted = p->now++;
        receive_matched(p, r, message, &probed);
        break;
    case 2:
        while (!try_receive(p, r))
            continue;
        break;
    case 3:
        post_receives(p, r, 1);
        complete_one(p, &p->flights[p->nflights - 1]);
        break;
    default:
        receive_plain(p, r);
    }
}

/* ---- nobody ----------------------------------------------------------------- */

static void from_nobody(struct player *p, MPI_Status *status)
{
    int count = -1;

    MPI_Get_count(status, MPI_BYTE, &count);
    MUST(p, status->MPI_SOURCE == MPI_PROC_NULL);
    MUST(p, status->MPI_TAG == MPI_ANY_TAG);
    MUST(p, count == 0);
}

void call_nobody(struct player *p)
{
    MPI_Comm comm = p->comms[prng_below(&p->own, DOOMED)];
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message message;
    MPI_Status status;
    int byte = 77, nobody = MPI_PROC_NULL;

    switch (prng_below(&p->own, 6)) {
    case 0:
        MPI_Send(&byte, 1, MPI_INT, nobody, 1, comm);
        MPI_Recv(&byte, 1, MPI_INT, nobody, 1, comm, &status);
        break;
    case 1:
        MPI_Issend(&byte, 1, MPI_INT, nobody, 1, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Irecv(&byte, 1, MPI_INT, nobody, MPI_ANY_TAG, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return; /* MPICH 4.0 says other things of such a request */
    case 2:
        MPI_Sendrecv_replace(&byte, 1, MPI_INT, nobody, 1, nobody, 1, comm,
                             &status);
        break;
    case 3:
        MPI_Probe(nobody, 1, comm, &status);
        break;
    case 4:
        MPI_Mprobe(nobody, 1, comm, &message, &status);
        MUST(p, message == MPI_MESSAGE_NO_PROC);
        MPI_Mrecv(&byte, 1, MPI_INT, &message, &status);
        break;
    default:
        MPI_Recv_init(&byte, 1, MPI_INT, nobody, 1, comm, &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
        return;
    }
    from_nobody(p, &status);
    MUST(p, byte == 77);
}
