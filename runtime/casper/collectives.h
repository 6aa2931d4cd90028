/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASPEN_RUNTIME_CASPER_COLLECTIVES_H
#define ASPEN_RUNTIME_CASPER_COLLECTIVES_H

/* The engine has started: offer its ghosts to non-blocking collectives
 * (runtime/coll/nonblocking/context.h), if they have a communicator for that.
 */
void aspx_casper_offer_ghosts(void);

#endif
