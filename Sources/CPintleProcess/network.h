// SPDX-License-Identifier: Apache-2.0
// A network namespace whose connections all arrive at sockets of Pintle. Everything here is safe between fork and exec.
#ifndef PINTLE_NETWORK_H
#define PINTLE_NETWORK_H

#include "CPintleProcess.h"

/// The addresses of the network itself, beside 127.0.0.1 and ::1; `CapturedNetwork` of PintleStub has the same.
#define PINTLE_OWN_V4 198, 18, 0, 1
#define PINTLE_OWN_V6 0xFD, 0x70, 0x69, 0x6E, 0x74, 0x6C, 0xE0, 0, 0, 0, 0, 0, 0, 0, 0, 1

/// Ports of the sockets that rules lead to, outside of those that the kernel chooses (32768 to 60999), for the command may
/// listen on any other. The network is new, so they are free.
enum { PINTLE_CAPTURE_PORT = 64101, PINTLE_RESOLVER_PORT = 64102 };

/// The sockets that are made in the network, in the order in which they are handed over.
typedef enum {
    PINTLE_LISTENER,
    PINTLE_CAPTURE,
    PINTLE_CAPTURE_SECOND,
    PINTLE_RESOLVER_UDP_V4,
    PINTLE_RESOLVER_UDP_V6,
    PINTLE_RESOLVER_TCP_V4,
    PINTLE_RESOLVER_TCP_V6,
    PINTLE_DIAGNOSIS,
    PINTLE_SOCKET_COUNT,
} pintle_network_socket;

typedef struct {
    /// Descriptors; -1 for a socket that there is not.
    int32_t sockets[PINTLE_SOCKET_COUNT];
    /// PINTLE_NETWORK_NFT, PINTLE_NETWORK_IPV6 and PINTLE_NETWORK_LAYERS.
    uint32_t flags;
    /// The error of the rules (errno); 0 if there are rules.
    int32_t rules_code;
} pintle_network;

/// Writes a text into a file that exists. Returns 0, or -1 with errno.
int pintle_write_file(const char *path, const char *text);

/// Moves this process into a network of its own, with mounts of its own; the user and group stay the same. With processes of its own,
/// the processes that it makes from then on are in their namespace. Returns 0, or the step that failed (pintle_child_step) with errno.
int pintle_leave_network(unsigned user, unsigned group, int with_processes);

/// Switches the loopback on and makes the sockets of a child that has left its network. Needs CAP_NET_ADMIN and
/// CAP_NET_BIND_SERVICE there. Returns 0, or the step that failed (pintle_child_step) with errno.
int pintle_open_network(const pintle_child *child, pintle_network *network);

/// Sets the rules of nftables(8): TCP to the sockets of captures, port 53 to those of the resolver, the rest refused.
/// Returns 0, or -1 with errno; then there are none.
int pintle_set_rules(const pintle_child *child, int has_ipv6);

/// Gives up, for good, every capability by which networks can be changed or left. Returns 0, or -1 with errno.
int pintle_drop_capabilities(void);

#endif
