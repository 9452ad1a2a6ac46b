// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// Processes whose parents have ended, so that the kernel has made this process their parent. A parent must collect the
/// status of its children. Process 1 of a container gets all of them.
enum Orphans {
    /// Enough for 100,000 processes.
    private static let mostBytes = 1 << 20

    /// Collects the status of those that have ended.
    ///
    /// The kernel assigns them to the first thread of this process. Children of other threads, such as the command, have
    /// their own waiter. (waitpid(2) for any child would take the status away from it.)
    static func reap() {
        let list = FileBytes.read("/proc/self/task/\(getpid())/children", upTo: Self.mostBytes) ?? []
        for word in list.split(separator: UInt8(ascii: " ")) {
            guard let process = pid_t(String(decoding: word, as: UTF8.self)) else { continue }
            waitpid(process, nil, WNOHANG)
        }
    }
}
