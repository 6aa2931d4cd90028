/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ASPEN_RUNTIME_CASPER_OFFER_H
#define ASPEN_RUNTIME_CASPER_OFFER_H

/* The engine has started: offer its ghosts to what was posted
 * (runtime/posted/ghosts.h), if they have a communicator for that.
 */
void aspx_casper_offer_ghosts(void);

#endif
