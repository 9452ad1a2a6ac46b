// SPDX-License-Identifier: Apache-2.0

/// The control group of a process (cgroups(7), version 2), which a container or a service has for itself.
enum ControlGroup {
    /// The folder in which the group's files are.
    ///
    /// - Parameters:
    ///   - mounts: the lines of `/proc/self/mountinfo` (proc(5)).
    ///   - membership: the lines of `/proc/self/cgroup`.
    /// - Returns: nil where the second version is not mounted, or the process's group is not below what is mounted.
    static func folder(mounts: String, membership: String) -> String? {
        let group = membership.split(separator: "\n").first { $0.hasPrefix("0::/") }?.dropFirst(3)
        guard let group else { return nil }
        for line in mounts.split(separator: "\n") {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            guard let separator = words.firstIndex(of: "-"), words.count > separator + 1, separator >= 6,
                words[separator + 1] == "cgroup2"
            else { continue }
            // Of the whole hierarchy a container sees the part that begins with this one.
            let (root, place) = (words[3] == "/" ? "" : words[3], words[4])
            guard group == root || group.hasPrefix("\(root)/") else { continue }
            let rest = group.dropFirst(root.count)
            return rest == "/" ? String(place) : "\(place)\(rest)"
        }
        return nil
    }

    /// How often the group was held back at `memory.high`, met `memory.max`, and ran out of memory: the sum of what
    /// `memory.events` counts, but for `low`, which is about what others leave to it.
    static func limitEvents(_ text: String) -> UInt64 {
        text.split(separator: "\n").reduce(0) { sum, line in
            let words = line.split(separator: " ")
            guard words.count == 2, ["high", "max", "oom", "oom_kill", "oom_group_kill"].contains(words[0]) else {
                return sum
            }
            return sum &+ (UInt64(words[1]) ?? 0)
        }
    }
}
