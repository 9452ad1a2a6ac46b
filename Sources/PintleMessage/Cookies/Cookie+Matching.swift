// SPDX-License-Identifier: Apache-2.0

/// Which cookies requests get, and which cookies take the place of others.
extension Cookie {
    /// Tells whether it would take the place of `other`, or shadow it, though whoever set it in clear text may not (RFC 6265bis
    /// §5.7): somebody on the way could.
    func shadows(_ other: Cookie) -> Bool {
        guard other.isSecure, !self.isSecure, Self.areSame(self.name, other.name) else { return false }
        return Self.domain(self.domain, matches: other.domain) || Self.domain(other.domain, matches: self.domain)
    }

    /// Tells whether `other` takes its place.
    func isSame(as other: Cookie) -> Bool {
        self.isHostOnly == other.isHostOnly && Self.areSame(self.name, other.name)
            && Self.areSame(self.domain, other.domain) && Self.areSame(self.path, other.path)
    }

    /// Tells whether a cookie of the same name, domain and path says the same.
    func isEqual(to other: Cookie) -> Bool {
        Self.areSame(self.value, other.value) && self.expires == other.expires && self.isSecure == other.isSecure
            && self.isHTTPOnly == other.isHTTPOnly && self.sameSite == other.sameSite
    }

    package func hasExpired(at now: Int64) -> Bool { self.expires.map { $0 <= now } ?? false }

    /// Tells whether a request for `url` gets it (RFC 6265 §5.4).
    package func belongs(to url: HTTPURL) -> Bool {
        guard self.belongs(toHost: url.authority.host) else { return false }
        return self.matches(path: url.path.utf8) && (!self.isSecure || Self.isSecret(url))
    }

    /// Tells whether requests to `host` get it, over some path.
    package func belongs(toHost host: String) -> Bool {
        self.isHostOnly ? host == self.domain : Self.domain(self.domain, matches: host)
    }

    private func matches(path: String.UTF8View) -> Bool {
        let bare = path.prefix { $0 != UInt8(ascii: "?") }
        let own = self.path.utf8
        guard bare.starts(with: own) else { return false }
        let rest = bare.dropFirst(own.count)
        return rest.isEmpty || own.last == UInt8(ascii: "/") || rest.first == UInt8(ascii: "/")
    }

    /// RFC 6265 §5.1.3.
    static func domain(_ domain: String, matches host: String) -> Bool {
        if domain == host { return true }
        let rest = host.utf8.count - domain.utf8.count
        guard rest > 1, host.utf8.dropFirst(rest).elementsEqual(domain.utf8) else { return false }
        return host.utf8.dropFirst(rest - 1).first == UInt8(ascii: ".") && IPAddress(host) == nil
    }

    /// Tells whether nobody on the way can read what is sent: this machine talks to itself in secret, too.
    package static func isSecret(_ url: HTTPURL) -> Bool {
        let host = url.authority.host
        return url.isSecure || host.hasSuffix(".localhost") || ["localhost", "127.0.0.1", "::1"].contains(host)
    }
}
