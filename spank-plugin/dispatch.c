/* SPDX-License-Identifier: BSD-3-Clause */
/* The SPANK plugin: routes each hook to the file of its context. A hook that
 * has nothing to do in a context is not an error there.
 *
 * No hook ever returns a failure in slurmstepd: Slurm answers some of them by
 * draining the node. */
#include "config.h"

#include "allocator.h"
#include "local.h"
#include "stepd.h"

#define EXPORT __attribute__((visibility("default")))

#pragma GCC visibility push(default)
extern const char plugin_name[];
extern const char plugin_type[];
extern const unsigned int plugin_version;
extern const unsigned int spank_plugin_version;
SPANK_PLUGIN(aspen, 1)
#pragma GCC visibility pop

EXPORT int slurm_spank_init(spank_t spank, int argc, char **argv)
{
    switch ((int) spank_context()) {
    case S_CTX_LOCAL:
        return asps_local_init(spank, argc, argv);
    case S_CTX_ALLOCATOR:
        return asps_allocator_init(spank, argc, argv);
    case S_CTX_REMOTE:
        return asps_stepd_init(spank, argc, argv);
    }
    return 0;
}

EXPORT int slurm_spank_init_post_opt(spank_t spank, int argc, char **argv)
{
    switch ((int) spank_context()) {
    case S_CTX_LOCAL:
        return asps_local_init_post_opt(spank, argc, argv);
    case S_CTX_ALLOCATOR:
        return asps_allocator_init_post_opt(spank, argc, argv);
    }
    return 0;
}

EXPORT int slurm_spank_local_user_init(spank_t spank, int argc, char **argv)
{
    return asps_local_user_init(spank, argc, argv);
}

EXPORT int slurm_spank_user_init(spank_t spank, int argc, char **argv)
{
    (void) argc, (void) argv;
    return asps_stepd_user_init(spank);
}

EXPORT int slurm_spank_task_init(spank_t spank, int argc, char **argv)
{
    (void) argc, (void) argv;
    return asps_stepd_task_init(spank);
}

EXPORT int slurm_spank_task_exit(spank_t spank, int argc, char **argv)
{
    (void) argc, (void) argv;
    return asps_stepd_task_exit(spank);
}

EXPORT int slurm_spank_exit(spank_t spank, int argc, char **argv)
{
    (void) spank, (void) argc, (void) argv;
    if (spank_context() == S_CTX_REMOTE)
        return asps_stepd_exit();
    return 0;
}
