// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleSession
internal import PintleSystem

/// Looks up a name with the system's resolver, on a thread outside the loops, one lookup at a time.
final class HostLookup: Sendable {
    private enum Phase { case idle, running, outdated }

    private let name: String
    private let phase = Locked(Phase.idle)
    private let found: @Sendable ([SocketAddress]) -> Void

    /// - Parameter found: called on a thread of the pool with the addresses; with none if the lookup failed.
    init(_ name: String, found: @escaping @Sendable ([SocketAddress]) -> Void) {
        self.name = name
        self.found = found
    }

    /// Starts a lookup. If one is running, its result is dropped, and another one starts after it.
    func begin() {
        let isFirst = self.phase.withLock { phase in
            defer { phase = phase == .idle ? .running : .outdated }
            return phase == .idle
        }
        if isFirst { self.run() }
    }

    private func run() {
        do { try ThreadPool.shared.run { self.finish((try? HostResolver.lookUp(self.name)) ?? []) } } catch {
            self.finish([])
        }
    }

    private func finish(_ addresses: [SocketAddress]) {
        let isOutdated = self.phase.withLock { phase in
            defer { phase = phase == .outdated ? .running : .idle }
            return phase == .outdated
        }
        if isOutdated { self.run() } else { self.found(addresses) }
    }
}
