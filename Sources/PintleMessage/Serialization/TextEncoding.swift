// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A character encoding, by the name IANA gives it.
public struct TextEncoding: Sendable, Hashable, CustomStringConvertible {
    /// The name as it was asked for, in lower case.
    public let name: String
    private let encoding: String.Encoding

    /// UTF-8.
    public static let utf8 = TextEncoding(name: "utf-8", encoding: .utf8)

    /// Finds an encoding by its IANA name or alias, such as `utf-8`, `iso-8859-1`, `us-ascii`, `utf-16`,
    /// `windows-1252` or `shift_jis`, without regard to case.
    ///
    /// `utf-16` and `utf-32` write a byte order mark; their `le` and `be` forms do not.
    ///
    /// - Throws: `.unknownEncoding` for a name that Foundation does not know.
    public init(_ ianaName: String) throws(SerializationError) {
        guard let encoding = String.Encoding(ianaName: ianaName) else {
            throw SerializationError(.unknownEncoding, "no character encoding is called “\(ianaName)”.")
        }
        self.init(name: ianaName.lowercased(), encoding: encoding)
    }

    private init(name: String, encoding: String.Encoding) {
        self.name = name
        self.encoding = encoding
    }

    /// The name.
    public var description: String { self.name }

    /// The bytes of `text`.
    ///
    /// - Throws: `.unencodable` where the encoding lacks a character; nothing is replaced or left out.
    public func encode(_ text: String) throws(SerializationError) -> [UInt8] {
        if self.encoding == .utf8 { return Array(text.utf8) }
        guard let data = text.data(using: self.encoding, allowLossyConversion: false) else {
            throw SerializationError(.unencodable, "the text has characters that \(self.name) lacks.")
        }
        return Array(data)
    }

    /// The text of `bytes`, or nil where they are not text in this encoding.
    public func decode(_ bytes: [UInt8]) -> String? {
        if self.encoding == .utf8 { return String(validating: bytes, as: UTF8.self) }
        return String(bytes: bytes, encoding: self.encoding)
    }

    /// Whether the bytes below 128 mean what they mean in ASCII, so that a form's `&`, `=` and `%` can be found.
    var keepsASCII: Bool {
        if self.encoding == .utf8 { return true }
        let marks = "&=%+[]09azAZ"
        return (try? self.encode(marks)) == Array(marks.utf8)
    }
}
