// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CPintleLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

_Static_assert(sizeof(pintle_event) == sizeof(struct epoll_event), "the kernel's layout");
_Static_assert(PINTLE_EPOLL_ADD == EPOLL_CTL_ADD && PINTLE_EPOLL_DELETE == EPOLL_CTL_DEL &&
                   PINTLE_EPOLL_MODIFY == EPOLL_CTL_MOD,
               "the kernel's numbers");

_Static_assert(PINTLE_FOLDER_GONE == (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED) && PINTLE_FILES_LOST == IN_Q_OVERFLOW,
               "the kernel's numbers");

int pintle_epoll(void) { return epoll_create1(EPOLL_CLOEXEC); }

int pintle_epoll_control(int epoll, pintle_epoll_operation operation, int descriptor, uint32_t events, uint64_t token) {
    struct epoll_event event = {.events = events, .data = {.u64 = token}};
    return epoll_ctl(epoll, operation, descriptor, &event);
}

int pintle_epoll_wait(int epoll, pintle_event *events, int capacity, int milliseconds) {
    return epoll_wait(epoll, (struct epoll_event *)events, capacity, milliseconds);
}

int pintle_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

int pintle_add_wakeup(int epoll, int descriptor) {
    return pintle_epoll_control(epoll, PINTLE_EPOLL_ADD, descriptor, EPOLLIN | EPOLLET, UINT64_MAX);
}

void pintle_wake(int descriptor) { eventfd_write(descriptor, 1); }

int pintle_accept(int listener, void *address) {
    socklen_t length = sizeof(struct sockaddr_storage);
    return accept4(listener, address, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int pintle_pipe(int ends[2], int size) {
    if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) return -1;
    int room = fcntl(ends[1], F_SETPIPE_SZ, size);
    // EPERM: without a privilege there is a limit to each pipe and one to all of a user's (pipe(7)).
    if (room < 0) room = fcntl(ends[1], F_GETPIPE_SZ);
    if (room >= 0) return room;
    int code = errno;
    close(ends[0]);
    close(ends[1]);
    errno = code;
    return -1;
}

int64_t pintle_splice(int from, int to, int count) {
    return splice(from, NULL, to, NULL, count, SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
}

int64_t pintle_peer_user(int descriptor, int32_t *process) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || peer.pid <= 0) return -1;
    *process = peer.pid;
    return peer.uid;
}

int pintle_processors_allowed(void) {
    cpu_set_t processors;
    return sched_getaffinity(0, sizeof processors, &processors) == 0 ? CPU_COUNT(&processors) : INT_MAX;
}

void pintle_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

int pintle_rename_new(const char *from, const char *to) {
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}

int pintle_file_watch(void) { return inotify_init1(IN_NONBLOCK | IN_CLOEXEC); }

int pintle_file_watch_add(int watch, const char *folder) {
    return inotify_add_watch(watch, folder,
                             IN_CREATE | IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_MOVED_FROM | IN_MOVED_TO |
                                 IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR);
}

int pintle_file_watch_writes(int watch, const char *file) { return inotify_add_watch(watch, file, IN_MODIFY); }

void pintle_file_watch_remove(int watch, int number) { inotify_rm_watch(watch, number); }

// True if the pages at an address are those of a file, and not written to. Otherwise the program was unpacked into memory, or
// moved to larger pages.
static int is_file(uintptr_t address) {
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps) return 0;
    char line[512];
    unsigned long first, after, inode;
    char access[8];
    int found = 0;
    // A longer line is a path; what follows of it is no range.
    while (!found && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx %7s %*s %*s %lu", &first, &after, access, &inode) != 4) continue;
        if (first > address || address >= after) continue;
        found = 1 + (inode != 0 && access[1] == '-');
    }
    fclose(maps);
    return found == 2;
}

// Called with the program first. It has no text relocations, with which lld refuses to link.
static int release_object(struct dl_phdr_info *object, size_t size, void *unused) {
    (void)size;
    (void)unused;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[index];
        // A writable part has values that the file does not have; so has RELRO, which lies in one.
        if (part->p_type != PT_LOAD || part->p_flags & PF_W) continue;
        // Whole pages alone: the pages at the edges may be those of other parts, too.
        uintptr_t start = (object->dlpi_addr + part->p_vaddr + page - 1) & ~(page - 1);
        uintptr_t end = (object->dlpi_addr + part->p_vaddr + part->p_filesz) & ~(page - 1);
        // Has no effect on pages that are locked in memory.
        if (start < end && is_file(start)) (void)madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 1;
}

void pintle_release_program(void) { dl_iterate_phdr(release_object, NULL); }
