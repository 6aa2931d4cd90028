/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine model by which configurations are put in order: the same numbers
 * on all ranks. Of each link the first of these that there is:
 *
 *   the table's        coll.table, measured when it was made (aspen tune)
 *   a probe's          coll=tune, within coll.probe_ms, at MPI_Init (probe.h)
 *   a machine's        of common/coll/model/machines.c, by what rank 0 knows of
 *                      the network
 *
 * Where ranks share CPUs a message waits, besides, until its receiver has
 * one. */
#ifndef ASPEN_RUNTIME_COLL_MACHINE_MODEL_H
#define ASPEN_RUNTIME_COLL_MACHINE_MODEL_H

#include "common/coll/model/simulate.h"
#include "common/tune/table.h"

enum aspx_coll_source {
    ASPX_COLL_FROM_NAME,
    ASPX_COLL_FROM_TABLE,
    ASPX_COLL_FROM_PROBE,
};

/* "infiniband", "coll.table", "probe" */
const char *aspx_coll_source_name(enum aspx_coll_source source);

struct aspx_coll_model {
    struct asp_coll_machine machine; /* with the wait for a CPU */
    struct asp_coll_machine bare;    /* without it */
    struct asp_tune_links links;     /* what was measured of that */
    enum aspx_coll_source inside, between;
    double probe_us; /* what the probe took here; 0: there was none */
};

/* Find it. Collective over MPI_COMM_WORLD, behind aspx_coll_machine_find().
 *   table  of all ranks alike, or NULL */
void aspx_coll_model_find(const struct asp_tune_table *table);

const struct aspx_coll_model *aspx_coll_model_found(void);

/* Its machine. */
const struct asp_coll_machine *aspx_coll_model(void);

#endif
