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
/// Makes a non-blocking, close-on-exec pipe, read end first, and gives it room for `size` bytes where the user may have as much.
/// Returns the bytes that there is room for; -1 and errno where there is no pipe.
int pintle_pipe(int ends[2], int size);
/// splice(2) between a pipe and a non-blocking socket, without waiting for the pipe either.
int64_t pintle_splice(int from, int to, int count);
/// The user of the process at the other end of a Unix socket, as it connected (SO_PEERCRED); -1 where there is none. Writes the
/// number of the process, which is valid then.
int64_t pintle_peer_user(int descriptor, int32_t *process);
/// Renames, but not over a file that is there (EEXIST); EINVAL or ENOSYS where that cannot be done.
int pintle_rename_new(const char *from, const char *to);
/// Bits of an inotify event's mask; linux.c has the compiler compare them with the system's.
enum {
    /// The folder that is watched was removed or renamed, or is watched no more.
    PINTLE_FOLDER_GONE = 0x400 | 0x800 | 0x8000,
    /// There were more events than the kernel keeps.
    PINTLE_FILES_LOST = 0x4000,
};

/// inotify: a non-blocking, close-on-exec descriptor that tells of files in folders that are added to it; -1 and errno.
int pintle_file_watch(void);
/// Watches a folder for files that are made, written, moved or removed; a folder that is watched keeps its number.
int pintle_file_watch_add(int watch, const char *folder);
/// Watches one file for being written to, which is how the kernel tells of some of its own.
int pintle_file_watch_writes(int watch, const char *file);
void pintle_file_watch_remove(int watch, int number);
/// How many processors the calling thread may run on (sched_getaffinity(2)); INT_MAX where there are too many to be told.
int pintle_processors_allowed(void);
/// Names the calling thread; at most 15 bytes.
void pintle_name_thread(const char *name);

/// The numbers of rtnetlink(7) that are used; netlink.c has the compiler compare them with the system's.
enum {
    PINTLE_MESSAGE_ERROR = 2,
    PINTLE_MESSAGE_DONE = 3,
    PINTLE_NEW_LINK = 16,
    PINTLE_DELETE_LINK = 17,
    PINTLE_GET_LINK = 18,
    PINTLE_NEW_ADDRESS = 20,
    PINTLE_DELETE_ADDRESS = 21,
    PINTLE_GET_ADDRESS = 22,
    PINTLE_NEW_ROUTE = 24,
    PINTLE_DELETE_ROUTE = 25,
    PINTLE_GET_ROUTE = 26,

    PINTLE_REQUEST = 0x1,
    PINTLE_DUMP_INTERRUPTED = 0x10,
    PINTLE_DUMP = 0x300,

    PINTLE_LINK_NAME = 3,
    PINTLE_ROUTE_DESTINATION = 1,
    PINTLE_ROUTE_OUTPUT = 4,
    PINTLE_ROUTE_METRIC = 6,
    PINTLE_ROUTE_PATHS = 9,

    PINTLE_ROUTE_UNICAST = 1,
    PINTLE_ROUTE_LOCAL = 2,
    PINTLE_ROUTE_MULTICAST = 5,
    PINTLE_SCOPE_LINK = 253,

    PINTLE_LINK_UP = 0x1,
    PINTLE_LINK_LOOPBACK = 0x8,
    PINTLE_LINK_RUNNING = 0x40,
    PINTLE_LINK_PPP = 512,
    PINTLE_LINK_RAW_IP = 519,
    PINTLE_ADDRESS_DUPLICATE = 0x08,
    PINTLE_ADDRESS_TENTATIVE = 0x40,
};

/// Gives the pages of the program's file back that are never written. One that is used again comes from the kernel's cache.
void pintle_release_program(void);

/// A non-blocking, close-on-exec socket to the kernel's routing tables of the calling thread's network namespace. With
/// `listening` it is told of every change to links, addresses and routes.
int pintle_route_socket(int listening);
/// Reads one datagram; -1 and errno as recv, ENOBUFS when something was lost. A datagram that is not from the kernel, or
/// does not fit, counts as empty.
int pintle_route_receive(int descriptor, void *buffer, int capacity);

/// A non-blocking, close-on-exec socket for questions about the sockets of the calling thread's network namespace (sock_diag(7));
/// -1 and errno, EPROTONOSUPPORT if the kernel has no such interface.
int pintle_socket_query(void);
/// The inode of the TCP socket that is bound to `own` and connected to `peer`; 0 if there is none, or none any more. Both are a
/// `struct sockaddr_in`, or both a `struct sockaddr_in6`. -1 and errno if the kernel does not answer.
int64_t pintle_socket_inode(int query, const void *own, const void *peer);

#endif
