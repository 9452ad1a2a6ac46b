// SPDX-License-Identifier: Apache-2.0
// What the Glibc module of the Swift toolchain leaves out.
#ifndef C_PINTLE_LINUX_H
#define C_PINTLE_LINUX_H

#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

// The headers declare these only for _GNU_SOURCE, with which their types would differ from those of the Glibc module.
extern int accept4(int listener, struct sockaddr *address, socklen_t *length, int flags);
extern int pthread_setname_np(pthread_t thread, const char *name);

static inline int pintle_epoll_control(int epoll, int operation, int descriptor, uint32_t events, uint64_t token) {
    struct epoll_event event = {.events = events, .data = {.u64 = token}};
    return epoll_ctl(epoll, operation, descriptor, &event);
}

static inline int pintle_accept(int listener, struct sockaddr *address, socklen_t *length) {
    return accept4(listener, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/// Edge-triggered, so that the counter never needs to be read.
static inline int pintle_add_wakeup(int epoll, int eventfd_descriptor) {
    return pintle_epoll_control(epoll, EPOLL_CTL_ADD, eventfd_descriptor, EPOLLIN | EPOLLET, UINT64_MAX);
}

static inline int pintle_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }
static inline int pintle_epoll(void) { return epoll_create1(EPOLL_CLOEXEC); }
static inline void pintle_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }
#endif
