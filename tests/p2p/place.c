/* SPDX-License-Identifier: BSD-3-Clause */
#include "place.h"
#include "bytes.h"

enum {
    GAP_MOST = 5,
    MANY = 4096, /* units: elements of 16 and more, for time */
};

enum form { BASIC, CONTIGUOUS, VECTOR, BACKWARDS, RESIZED, STRUCT, FORMS };

MPI_Datatype unit_type(int unit)
{
    return unit == 1 ? MPI_BYTE : MPI_INT;
}

/* ---- types ------------------------------------------------------------------ */

/* A number of units for an element, of which all are made. */
static int draw_element(struct prng *prng, int units)
{
    static const int sizes[] = {1, 2, 3, 4, 7, 16, 64, 100};
    int n = sizes[prng_below(prng, 8)];

    return units % n == 0 && (units < MANY || n >= 16) ? n : 0;
}

static void make_struct(struct place *p)
{
    int blocks[2] = {(p->first + 1) / 2, p->first / 2};
    MPI_Aint at[2] = {0};
    MPI_Datatype types[2] = {unit_type(p->unit), unit_type(p->unit)};

    p->first = blocks[0];
    p->second = blocks[1];
    at[1] = (MPI_Aint) (p->first + p->gap) * p->unit;
    MPI_Type_create_struct(2, blocks, at, types, &p->type);
    p->count = p->elements;
}

static void make_resized(struct place *p)
{
    MPI_Datatype whole;

    MPI_Type_contiguous(p->first, unit_type(p->unit), &whole);
    MPI_Type_create_resized(whole, 0, (MPI_Aint) p->extent * p->unit, &p->type);
    MPI_Type_free(&whole);
    p->count = p->elements;
}

static void make_vector(struct place *p, bool backwards)
{
    MPI_Aint stride = (MPI_Aint) p->extent * p->unit;

    p->backwards = backwards;
    MPI_Type_create_hvector(p->elements, p->first, backwards ? -stride : stride,
                            unit_type(p->unit), &p->type);
    p->count = 1;
}

static void make_contiguous(struct place *p)
{
    p->extent = p->first;
    MPI_Type_contiguous(p->first, unit_type(p->unit), &p->type);
    p->count = p->elements;
}

static void make_type(struct place *p, enum form form, int element)
{
    p->elements = p->units / element;
    p->first = element;
    p->extent = element + p->gap;
    p->own_type = true;
    switch (form) {
    case CONTIGUOUS:
        make_contiguous(p);
        break;
    case RESIZED:
        make_resized(p);
        break;
    case STRUCT:
        (element > 1 ? make_struct : make_resized)(p);
        break;
    default:
        make_vector(p, form == BACKWARDS);
    }
    MPI_Type_commit(&p->type);
}

struct place place_new(struct prng *prng, int unit, int units)
{
    struct place p = {.unit = unit,
                      .units = units,
                      .elements = units,
                      .first = 1,
                      .extent = 1,
                      .count = units};
    enum form form = prng_chance(prng, 50)
                         ? BASIC
                         : (enum form) prng_below(prng, FORMS);
    int element = draw_element(prng, units);

    p.gap = prng_range(prng, 1, GAP_MOST);
    p.type = unit_type(unit);
    if (form != BASIC && element > 0)
        make_type(&p, form, element);
    p.span = (size_t) p.elements * (size_t) p.extent * (size_t) unit;
    p.memory = buffer_new(p.span);
    p.at = p.memory;
    if (p.backwards && p.elements > 0)
        p.at = p.memory + p.span - (size_t) p.extent * (size_t) unit;
    return p;
}

void place_free_type(struct place *p)
{
    if (p->own_type)
        MPI_Type_free(&p->type);
    p->own_type = false;
}

void place_free(struct place *p)
{
    place_free_type(p);
    buffer_free(p->memory);
    p->memory = NULL;
}

/* ---- bytes ------------------------------------------------------------------ */

static size_t offset_of(const struct place *p, int i)
{
    int element = i / (p->first + p->second), j = i % (p->first + p->second);

    if (p->backwards)
        element = p->elements - 1 - element;
    return ((size_t) element * (size_t) p->extent +
            (size_t) (j < p->first ? j : j + p->gap)) *
           (size_t) p->unit;
}

void place_write(struct place *p, const unsigned char *from, int units)
{
    size_t unit = (size_t) p->unit;

    for (int i = 0; i < units; i++)
        memcpy(p->memory + offset_of(p, i), from + (size_t) i * unit, unit);
}

void place_read(const struct place *p, unsigned char *to, int units)
{
    size_t unit = (size_t) p->unit;

    for (int i = 0; i < units; i++)
        memcpy(to + (size_t) i * unit, p->memory + offset_of(p, i), unit);
}

bool place_is(const struct place *p, const unsigned char *bytes, int units)
{
    struct place image = *p;
    bool same;

    image.memory = buffer_new(p->span);
    place_write(&image, bytes, units);
    same = memcmp(image.memory - GUARD, p->memory - GUARD,
                  p->span + 2 * GUARD) == 0;
    buffer_free(image.memory);
    return same;
}

bool place_gaps_are_whole(const struct place *p)
{
    size_t bytes = (size_t) p->units * (size_t) p->unit;
    unsigned char *any = buffer_new(bytes);
    bool whole;

    place_read(p, any, p->units);
    whole = place_is(p, any, p->units);
    buffer_free(any);
    return whole;
}
