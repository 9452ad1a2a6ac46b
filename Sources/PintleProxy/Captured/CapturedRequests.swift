// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy
internal import PintleSystem

/// The requests of a captured connection in clear. They have a path for a target, since their client believes that it has
/// reached their server.
final class CapturedRequests: RequestEnclosure {
    let place: EnclosurePlace
    private var authority: Authority { self.place.authority }

    init(to authority: Authority) {
        self.place = EnclosurePlace(scheme: .http, authority: authority, server: authority)
    }

    var identity: ProxyIdentity { ProxyIdentity() }
    var isIntercepted: Bool { false }
    var isCaptured: Bool { true }

    /// Completes a request with the destination of its connection. If that is an address, Host names the server, and the
    /// request is sent to the addresses of that name, whichever one the client has connected to.
    func complete(_ head: inout RequestHead) -> Problem? {
        let path: String
        switch head.target {
        case .origin(let given): path = given
        case .asterisk: path = "*"
        case .absolute(let scheme, let named, let given):
            guard scheme == .http, named == self.authority else { return self.misdirection(of: "\(named)") }
            path = given
        case .authority: return Problem(.badRequest, "the connection was captured, and its server is no proxy")
        }
        var server = self.authority
        if let host = head.fields[.host] {
            guard let named = Authority(host, defaultPort: self.authority.port) else {
                return self.misdirection(of: host)
            }
            let isOpen = IPAddress(self.authority.host) != nil
            guard isOpen || named == self.authority else { return self.misdirection(of: host) }
            server = named
        }
        head.target = .absolute(scheme: .http, authority: server, path: path)
        return nil
    }

    private func misdirection(of host: String) -> Problem {
        Problem(
            .destinationDenied,
            "the request is for \(host.showable(keepingLines: false)), and its connection was made to \(self.authority)"
        )
    }
}
