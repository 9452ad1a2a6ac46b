// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// A proxy between a session and its origins.
///
/// http requests are forwarded by it; for https a tunnel is asked of it (RFC 9110 §9.3.6), and the security policy
/// judges the origin behind it.
public struct ProxyServer: Sendable, Equatable {
    /// Where it listens. It is spoken to in clear text.
    public var authority: Authority
    /// For Basic authorization at the proxy; nil sends none.
    public var credential: Credential?
    /// Hosts that are reached directly: names, which stand for their subdomains too, or addresses.
    public var exceptions: [String]

    /// Makes a proxy's description.
    public init(_ authority: Authority, credential: Credential? = nil, exceptions: [String] = []) {
        self.authority = authority
        self.credential = credential
        self.exceptions = exceptions
    }

    /// Whether requests to `origin` go by the proxy.
    func serves(_ origin: Authority) -> Bool {
        !self.exceptions.contains { exception in
            let name = exception.lowercased().drop { $0 == "." }
            return origin.host == name || origin.host.hasSuffix(".\(name)")
        }
    }
}
