/* SPDX-License-Identifier: BSD-3-Clause */
/* What UCX calls for a message of a datatype that it does not know, after
 * ucp_generic_dt_ops_t of ucp/api/ucp.h, whose headers are not needed. */
#ifndef ASPEN_RUNTIME_PACK_GENERIC_OPS_H
#define ASPEN_RUNTIME_PACK_GENERIC_OPS_H

#include <stddef.h>
#include <stdint.h>

/* ucs_status_t is a packed enumeration (ucs/type/status.h). */
typedef signed char aspx_ucs_status;
enum { UCX_OK = 0, UCX_NO_MEMORY = -4, UCX_TRUNCATED = -9 };

struct aspx_generic_ops {
    void *(*start_pack)(void *context, const void *buffer, size_t count);
    void *(*start_unpack)(void *context, void *buffer, size_t count);
    size_t (*packed_size)(void *state);
    size_t (*pack)(void *state, size_t offset, void *to, size_t most);
    aspx_ucs_status (*unpack)(void *state, size_t offset, const void *from,
                              size_t bytes);
    void (*finish)(void *state);
};

/* ucp_dt_create_generic() */
typedef aspx_ucs_status aspx_create_generic_f(
    const struct aspx_generic_ops *ops, void *context, uint64_t *type_p);

#endif
