// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "network.h"
#include "messages.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 4096 };
// linux/in6.h has it, and collides with <netinet/in.h>.
enum { V6_FREEBIND = 78 };

static const unsigned char own_v4[] = {PINTLE_OWN_V4}, own_v6[] = {PINTLE_OWN_V6};

// MARK: Addresses and routes

static int switch_loopback_on(void) {
    int link = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (link < 0) return -1;
    struct ifreq request;
    memset(&request, 0, sizeof request);
    memcpy(request.ifr_name, "lo", 3);
    int result = ioctl(link, SIOCGIFFLAGS, &request);
    request.ifr_flags |= IFF_UP;
    if (result == 0) result = ioctl(link, SIOCSIFFLAGS, &request);
    int code = errno;
    close(link);
    errno = code;
    return result;
}

/// The loopback is the first link of every network.
static const uint32_t loopback = 1;

static int add_address(int family, const void *address, size_t size) {
    pintle_messages messages;
    pintle_clear_messages(&messages);
    struct ifaddrmsg head = {
        .ifa_family = (uint8_t)family, .ifa_prefixlen = (uint8_t)(size * 8), .ifa_flags = IFA_F_NODAD,
        .ifa_scope = RT_SCOPE_UNIVERSE, .ifa_index = loopback};
    pintle_begin_message(&messages, RTM_NEWADDR, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, &head, sizeof head);
    pintle_add_attribute(&messages, IFA_LOCAL, address, size);
    pintle_add_attribute(&messages, IFA_ADDRESS, address, size);
    pintle_end_message(&messages);
    return pintle_send_messages(&messages, NETLINK_ROUTE);
}

/// Makes every address one of this network. Connections come from our own address: their source would be the destination otherwise.
static int add_route(int family, const void *source, size_t size) {
    pintle_messages messages;
    pintle_clear_messages(&messages);
    struct rtmsg head = {
        .rtm_family = (uint8_t)family, .rtm_table = RT_TABLE_LOCAL, .rtm_protocol = RTPROT_STATIC,
        .rtm_scope = RT_SCOPE_HOST, .rtm_type = RTN_LOCAL};
    pintle_begin_message(&messages, RTM_NEWROUTE, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, &head, sizeof head);
    pintle_add_attribute(&messages, RTA_OIF, &loopback, sizeof loopback);
    pintle_add_attribute(&messages, RTA_PREFSRC, source, size);
    pintle_end_message(&messages);
    return pintle_send_messages(&messages, NETLINK_ROUTE);
}

static int route(int family, const void *address, size_t size) {
    return add_address(family, address, size) != 0 || add_route(family, address, size) != 0 ? -1 : 0;
}

// MARK: Sockets

static int set(int descriptor, int level, int name) {
    int on = 1;
    return setsockopt(descriptor, level, name, &on, sizeof on);
}

/// Closes a socket that cannot be used. Returns -1 with errno as it was.
static int discard(int descriptor) {
    int code = errno;
    if (descriptor >= 0) close(descriptor);
    errno = code;
    return -1;
}

typedef union {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} place;

static place place_of(int family, const unsigned char *address, int port) {
    place place;
    memset(&place, 0, sizeof place);
    place.any.sa_family = (sa_family_t)family;
    if (family == AF_INET6) {
        place.v6.sin6_port = htons((uint16_t)port);
        if (address) memcpy(&place.v6.sin6_addr, address, sizeof place.v6.sin6_addr);
    } else {
        place.v4.sin_port = htons((uint16_t)port);
        if (address) memcpy(&place.v4.sin_addr, address, sizeof place.v4.sin_addr);
    }
    return place;
}

/// Binds a new socket, and listens if it is one of TCP. Without an address it is bound to all.
///
/// - is_dual: takes IPv4, too, on a socket of IPv6.
typedef struct {
    int family, type;
    const unsigned char *address;
    int port, is_dual;
} bound;

static int open_socket(bound bound) {
    int descriptor = socket(bound.family, bound.type | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -1;
    int is_v6 = bound.family == AF_INET6, only = !bound.is_dual;
    place place = place_of(bound.family, bound.address, bound.port);
    socklen_t size = is_v6 ? sizeof place.v6 : sizeof place.v4;
    if (is_v6 && setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only) != 0) return discard(descriptor);
    // A datagram that is answered from the address that was asked tells it.
    if (bound.type == SOCK_DGRAM && !bound.address
        && (is_v6 ? set(descriptor, IPPROTO_IPV6, IPV6_RECVPKTINFO) != 0
                        || set(descriptor, IPPROTO_IPV6, V6_FREEBIND) != 0
                  : set(descriptor, IPPROTO_IP, IP_PKTINFO) != 0))
        return discard(descriptor);
    if (bind(descriptor, &place.any, size) != 0) return discard(descriptor);
    if (bound.type == SOCK_STREAM && listen(descriptor, BACKLOG) != 0) return discard(descriptor);
    return descriptor;
}

