// SPDX-License-Identifier: Apache-2.0

/// The changes that an intermediary makes to every message it forwards (RFC 9110 §7.6).
package enum Forwarding {
    /// Removes the fields that belong to one connection only: those named by Connection, the hop-by-hop fields themselves,
    /// framing (it is written anew), and `Proxy`, which CGI programs would take for a setting.
    package static func removeHopByHop(from fields: inout Fields) {
        if fields.contains(.connection) {
            // A set, so that the work grows with the sum of fields and names, not with their product.
            var named: Set<[UInt8]> = []
            fields.forEachToken(in: .connection) { name in
                if Self.namesAnotherField(name) { named.insert(name.map(ASCII.lowercased)) }
            }
            if !named.isEmpty { fields.removeAll { _, name in named.contains(name.map(ASCII.lowercased)) } }
        }
        fields.removeAll { name in
            switch name {
            case .connection, .keepAlive, .proxyConnection, .te, .trailer, .transferEncoding, .upgrade, .contentLength,
                .proxyAuthorization, .proxyAuthenticate, .proxyAuthenticationInfo, .proxy:
                true
            default: false
            }
        }
    }

    /// Removes fields that must not be in a trailer section (RFC 9110 §6.5.1): framing, routing, and those that would
    /// change the meaning of a message that was already processed.
    package static func removeForbidden(fromTrailers fields: inout Fields) {
        Self.removeHopByHop(from: &fields)
        fields.removeAll { name in
            switch name {
            case .host, .contentType, .contentEncoding, .authorization, .cookie, .setCookie, .cacheControl, .expect,
                .maxForwards, .date, .location, .retryAfter, .age, .via:
                true
            default: false
            }
        }
        for name in ["Content-Range", "Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"]
        {
            fields.remove(name)
        }
    }

    /// Appends this proxy to Via (RFC 9110 §7.6.3).
    ///
    /// - Parameter version: the version of the received message: `1.0`, `1.1` or `2`.
    package static func appendVia(_ pseudonym: String, version: String, to fields: inout Fields) {
        // A new line means the same as a longer list, and leaves the existing lines unchanged.
        fields.append(.via, version, pseudonym)
    }

    /// Returns the Via lines of a request to the next proxy, which might lead back here: the proxies that it has passed,
    /// and this one.
    ///
    /// - Parameter pseudonym: the name of this proxy in Via; nil if it adds no Via.
    package static func path(of head: RequestHead, to pseudonym: String?) -> Fields {
        var fields = Fields()
        for passed in head.fields.values(of: "Via") { fields.append("Via", passed) }
        if let pseudonym { Self.appendVia(pseudonym, version: head.version, to: &fields) }
        return fields
    }

    /// True if the message has passed `pseudonym` before.
    package static func hasPassed(_ pseudonym: String, _ fields: Fields) -> Bool {
        var found = false
        fields.forEachToken(in: .via) { member in
            // Version, pseudonym, and perhaps a comment. Allocates nothing, because a hostile list has a member in every
            // two bytes.
            let rest = member.drop { !Self.isSpace($0) }.drop(while: Self.isSpace)
            if ASCII.equalsIgnoringCase(rest.prefix { !Self.isSpace($0) }, pseudonym.utf8) { found = true }
        }
        return found
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// True if a member of Connection names a field that must be removed and that is not removed anyway.
    private static func namesAnotherField(_ member: UnsafeRawBufferPointer) -> Bool {
        switch FieldName(bytes: member) {
        // Connection cannot remove these: without them the message would mean something else.
        case .host, .contentLength, .contentType, .contentEncoding, .authorization, .cacheControl, .via: false
        // These are removed in any case.
        case .keepAlive, .upgrade, .te, .proxyConnection: false
        default: !ASCII.equalsIgnoringCase(member, "close")
        }
    }
}
