/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that one process could take for each other: of two senders with one
 * tag, on two communicators with one envelope, on communicators whose ranks
 * differ, of a rank to itself; in order, of all sizes.
 *
 *   p2p_pairs [STORY]    one of those below; without, all
 *
 * For two ranks and more; with four on two nodes, ranks 0 and 2 send from one
 * node what ranks 1 and 3 receive on the other. */
#include "../expect.h"
#include "bytes.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    TAG = 7,
    BURST = 12, /* messages of a pair that are under way at once */
    SPARE = 40, /* bytes that a receive has room for beyond its message */
    HUGE_BYTES = 40 << 20,
    TAGS = 3,
    COMMS = 5,
};

static const size_t lengths[] = {0,    1,        4095,    4096,
                                 4097, 64 << 10, 1 << 20, 5 << 20};
enum { LENGTHS = sizeof(lengths) / sizeof(lengths[0]), SMALL_LENGTHS = 6 };

static int size;

/* ---- messages --------------------------------------------------------------- */

/* One that is under way, seen from either side. */
struct parcel {
    unsigned char *at;
    size_t bytes;
    uint32_t number;
    MPI_Request request;
};

/* Differs for each message of a story. */
static uint32_t number_of(int from, int to, int i)
{
    return (uint32_t) ((from * size + to) * 1000 + i);
}

static struct parcel send(size_t bytes, uint32_t number, int to, int tag,
                          MPI_Comm comm)
{
    struct parcel p = {buffer_new(bytes), bytes, number, MPI_REQUEST_NULL};

    buffer_fill(p.at, bytes, number);
    MPI_Isend(p.at, (int) bytes, MPI_BYTE, to, tag, comm, &p.request);
    return p;
}

static void end_send(struct parcel *p)
{
    MPI_Wait(&p->request, MPI_STATUS_IGNORE);
    memset(p->at, OVERWRITTEN, p->bytes);
    buffer_free(p->at);
}

/* Receive what shall be this message. */
static struct parcel receive(size_t bytes, uint32_t number, int from, int tag,
                             MPI_Comm comm)
{
    struct parcel p = {buffer_new(bytes + SPARE), bytes, number,
                       MPI_REQUEST_NULL};

    MPI_Irecv(p.at, (int) bytes + SPARE, MPI_BYTE, from, tag, comm, &p.request);
    return p;
}

static void end_receive(struct parcel *p, int from, int tag)
{
    MPI_Status status = {.MPI_ERROR = 0};
    int count = -1;

    MPI_Wait(&p->request, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    EXPECT(status.MPI_SOURCE == from);
    EXPECT(status.MPI_TAG == tag);
    EXPECT(count == (int) p->bytes);
    EXPECT(buffer_wrong(p->at, p->bytes + SPARE, p->bytes, p->number) == 0);
    buffer_free(p->at);
}

static void end_sends(struct parcel *parcels, int n)
{
    for (int i = n - 1; i >= 0; i--)
        end_send(&parcels[i]);
}

static struct parcel *parcels_new(int n)
{
    struct parcel *parcels = calloc((size_t) n, sizeof(*parcels));

    if (!parcels)
        abort();
    return parcels;
}

/* ---- stories ---------------------------------------------------------------- */

/* The i-th message of each of all pairs, which all have one tag. */
static void receive_from_all(struct parcel *in)
{
    for (int i = 0; i < BURST; i++)
        for (int from = size - 1; from >= 0; from--)
            in[i * size + from] = receive(lengths[i % SMALL_LENGTHS],
                                          number_of(from, rank, i), from, TAG,
                                          MPI_COMM_WORLD);
}

static void send_to_all(struct parcel *out)
{
    for (int i = 0; i < BURST; i++)
        for (int to = 0; to < size; to++)
            out[i * size + to] = send(lengths[i % SMALL_LENGTHS],
                                      number_of(rank, to, i), to, TAG,
                                      MPI_COMM_WORLD);
}

static void all_pairs(bool posted)
{
    struct parcel *in = parcels_new(BURST * size);
    struct parcel *out = parcels_new(BURST * size);

    if (posted)
        receive_from_all(in);
    MPI_Barrier(MPI_COMM_WORLD);
    send_to_all(out);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!posted)
        receive_from_all(in);
    for (int i = 0; i < BURST * size; i++)
        end_receive(&in[i], i % size, TAG);
    end_sends(out, BURST * size);
    free(in);
    free(out);
}

/* A receive by source never takes a message of another one. */
static void one_tag(void)
{
    all_pairs(true);
    all_pairs(false);
}

