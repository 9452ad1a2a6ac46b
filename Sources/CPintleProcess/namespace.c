// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "network.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

int pintle_write_file(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return -1;
    ssize_t length = (ssize_t)strlen(text);
    int failed = write(file, text, length) != length;
    int code = errno;
    close(file);
    errno = code;
    return failed ? -1 : 0;
}

/// `id id 1`: the same user outside and inside.
static void map_line(unsigned id, char *line) {
    char digits[16];
    int count = 0;
    do {
        digits[count++] = '0' + id % 10;
        id /= 10;
    } while (id > 0);
    int at = 0;
    for (int i = count; i > 0; i--) line[at++] = digits[i - 1];
    line[at++] = ' ';
    for (int i = count; i > 0; i--) line[at++] = digits[i - 1];
    memcpy(line + at, " 1", 3);
}

int pintle_leave_network(unsigned user, unsigned group, int with_processes) {
    int flags = CLONE_NEWNET | CLONE_NEWNS | (with_processes ? CLONE_NEWPID : 0);
    // Root needs no users of its own for that, and keeps its groups and its power over files.
    if (user == 0 && unshare(flags) == 0) return 0;
    if (unshare(CLONE_NEWUSER | flags) != 0) return PINTLE_CHILD_NAMESPACE;
    char line[64];
    map_line(user, line);
    if (pintle_write_file("/proc/self/uid_map", line) != 0) return PINTLE_CHILD_USER;
    // Kernels before 3.19 have no such file, and need none.
    if (pintle_write_file("/proc/self/setgroups", "deny") != 0 && errno != ENOENT) return PINTLE_CHILD_USER;
    map_line(group, line);
    return pintle_write_file("/proc/self/gid_map", line) == 0 ? 0 : PINTLE_CHILD_USER;
}