/// Opens the resolver's sockets of a family: on our own address behind rules, or on port 53 of every address.
static int open_resolver(pintle_network *network, int family, int has_rules) {
    int is_v6 = family == AF_INET6;
    const unsigned char *address = !has_rules ? NULL : is_v6 ? own_v6 : own_v4;
    int port = has_rules ? PINTLE_RESOLVER_PORT : 53;
    int udp = open_socket((bound){.family = family, .type = SOCK_DGRAM, .address = address, .port = port});
    int tcp = open_socket((bound){.family = family, .type = SOCK_STREAM, .address = address, .port = port});
    network->sockets[is_v6 ? PINTLE_RESOLVER_UDP_V6 : PINTLE_RESOLVER_UDP_V4] = udp;
    network->sockets[is_v6 ? PINTLE_RESOLVER_TCP_V6 : PINTLE_RESOLVER_TCP_V4] = tcp;
    return udp < 0 || tcp < 0 ? -1 : 0;
}

/// Opens the listeners of captures on all addresses: one for each family behind rules, else one for each of the ports 80 and 443.
static int open_captures(pintle_network *network, int has_rules, int has_ipv6) {
    for (int index = 0; index < 2; index++) {
        bound bound = {.type = SOCK_STREAM, .is_dual = !has_rules};
        if (has_rules) {
            if (index == 1 && !has_ipv6) break;
            bound.family = index == 0 ? AF_INET : AF_INET6;
            bound.port = PINTLE_CAPTURE_PORT;
        } else {
            bound.family = has_ipv6 ? AF_INET6 : AF_INET;
            bound.port = index == 0 ? 80 : 443;
        }
        int descriptor = open_socket(bound);
        if (descriptor < 0) return -1;
        network->sockets[PINTLE_CAPTURE + index] = descriptor;
    }
    return 0;
}

static int capture(const pintle_child *child, pintle_network *network) {
    if (route(AF_INET, own_v4, sizeof own_v4) != 0) return PINTLE_CHILD_ROUTES;
    // Without IPv6 in the kernel, or where it is switched off, nothing can leave by it.
    int has_ipv6 = route(AF_INET6, own_v6, sizeof own_v6) == 0;
    int has_rules = pintle_set_rules(child, has_ipv6) == 0;
    if (!has_rules) network->rules_code = errno;
    network->flags = (has_rules ? PINTLE_NETWORK_NFT : 0u) | (has_ipv6 ? PINTLE_NETWORK_IPV6 : 0u);
    if (open_captures(network, has_rules, has_ipv6) != 0) return PINTLE_CHILD_LISTENER;
    if (open_resolver(network, AF_INET, has_rules) != 0) return PINTLE_CHILD_RESOLVER;
    if (has_ipv6 && open_resolver(network, AF_INET6, has_rules) != 0) return PINTLE_CHILD_RESOLVER;
    // The kernel remembers each question for 30 seconds if nothing is said. It is answered at once, and a program that asks
    // without end would fill the kernel's table. Connections stay there for longer than in TIME_WAIT, as they must.
    if (has_rules) pintle_write_file("/proc/sys/net/netfilter/nf_conntrack_udp_timeout", "10");
    return 0;
}

int pintle_open_network(const pintle_child *child, pintle_network *network) {
    static const unsigned char v4_loopback[] = {127, 0, 0, 1};
    memset(network, 0, sizeof *network);
    for (int index = 0; index < PINTLE_SOCKET_COUNT; index++) network->sockets[index] = -1;
    if (switch_loopback_on() != 0) return PINTLE_CHILD_LOOPBACK;
    // The command's own servers may have any port, as in a container. Where /proc cannot be written, users keep their limit.
    pintle_write_file("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0");
    network->sockets[PINTLE_LISTENER] = open_socket(
        (bound){.family = AF_INET, .type = SOCK_STREAM, .address = v4_loopback, .port = child->port});
    if (network->sockets[PINTLE_LISTENER] < 0) return PINTLE_CHILD_LISTENER;
    // Without it the processes of connections stay unknown.
    network->sockets[PINTLE_DIAGNOSIS] = socket(
        AF_NETLINK, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    return child->captures ? capture(child, network) : 0;
}
