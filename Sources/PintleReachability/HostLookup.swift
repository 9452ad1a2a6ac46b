// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import NIOCore
internal import PintleSession
internal import PintleSystem

/// Looks a name up by the system's resolver, away from the loops, one lookup at a time.
final class HostLookup: Sendable {
    private enum Phase { case idle, running, outdated }

    private let name: String
    private let phase = NIOLockedValueBox(Phase.idle)
    private let found: @Sendable ([SocketAddress]) -> Void

    /// - Parameter found: called on a thread of the system's with the addresses, none where the lookup failed.
    init(_ name: String, found: @escaping @Sendable ([SocketAddress]) -> Void) {
        self.name = name
        self.found = found
    }

    /// Begins a lookup; while one is running, another one after it instead of its result.
    func begin() {
        let isFirst = self.phase.withLockedValue { phase in
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
        let isOutdated = self.phase.withLockedValue { phase in
            defer { phase = phase == .outdated ? .running : .idle }
            return phase == .outdated
        }
        if isOutdated { self.run() } else { self.found(addresses) }
    }
}
