// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "network.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIT(CAPABILITY) (UINT64_C(1) << (CAPABILITY))

/// What root keeps: power over files, users, processes and its own ports, which package managers and builds need. All that is not
/// named goes, also what newer kernels have: above all CAP_NET_ADMIN, CAP_NET_RAW and CAP_SYS_ADMIN, which changes
/// namespaces, and CAP_SYS_PTRACE, CAP_SYS_MODULE, CAP_SYS_RAWIO, CAP_BPF and CAP_PERFMON, which reach into others.
static const uint64_t kept =
    BIT(CAP_CHOWN) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER) | BIT(CAP_FSETID) | BIT(CAP_KILL) | BIT(CAP_SETGID)
    | BIT(CAP_SETUID) | BIT(CAP_SETPCAP) | BIT(CAP_LINUX_IMMUTABLE) | BIT(CAP_NET_BIND_SERVICE) | BIT(CAP_IPC_LOCK)
    | BIT(CAP_IPC_OWNER) | BIT(CAP_SYS_CHROOT) | BIT(CAP_SYS_NICE) | BIT(CAP_SYS_RESOURCE) | BIT(CAP_MKNOD)
    | BIT(CAP_LEASE) | BIT(CAP_AUDIT_WRITE) | BIT(CAP_SETFCAP);

int pintle_drop_capabilities(void) {
    // No file gives any of them back.
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    for (int capability = 0; capability < 64; capability++) {
        // The kernel's last one is behind us.
        int is_bounding = prctl(PR_CAPBSET_READ, capability, 0, 0, 0);
        if (is_bounding < 0) break;
        if (is_bounding == 0 || (kept & BIT(capability))) continue;
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) return -1;
    }
    // Kernels before 4.3 have none of these.
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 && errno != EINVAL) return -1;
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, sets) != 0) return -1;
    for (int word = 0; word < _LINUX_CAPABILITY_U32S_3; word++) {
        uint32_t mask = (uint32_t)(kept >> (32 * word));
        sets[word].permitted &= mask;
        sets[word].effective &= mask;
        sets[word].inheritable &= mask;
    }
    return (int)syscall(SYS_capset, &header, sets);
}
