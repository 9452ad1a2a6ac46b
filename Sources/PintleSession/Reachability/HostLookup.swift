// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import NIOConcurrencyHelpers
internal import NIOCore

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
        DispatchQueue.global(qos: .utility).async {
            let addresses = Self.addresses(of: self.name)
            let isOutdated = self.phase.withLockedValue { phase in
                defer { phase = phase == .outdated ? .running : .idle }
                return phase == .outdated
            }
            if isOutdated { self.run() } else { self.found(addresses) }
        }
    }

    private static func addresses(of name: String) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &first) == 0 else { return [] }
        defer { freeaddrinfo(first) }
        return sequence(first: first) { $0?.pointee.ai_next }.compactMap { entry in
            guard let entry, let address = entry.pointee.ai_addr else { return nil }
            let place = UnsafeRawPointer(address)
            switch entry.pointee.ai_family {
            case AF_INET: return SocketAddress(place.loadUnaligned(as: sockaddr_in.self))
            case AF_INET6: return SocketAddress(place.loadUnaligned(as: sockaddr_in6.self))
            default: return nil
            }
        }
    }
}
