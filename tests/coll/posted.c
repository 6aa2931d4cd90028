/* SPDX-License-Identifier: BSD-3-Clause */
/* Random programs of collectives as in programs.c, of which most are
 * non-blocking: several are under way at once on several communicators, mixed
 * with blocking ones and with messages, and each rank completes them when and
 * by which call it likes (its own generator). Results and gaps are compared
 * with the same model.
 *
 *   coll_posted SEED PROGRAMS [FIRST] */
int blocking_main(int argc, char **argv);
#define main blocking_main /* the model, the draws and the checks of these */
#include "programs.c"
#undef main

enum { FLIGHTS = 16, STEPS = 40, MESSAGE_INTS = 3 };

/* A step of a program that is under way. */
struct flight {
    struct program p;
    int call, in_place;
    int is_message, sent[MESSAGE_INTS], got[MESSAGE_INTS];
    struct data from, to;
};

static struct flight flights[FLIGHTS];
static MPI_Request requests[2 * FLIGHTS]; /* the second of messages */
static MPI_Status *none; /* the compiler takes the constant for an array */

static void enter(const struct program *p)
{
    MPI_Comm_rank(comms[p->comm], &rank);
    MPI_Comm_size(comms[p->comm], &size);
}

static void post(const struct program *p, const void *send, struct data *from,
                 struct data *to, MPI_Request *request)
{
    MPI_Comm comm = comms[p->comm];
    MPI_Op op = ops[p->op];

    switch (p->kind) {
    case BARRIER:
        MPI_Ibarrier(comm, request);
        break;
    case BCAST:
        MPI_Ibcast(to->at, to->count, to->type, p->root, comm, request);
        break;
    case REDUCE:
        MPI_Ireduce(send, to->at, p->n, MPI_INT, op, p->root, comm, request);
        break;
    case SCATTER:
        MPI_Iscatter(from->at, from->count, from->type,
                     send == MPI_IN_PLACE ? MPI_IN_PLACE : to->at, to->count,
                     to->type, p->root, comm, request);
        break;
    case GATHER:
        MPI_Igather(send, from->count, from->type, to->at, to->count, to->type,
                    p->root, comm, request);
        break;
    case ALLGATHER:
        MPI_Iallgather(send, from->count, from->type, to->at, to->count,
                       to->type, comm, request);
        break;
    case ALLTOALL:
        MPI_Ialltoall(send, from->count, from->type, to->at, to->count,
                      to->type, comm, request);
        break;
    case ALLREDUCE:
        MPI_Iallreduce(send, to->at, p->n, MPI_INT, op, comm, request);
        break;
    case REDUCE_SCATTER_BLOCK:
        MPI_Ireduce_scatter_block(send, to->at, p->n, MPI_INT, op, comm,
                                  request);
        break;
    case SCAN:
        MPI_Iscan(send, to->at, p->n, MPI_INT, op, comm, request);
        break;
    default:
        MPI_Iexscan(send, to->at, p->n, MPI_INT, op, comm, request);
    }
}

/* MPI keeps a type as long as an operation needs it. */
static void free_type(struct data *d)
{
    if (d->type != MPI_INT && prng_chance(&own, 50)) {
        MPI_Type_free(&d->type);
        d->type = MPI_INT;
    }
}

static void begin(struct flight *f, MPI_Request *request, int is_posted)
{
    const struct program *p = &f->p;
    int plain = is_reduction(p);

    enter(p);
    f->in_place = draw_in_place(p);
    make(&f->from, p, plain, sends(p), 1);
    make(&f->to, p, plain, receives(p, f->in_place), 0);
    contribute(p, f->call, f->in_place, &f->from, &f->to);
    if (is_posted)
        post(p, f->in_place ? MPI_IN_PLACE : f->from.at, &f->from, &f->to,
             request);
    else
        carry_out(p, f->in_place ? MPI_IN_PLACE : f->from.at, &f->from, &f->to);
    free_type(&f->from);
    free_type(&f->to);
}

/* To the next rank, and from the one before. */
static void begin_message(struct flight *f, MPI_Request *pair)
{
    struct program world = {.comm = 0};

    enter(&world);
    f->is_message = 1;
    for (int i = 0; i < MESSAGE_INTS; i++)
        f->sent[i] = value(f->call, rank, 0, i);
    MPI_Irecv(f->got, MESSAGE_INTS, MPI_INT, (rank + size - 1) % size, f->call,
              MPI_COMM_WORLD, &pair[0]);
    MPI_Isend(f->sent, MESSAGE_INTS, MPI_INT, (rank + 1) % size, f->call,
              MPI_COMM_WORLD, &pair[1]);
}

static void end_message(struct flight *f)
{
    struct program world = {.comm = 0, .number = f->p.number};
    int from;

    enter(&world);
    from = (rank + size - 1) % size;
    for (int i = 0; i < MESSAGE_INTS; i++)
        if (f->got[i] != value(f->call, from, 0, i))
            fail(&world, f->call, "int of a message", i, f->got[i],
                 value(f->call, from, 0, i));
}

