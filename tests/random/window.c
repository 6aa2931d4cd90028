/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators and windows of a program, made and freed by MPI. */
#include "random.h"

static void comm_sub_make(struct program *p, struct comm *comm)
{
    MPI_Group world, group;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, comm->n, comm->world, &group);
    if (p->number % 2)
        MPI_Comm_create(MPI_COMM_WORLD, group, &comm->mpi);
    else if (comm->me >= 0)
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &comm->mpi);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

void comms_make(struct program *p)
{
    for (int i = 0; i < p->n_comms; i++) {
        struct comm *comm = &p->comm[i], *mine = comm;

        if (strcmp(comm->kind, "world") == 0) {
            comm->mpi = MPI_COMM_WORLD;
        } else if (strcmp(comm->kind, "dup") == 0) {
            MPI_Comm_dup(MPI_COMM_WORLD, &comm->mpi);
        } else if (strcmp(comm->kind, "sub") == 0) {
            comm_sub_make(p, comm);
        } else { /* the two colours stand side by side */
            if (comm->me < 0)
                mine = comm + 1;
            MPI_Comm_split(MPI_COMM_WORLD, comm->me < 0, mine->me, &mine->mpi);
            i++;
        }
    }
}

void comms_free(struct program *p)
{
    for (int i = 1; i < p->n_comms; i++)
        if (p->comm[i].mpi != MPI_COMM_NULL)
            MPI_Comm_free(&p->comm[i].mpi);
}

static size_t align(size_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static void create(struct window *w, MPI_Info info)
{
    const struct side *side = &w->side[w->comm->me];
    size_t bytes = align((size_t) side->bytes);

    if (side->source == OTHER_WINDOW) {
        const struct side *other = &w->parent->side[w->comm->me];

        w->base = w->parent->base + align((size_t) other->bytes);
    } else if (side->source == PRIVATE) {
        w->memory = aligned_alloc(ALIGN, bytes + ALIGN);
        w->base = w->memory + side->lead;
    } else {
        MPI_Alloc_mem((MPI_Aint) bytes + ALIGN, MPI_INFO_NULL, &w->memory);
        w->base = w->memory + (ALIGN - (uintptr_t) w->memory % ALIGN) % ALIGN;
    }
    MPI_Win_create(side->bytes ? w->base : NULL, side->bytes, side->unit, info,
                   w->comm->mpi, &w->mpi);
}

static MPI_Info info_make(const struct window *w)
{
    static const char *const promise[][2] = {{"no_locks", "false"},
                                             {"no_locks", "true"},
                                             {"epochs_used", "fence,pscw"},
                                             {"epoch_type", "lockall,fence"},
                                             {"async_config", "off"}};
    MPI_Info info;

    if (w->promise == NO_PROMISE && !w->noncontiguous)
        return MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, promise[w->promise][0], promise[w->promise][1]);
    if (w->noncontiguous)
        MPI_Info_set(info, "alloc_shared_noncontig", "true");
    return info;
}

/* Every process can ask for the part of every other one. Where nobody has
 * memory plain MPICH answers with the unit of who asks. */
static void parts_check(struct program *p, const struct window *w)
{
    MPI_Aint total = 0;

    for (int r = 0; r < w->comm->n; r++)
        total += w->side[r].bytes;
    if (total == 0 && may_be_plain(w))
        return;
    for (int r = 0; r < w->comm->n; r++) {
        MPI_Aint bytes;
        int unit;
        void *base;

        MPI_Win_shared_query(w->mpi, r, &bytes, &unit, &base);
        if (bytes != w->side[r].bytes || unit != w->side[r].unit ||
            (bytes && r == w->comm->me && base != w->base))
            complain(p, "window %d: MPI_Win_shared_query of rank %d",
                     (int) (w - p->window), r);
    }
}

static void attributes_check(struct program *p, const struct window *w)
{
    const struct side *side = &w->side[w->comm->me];
    MPI_Aint *bytes;
    int *unit, found;
    void *base;

    MPI_Win_get_attr(w->mpi, MPI_WIN_BASE, &base, &found);
    if (!found || (side->bytes && !w->parent && base != w->base))
        complain(p, "window %d: MPI_WIN_BASE", (int) (w - p->window));
    MPI_Win_get_attr(w->mpi, MPI_WIN_SIZE, &bytes, &found);
    if (!found || *bytes < side->bytes)
        complain(p, "window %d: MPI_WIN_SIZE", (int) (w - p->window));
    MPI_Win_get_attr(w->mpi, MPI_WIN_DISP_UNIT, &unit, &found);
    if (!found || *unit != side->unit)
        complain(p, "window %d: MPI_WIN_DISP_UNIT", (int) (w - p->window));
}

void window_make(struct program *p, struct window *w)
{
    const struct side *side;
    MPI_Aint bytes;
    MPI_Info info;

    if (w->comm->me < 0)
        return;
    info = info_make(w);
    side = &w->side[w->comm->me];
    w->memory = NULL;
    switch (w->flavor) {
    case ALLOCATE:
        bytes = side->bytes;
        if (side->reserve)
            bytes = (MPI_Aint) align((size_t) bytes) + side->reserve;
        MPI_Win_allocate(bytes, side->unit, info, w->comm->mpi, &w->base,
                         &w->mpi);
        break;
    case SHARED:
        MPI_Win_allocate_shared(side->bytes, side->unit, info, w->comm->mpi,
                                &w->base, &w->mpi);
        parts_check(p, w);
        break;
    case CREATE:
    case FLAVORS:
        create(w, info);
        break;
    }
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    attributes_check(p, w);
}

void window_free(struct window *w)
{
    if (w->comm->me < 0)
        return;
    MPI_Win_free(&w->mpi);
    if (!w->memory)
        return;
    if (w->side[w->comm->me].source == PRIVATE)
        free(w->memory);
    else
        MPI_Free_mem(w->memory);
}
