// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// A member of the Cache-Status field: the handling of a request by this cache (RFC 9211).
package struct CacheStatus: Sendable, Equatable {
    /// The source of the response.
    package enum Way: Sendable, Equatable {
        /// A stored response.
        case hit
        /// From the origin.
        case forward(ForwardReason)
        /// No source: the origin was not to be asked.
        case none
    }

    /// The name of a cache in the form of the field.
    package struct Name: Sendable, Equatable {
        fileprivate let text: String

        /// Makes a name from any text.
        package init(_ text: String) { self.text = CacheStatus.item(text) }
    }

    /// The name of the cache.
    package var cache: Name
    /// The source of the response.
    package var way: Way
    /// The status of the origin's response, if there is one.
    package var forwardStatus: UInt16?
    /// The seconds for which the response stays fresh; negative if it is stale.
    package var ttl: Int64?
    /// True if the response was stored.
    package var stored = false
    /// True if the request waited for the response to another request.
    package var collapsed = false
    /// A description for people, for example ``Storability/Reason/rawValue``.
    package var detail: String?

    /// Makes a member.
    package init(cache: Name, way: Way) {
        self.cache = cache
        self.way = way
    }

    /// The member in the form of the field.
    package var fieldValue: String {
        var text = self.cache.text
        switch self.way {
        case .hit: text += ";hit"
        case .forward(let reason): text += ";fwd=\(reason.rawValue)"
        case .none: break
        }
        if let forwardStatus { text += ";fwd-status=\(forwardStatus)" }
        // Integers have at most 15 digits (RFC 8941 §3.3.1).
        if let ttl { text += ";ttl=\(min(max(ttl, -999_999_999_999_999), 999_999_999_999_999))" }
        if self.stored { text += ";stored" }
        if self.collapsed { text += ";collapsed" }
        if let detail { text += ";detail=\(Self.item(detail))" }
        return text
    }

    /// The text as a token if it is one, otherwise as a string (RFC 8941 §4.1.6, §4.1.7). Characters that a string cannot have
    /// become `?`.
    private static func item(_ text: String) -> String {
        let bytes = Array(text.utf8)
        if let first = bytes.first, first == UInt8(ascii: "*") || ASCII.lowercased(first) &- 0x61 < 26,
            bytes.allSatisfy({ ASCII.isTokenByte($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") })
        {
            return text
        }
        return FieldSyntax.quoted(bytes.map { $0 >= 0x20 && $0 < 0x7F ? $0 : UInt8(ascii: "?") })
    }
}
