// SPDX-License-Identifier: Apache-2.0

/// The control group of a process (cgroups(7), version 2), of which each container or service has its own.
enum ControlGroup {
    /// Returns the folder that has the group's files.
    ///
    /// - Parameters:
    ///   - mounts: the lines of `/proc/self/mountinfo` (proc(5)).
    ///   - membership: the lines of `/proc/self/cgroup`.
    /// - Returns: nil if version 2 is not mounted, or if the process's group is not below the mounted part.
    static func folder(mounts: String, membership: String) -> String? {
        let group = membership.split(separator: "\n").first { $0.hasPrefix("0::/") }?.dropFirst(3)
        guard let group else { return nil }
        for line in mounts.split(separator: "\n") {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            guard let separator = words.firstIndex(of: "-"), words.count > separator + 1, separator >= 6,
                words[separator + 1] == "cgroup2"
            else { continue }
            // A container sees only a part of the hierarchy; this field is the root of that part.
            let (root, place) = (words[3] == "/" ? "" : words[3], words[4])
            guard group == root || group.hasPrefix("\(root)/") else { continue }
            let rest = group.dropFirst(root.count)
            return rest == "/" ? String(place) : "\(place)\(rest)"
        }
        return nil
    }

    /// Returns the number of times that the group was throttled at `memory.high`, met `memory.max`, or ran out of memory:
    /// the sum of the counters in `memory.events` except `low`, which is about memory that other groups took from it.
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
