// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// WebDAV's requests name further resources beside the target: where to copy or move to, and what must be locked.
extension GatewayAddresses {
    /// Changes the fields of a request in which a client names resources beside its target: `Destination` and `If` (RFC 4918
    /// §10.3, §10.4). A client of the proxy, too, knows no other host than the one that the route replaces.
    func apply(toRequest fields: inout Fields) {
        let destinations = fields.values(of: "Destination")
        if destinations.count == 1, let mapped = self.destination(destinations[0]) {
            fields.set("Destination", mapped)
        }
        let conditions = fields.values(of: "If")
        if conditions.count == 1, let mapped = self.conditions(conditions[0]) { fields.set("If", mapped) }
    }

    /// The reference for the upstream; nil if the client's leads to other resources than those of the route, or is right as it
    /// is.
    func destination(_ reference: String) -> String? {
        if reference.hasPrefix("/"), !reference.hasPrefix("//") {
            guard let path = self.upstreamPath(reference), path != reference else { return nil }
            return path
        }
        guard let url = try? HTTPURL(reference), self.isGateway(url), let path = self.upstreamPath(url.path) else {
            return nil
        }
        return HTTPURL(scheme: self.upstream.scheme, authority: self.upstream.authority, path: path).description
    }

    /// The conditions for the upstream; nil if they stay.
    ///
    /// A resource is in angle brackets before its lists. Their state tokens are in angle brackets, too, but within parentheses,
    /// and belong to the upstream, as entity tags do.
    func conditions(_ text: String) -> String? {
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        var mapped = ""
        var isInList = false
        var rest = text[...]
        while let byte = rest.utf8.first {
            // A bracket or quote within the other kind is part of a URL or of an entity tag.
            let closing: UInt8? =
                switch byte {
                case UInt8(ascii: "<"): UInt8(ascii: ">")
                case UInt8(ascii: "\""): byte
                default: nil
                }
            let second = rest.utf8.index(after: rest.startIndex)
            guard let closing else {
                if byte == UInt8(ascii: "(") { isInList = true }
                if byte == UInt8(ascii: ")") { isInList = false }
                mapped += rest[..<second]
                rest = rest[second...]
                continue
            }
            guard let end = rest[second...].utf8.firstIndex(of: closing) else { return nil }
            let inside = String(rest[second..<end])
            let after = rest.utf8.index(after: end)
            if closing == UInt8(ascii: ">"), !isInList, let resource = self.destination(inside) {
                mapped += "<\(resource)>"
            } else {
                mapped += rest[..<after]
            }
            rest = rest[after...]
        }
        return mapped == text ? nil : mapped
    }

    /// True if the client means the gateway. It may speak TLS with a server before the gateway, and name no port.
    private func isGateway(_ url: HTTPURL) -> Bool {
        guard url.authority.host == self.gateway.host else { return false }
        return url.authority.port == self.gateway.port
            || url.authority.port == url.scheme.defaultPort && self.gateway.port == Scheme.http.defaultPort
    }

    /// The path that the route makes of a path with its query; nil if it belongs to another route, as it lacks the prefix that the
    /// request's own path has lost.
    private func upstreamPath(_ path: String) -> String? {
        if self.prefix.isEmpty { return try? self.upstream.path(for: path, strippingPrefix: nil) }
        guard RequestPath.removing(prefix: self.prefix, from: path) != nil else { return nil }
        return try? self.upstream.path(for: path, strippingPrefix: self.prefix)
    }
}
