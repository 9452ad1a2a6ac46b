// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage
internal import PintlePolicy
internal import PintleReachability
internal import PintleSession

/// What the state of the network says about a request, so that nobody waits for what cannot happen.
///
/// Only a machine without a working default route is doubted, and there only what truly has no way: what can be reached
/// all the same, on this machine or its own networks, is tried as ever.
struct NetworkPrecheck: Sendable {
    /// Nil where the network is not watched.
    let reachability: Reachability?

    /// The time for looking a name up if no name server can be reached: it has its address from this machine then or not at all,
    /// which takes no time. Connecting to it takes what it takes.
    private static let patienceWithoutNames = TimeAmount.seconds(1)

    /// The reachability, where the machine is cut off.
    private var cutOff: Reachability? {
        self.reachability?.status == .notReachable ? self.reachability : nil
    }

    /// Looks at a request before it is sent, and takes from its patience what would be waited for in vain.
    ///
    /// - Returns: why it cannot work: its destination is an address to which there is no route.
    func refusal(of request: inout TransferRequest) -> SessionError? {
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

    /// The problem that a failed transfer is: a name that was not found for want of a network is no fault of the name.
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
    /// Whom a connection is made to.
    fileprivate var dialledAuthority: Authority {
        if case .by(let proxy) = self.way { proxy.server.authority } else { self.authority }
    }
}
