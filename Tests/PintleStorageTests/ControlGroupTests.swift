// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PintleStorage

/// Control groups as the files of `/proc` tell of them.
@Suite struct ControlGroupTests {
    private static let unified =
        "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n"

    @Test(arguments: [
        ("0::/\n", "/sys/fs/cgroup"),
        ("0::/system.slice/pintle.service\n", "/sys/fs/cgroup/system.slice/pintle.service"),
        ("4:memory:/old\n0::/new\n", "/sys/fs/cgroup/new"),
    ])
    func `the group's folder is below the mount`(membership: String, folder: String) {
        #expect(ControlGroup.folder(mounts: Self.unified, membership: membership) == folder)
    }

    @Test func `a container sees a part of the hierarchy`() {
        let mounts = "1 2 0:3 /docker/ab /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
        #expect(ControlGroup.folder(mounts: mounts, membership: "0::/docker/ab\n") == "/sys/fs/cgroup")
        #expect(ControlGroup.folder(mounts: mounts, membership: "0::/docker/ab/c\n") == "/sys/fs/cgroup/c")
        #expect(ControlGroup.folder(mounts: mounts, membership: "0::/docker/abc\n") == nil)
    }

    @Test func `without the second version there is no folder`() {
        let first = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
        #expect(ControlGroup.folder(mounts: first, membership: "4:memory:/a\n") == nil)
        #expect(ControlGroup.folder(mounts: first, membership: "0::/\n") == nil)
        #expect(ControlGroup.folder(mounts: "", membership: "") == nil)
        #expect(ControlGroup.folder(mounts: " - cgroup2\n- cgroup2 x\n1 - cgroup2", membership: "0::/\n") == nil)
    }

    @Test func `events are summed, but for those of others`() {
        #expect(ControlGroup.limitEvents("low 5\nhigh 1\nmax 2\noom 3\noom_kill 4\noom_group_kill 0\n") == 10)
        #expect(ControlGroup.limitEvents("") == 0)
        #expect(ControlGroup.limitEvents("high many\nmax\nmax 1 2\nhigh 18446744073709551616\nhigh 7") == 7)
    }
}
