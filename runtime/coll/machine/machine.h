/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the job runs, as tables and models (model.h) of collectives need it. */
#ifndef ASPEN_RUNTIME_COLL_MACHINE_MACHINE_H
#define ASPEN_RUNTIME_COLL_MACHINE_MACHINE_H

#include "probe.h"

#include "common/layout/layout.h"
#include "common/tune/table.h"

#include <stdbool.h>

/* Find out. Collective over MPI_COMM_WORLD, when MPI runs. */
void aspx_coll_machine_find(const struct asp_layout *layout);

/* As rank 0 has it; only that rank's is looked at. */
const struct asp_tune_machine *aspx_coll_machine(void);

/* Nodes, and ranks of the fullest one; the same on all ranks. */
const struct asp_tune_job *aspx_coll_job(void);

/* Ranks between which links can be measured; the same on all ranks. */
const struct aspx_coll_pairs *aspx_coll_pairs(void);

/* The first rank of each rank's node, by and as ranks of MPI_COMM_WORLD. Valid
 * until the process ends. */
const int *aspx_coll_leaders(void);

/* Are there more ranks on some node than CPUs? The same on all ranks. */
bool aspx_coll_shares_cpus(void);

#endif
