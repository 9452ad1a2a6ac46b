// SPDX-License-Identifier: Apache-2.0

internal import CPintleProcess
internal import Glibc
internal import PintleSystem

/// Watches a command's processes for connections that bypass its proxy: continuously if the system permits it to this user,
/// otherwise by sampling.
enum BypassDetector {
    case whole(ConnectWatch)
    case sampling(SocketSampling)

    /// - Parameter root: a child that has not started its program yet.
    /// - Returns: nil if the system cannot create a thread.
    init?(root: pid_t, proxy: SocketTable.Endpoint) {
        if let watch = ConnectWatch(root: root, proxy: proxy) {
            self = .whole(watch)
        } else if let sampling = SocketSampling(root: root, proxy: proxy) {
            self = .sampling(sampling)
        } else {
            return nil
        }
    }

    /// Ends the watch, and returns the connections found.
    func end() -> PastConnections {
        switch self {
        case .whole(let watch): watch.end()
        case .sampling(let sampling): sampling.end()
        }
    }
}

/// Looks from time to time for connections of a command's processes that bypass its proxy.
///
/// This is the best that is possible without privileges and without changes to the command. A filter that reports each
/// connect(2) (seccomp_unotify(2)) needs `no_new_privs`, with which sudo does not work, and processes that outlive its
/// listener get ENOSYS. A connection that begins and ends between two looks is missed. The looks take at most a fiftieth of
/// one processor.
final class SocketSampling: @unchecked Sendable {
    // Why @unchecked holds: `state` is only accessed inside `changed.locked`.
    private struct State {
        var hasEnded = false
        var found: Set<PastConnection> = []
        var more = 0
        var isOver = false
    }

    private let changed = Condition()
    private var state = State()

    private static let interval = Duration.milliseconds(20)
    /// Each pause lasts at least this many times as long as the look before it.
    private static let share = 50

    /// - Returns: nil if the system cannot create a thread.
    init?(root: pid_t, proxy: SocketTable.Endpoint) {
        do throws(SystemError) {
            try SystemThread.start { [self] in self.run(root, proxy) }
        } catch {
            return nil
        }
    }

    /// Ends the watch, and returns the connections found.
    func end() -> PastConnections {
        self.changed.locked {
            self.state.hasEnded = true
            self.changed.broadcast()
            while !self.state.isOver { self.changed.wait() }
            return PastConnections(found: self.state.found.sorted(), more: self.state.more, sight: .sampled)
        }
    }

    private func run(_ root: pid_t, _ proxy: SocketTable.Endpoint) {
        pintle_name_this_thread("pintle-watch")
        var pause = Self.interval
        while self.waits(pause) {
            let start = ContinuousClock.now
            self.note(ProcessTree(root: root).connections(notTo: proxy))
            pause = max(Self.interval, (ContinuousClock.now - start) * Self.share)
        }
        self.changed.locked {
            self.state.isOver = true
            self.changed.broadcast()
        }
    }

    /// Waits for a time.
    ///
    /// - Returns: false if the watch has ended.
    private func waits(_ pause: Duration) -> Bool {
        let deadline = Condition.Deadline(in: pause)
        return self.changed.locked {
            while !self.state.hasEnded {
                if !self.changed.wait(until: deadline) { return !self.state.hasEnded }
            }
            return false
        }
    }

    private func note(_ connections: [PastConnection]) {
        self.changed.locked {
            for connection in connections where !self.state.found.contains(connection) {
                if self.state.found.count < ConnectLog.most {
                    self.state.found.insert(connection)
                } else {
                    self.state.more += 1
                }
            }
        }
    }
}

/// A process and its descendants, except those that their parents have left behind.
struct ProcessTree {
    let root: pid_t

    /// The maximum number of processes to examine.
    private static let mostProcesses = 256
    private static let mostDescriptors = 4096
    private static let mostBytes = 4 << 20

    /// Returns the tree's connections, in the network of its root, that do not lead to the proxy.
    func connections(notTo proxy: SocketTable.Endpoint) -> [PastConnection] {
        var owners: [UInt64: pid_t] = [:]
        for process in self.members {
            ProcessFiles.forEachSocket(of: process, most: Self.mostDescriptors) { inode in
                owners[inode] = process
                return true
            }
        }
        guard !owners.isEmpty else { return [] }
        var table = SocketTable()
        for name in ["tcp", "tcp6"] {
            let bytes = FileBytes.read("/proc/\(self.root)/net/\(name)", upTo: Self.mostBytes) ?? []
            table.add(String(decoding: bytes, as: UTF8.self))
        }
        return table.connections(of: Set(owners.keys), notTo: proxy).map { remote, inode in
            PastConnection(remote: "\(remote)", program: owners[inode].flatMap(ProcessFiles.name) ?? "?")
        }
    }

    private var members: [pid_t] {
        var members = [self.root]
        var next = 0
        while next < members.count, members.count < Self.mostProcesses {
            let process = members[next]
            next += 1
            for thread in FolderListing.names(in: "/proc/\(process)/task", most: Self.mostProcesses) {
                let text = FileBytes.text("/proc/\(process)/task/\(thread)/children")
                members += text.split(separator: " ").compactMap { pid_t($0) }
            }
        }
        return Array(members.prefix(Self.mostProcesses))
    }
}
