// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// The protocols that a client offers to switch to (RFC 9110 §7.8), reduced to those that a proxy may let through.
///
/// Protocols that would carry further requests, HTTP under any name and TLS (RFC 2817), are removed: the proxy could not
/// apply its rules to those requests. SPDY stays: its only remaining use is the streams of `kubectl exec`, which are not
/// requests.
package struct UpgradeOffer: Sendable, Equatable {
    /// Names with their versions, in the client's spelling and order.
    package let protocols: [String]

    /// Reads the offer in the fields of a request; nil if there is none, or it is not meant for the next server.
    ///
    /// - Parameter minorVersion: the version of the request: an offer in HTTP/1.0 must be ignored (RFC 9110 §7.8).
    package init?(_ fields: Fields, minorVersion: UInt8) {
        // Connection must name the field, too.
        guard minorVersion == 1, fields.contains(.upgrade), fields.hasToken("upgrade", in: .connection)
        else { return nil }
        let protocols = Self.protocols(in: fields).filter { !Self.carriesRequests($0) }
        guard !protocols.isEmpty else { return nil }
        self.protocols = protocols
    }

    /// Returns the protocols that a `101 Switching Protocols` with these fields switches to, as the value to forward.
    ///
    /// - Returns: nil if the response names no protocol, or one that was not offered; then nothing may be relayed.
    package func accepted(by fields: Fields) -> String? {
        let chosen = Self.protocols(in: fields)
        let offered = Set(self.protocols.map(Self.folded))
        let isOffered = chosen.allSatisfy { offered.contains(Self.folded($0)) }
        return isOffered && !chosen.isEmpty ? chosen.joined(separator: ", ") : nil
    }

    /// The value of the Upgrade field for the next server.
    package var value: String { self.protocols.joined(separator: ", ") }

    private static func protocols(in fields: Fields) -> [String] {
        var protocols: [String] = []
        fields.forEachToken(in: .upgrade) { protocols.append(String(decoding: $0, as: UTF8.self).streamSafe) }
        return protocols
    }

    /// Equal bytes for names that are equal, ignoring case.
    private static func folded(_ name: String) -> [UInt8] { name.utf8.map(ASCII.lowercased) }

    private static func carriesRequests(_ name: String) -> Bool {
        // Names of drafts have numbers after a hyphen.
        let product = name.prefix { $0 != "/" && $0 != "-" }.lowercased()
        return ["h2c", "h2", "h3", "http", "https", "tls"].contains(product)
    }
}
