/* SPDX-License-Identifier: BSD-3-Clause */
/* The sequential model: what an operation does to the bytes of its target and
 * what it brings back. Arithmetic is MPI_Reduce_local, which is not one-sided.
 *
 * Beside each byte is whether it is known: holes in types never are. */
#include "random.h"

static unsigned char *memory;
static size_t used;
enum { PHASE_BYTES = 64 << 20 };

void phase_memory_reset(void)
{
    used = 0;
}

void *phase_memory(size_t bytes)
{
    unsigned char *found;

    if (!memory)
        memory = malloc(PHASE_BYTES);
    if (!memory || used + bytes > PHASE_BYTES) {
        fprintf(stderr, "random: no memory for a phase\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
        exit(1);
    }
    found = memory + used;
    used += (bytes + 31) / 32 * 32;
    memset(found, 0, bytes);
    return found;
}

static void write_element(struct side *side, int at, const struct type *type,
                          const unsigned char *value)
{
    for (int i = 0; i < type->extent; i++) {
        side->known[at + i] = type->significant >> i & 1;
        side->model[at + i] = value[i];
    }
}

/* Values of the region's type all over it; a tail that holds no element gets
 * known bytes too. */
void model_fill(struct region *region, struct side *side, struct prng *prng)
{
    const struct type *type = region->type;
    unsigned char value[MAX_EXTENT] = {0};

    memset(side->model + region->at, 0x5c, (size_t) region->bytes);
    memset(side->known + region->at, 1, (size_t) region->bytes);
    for (int i = 0; i + type->extent <= region->bytes; i += type->extent) {
        if (!region->words) /* traced words begin with 0 */
            type_value(type, prng, 0, value);
        write_element(side, region->at + i, type, value);
    }
}

static void combine(const struct op *op, struct side *side, int at,
                    const unsigned char *in)
{
    _Alignas(32) unsigned char left[MAX_EXTENT], right[MAX_EXTENT];

    if (op->op == OP_NO_OP)
        return;
    memcpy(left, in, (size_t) op->type->extent);
    memcpy(right, side->model + at, (size_t) op->type->extent);
    if (op->op == OP_REPLACE)
        memcpy(right, left, (size_t) op->type->extent);
    else
        MPI_Reduce_local(left, right, 1, op->type->mpi, operators[op->op].mpi);
    write_element(side, at, op->type, right);
}

static int equal(const struct op *op, const unsigned char *a,
                 const unsigned char *b)
{
    return memcmp(a, b, (size_t) op->type->extent) == 0;
}

static void fetch(struct op *op, const struct side *side, int i, int at)
{
    size_t extent = (size_t) op->type->extent;

    if (!op->expect)
        return;
    memcpy(op->expect + (size_t) i * extent, side->model + at, extent);
    memcpy(op->expect_known + (size_t) i * extent, side->known + at, extent);
}

static void apply_element(struct op *op, struct side *side, int i, int at)
{
    size_t extent = (size_t) op->type->extent;
    const unsigned char *in = op->data + (size_t) i * extent;
    uint64_t word;

    fetch(op, side, i, at);
    switch (op->kind) {
    case PUT:
    case STORE:
        write_element(side, at, op->type, in);
        break;
    case ACCUMULATE:
    case GET_ACCUMULATE:
    case FETCH_AND_OP:
        combine(op, side, at, in);
        break;
    case COMPARE_AND_SWAP:
        if (equal(op, side->model + at, in + extent))
            write_element(side, at, op->type, in);
        break;
    case GUARDED_ADD:
        memcpy(&word, side->model + at, sizeof word);
        word += *(const uint64_t *) (const void *) in;
        memcpy(side->model + at, &word, sizeof word);
        break;
    case GET:
    case LOAD:
    case KINDS:
        break;
    }
}

void model_apply(struct op *op)
{
    struct side *side;

    if (op->target < 0)
        return;
    side = &op->window->side[op->target];
    for (int i = 0; i < op->n; i++)
        apply_element(op, side, i,
                      op->at + layout_slot(&op->to, i) * op->type->extent);
}
