// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
package import PintlePolicy

/// A server that the command line names.
package struct RequestedHost: Sendable, Hashable, CustomStringConvertible {
    package let host: String
    /// The port; nil means any port of the configuration, or 443 if the configuration does not name the host.
    package let port: UInt16?

    /// Reads `HOST` or `HOST:PORT`; an IPv6 address needs brackets.
    package init(_ text: String) throws(Malformed) {
        if let authority = Authority(text, defaultPort: nil) {
            self.host = authority.host
            self.port = authority.port
        } else if let authority = Authority(text, defaultPort: 443) {
            self.host = authority.host
            self.port = nil
        } else {
            throw Malformed("must be HOST or HOST:PORT, as in api.example.com:8443 or [2001:db8::1]")
        }
    }

    /// The server, with port 443 if the command line gives no port.
    var authority: Authority { Authority(host: self.host, port: self.port ?? 443) }

    func isMet(by authority: Authority) -> Bool {
        authority.host == self.host && (self.port == nil || self.port == authority.port)
    }

    package var description: String {
        guard self.port == nil else { return self.authority.description }
        return self.authority.isIPv6 ? "[\(self.host)]" : self.host
    }
}