/* Which message of one sender does receive i get, where message j has tag j %
 * TAGS? Each in turn the first that is left and fits. */
static void expect_in_order(const int *tags, int *got)
{
    bool taken[BURST] = {false};

    for (int i = 0; i < BURST; i++)
        for (int j = 0, found = 0; j < BURST && !found; j++) {
            found = !taken[j] &&
                    (tags[i] == MPI_ANY_TAG || tags[i] == j % TAGS);
            taken[j] |= found;
            got[i] = j;
        }
}

/* A large message is not overtaken by a small one behind it. */
static size_t in_order_length(int i)
{
    return i % 2 ? lengths[i % SMALL_LENGTHS] : lengths[SMALL_LENGTHS];
}

static void receive_in_order(struct parcel *in, const int *tags, const int *got)
{
    int from = (rank + size - 1) % size;

    for (int i = 0; i < BURST; i++)
        in[i] = receive(in_order_length(got[i]), number_of(from, rank, got[i]),
                        i % 3 ? from : MPI_ANY_SOURCE, tags[i], MPI_COMM_WORLD);
}

static void order_of_a_pair(bool posted)
{
    static const int tags[BURST] = {
        MPI_ANY_TAG, 2, MPI_ANY_TAG, 2,           0,           MPI_ANY_TAG,
        0,           1, 1,           MPI_ANY_TAG, MPI_ANY_TAG, MPI_ANY_TAG};
    struct parcel in[BURST], out[BURST];
    int to = (rank + 1) % size, from = (rank + size - 1) % size, got[BURST];

    expect_in_order(tags, got);
    if (posted)
        receive_in_order(in, tags, got);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < BURST; i++)
        out[i] = send(in_order_length(i), number_of(rank, to, i), to, i % TAGS,
                      MPI_COMM_WORLD);
    if (!posted)
        receive_in_order(in, tags, got);
    for (int i = BURST - 1; i >= 0; i--)
        end_receive(&in[i], from, got[i] % TAGS);
    end_sends(out, BURST);
}

static void order(void)
{
    order_of_a_pair(true);
    order_of_a_pair(false);
}

/* Rank 0 knows the sender by the tag only. */
static void any_source(void)
{
    struct parcel *in = parcels_new(size), out[2];

    for (int i = 0; i < 2; i++)
        out[i] = send(lengths[4 * i], number_of(rank, 0, i), 0,
                      10 * (rank + 1) + i, MPI_COMM_WORLD);
    for (int i = 1; rank == 0 && i >= 0; i--) {
        for (int from = size - 1; from >= 0; from--)
            in[from] = receive(lengths[4 * i], number_of(from, 0, i),
                               MPI_ANY_SOURCE, 10 * (from + 1) + i,
                               MPI_COMM_WORLD);
        for (int from = 0; from < size; from++)
            end_receive(&in[from], from, 10 * (from + 1) + i);
    }
    end_sends(out, 2);
    free(in);
}

static void same_envelope(MPI_Comm first, MPI_Comm second, bool posted)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    struct parcel in[2], out[2];

    if (posted) {
        in[0] = receive(100, number_of(from, rank, 0), MPI_ANY_SOURCE,
                        MPI_ANY_TAG, first);
        in[1] = receive(1 << 20, number_of(from, rank, 1), from, TAG, second);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    out[1] = send(1 << 20, number_of(rank, to, 1), to, TAG, second);
    out[0] = send(100, number_of(rank, to, 0), to, TAG, first);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!posted) {
        in[0] = receive(100, number_of(from, rank, 0), MPI_ANY_SOURCE,
                        MPI_ANY_TAG, first);
        in[1] = receive(1 << 20, number_of(from, rank, 1), from, TAG, second);
    }
    end_receive(&in[0], from, TAG);
    end_receive(&in[1], from, TAG);
    end_sends(out, 2);
}

static void two_communicators(void)
{
    MPI_Comm dups[2];

    MPI_Comm_dup(MPI_COMM_WORLD, &dups[0]);
    MPI_Comm_dup(dups[0], &dups[1]);
    for (int posted = 0; posted < 2; posted++) {
        same_envelope(dups[0], dups[1], posted);
        same_envelope(dups[1], dups[0], posted);
        same_envelope(MPI_COMM_WORLD, dups[1], posted);
    }
    MPI_Comm_free(&dups[0]);
    MPI_Comm_free(&dups[1]);
}

/* Of all but the last rank. */
static void make_group(MPI_Comm *comm)
{
    MPI_Group world, most;
    int last = size - 1;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_excl(world, 1, &last, &most);
    *comm = MPI_COMM_NULL;
    if (rank != last)
        MPI_Comm_create_group(MPI_COMM_WORLD, most, 3, comm);
    MPI_Group_free(&most);
    MPI_Group_free(&world);
}

