// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "messages.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void pintle_clear_messages(pintle_messages *messages) {
    messages->length = messages->message = 0;
    messages->expected = 0;
    messages->is_full = 0;
}

/// Appends bytes and the padding behind them. Returns their place.
static size_t append(pintle_messages *messages, const void *value, size_t size) {
    size_t place = messages->length, padded = NLMSG_ALIGN(size);
    if (padded > sizeof messages->bytes - place) {
        messages->is_full = 1;
        return place;
    }
    memset(messages->bytes + place, 0, padded);
    if (value) memcpy(messages->bytes + place, value, size);
    messages->length = place + padded;
    return place;
}

void pintle_begin_message(pintle_messages *messages, uint16_t type, uint16_t flags, const void *head, size_t size) {
    if (flags & NLM_F_ACK) messages->expected += 1;
    struct nlmsghdr header = {.nlmsg_type = type, .nlmsg_flags = NLM_F_REQUEST | flags};
    messages->message = append(messages, &header, sizeof header);
    append(messages, head, size);
}

void pintle_end_message(pintle_messages *messages) {
    if (messages->is_full) return;
    uint32_t size = (uint32_t)(messages->length - messages->message);
    memcpy(messages->bytes + messages->message + offsetof(struct nlmsghdr, nlmsg_len), &size, sizeof size);
}

void pintle_add_attribute(pintle_messages *messages, uint16_t type, const void *value, size_t size) {
    struct nlattr header = {.nla_len = (uint16_t)(NLA_HDRLEN + size), .nla_type = type};
    append(messages, &header, sizeof header);
    append(messages, value, size);
}

void pintle_add_text(pintle_messages *messages, uint16_t type, const char *text) {
    pintle_add_attribute(messages, type, text, strlen(text) + 1);
}

void pintle_add_number(pintle_messages *messages, uint16_t type, uint32_t value) {
    uint32_t bytes = htonl(value);
    pintle_add_attribute(messages, type, &bytes, sizeof bytes);
}

size_t pintle_begin_nest(pintle_messages *messages, uint16_t type) {
    struct nlattr header = {.nla_type = NLA_F_NESTED | type};
    return append(messages, &header, sizeof header);
}

void pintle_end_nest(pintle_messages *messages, size_t nest) {
    if (messages->is_full) return;
    uint16_t size = (uint16_t)(messages->length - nest);
    memcpy(messages->bytes + nest + offsetof(struct nlattr, nla_len), &size, sizeof size);
}

/// Reads acknowledgements until all are there. The kernel has queued them when send(2) returns.
static int read_answers(int kernel, uint32_t expected) {
    union {
        struct nlmsghdr header;
        char bytes[8192];
    } answer;
    while (expected > 0) {
        ssize_t count = recv(kernel, &answer, sizeof answer, MSG_DONTWAIT);
        if (count < 0) return -1;
        int rest = (int)count;
        for (struct nlmsghdr *header = &answer.header; NLMSG_OK(header, rest); header = NLMSG_NEXT(header, rest)) {
            if (header->nlmsg_type != NLMSG_ERROR || header->nlmsg_len < NLMSG_LENGTH(sizeof(struct nlmsgerr))) continue;
            struct nlmsgerr error;
            memcpy(&error, NLMSG_DATA(header), sizeof error);
            if (error.error != 0) {
                errno = -error.error;
                return -1;
            }
            if (expected > 0) expected -= 1;
        }
    }
    return 0;
}

int pintle_send_messages(pintle_messages *messages, int protocol) {
    if (messages->is_full) {
        errno = ENOBUFS;
        return -1;
    }
    int kernel = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
    if (kernel < 0) return -1;
    struct sockaddr_nl address = {.nl_family = AF_NETLINK};
    ssize_t count = sendto(
        kernel, messages->bytes, messages->length, 0, (struct sockaddr *)&address, sizeof address);
    int result = count == (ssize_t)messages->length ? read_answers(kernel, messages->expected) : -1;
    int code = errno;
    close(kernel);
    errno = code;
    return result;
}
