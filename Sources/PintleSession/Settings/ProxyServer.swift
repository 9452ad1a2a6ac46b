// SPDX-License-Identifier: Apache-2.0

public import PintleMessage
internal import PintleSerialization
public import PintleTrust

/// A proxy between a session and its origins.
///
/// An http or https proxy forwards http requests; for https it is asked for a tunnel (RFC 9110 §9.3.6), and the
/// security policy judges the origin at its end. A SOCKS proxy makes connections for both (RFC 1928).
public struct ProxyServer: Sendable, Equatable {
    /// The protocol between the session and a proxy.
    public enum Scheme: String, Sendable, Hashable, CaseIterable {
        /// HTTP in plaintext.
        case http
        /// HTTP over TLS.
        case https
        /// SOCKS 5, in plaintext. The proxy resolves the names of origins, so the address judge cannot check their
        /// addresses.
        case socks5
    }

    /// The protocol of the proxy.
    public var scheme: Scheme
    /// The host and port of the proxy.
    public var authority: Authority
    /// The credential for Basic authorization at the proxy, or SOCKS's user name and password (RFC 1929); nil for none.
    public var credential: Credential?
    /// Hosts that are reached directly: addresses, or names, which include their subdomains.
    public var exceptions: [String] { didSet { self.exceptNames = Self.names(self.exceptions) } }
    /// The exceptions in lower case and without dots before them.
    private var exceptNames: Set<Substring>
    /// The conditions for the certificate of an https proxy; the session's own policy is for origins. Default: the
    /// system's roots.
    public var policy = SecurityPolicy.default

    /// Makes a proxy's description.
    public init(
        _ authority: Authority, scheme: Scheme = .http, credential: Credential? = nil, exceptions: [String] = []
    ) {
        self.authority = authority
        self.scheme = scheme
        self.credential = credential
        self.exceptions = exceptions
        self.exceptNames = Self.names(exceptions)
    }

    private static func names(_ exceptions: [String]) -> Set<Substring> {
        Set(exceptions.map { $0.lowercased().drop { $0 == "." } })
    }

    /// True if requests to `origin` go through the proxy.
    func serves(_ origin: Authority) -> Bool {
        let host = origin.host
        if self.exceptNames.isEmpty { return true }
        // The name itself, and each that it is below.
        return !self.exceptNames.contains(host[...])
            && !host.utf8.indices.contains { index in
                host.utf8[index] == UInt8(ascii: ".")
                    && self.exceptNames.contains(host[host.utf8.index(after: index)...])
            }
    }

    /// The value of Proxy-Authorization for requests that the proxy forwards (RFC 7617); nil for none.
    var authorization: String? {
        self.credential.flatMap { try? DefaultFields.basicAuthorization(user: $0.user, password: $0.password) }
    }

    /// True if the proxy forwards http requests, which are sent to it with their whole URL.
    var forwards: Bool { self.scheme != .socks5 }
}
