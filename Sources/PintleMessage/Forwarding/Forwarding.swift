// SPDX-License-Identifier: Apache-2.0

/// What an intermediary does to every message that it forwards (RFC 9110 §7.6).
package enum Forwarding {
    /// Removes what belongs to one connection only: the fields named by Connection, the hop-by-hop fields themselves,
    /// framing (it is written anew), and `Proxy`, which CGI programs would take for a setting.
    package static func removeHopByHop(from fields: inout Fields) {
        if fields.contains(.connection) {
            // A set, so that the work is that of the fields and of the names, and not of the one times the other.
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

    /// Removes from a trailer section what must not stand there (RFC 9110 §6.5.1): framing, routing, and what would
    /// change how a message that was already handled is understood.
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
    /// - Parameter version: of the message that was received: `1.0`, `1.1` or `2`.
    package static func appendVia(_ pseudonym: String, version: String, to fields: inout Fields) {
        // A line of one's own is the same list, without rewriting what others wrote.
        fields.append(.via, version, pseudonym)
    }

    /// The Via of a request for the next proxy, which might lead back here: the proxies that it has passed, and this one.
    ///
    /// - Parameter pseudonym: of this proxy; nil where it names itself nowhere.
    package static func path(of head: RequestHead, to pseudonym: String?) -> Fields {
        var fields = Fields()
        for passed in head.fields.values(of: "Via") { fields.append("Via", passed) }
        if let pseudonym { Self.appendVia(pseudonym, version: head.version, to: &fields) }
        return fields
    }

    /// Whether the message has passed `pseudonym` before.
    package static func hasPassed(_ pseudonym: String, _ fields: Fields) -> Bool {
        var found = false
        fields.forEachToken(in: .via) { member in
            // Version, pseudonym, and perhaps a comment. Nothing is allocated: a hostile list has a member in two bytes.
            let rest = member.drop { !Self.isSpace($0) }.drop(while: Self.isSpace)
            if ASCII.equalsIgnoringCase(rest.prefix { !Self.isSpace($0) }, pseudonym.utf8) { found = true }
        }
        return found
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Whether a member of Connection names a field that is to go and would not go anyway.
    private static func namesAnotherField(_ member: UnsafeRawBufferPointer) -> Bool {
        switch FieldName(bytes: member) {
        // Connection cannot take these away: without them the message would mean something else.
        case .host, .contentLength, .contentType, .contentEncoding, .authorization, .cacheControl, .via: false
        // These go in any case.
        case .keepAlive, .upgrade, .te, .proxyConnection: false
        default: !ASCII.equalsIgnoringCase(member, "close")
        }
    }
}
