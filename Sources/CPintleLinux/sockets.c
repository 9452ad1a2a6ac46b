// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CPintleLinux.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

int pintle_socket_query(void) {
    return socket(AF_NETLINK, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
}

/// Reads the answer to the request with a number.
static int64_t answer(int query, uint32_t number, const struct inet_diag_sockid *asked) {
    union {
        struct nlmsghdr header;
        char bytes[4096];
    } received;
    while (1) {
        ssize_t count = recv(query, &received, sizeof received, 0);
        if (count < 0) return -1;
        if (!NLMSG_OK(&received.header, count)) break;
        // A late answer to an earlier request.
        if (received.header.nlmsg_seq != number) continue;
        if (received.header.nlmsg_type == NLMSG_ERROR &&
            received.header.nlmsg_len >= NLMSG_LENGTH(sizeof(struct nlmsgerr))) {
            const struct nlmsgerr *error = NLMSG_DATA(&received.header);
            // There is no such socket.
            if (error->error == -ENOENT) return 0;
            errno = -error->error;
            return -1;
        }
        if (received.header.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
            received.header.nlmsg_len < NLMSG_LENGTH(sizeof(struct inet_diag_msg)))
            break;
        const struct inet_diag_msg *found = NLMSG_DATA(&received.header);
        // Without a connection, the kernel answers with a socket that listens on the port.
        int is_connection = found->id.idiag_sport == asked->idiag_sport && found->id.idiag_dport == asked->idiag_dport;
        return is_connection ? found->idiag_inode : 0;
    }
    errno = EBADMSG;
    return -1;
}

int64_t pintle_socket_inode(int query, const void *own, const void *peer) {
    static _Thread_local uint32_t number;
    const struct sockaddr *address = own;
    struct {
        struct nlmsghdr header;
        struct inet_diag_req_v2 request;
    } message = {
        .header = {.nlmsg_len = sizeof message, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
        .request = {
            .sdiag_family = address->sa_family, .sdiag_protocol = IPPROTO_TCP, .idiag_states = UINT32_MAX}};
    message.header.nlmsg_seq = ++number;
    struct inet_diag_sockid *id = &message.request.id;
    if (address->sa_family == AF_INET6) {
        const struct sockaddr_in6 *source = own, *destination = peer;
        memcpy(id->idiag_src, &source->sin6_addr, sizeof source->sin6_addr);
        memcpy(id->idiag_dst, &destination->sin6_addr, sizeof destination->sin6_addr);
        id->idiag_sport = source->sin6_port;
        id->idiag_dport = destination->sin6_port;
    } else {
        const struct sockaddr_in *source = own, *destination = peer;
        memcpy(id->idiag_src, &source->sin_addr, sizeof source->sin_addr);
        memcpy(id->idiag_dst, &destination->sin_addr, sizeof destination->sin_addr);
        id->idiag_sport = source->sin_port;
        id->idiag_dport = destination->sin_port;
    }
    id->idiag_cookie[0] = id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    // The kernel answers during this call, so that reading does not wait.
    if (send(query, &message, sizeof message, 0) != sizeof message) return -1;
    return answer(query, message.header.nlmsg_seq, id);
}
