/* SPDX-License-Identifier: BSD-3-Clause */
/* Every accumulating call with every predefined operation on every predefined
 * type that MPI allows it on, in every kind of epoch, against a model that is
 * kept with MPI_Reduce_local. Each origin owns a part of every window, so the
 * model is exact while all origins work at once. */
#include "rma.h"

#include <stdbool.h>

enum { COUNT = 5, SLOT = 32 * COUNT };

enum class { INTEGER, REAL, COMPLEX, LOGICAL, BYTES, PAIR };

static const struct type {
    const char *name;
    MPI_Datatype type;
    enum class class;
} types[] = {
    {"MPI_SIGNED_CHAR", MPI_SIGNED_CHAR, INTEGER},
    {"MPI_UNSIGNED_CHAR", MPI_UNSIGNED_CHAR, INTEGER},
    {"MPI_SHORT", MPI_SHORT, INTEGER},
    {"MPI_UNSIGNED_SHORT", MPI_UNSIGNED_SHORT, INTEGER},
    {"MPI_INT", MPI_INT, INTEGER},
    {"MPI_UNSIGNED", MPI_UNSIGNED, INTEGER},
    {"MPI_LONG", MPI_LONG, INTEGER},
    {"MPI_UNSIGNED_LONG", MPI_UNSIGNED_LONG, INTEGER},
    {"MPI_LONG_LONG", MPI_LONG_LONG, INTEGER},
    {"MPI_INT8_T", MPI_INT8_T, INTEGER},
    {"MPI_UINT16_T", MPI_UINT16_T, INTEGER},
    {"MPI_INT32_T", MPI_INT32_T, INTEGER},
    {"MPI_UINT64_T", MPI_UINT64_T, INTEGER},
    {"MPI_AINT", MPI_AINT, INTEGER},
    {"MPI_COUNT", MPI_COUNT, INTEGER},
    {"MPI_OFFSET", MPI_OFFSET, INTEGER},
    {"MPI_FLOAT", MPI_FLOAT, REAL},
    {"MPI_DOUBLE", MPI_DOUBLE, REAL},
    {"MPI_LONG_DOUBLE", MPI_LONG_DOUBLE, REAL},
    {"MPI_C_FLOAT_COMPLEX", MPI_C_FLOAT_COMPLEX, COMPLEX},
    {"MPI_C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX, COMPLEX},
    {"MPI_C_LONG_DOUBLE_COMPLEX", MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX},
    {"MPI_C_BOOL", MPI_C_BOOL, LOGICAL},
    {"MPI_BYTE", MPI_BYTE, BYTES},
    {"MPI_FLOAT_INT", MPI_FLOAT_INT, PAIR},
    {"MPI_DOUBLE_INT", MPI_DOUBLE_INT, PAIR},
    {"MPI_LONG_INT", MPI_LONG_INT, PAIR},
    {"MPI_2INT", MPI_2INT, PAIR},
    {"MPI_SHORT_INT", MPI_SHORT_INT, PAIR},
};

static const struct operation {
    const char *name;
    MPI_Op op;
    unsigned classes; /* bits by enum class */
} operations[] = {
    {"MPI_SUM", MPI_SUM, 1 << INTEGER | 1 << REAL | 1 << COMPLEX},
    {"MPI_PROD", MPI_PROD, 1 << INTEGER | 1 << REAL | 1 << COMPLEX},
    {"MPI_MAX", MPI_MAX, 1 << INTEGER | 1 << REAL},
    {"MPI_MIN", MPI_MIN, 1 << INTEGER | 1 << REAL},
    {"MPI_LAND", MPI_LAND, 1 << INTEGER | 1 << LOGICAL},
    {"MPI_LOR", MPI_LOR, 1 << INTEGER | 1 << LOGICAL},
    {"MPI_LXOR", MPI_LXOR, 1 << INTEGER | 1 << LOGICAL},
    {"MPI_BAND", MPI_BAND, 1 << INTEGER | 1 << BYTES},
    {"MPI_BOR", MPI_BOR, 1 << INTEGER | 1 << BYTES},
    {"MPI_BXOR", MPI_BXOR, 1 << INTEGER | 1 << BYTES},
    {"MPI_MAXLOC", MPI_MAXLOC, 1 << PAIR},
    {"MPI_MINLOC", MPI_MINLOC, 1 << PAIR},
    {"MPI_REPLACE", MPI_REPLACE, ~0u},
    {"MPI_NO_OP", MPI_NO_OP, ~0u},
};

enum call {
    ACCUMULATE,
    RACCUMULATE,
    GET_ACCUMULATE,
    RGET_ACCUMULATE,
    FETCH,
    PUT,
    RPUT,
    CALLS
};

static unsigned seed;

/* Small values of any type: sums and products stay exact. Padding is zero, so
 * that whole slots can be compared. */
static void fill(const struct type *type, unsigned char *buf)
{
    memset(buf, 0, SLOT);
    for (int i = 0; i < COUNT; i++) {
        int small = (int) (rma_random(&seed) % 4), size;
        MPI_Aint lb, extent;
        void *at;

        MPI_Type_get_extent(type->type, &lb, &extent);
        MPI_Type_size(type->type, &size);
        at = buf + i * extent;
        if (type->type == MPI_FLOAT)
            *(float *) at = (float) small;
        else if (type->type == MPI_DOUBLE)
            *(double *) at = small;
        else if (type->type == MPI_LONG_DOUBLE)
            *(long double *) at = small;
        else if (type->type == MPI_FLOAT_INT)
            ((float *) at)[0] = (float) small, ((int *) at)[1] = i;
        else if (type->type == MPI_DOUBLE_INT)
            *(double *) at = small, ((int *) at)[2] = i;
        else if (type->class == COMPLEX && size == 8)
            ((float *) at)[0] = (float) small;
        else if (type->class == COMPLEX && size == 16)
            ((double *) at)[0] = small;
        else if (type->class == COMPLEX)
            ((long double *) at)[0] = small;
        else
            *(unsigned char *) at = (unsigned char) (type->class == LOGICAL
                                                         ? small & 1
                                                         : small);
    }
}

/* Long doubles have padding that nobody promises to keep. */
static bool same(const struct type *type, const unsigned char *a,
                 const unsigned char *b)
{
    MPI_Aint lb, extent;
    int size;

    MPI_Type_get_extent(type->type, &lb, &extent);
    MPI_Type_size(type->type, &size);
    if (type->type == MPI_LONG_DOUBLE ||
        type->type == MPI_C_LONG_DOUBLE_COMPLEX) {
        const long double *x = (const long double *) (const void *) a;
        const long double *y = (const long double *) (const void *) b;

        for (int i = 0; i < COUNT * size / 16; i++)
            if (x[i] != y[i])
                return false;
        return true;
    }
    if (type->type == MPI_DOUBLE_INT || type->type == MPI_LONG_INT)
        size = 12;
    for (int i = 0; i < COUNT; i++) {
        const unsigned char *x = a + i * extent, *y = b + i * extent;

        if (type->type == MPI_SHORT_INT) {
            if (memcmp(x, y, 2) != 0 || memcmp(x + 4, y + 4, 4) != 0)
                return false;
        } else if (memcmp(x, y, (size_t) size) != 0) {
            return false;
        }
    }
    return true;
}

static void model(const struct type *type, MPI_Op op, int count,
                  const unsigned char *source, unsigned char *value)
{
    MPI_Aint lb, extent;

    MPI_Type_get_extent(type->type, &lb, &extent);
    if (op == MPI_REPLACE)
        memcpy(value, source, (size_t) (count * extent));
    else if (op != MPI_NO_OP)
        MPI_Reduce_local(source, value, count, type->type, op);
}

/* One call of each kind; `before` is what a fetching call must return. */
static void issue(enum call call, const struct type *type, MPI_Op op,
                  const unsigned char *source, unsigned char *result,
                  int target, MPI_Win win)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Aint at = (MPI_Aint) rma_rank * SLOT;

    switch (call) {
    case ACCUMULATE:
        MPI_Accumulate(source, COUNT, type->type, target, at, COUNT, type->type,
                       op, win);
        break;
    case RACCUMULATE:
        MPI_Raccumulate(source, COUNT, type->type, target, at, COUNT,
                        type->type, op, win, &request);
        break;
    case GET_ACCUMULATE:
        MPI_Get_accumulate(source, COUNT, type->type, result, COUNT, type->type,
                           target, at, COUNT, type->type, op, win);
        break;
    case RGET_ACCUMULATE:
        MPI_Rget_accumulate(source, COUNT, type->type, result, COUNT,
                            type->type, target, at, COUNT, type->type, op, win,
                            &request);
        break;
    case FETCH:
        MPI_Fetch_and_op(source, result, type->type, target, at, op, win);
        break;
    case PUT:
        MPI_Put(source, COUNT, type->type, target, at, COUNT, type->type, win);
        break;
    case RPUT:
        MPI_Rput(source, COUNT, type->type, target, at, COUNT, type->type, win,
                 &request);
        break;
    case CALLS:
        break;
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static bool fetches(enum call call)
{
    return call == GET_ACCUMULATE || call == RGET_ACCUMULATE || call == FETCH;
}

static bool applies(enum call call, enum rma_epoch epoch, MPI_Op op)
{
    bool request = call == RACCUMULATE || call == RGET_ACCUMULATE ||
                   call == RPUT;

    if (request && epoch >= FENCE)
        return false; /* MPI allows requests in passive epochs only */
    if (call == PUT || call == RPUT)
        return op == MPI_REPLACE;
    return op != MPI_NO_OP || fetches(call);
}

static void check(enum call call, enum rma_epoch epoch, const struct type *type,
                  const struct operation *operation, int target, MPI_Win win)
{
    _Alignas(64) unsigned char value[SLOT], source[SLOT], result[SLOT],
        got[SLOT];
    int count = call == FETCH ? 1 : COUNT;
    MPI_Aint at = (MPI_Aint) rma_rank * SLOT;

    fill(type, value);
    fill(type, source);
    memset(result, 0, SLOT);
    rma_open(epoch, target, win);
    MPI_Put(value, SLOT, MPI_BYTE, target, at, SLOT, MPI_BYTE, win);
    rma_close(epoch, target, win);
    rma_open(epoch, target, win);
    issue(call, type, operation->op, source, result, target, win);
    rma_close(epoch, target, win);
    if (fetches(call)) {
        _Alignas(64) unsigned char before[SLOT];
        MPI_Aint lb, extent;

        MPI_Type_get_extent(type->type, &lb, &extent);
        memset(before, 0, SLOT);
        memcpy(before, value, (size_t) (count * extent));
        EXPECT(same(type, before, result), "call %d %s %s %s returned wrong",
               call, operation->name, type->name, rma_epoch_name(epoch));
    }
    model(type, operation->op, count, source, value);
    rma_open(epoch, target, win);
    MPI_Get(got, SLOT, MPI_BYTE, target, at, SLOT, MPI_BYTE, win);
    rma_close(epoch, target, win);
    EXPECT(same(type, value, got), "call %d %s %s %s left wrong", call,
           operation->name, type->name, rma_epoch_name(epoch));
}

int main(int argc, char **argv)
{
    MPI_Win win;
    void *base;

    rma_begin(&argc, &argv);
    seed = (unsigned) rma_rank + 1;
    MPI_Win_allocate((MPI_Aint) rma_size * SLOT, 1, MPI_INFO_NULL,
                     MPI_COMM_WORLD, &base, &win);
    for (int e = 0; e < EPOCHS; e++)
        for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++)
            for (size_t o = 0; o < sizeof(operations) / sizeof(operations[0]);
                 o++)
                for (int c = 0; c < CALLS; c++) {
                    int target = (rma_rank + c + (int) o) % rma_size;

                    if ((operations[o].classes >> types[t].class & 1) &&
                        applies((enum call) c, (enum rma_epoch) e,
                                operations[o].op) &&
                        /* lock_all takes every type, the others every third */
                        (e == LOCK_ALL || t % 3 == (size_t) e % 3))
                        check((enum call) c, (enum rma_epoch) e, &types[t],
                              &operations[o], target, win);
                }
    MPI_Win_free(&win);
    return rma_end("operations");
}
