// SPDX-License-Identifier: Apache-2.0

public import PintleMessage
public import PintleTrust

/// A proxy between a session and its origins.
///
/// An http or https proxy forwards http requests; for https a tunnel is asked of it (RFC 9110 §9.3.6), and the security
/// policy judges the origin behind it. A SOCKS proxy makes connections for both (RFC 1928).
public struct ProxyServer: Sendable, Equatable {
    /// How a proxy is spoken to.
    public enum Scheme: String, Sendable, Hashable, CaseIterable {
        /// HTTP in clear text.
        case http
        /// HTTP over TLS.
        case https
        /// SOCKS 5, in clear text. The proxy resolves the names of origins: addresses that were resolved here could not be
        /// judged before it dials them.
        case socks5
    }

    /// How it is spoken to.
    public var scheme: Scheme
    /// Where it listens.
    public var authority: Authority
    /// For Basic authorization at the proxy, or SOCKS's user name and password (RFC 1929); nil sends none.
    public var credential: Credential?
    /// Hosts that are reached directly: names, which stand for their subdomains too, or addresses.
    public var exceptions: [String]
    /// What the certificate of an https proxy must satisfy; the session's own policy is for origins. Default: the system's
    /// roots.
    public var policy = SecurityPolicy.default

    /// Makes a proxy's description.
    public init(
        _ authority: Authority, scheme: Scheme = .http, credential: Credential? = nil, exceptions: [String] = []
    ) {
        self.authority = authority
        self.scheme = scheme
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

    /// The value of Proxy-Authorization for requests that it forwards (RFC 7617); nil where it gets none.
    var authorization: String? {
        self.credential.flatMap { try? DefaultFields.basicAuthorization(user: $0.user, password: $0.password) }
    }

    /// Whether http requests are given to it to forward, with their whole URL.
    var forwards: Bool { self.scheme != .socks5 }
}
