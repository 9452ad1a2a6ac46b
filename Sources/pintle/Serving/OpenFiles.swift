// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintlePolicy

/// The limit of descriptors that the process may have open.
enum OpenFiles {
    /// The number of descriptors for other purposes than clients and origins: loops, logs and listeners.
    private static let reserve = 64

    /// Raises the soft limit to the hard one. The soft limit of most systems is low only for programs that use select(2).
    ///
    /// - Returns: the new limit.
    static func raiseLimit() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
        if limit.rlim_cur < limit.rlim_max {
            var raised = rlimit(rlim_cur: limit.rlim_max, rlim_max: limit.rlim_max)
            if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 { limit = raised }
        }
        return Int(clamping: limit.rlim_cur)
    }

    /// Returns a warning if the system's limit is lower than the configuration needs; nil if it is not.
    static func shortage(_ limit: Int, _ limits: LimitsConfiguration) -> String? {
        // Each client needs two: its own connection, and the one to its origin.
        let needed = 2 * limits.connections + Self.reserve
        guard limit < needed else { return nil }
        return "limits.connections (\(limits.connections)) needs up to \(needed) open files, and this process may have "
            + "\(limit); raise the limit (ulimit -n, LimitNOFILE), or lower limits.connections"
    }
}
