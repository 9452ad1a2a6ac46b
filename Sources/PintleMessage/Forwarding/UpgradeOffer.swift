// SPDX-License-Identifier: Apache-2.0

/// The protocols that a client would rather speak on its connection (RFC 9110 §7.8), of those that a proxy may let pass.
///
/// What would carry further requests, HTTP under whatever name or TLS (RFC 2817), is not among them: nobody could judge
/// those requests. SPDY is: the one use that it has left are the streams of `kubectl exec`, which are no requests.
package struct UpgradeOffer: Sendable, Equatable {
    /// Names with their versions, as the client spells them, in its order.
    package let protocols: [String]

    /// The offer in the fields of a request; nil if there is none, or it is not meant for the next server.
    ///
    /// - Parameter minorVersion: of the request: RFC 9110 §7.8 has an offer in HTTP/1.0 ignored.
    package init?(_ fields: Fields, minorVersion: UInt8) {
        // Connection has to name it, too.
        guard minorVersion == 1, fields.contains(.upgrade), fields.hasToken("upgrade", in: .connection)
        else { return nil }
        let protocols = Self.protocols(in: fields).filter { !Self.carriesRequests($0) }
        guard !protocols.isEmpty else { return nil }
        self.protocols = protocols
    }

    /// What a `101 Switching Protocols` with these fields switches to, as it is to be passed on.
    ///
    /// - Returns: nil where it does not say, or names what was not offered; then there is nothing to be relayed.
    package func accepted(by fields: Fields) -> String? {
        let chosen = Self.protocols(in: fields)
        let offered = Set(self.protocols.map(Self.folded))
        let isOffered = chosen.allSatisfy { offered.contains(Self.folded($0)) }
        return isOffered && !chosen.isEmpty ? chosen.joined(separator: ", ") : nil
    }

    /// The value of the field that makes the offer to the next server.
    package var value: String { self.protocols.joined(separator: ", ") }

    private static func protocols(in fields: Fields) -> [String] {
        var protocols: [String] = []
        fields.forEachToken(in: .upgrade) { protocols.append(String(decoding: $0, as: UTF8.self)) }
        return protocols
    }

    /// Equal bytes for names that are equal without regard to case.
    private static func folded(_ name: String) -> [UInt8] { name.utf8.map(ASCII.lowercased) }

    private static func carriesRequests(_ name: String) -> Bool {
        // Drafts have numbers behind a hyphen.
        let product = name.prefix { $0 != "/" && $0 != "-" }.lowercased()
        return ["h2c", "h2", "h3", "http", "https", "tls"].contains(product)
    }
}
