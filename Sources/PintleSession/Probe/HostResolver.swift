// SPDX-License-Identifier: Apache-2.0

// Either module may provide the constants of sockets, as libcurl's headers import them too.
internal import CPintleCurl
internal import Glibc
package import NIOCore
package import PintleLoop
internal import PintleSystem

/// The system's resolver: the hosts file, name servers and other configured sources.
package enum HostResolver {
    /// The reason why a name has no addresses.
    package enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
        /// The resolver's words.
        case unresolved(String)
        /// The time limit passed.
        case timedOut

        package var description: String {
            switch self {
            case .unresolved(let reason): "the name cannot be resolved: \(reason)"
            case .timedOut: "the name was not resolved within the time limit"
            }
        }
    }

    /// Returns every IPv4 and IPv6 address of a name, each once and in the resolver's order; an address resolves to
    /// itself.
    ///
    /// - Parameters:
    ///   - timeLimit: a lookup that takes longer is abandoned, but continues on its thread: it cannot be interrupted.
    ///   - loop: times the lookup, and is not blocked.
    package static func addresses(
        of host: String, port: UInt16, within timeLimit: Duration, on loop: Loop
    ) async throws(Failure) -> [SocketAddress] {
        if let address = try? SocketAddress(ipAddress: host, port: Int(port)) { return [address] }
        // Both the lookup and the timer hold the promise; only the first to succeed counts.
        let promise = loop.makePromise(of: Result<[SocketAddress], Failure>.self)
        let timer = loop.scheduleTask(in: TimeAmount(timeLimit)) { promise.succeed(.failure(.timedOut)) }
        do {
            try ThreadPool.shared.run {
                promise.succeed(Result { () throws(Failure) in try self.lookUp(host, port: port) })
            }
        } catch {
            promise.succeed(.failure(.unresolved("the system has no thread for it: \(error)")))
        }
        defer { timer.cancel() }
        // The promise never fails; only the wait could, by an error of NIO's own.
        let result = try? await promise.futureResult.get()
        return try (result ?? .failure(.timedOut)).get()
    }

    /// The resolver's code in words.
    private static func words(for code: Int32) -> String {
        switch code {
        case EAI_NONAME: "the name is not known"
        case EAI_AGAIN: "no name server answers"
        case EAI_FAIL: "the name server has failed"
        case EAI_MEMORY: "out of memory"
        case EAI_SYSTEM: SystemError.last.description
        // EAI_NODATA and EAI_ADDRFAMILY, which glibc hides without _GNU_SOURCE.
        case -5, -9: "the name has no address"
        default: "the resolver's code \(code)"
        }
    }

    /// Asks the resolver, which may block for many seconds.
    package static func lookUp(_ name: String, port: UInt16 = 0) throws(Failure) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(name, String(port), &hints, &first)
        guard code == 0 else { throw .unresolved(Self.words(for: code)) }
        defer { freeaddrinfo(first) }
        var addresses: [SocketAddress] = []
        for entry in sequence(first: first, next: { $0?.pointee.ai_next }) {
            guard let entry, let address = entry.pointee.ai_addr else { break }
            let place = UnsafeRawPointer(address)
            let found: SocketAddress
            switch entry.pointee.ai_family {
            case AF_INET: found = SocketAddress(place.loadUnaligned(as: sockaddr_in.self))
            case AF_INET6: found = SocketAddress(place.loadUnaligned(as: sockaddr_in6.self))
            default: continue
            }
            if !addresses.contains(found) { addresses.append(found) }
        }
        return addresses
    }
}
