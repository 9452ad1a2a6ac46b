// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// Processes that theirs have left, and that the kernel has given to this process as their new parent, which is expected to
/// take note of their ends. Process 1 of a container gets all of them.
enum Orphans {
    /// 100,000 processes.
    private static let mostBytes = 1 << 20

    /// Takes note of those that have ended, and of nothing else.
    ///
    /// The kernel gives them to the first thread of the process. The children of other threads, such as the command, have
    /// somebody who waits for them. (waitpid(2) for any child would take the status away from those.)
    static func reap() {
        let list = FileBytes.read("/proc/self/task/\(getpid())/children", upTo: Self.mostBytes) ?? []
        for word in list.split(separator: UInt8(ascii: " ")) {
            guard let process = pid_t(String(decoding: word, as: UTF8.self)) else { continue }
            waitpid(process, nil, WNOHANG)
        }
    }
}
