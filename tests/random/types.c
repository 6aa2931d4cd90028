/* SPDX-License-Identifier: BSD-3-Clause */
/* The predefined types and operations, and which go together (MPI-4.0, 6.9.2
 * and 12.3.4). Bytes that carry no value (holes of pair types, the tail of a
 * long double) are never compared. */
#include "random.h"

#include <complex.h>
#include <stdbool.h>

#define ALL(bytes)        ((uint32_t) ((1ull << (bytes)) - 1))
#define AT(bytes, offset) (ALL(bytes) << (offset))
#define ROW(mpi, class, c, significant, part, at)                              \
    {                                                                          \
        mpi, class, (int) sizeof(c), significant, part, at                     \
    }
#define INT_(mpi, c)     ROW(mpi, INTEGER, c, ALL(sizeof(c)), sizeof(c), 0)
#define SHARED_(mpi, c)  ROW(mpi, SHARED_INT, c, ALL(sizeof(c)), sizeof(c), 0)
#define FORTRAN_(mpi, c) ROW(mpi, INTEGER_F, c, ALL(sizeof(c)), sizeof(c), 0)
#define FLOAT_(mpi, c)   ROW(mpi, FLOATING, c, ALL(sizeof(c)), sizeof(c), 0)
#define COMPLEX_(mpi, c, part)                                                 \
    ROW(mpi, COMPLEX, c, ALL(sizeof(c)), sizeof(part), sizeof(part))

struct short_int {
    short value;
    int index;
};
struct long_int {
    long value;
    int index;
};
struct float_int {
    float value;
    int index;
};
struct double_int {
    double value;
    int index;
};
struct long_double_int {
    long double value;
    int index;
};

enum { LD_BYTES = 10 }; /* of the 16 of an x86 long double */

const struct type types[] = {
    INT_(MPI_SIGNED_CHAR, signed char),
    INT_(MPI_UNSIGNED_CHAR, unsigned char),
    INT_(MPI_SHORT, short),
    INT_(MPI_UNSIGNED_SHORT, unsigned short),
    INT_(MPI_INT, int),
    INT_(MPI_UNSIGNED, unsigned),
    INT_(MPI_LONG, long),
    INT_(MPI_UNSIGNED_LONG, unsigned long),
    INT_(MPI_LONG_LONG, long long),
    INT_(MPI_UNSIGNED_LONG_LONG, unsigned long long),
    INT_(MPI_INT8_T, int8_t),
    INT_(MPI_INT16_T, int16_t),
    INT_(MPI_INT32_T, int32_t),
    INT_(MPI_INT64_T, int64_t),
    INT_(MPI_UINT8_T, uint8_t),
    INT_(MPI_UINT16_T, uint16_t),
    INT_(MPI_UINT32_T, uint32_t),
    INT_(MPI_UINT64_T, uint64_t),
    SHARED_(MPI_AINT, MPI_Aint),
    SHARED_(MPI_OFFSET, MPI_Offset),
    SHARED_(MPI_COUNT, MPI_Count),
    FORTRAN_(MPI_INTEGER, int),
    FORTRAN_(MPI_INTEGER4, int32_t),
    FORTRAN_(MPI_INTEGER8, int64_t),
    FLOAT_(MPI_FLOAT, float),
    FLOAT_(MPI_DOUBLE, double),
    FLOAT_(MPI_REAL, float),
    FLOAT_(MPI_DOUBLE_PRECISION, double),
    ROW(MPI_LONG_DOUBLE, FLOATING, long double, ALL(LD_BYTES), LD_BYTES, 0),
    COMPLEX_(MPI_C_FLOAT_COMPLEX, float complex, float),
    COMPLEX_(MPI_C_DOUBLE_COMPLEX, double complex, double),
    COMPLEX_(MPI_DOUBLE_COMPLEX, double complex, double),
    ROW(MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX, long double complex,
        ALL(LD_BYTES) | AT(LD_BYTES, 16), LD_BYTES, 16),
    ROW(MPI_C_BOOL, LOGICAL, bool, ALL(1), 1, 0),
    ROW(MPI_LOGICAL, LOGICAL, int, ALL(4), 4, 0),
    ROW(MPI_BYTE, BYTES, char, ALL(1), 1, 0),
    ROW(MPI_CHAR, CHARACTER, char, ALL(1), 1, 0),
    ROW(MPI_WCHAR, CHARACTER, wchar_t, ALL(4), 4, 0),
    ROW(MPI_2INT, PAIR, int[2], ALL(8), 4, 4),
    ROW(MPI_SHORT_INT, PAIR, struct short_int, ALL(2) | AT(4, 4), 2, 4),
    ROW(MPI_LONG_INT, PAIR, struct long_int, ALL(12), 8, 8),
    ROW(MPI_FLOAT_INT, PAIR, struct float_int, ALL(8), -4, 4),
    ROW(MPI_DOUBLE_INT, PAIR, struct double_int, ALL(12), -8, 8),
    ROW(MPI_LONG_DOUBLE_INT, PAIR, struct long_double_int,
        ALL(LD_BYTES) | AT(4, 16), -LD_BYTES, 16),
};
const int n_types = sizeof types / sizeof types[0];

