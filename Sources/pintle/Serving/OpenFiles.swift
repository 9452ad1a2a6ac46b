// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintlePolicy

/// How many descriptors the process may have open.
enum OpenFiles {
    /// What the process needs beside clients and origins: its loops, logs and listeners.
    private static let reserve = 64

    /// Raises the soft limit to the hard one. The low soft limit of most systems is for programs that use select(2).
    ///
    /// - Returns: the limit in force.
    static func raiseLimit() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
        if limit.rlim_cur < limit.rlim_max {
            var raised = rlimit(rlim_cur: limit.rlim_max, rlim_max: limit.rlim_max)
            if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 { limit = raised }
        }
        return Int(clamping: limit.rlim_cur)
    }

    /// What to say where a limit of the system is met before one of the configuration; nil where it is not.
    static func shortage(_ limit: Int, _ limits: LimitsConfiguration) -> String? {
        // A client, and the connection to its origin.
        let needed = 2 * limits.connections + Self.reserve
        guard limit < needed else { return nil }
        return "limits.connections (\(limits.connections)) needs up to \(needed) open files, and this process may have "
            + "\(limit); raise the limit (ulimit -n, LimitNOFILE), or lower limits.connections"
    }
}
