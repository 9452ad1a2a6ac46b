// SPDX-License-Identifier: Apache-2.0
// Requests to the kernel over netlink(7), built in a fixed buffer: safe between fork and exec.
#ifndef PINTLE_MESSAGES_H
#define PINTLE_MESSAGES_H

#include <linux/netlink.h>
#include <stddef.h>
#include <stdint.h>

enum { PINTLE_MESSAGES_CAPACITY = 16384 };

typedef struct {
    _Alignas(struct nlmsghdr) unsigned char bytes[PINTLE_MESSAGES_CAPACITY];
    size_t length;
    /// The place of the message that is being built.
    size_t message;
    /// The number of messages that the kernel is to acknowledge.
    uint32_t expected;
    /// 1 if something did not fit.
    int is_full;
} pintle_messages;

void pintle_clear_messages(pintle_messages *messages);
/// Begins a message with the fixed part of its type. The flags are NLM_F_REQUEST and these; with NLM_F_ACK the kernel answers.
void pintle_begin_message(pintle_messages *messages, uint16_t type, uint16_t flags, const void *head, size_t size);
void pintle_end_message(pintle_messages *messages);

void pintle_add_attribute(pintle_messages *messages, uint16_t type, const void *value, size_t size);
void pintle_add_text(pintle_messages *messages, uint16_t type, const char *text);
/// Adds 32 bits in network byte order, as nftables has its numbers.
void pintle_add_number(pintle_messages *messages, uint16_t type, uint32_t value);
/// Begins an attribute of attributes. Returns its place, which pintle_end_nest takes.
size_t pintle_begin_nest(pintle_messages *messages, uint16_t type);
void pintle_end_nest(pintle_messages *messages, size_t nest);

/// Sends all messages at once to a protocol of the kernel, and reads every acknowledgement. Returns 0, or -1 with errno: that of
/// the first message that failed, or ENOBUFS if they did not fit.
int pintle_send_messages(pintle_messages *messages, int protocol);

#endif