static void end(struct flight *f)
{
    if (f->is_message) {
        end_message(f);
    } else {
        enter(&f->p);
        check(&f->p, f->call, f->in_place, &f->to);
        check_gaps(&f->p, f->call, &f->from);
        unmake(&f->from);
        unmake(&f->to);
    }
    *f = (struct flight){.call = -1};
}

/* Flights whose requests have ended. */
static void end_those_over(void)
{
    for (int i = 0; i < FLIGHTS; i++)
        if (flights[i].call >= 0 && requests[2 * i] == MPI_REQUEST_NULL &&
            requests[2 * i + 1] == MPI_REQUEST_NULL)
            end(&flights[i]);
}

static int still_open(void)
{
    int n = 0;

    for (int i = 0; i < 2 * FLIGHTS; i++)
        n += requests[i] != MPI_REQUEST_NULL;
    return n;
}

/* A wait for some of them tells of each that it has completed. */
static void told(const char *call, int were_open, int ended)
{
    struct program world = {.comm = 0};

    enter(&world);
    if (were_open - still_open() != ended)
        fail(&world, 0, call, 0, ended, were_open - still_open());
}

/* Complete something, by a call that this rank chooses. */
static void complete(void)
{
    int were_open = still_open();
    int n = 2 * FLIGHTS, flag, index, indexes[2 * FLIGHTS];
    MPI_Status status, statuses[2 * FLIGHTS];
    MPI_Request *one = &requests[prng_below(&own, n)];

    switch (prng_below(&own, 10)) {
    case 0:
        MPI_Wait(one, &status);
        break;
    case 1:
        MPI_Test(one, &flag, &status);
        break;
    case 2:
        MPI_Waitall(n, requests, statuses);
        break;
    case 3:
        MPI_Testall(n, requests, &flag, none);
        break;
    case 4:
        MPI_Waitany(n, requests, &index, &status);
        told("completed by MPI_Waitany", were_open, index != MPI_UNDEFINED);
        break;
    case 5:
        MPI_Testany(n, requests, &index, &flag, MPI_STATUS_IGNORE);
        break;
    case 6:
        MPI_Waitsome(n, requests, &index, indexes, statuses);
        told("completed by MPI_Waitsome", were_open,
             index == MPI_UNDEFINED ? 0 : index);
        break;
    case 7:
        MPI_Testsome(n, requests, &index, indexes, none);
        break;
    case 8: /* an end that comes without a wait */
        for (flag = 0; !flag;)
            MPI_Request_get_status(*one, &flag, MPI_STATUS_IGNORE);
        break;
    default:
        MPI_Waitall(n, requests, none);
    }
    end_those_over();
}

static int free_flight(void)
{
    for (;;) {
        for (int i = 0; i < FLIGHTS; i++)
            if (flights[i].call < 0)
                return i;
        complete();
    }
}

/* What a step is, all ranks draw alike. */
static void step(uint64_t seed, int number, int call)
{
    struct prng prng = {seed * 7919 + (uint64_t) (number * STEPS + call)};
    int i = free_flight(), world_size;
    struct flight *f = &flights[i];

    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    f->call = call;
    f->p = draw(seed, number * STEPS + call);
    if (has_counts(&f->p)) /* the model has room for one such call at a time */
        f->p.kind = f->p.kind == ALLGATHERV ? ALLGATHER : ALLREDUCE;
    enter(&f->p);
    f->p.root %= size;
    if (prng_chance(&prng, 15) && world_size > 1)
        begin_message(f, &requests[2 * i]);
    else if (prng_chance(&prng, 75))
        begin(f, &requests[2 * i], 1);
    else
        begin(f, NULL, 0);
    if (prng_chance(&own, 10))
        usleep((unsigned) prng_below(&own, DELAY_MOST_US));
    end_those_over();
    if (prng_chance(&own, 40))
        complete();
}

/* Communicators that are freed while operations on them are under way. */
static void run_posted(uint64_t seed, int number)
{
    struct prng prng = {seed * 31 + (uint64_t) number};

    for (int call = 0; call < STEPS; call++)
        step(seed, number, call);
    if (prng_chance(&prng, 30)) {
        MPI_Comm old = comms[1];

        MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
        MPI_Comm_free(&old);
    }
    MPI_Waitall(2 * FLIGHTS, requests, none);
    end_those_over();
}

int main(int argc, char **argv)
{
    int programs, first, world_size;
    uint64_t seed;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    none = MPI_STATUSES_IGNORE;
    seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    programs = argc > 2 ? atoi(argv[2]) : 10;
    first = argc > 3 ? atoi(argv[3]) : 0;
    own.state = seed + 77777 * (uint64_t) world_rank;
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &comms[2]);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank / ((world_size + 1) / 2), 0,
                   &comms[3]);
    for (int i = 0; i < FLIGHTS; i++) {
        flights[i].call = -1;
        requests[2 * i] = requests[2 * i + 1] = MPI_REQUEST_NULL;
    }
    for (int i = first; i < first + programs; i++)
        run_posted(seed, i);
    for (int c = 1; c < 4; c++)
        MPI_Comm_free(&comms[c]);
    MPI_Finalize();
    if (world_rank == 0)
        printf("ok coll_posted %d programs, seed %llu\n", programs,
               (unsigned long long) seed);
    return 0;
}
