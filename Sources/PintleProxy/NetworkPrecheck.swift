// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage
internal import PintlePolicy
internal import PintleReachability
internal import PintleSession

/// Checks a request against the state of the network, so that clients do not wait for impossible connections, and upstream proxies
/// bring no request back.
///
/// Only a machine without a working default route fails requests early, and only those to destinations without any route.
/// Destinations on this machine or on its own networks are tried as usual.
struct NetworkPrecheck: Sendable {
    /// Nil if the network is not watched.
    let reachability: Reachability?
    let own: OwnAddresses
    let ownNames: OwnNames

    /// The timeout for a name lookup if no name server is reachable: only this machine can then resolve the name, and does so
    /// at once. The timeout for connecting is not changed.
    private static let patienceWithoutNames = TimeAmount.seconds(1)

    /// The reachability if the machine is cut off, otherwise nil.
    private var cutOff: Reachability? {
        self.reachability?.status == .notReachable ? self.reachability : nil
    }

    /// Checks a request before it is sent, and shortens its lookup timeout if a long wait would be in vain.
    ///
    /// - Returns: the error if the destination is an address without a route, or this proxy by the way of an upstream proxy.
    func refusal(of request: inout TransferRequest) -> SessionError? {
        // Without an upstream proxy the address is judged when it is dialled.
        if case .by = request.way, self.isOwn(request.authority) {
            return SessionError(.addressDenied, "\(request.authority) is where this proxy listens: a loop")
        }
        guard let cutOff else { return nil }
        let authority = request.dialledAuthority
        if let address = authority.address {
            guard cutOff.status(of: address) == .notReachable else { return nil }
            return SessionError(
                .networkUnreachable, "there is no route to \(authority), and no default route that works")
        }
        if !cutOff.canReachNameServer() {
            request.lookupTimeout = Self.patienceWithoutNames
        }
        return nil
    }

    /// True if a host is this proxy for an upstream proxy on the same machine. Such a proxy resolves names itself.
    private func isOwn(_ authority: Authority) -> Bool {
        let addresses: [SocketAddress]
        if let address = authority.address {
            addresses = [address]
        } else if authority.isNameOfLoopback || self.ownNames.contains(authority.host) {
            addresses = ["127.0.0.1", "::1"].compactMap { try? SocketAddress(ipAddress: $0, port: Int(authority.port)) }
        } else {
            return false
        }
        return addresses.contains { address in IPAddress(address).map { self.own.contains($0, address) } ?? false }
    }

    /// The problem for a failed transfer. A name that was not found for lack of a network is reported as a network problem.
    func problem(_ error: SessionError, with authority: Authority?) -> Problem {
        guard error.code == .dnsFailure, let authority, let cutOff, !cutOff.canReachNameServer(elsewhere: true) else {
            return Problem(error)
        }
        let words = error.cause.map { " (\($0))" } ?? ""
        return Problem(
            .networkUnreachable,
            "\(authority.host) cannot be looked up: there is no default route that works, nor a route to another "
                + "machine's name server\(words)")
    }
}

extension TransferRequest {
    /// The host to which a connection is made.
    fileprivate var dialledAuthority: Authority {
        if case .by(let proxy) = self.way { proxy.server.authority } else { self.authority }
    }
}
