// SPDX-License-Identifier: Apache-2.0
#ifndef PINTLE_SOCKETS_H
#define PINTLE_SOCKETS_H

/// Leaves this thread, and what it starts, the sockets that stay inside a network namespace: Unix, IPv4, IPv6 and netlink.
/// The thread has no new privileges (pintle_drop_capabilities). Returns 0, or -1 with errno.
int pintle_filter_calls(void);

#endif
