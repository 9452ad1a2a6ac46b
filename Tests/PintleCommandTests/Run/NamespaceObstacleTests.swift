// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleSystem
import Testing

@testable import pintle

struct NamespaceObstacleTests {
    private func obstacle(_ code: Int32, _ files: [String: String]) -> NamespaceObstacle {
        NamespaceObstacle(SystemError(code)) { files[$0] ?? "" }
    }

    @Test func `Debian's switch is named`() {
        let found = self.obstacle(EPERM, ["/proc/sys/kernel/unprivileged_userns_clone": "0\n"])
        #expect(
            found.remedy
                == "--isolate needs namespaces (unshare(2)), which kernel.unprivileged_userns_clone=0 keeps from "
                + "users: set it to 1 (sysctl(8))")
        #expect(self.obstacle(EPERM, ["/proc/sys/kernel/unprivileged_userns_clone": "1\n"]) == .unknown)
    }

    @Test func `AppArmor's restriction is named`() {
        let found = self.obstacle(
            EACCES,
            [
                "/proc/sys/kernel/unprivileged_userns_clone": "1\n",
                "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n",
            ])
        #expect(found == .appArmor)
        #expect(found.remedy.contains("kernel.apparmor_restrict_unprivileged_userns=1"))
    }

    @Test func `a limit that is reached is named, or all if none is zero`() {
        let none = self.obstacle(
            ENOSPC, ["/proc/sys/user/max_user_namespaces": "63000\n", "/proc/sys/user/max_net_namespaces": "0\n"])
        #expect(none == .limit("user.max_net_namespaces"))
        #expect(
            self.obstacle(ENOSPC, [:])
                == .limit(
                    "user.max_user_namespaces or user.max_net_namespaces or user.max_mnt_namespaces or "
                        + "user.max_pid_namespaces"))
    }

    @Test func `a filter of system calls is named if nothing else forbids namespaces`() {
        let status = ["/proc/self/status": "Name:\tpintle\nSeccomp:\t2\nSeccomp_filters:\t1\n"]
        #expect(self.obstacle(EPERM, status) == .filter)
        #expect(
            self.obstacle(EPERM, status.merging(["/proc/sys/kernel/unprivileged_userns_clone": "0"]) { $1 })
                == .usersForbidden)
        #expect(self.obstacle(EPERM, ["/proc/self/status": "Seccomp:\t0\n"]) == .unknown)
    }

    @Test func `a limit of open files is no matter of namespaces`() {
        let found = self.obstacle(EMFILE, ["/proc/sys/kernel/unprivileged_userns_clone": "0"])
        #expect(found == .openFiles && found.remedy.hasSuffix("raise the hard limit of open files (ulimit -H -n)"))
    }

    @Test func `an error of another kind has no known obstacle`() {
        #expect(self.obstacle(ENOMEM, ["/proc/sys/kernel/unprivileged_userns_clone": "0"]) == .unknown)
    }
}