static int make_sub_communicators(MPI_Comm *comms)
{
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2, rank, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[2]);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank,
                        MPI_INFO_NULL, &comms[3]);
    make_group(&comms[4]);
    return comms[4] == MPI_COMM_NULL ? COMMS - 1 : COMMS;
}

/* World ranks of those of a communicator. */
static int world_rank(MPI_Comm comm, int r)
{
    MPI_Group group, world;
    int answer;

    MPI_Comm_group(comm, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(group, 1, &r, world, &answer);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    return answer;
}

static void receive_of_members(MPI_Comm comm, int c)
{
    int members, me;

    MPI_Comm_size(comm, &members);
    MPI_Comm_rank(comm, &me);
    for (int r = members - 1; r >= 0; r--) {
        uint32_t number = number_of(world_rank(comm, r), rank, c);
        struct parcel in = receive(3000 + (size_t) c * 500, number, r, TAG,
                                   comm);

        end_receive(&in, r, TAG);
    }
}

/* Those of other ranks may have the same context in MPI. */
static void sub_communicators(void)
{
    struct parcel *out = parcels_new(COMMS * size);
    MPI_Comm comms[COMMS];
    int n = 0, made = make_sub_communicators(comms);

    for (int c = 0; c < made; c++) {
        int members;

        MPI_Comm_size(comms[c], &members);
        for (int r = 0; r < members; r++)
            out[n++] = send(3000 + (size_t) c * 500,
                            number_of(rank, world_rank(comms[c], r), c), r, TAG,
                            comms[c]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int c = made - 1; c >= 0; c--)
        receive_of_members(comms[c], c);
    end_sends(out, n);
    for (int c = 0; c < made; c++)
        MPI_Comm_free(&comms[c]);
    free(out);
}

static void to_itself(MPI_Comm comm, int me, size_t bytes)
{
    uint32_t number = number_of(rank, rank, (int) (bytes % 1000));
    struct parcel in, out;

    in = receive(bytes, number, MPI_ANY_SOURCE, TAG, comm);
    out = send(bytes, number, me, TAG, comm);
    end_send(&out);
    end_receive(&in, me, TAG);
    out = send(bytes, number + 1, me, TAG, comm);
    in = receive(bytes, number + 1, me, MPI_ANY_TAG, comm);
    end_receive(&in, me, TAG);
    end_send(&out);
}

/* MPI_COMM_SELF of all ranks may have the same context. */
static void self(void)
{
    for (int l = 0; l < LENGTHS; l++) {
        to_itself(MPI_COMM_SELF, 0, lengths[l]);
        to_itself(MPI_COMM_WORLD, rank, lengths[l]);
    }
}

static void shift(size_t bytes, int by)
{
    int to = (rank + by) % size, from = (rank + size - by) % size;
    struct parcel out = send(bytes, number_of(rank, to, by), to, TAG,
                             MPI_COMM_WORLD);
    struct parcel in = receive(bytes, number_of(from, rank, by), from, TAG,
                               MPI_COMM_WORLD);

    end_receive(&in, from, TAG);
    end_send(&out);
}

/* To the next rank, and to the one behind it, on the other node and on this. */
static void sizes(void)
{
    for (int l = 0; l < LENGTHS; l++)
        for (int by = 1; by <= 2; by++)
            shift(lengths[l], by % size);
    for (int to = 1; to < size && to <= 2; to++) {
        struct parcel huge;

        if (rank == to) {
            huge = receive(HUGE_BYTES, 1, 0, TAG, MPI_COMM_WORLD);
            end_receive(&huge, 0, TAG);
        } else if (rank == 0) {
            huge = send(HUGE_BYTES, 1, to, TAG, MPI_COMM_WORLD);
            end_send(&huge);
        }
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} stories[] = {
    {"one_tag", one_tag},
    {"order", order},
    {"any_source", any_source},
    {"two_communicators", two_communicators},
    {"sub_communicators", sub_communicators},
    {"self", self},
    {"sizes", sizes},
};

int main(int argc, char **argv)
{
    int all = 0, played = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof(stories) / sizeof(stories[0]); i++)
        if (argc < 2 || strcmp(stories[i].name, argv[1]) == 0) {
            stories[i].run();
            played++;
            MPI_Barrier(MPI_COMM_WORLD); /* wildcards: nobody is ahead */
        }
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0)
        printf("pairs: %d stories, %d wrong\n", played, all);
    return all != 0 || played == 0;
}
