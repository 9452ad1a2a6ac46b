// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// A member of Cache-Status: what this cache did with a request (RFC 9211).
package struct CacheStatus: Sendable, Equatable {
    /// The way the answer came.
    package enum Way: Sendable, Equatable {
        /// From what is stored.
        case hit
        /// From the origin.
        case forward(ForwardReason)
        /// From nowhere: it was not to be asked.
        case none
    }

    /// The name of a cache as it stands in the field.
    package struct Name: Sendable, Equatable {
        fileprivate let text: String

        /// Makes a name of any text.
        package init(_ text: String) { self.text = CacheStatus.item(text) }
    }

    /// The name of the cache.
    package var cache: Name
    /// The way the answer came.
    package var way: Way
    /// The status that the origin answered with, where it was asked.
    package var forwardStatus: UInt16?
    /// The seconds that the response stays fresh; below zero it is stale.
    package var ttl: Int64?
    /// True where the response was stored.
    package var stored = false
    /// True where the request waited for the answer to another one.
    package var collapsed = false
    /// Words for people, such as ``Storability/Reason/rawValue``.
    package var detail: String?

    /// Makes a member.
    package init(cache: Name, way: Way) {
        self.cache = cache
        self.way = way
    }

    /// The member as it stands in the field.
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

    /// A token where the text is one, else a string (RFC 8941 §4.1.6, §4.1.7). What a string cannot have becomes `?`.
    private static func item(_ text: String) -> String {
        let bytes = Array(text.utf8)
        if let first = bytes.first, first == UInt8(ascii: "*") || ASCII.lowercased(first) &- 0x61 < 26,
            bytes.allSatisfy({ ASCII.isTokenByte($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") })
        {
            return text
        }
        var string: [UInt8] = [UInt8(ascii: "\"")]
        for byte in bytes {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { string.append(UInt8(ascii: "\\")) }
            string.append(byte >= 0x20 && byte < 0x7F ? byte : UInt8(ascii: "?"))
        }
        string.append(UInt8(ascii: "\""))
        return String(decoding: string, as: UTF8.self)
    }
}