enum {
    INTS = 1 << INTEGER | 1 << INTEGER_F | 1 << SHARED_INT,
    NUMBERS = INTS | 1 << FLOATING,
    TRUTHS = 1 << INTEGER | 1 << LOGICAL,
    BITS = INTS | 1 << BYTES,
    ANY = (1 << (PAIR + 1)) - 1
};

/* In the order of enum OP_*. */
const struct operator operators[] = {
    {MPI_REPLACE, "MPI_REPLACE", ANY, 0},
    {MPI_NO_OP, "MPI_NO_OP", ANY, 0},
    {MPI_SUM, "MPI_SUM", NUMBERS | 1 << COMPLEX, 1},
    {MPI_BOR, "MPI_BOR", BITS, 1},
    {MPI_BXOR, "MPI_BXOR", BITS, 1},
    {MPI_BAND, "MPI_BAND", BITS, 1},
    {MPI_PROD, "MPI_PROD", NUMBERS | 1 << COMPLEX, 1},
    {MPI_MAX, "MPI_MAX", NUMBERS, 1},
    {MPI_MIN, "MPI_MIN", NUMBERS, 1},
    {MPI_LAND, "MPI_LAND", TRUTHS, 1},
    {MPI_LOR, "MPI_LOR", TRUTHS, 1},
    {MPI_LXOR, "MPI_LXOR", TRUTHS, 1},
    {MPI_MAXLOC, "MPI_MAXLOC", 1 << PAIR, 1},
    {MPI_MINLOC, "MPI_MINLOC", 1 << PAIR, 1},
};
const int n_operators = sizeof operators / sizeof operators[0];

const char *type_name(const struct type *type)
{
    static char name[MPI_MAX_OBJECT_NAME];
    int length;

    MPI_Type_get_name(type->mpi, name, &length);
    return name;
}

const struct type *type_random(struct prng *prng, int bytes)
{
    const struct type *type;

    do {
        type = &types[prng_below(prng, n_types)];
    } while (type->extent > bytes);
    return type;
}

const struct type *type_word(struct prng *prng)
{
    const struct type *type;

    do {
        type = &types[prng_below(prng, n_types)];
    } while (type->extent != 8 || !((1 << type->class) & INTS));
    return type;
}

int type_may_swap(const struct type *type)
{
#if MPICH_NUMVERSION >= 50000000 /* refuses it, against MPI 4.1, 12.3.4 */
    if (type->mpi == MPI_LOGICAL)
        return 0;
#endif
    return ((1 << type->class) & (INTS | 1 << LOGICAL | 1 << BYTES)) != 0;
}

/* A floating number that sums and products keep exact for long. */
static void floating(int part, struct prng *prng, int tame, unsigned char *out)
{
    static const int factors[] = {1, 2, -1};
    int small = tame ? factors[prng_below(prng, 3)] : prng_range(prng, 1, 9);
    float f = (float) small;
    double d = small;
    long double l = small;

    memcpy(out,
           part == sizeof f   ? (void *) &f
           : part == sizeof d ? (void *) &d
                              : (void *) &l,
           (size_t) part);
}

/* tame: fit for a product of many */
void type_value(const struct type *type, struct prng *prng, int tame,
                unsigned char *out)
{
    uint64_t bits = prng_next(prng);
    int index = prng_below(prng, 100);

    memset(out, 0, (size_t) type->extent);
    switch (type->class) {
    case INTEGER:
    case INTEGER_F:
    case SHARED_INT:
        if (prng_chance(prng, 50)) /* zeros and equal values matter too */
            bits %= 3;
        memcpy(out, &bits, (size_t) type->part);
        break;
    case BYTES:
    case CHARACTER:
        memcpy(out, &bits, (size_t) type->part);
        break;
    case LOGICAL:
        out[0] = bits & 1;
        break;
    case FLOATING:
        floating(type->part, prng, tame, out);
        break;
    case COMPLEX:
        floating(type->part, prng, tame, out);
        floating(type->part, prng, tame, out + type->at);
        break;
    case PAIR:
        if (type->part < 0) {
            floating(-type->part, prng, tame, out);
        } else {
            bits %= 7;
            memcpy(out, &bits, (size_t) type->part);
        }
        memcpy(out + type->at, &index, sizeof index);
        break;
    }
}
