// SPDX-License-Identifier: Apache-2.0

/// Rules for which cookies a request gets, and which cookies replace others.
extension Cookie {
    /// True if this cookie, which is not Secure, would replace or shadow the Secure cookie `other`. A plaintext response
    /// must not set such a cookie (RFC 6265bis §5.7), because an attacker on the network path could have sent it.
    func shadows(_ other: Cookie) -> Bool {
        guard other.isSecure, !self.isSecure, Self.areSame(self.name, other.name) else { return false }
        return Self.domain(self.domain, matches: other.domain) || Self.domain(other.domain, matches: self.domain)
    }

    /// True if `other` replaces this cookie: name, domain and path are equal.
    func isSame(as other: Cookie) -> Bool {
        self.isHostOnly == other.isHostOnly && Self.areSame(self.name, other.name)
            && Self.areSame(self.domain, other.domain) && Self.areSame(self.path, other.path)
    }

    /// True if `other`, a cookie with the same name, domain and path, has the same value and attributes.
    func isEqual(to other: Cookie) -> Bool {
        Self.areSame(self.value, other.value) && self.expires == other.expires && self.isSecure == other.isSecure
            && self.isHTTPOnly == other.isHTTPOnly && self.sameSite == other.sameSite
    }

    package func hasExpired(at now: Int64) -> Bool { self.expires.map { $0 <= now } ?? false }

    /// True if a request for `url` gets this cookie (RFC 6265 §5.4).
    package func belongs(to url: HTTPURL) -> Bool {
        guard self.belongs(toHost: url.authority.host) else { return false }
        return self.matches(path: url.path.utf8) && (!self.isSecure || Self.isSecret(url))
    }

    /// True if requests to `host` get this cookie, for some path.
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

    /// True if `host` is `domain` or below it (RFC 6265 §5.1.3).
    static func domain(_ domain: String, matches host: String) -> Bool {
        if domain == host { return true }
        let rest = host.utf8.count - domain.utf8.count
        guard rest > 1, host.utf8.dropFirst(rest).elementsEqual(domain.utf8) else { return false }
        return host.utf8.dropFirst(rest - 1).first == UInt8(ascii: ".") && IPAddress(host) == nil
    }

    /// True if no other machine can read a request for `url` on its way: it goes over TLS, or to this machine itself.
    package static func isSecret(_ url: HTTPURL) -> Bool {
        let host = url.authority.host
        return url.isSecure || host.hasSuffix(".localhost") || ["localhost", "127.0.0.1", "::1"].contains(host)
    }
}
