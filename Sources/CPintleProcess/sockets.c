// SPDX-License-Identifier: Apache-2.0
// A network namespace holds IP alone. Sockets of other families reach past it, as those of AF_VSOCK reach the host of a
// virtual machine, so a filter of system calls (seccomp(2)) refuses to make them. It also refuses to type keys into the terminal,
// which the shell outside would read, and to have keys made by a program of the machine.
#define _GNU_SOURCE
#include "sockets.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

// Numbers of system calls that no header of this machine has: one is newer, the others are those of 32 bits.
enum { IO_URING_SETUP = 425, I386_SOCKETCALL = 102, I386_SOCKET = 359, ARM_SOCKET = 281, I386_IOCTL = 54, ARM_IOCTL = 54 };
enum { I386_REQUEST_KEY = 287, ARM_REQUEST_KEY = 310 };
// The first argument of socketcall(2) that stands for socket(2).
enum { SOCKETCALL_SOCKET = 1 };
// x32 has the numbers of x86-64 with this bit.
static const unsigned NUMBER_MASK = ~0x40000000u;

#define LOAD(FIELD) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, FIELD))
#define RETURN(VALUE) BPF_STMT(BPF_RET | BPF_K, VALUE)
#define REFUSE(CODE) RETURN(SECCOMP_RET_ERRNO | (CODE))
#define ALLOW RETURN(SECCOMP_RET_ALLOW)
/// Skips so many instructions if the value is equal, else so many.
#define SKIP(VALUE, EQUAL, OTHER) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (VALUE), EQUAL, OTHER)

/// Judges the calls of one architecture, and goes on behind itself with those of others.
///
/// io_uring makes sockets, too, out of sight of every filter. For a key that request_key(2) does not find, the kernel starts
/// /sbin/request-key as root outside of all namespaces, which looks names up for the key's type dns_resolver. Programs do without both
/// where they are missing. Of ioctl(2) the kernel reads 32 bits.
// clang-format off
#define JUDGE(ARCHITECTURE, SOCKET, IOCTL, REQUEST_KEY) \
    LOAD(arch), \
    SKIP(ARCHITECTURE, 0, 20), \
    LOAD(nr), \
    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, NUMBER_MASK), \
    SKIP(IO_URING_SETUP, 1, 0), \
    SKIP(REQUEST_KEY, 0, 1), \
    REFUSE(ENOSYS), \
    SKIP(IOCTL, 0, 5), \
    LOAD(args[1]), \
    SKIP(TIOCSTI, 1, 0), \
    SKIP(TIOCLINUX, 0, 1), \
    REFUSE(EPERM), \
    ALLOW, \
    SKIP(SOCKET, 1, 0), \
    ALLOW, \
    LOAD(args[0]), \
    SKIP(AF_UNIX, 4, 0), \
    SKIP(AF_INET, 3, 0), \
    SKIP(AF_INET6, 2, 0), \
    SKIP(AF_NETLINK, 1, 0), \
    REFUSE(EAFNOSUPPORT), \
    ALLOW

int pintle_filter_calls(void) {
    struct sock_filter filter[] = {
#if defined(__x86_64__)
        // socketcall(2) has the family in memory, which no filter reads. C libraries have used socket(2) since 2015.
        LOAD(arch),
        SKIP(AUDIT_ARCH_I386, 0, 5),
        LOAD(nr),
        SKIP(I386_SOCKETCALL, 0, 3),
        LOAD(args[0]),
        SKIP(SOCKETCALL_SOCKET, 0, 1),
        REFUSE(EAFNOSUPPORT),
        JUDGE(AUDIT_ARCH_I386, I386_SOCKET, I386_IOCTL, I386_REQUEST_KEY),
        JUDGE(AUDIT_ARCH_X86_64, SYS_socket, SYS_ioctl, SYS_request_key),
#elif defined(__aarch64__)
        JUDGE(AUDIT_ARCH_ARM, ARM_SOCKET, ARM_IOCTL, ARM_REQUEST_KEY),
        JUDGE(AUDIT_ARCH_AARCH64, SYS_socket, SYS_ioctl, SYS_request_key),
#endif
        // Calls of an architecture that is not known here.
        REFUSE(ENOSYS),
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    // A program of that last instruction alone would refuse the execve(2) that follows.
    if (program.len == 1) {
        errno = ENOTSUP;
        return -1;
    }
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
// clang-format on
