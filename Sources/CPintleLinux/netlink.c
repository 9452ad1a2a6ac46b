// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CPintleLinux.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_arp.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

_Static_assert(PINTLE_MESSAGE_ERROR == NLMSG_ERROR && PINTLE_MESSAGE_DONE == NLMSG_DONE &&
                   PINTLE_NEW_LINK == RTM_NEWLINK && PINTLE_DELETE_LINK == RTM_DELLINK &&
                   PINTLE_GET_LINK == RTM_GETLINK && PINTLE_NEW_ADDRESS == RTM_NEWADDR &&
                   PINTLE_DELETE_ADDRESS == RTM_DELADDR && PINTLE_GET_ADDRESS == RTM_GETADDR &&
                   PINTLE_NEW_ROUTE == RTM_NEWROUTE && PINTLE_DELETE_ROUTE == RTM_DELROUTE &&
                   PINTLE_GET_ROUTE == RTM_GETROUTE,
               "the kernel's message types");
_Static_assert(PINTLE_REQUEST == NLM_F_REQUEST && PINTLE_DUMP == NLM_F_DUMP &&
                   PINTLE_DUMP_INTERRUPTED == NLM_F_DUMP_INTR,
               "the kernel's message flags");
_Static_assert(PINTLE_LINK_NAME == IFLA_IFNAME && PINTLE_ROUTE_DESTINATION == RTA_DST &&
                   PINTLE_ROUTE_OUTPUT == RTA_OIF && PINTLE_ROUTE_METRIC == RTA_PRIORITY &&
                   PINTLE_ROUTE_PATHS == RTA_MULTIPATH,
               "the kernel's attributes");
_Static_assert(PINTLE_ROUTE_LOCAL == RTN_LOCAL, "linux/rtnetlink.h");
_Static_assert(PINTLE_ROUTE_UNICAST == RTN_UNICAST && PINTLE_ROUTE_MULTICAST == RTN_MULTICAST &&
                   PINTLE_SCOPE_LINK == RT_SCOPE_LINK && PINTLE_LINK_UP == IFF_UP &&
                   PINTLE_LINK_LOOPBACK == IFF_LOOPBACK && PINTLE_LINK_RUNNING == IFF_RUNNING &&
                   PINTLE_LINK_PPP == ARPHRD_PPP && PINTLE_LINK_RAW_IP == ARPHRD_RAWIP &&
                   PINTLE_ADDRESS_DUPLICATE == IFA_F_DADFAILED && PINTLE_ADDRESS_TENTATIVE == IFA_F_TENTATIVE,
               "the kernel's values");

int pintle_route_socket(int listening) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (descriptor < 0) return -1;
    struct sockaddr_nl address = {.nl_family = AF_NETLINK};
    if (listening)
        address.nl_groups =
            RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE;
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    int code = errno;
    close(descriptor);
    errno = code;
    return -1;
}

int pintle_route_receive(int descriptor, void *buffer, int capacity) {
    struct sockaddr_nl sender = {0};
    socklen_t length = sizeof sender;
    ssize_t count = recvfrom(descriptor, buffer, capacity, MSG_TRUNC, (struct sockaddr *)&sender, &length);
    if (count < 0) return -1;
    return sender.nl_pid != 0 || count > capacity ? 0 : (int)count;
}
