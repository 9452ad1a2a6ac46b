// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "handover.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// A report, and with a step of 0 the sockets of the network, whose descriptors come beside it in their order.
typedef struct {
    pintle_report report;
    uint32_t flags;
    int32_t rules_code;
    /// The sockets that there are, as bits.
    uint32_t present;
} handover;

typedef union {
    char space[CMSG_SPACE(PINTLE_SOCKET_COUNT * sizeof(int))];
    struct cmsghdr header;
} rights;

// MARK: The child

void pintle_fail(int control, pintle_child_step step, int32_t place) {
    pintle_report failure = {.step = step, .code = errno, .place = place};
    send(control, &failure, sizeof failure, MSG_NOSIGNAL);
    _exit(127);
}

int pintle_hand_over(int control, const pintle_network *network) {
    handover made = {.flags = network->flags, .rules_code = network->rules_code};
    int descriptors[PINTLE_SOCKET_COUNT], count = 0;
    for (int index = 0; index < PINTLE_SOCKET_COUNT; index++) {
        if (network->sockets[index] < 0) continue;
        made.present |= 1u << index;
        descriptors[count++] = network->sockets[index];
    }
    struct iovec bytes = {.iov_base = &made, .iov_len = sizeof made};
    rights rights;
    memset(&rights, 0, sizeof rights);
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &rights, .msg_controllen = CMSG_SPACE(count * sizeof(int))};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(header), descriptors, count * sizeof(int));
    ssize_t sent = sendmsg(control, &message, MSG_NOSIGNAL);
    int code = errno;
    for (int index = 0; index < count; index++) close(descriptors[index]);
    errno = code;
    return sent < 0 ? -1 : 0;
}

// MARK: The parent

/// Reads a report, and the descriptors that may come with it, of which it takes as many as there are sockets. Returns its length; 0
/// when the child has closed its end.
static ssize_t receive(int control, handover *answer, int *descriptors, int *count) {
    struct iovec bytes = {.iov_base = answer, .iov_len = sizeof *answer};
    rights rights;
    memset(&rights, 0, sizeof rights);
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &rights, .msg_controllen = sizeof rights};
    ssize_t length;
    do {
        length = recvmsg(control, &message, MSG_CMSG_CLOEXEC);
    } while (length < 0 && errno == EINTR);
    struct cmsghdr *header = length > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    *count = 0;
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
        *count = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(descriptors, CMSG_DATA(header), *count * sizeof(int));
    }
    return length;
}

/// Gives each descriptor its place. Returns -1 if some did not come, as when this process may open no more.
static int take_sockets(pintle_forked *forked, const handover *made, const int *descriptors, int count) {
    int32_t *places[PINTLE_SOCKET_COUNT] = {
        &forked->listener, &forked->captures[0], &forked->captures[1], &forked->resolvers_udp[0],
        &forked->resolvers_udp[1], &forked->resolvers_tcp[0], &forked->resolvers_tcp[1], &forked->diagnosis};
    int taken = 0;
    if (__builtin_popcount(made->present) != count) {
        while (taken < count) close(descriptors[taken++]);
        return -1;
    }
    for (int index = 0; index < PINTLE_SOCKET_COUNT; index++)
        if (made->present & 1u << index) *places[index] = descriptors[taken++];
    forked->flags = made->flags;
    forked->rules_code = made->rules_code;
    return 0;
}

pintle_report pintle_take_over(pintle_forked *forked) {
    handover answer = {.report = {.step = PINTLE_CHILD_NAMESPACE, .code = ECHILD, .place = -1}};
    int descriptors[PINTLE_SOCKET_COUNT], received = 0;
    ssize_t count = receive(forked->control, &answer, descriptors, &received);
    if (count <= 0 || answer.report.step != 0) return answer.report;
    if (take_sockets(forked, &answer, descriptors, received) == 0) return answer.report;
    return (pintle_report){.step = PINTLE_CHILD_LISTENER, .code = EMFILE, .place = -1};
}

pintle_report pintle_await_program(int control) {
    char go = 1;
    pintle_report answer = {.step = PINTLE_CHILD_PROGRAM, .code = ECHILD, .place = -1};
    if (send(control, &go, 1, MSG_NOSIGNAL) != 1) return answer;
    // Its end closes with exec.
    ssize_t count;
    do {
        count = recv(control, &answer, sizeof answer, 0);
    } while (count < 0 && errno == EINTR);
    if (count <= 0) answer = (pintle_report){.step = 0, .place = -1};
    return answer;
}
