// SPDX-License-Identifier: Apache-2.0
// What the Glibc module of the Swift toolchain leaves out. No system header is included here: what this module declared
// of theirs would be missing from the Glibc module.
#ifndef C_PINTLE_LINUX_H
#define C_PINTLE_LINUX_H

#include <stdint.h>

/// One event, laid out as the kernel's `struct epoll_event`.
#if defined(__x86_64__)
typedef struct __attribute__((packed)) {
#else
typedef struct {
#endif
    uint32_t events;
    uint64_t token;
} pintle_event;

typedef enum { PINTLE_EPOLL_ADD = 1, PINTLE_EPOLL_DELETE = 2, PINTLE_EPOLL_MODIFY = 3 } pintle_epoll_operation;

/// Each returns -1 and sets errno on failure, as the calls behind them do.
int pintle_epoll(void);
int pintle_epoll_control(int epoll, pintle_epoll_operation operation, int descriptor, uint32_t events, uint64_t token);
int pintle_epoll_wait(int epoll, pintle_event *events, int capacity, int milliseconds);
int pintle_eventfd(void);
/// Watches an eventfd edge-triggered, so that its counter never needs to be read; its token is UINT64_MAX.
int pintle_add_wakeup(int epoll, int descriptor);
void pintle_wake(int descriptor);
/// accept4 with a non-blocking, close-on-exec descriptor; `address` has room for a `struct sockaddr_storage`.
int pintle_accept(int listener, void *address);
/// Names the calling thread; at most 15 bytes.
void pintle_name_thread(const char *name);

#endif
