// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleMessage

/// A character encoding with an IANA name.
///
/// The C library converts: it has every encoding in use, whereas Foundation on Linux has few beyond the Latin ones.
public struct TextEncoding: Sendable, Hashable, CustomStringConvertible {
    /// The requested name in lower case.
    public let name: String

    /// UTF-8.
    public static let utf8 = TextEncoding(known: "utf-8")

    /// Finds an encoding by its IANA name or alias, ignoring case, such as `utf-8`, `iso-8859-1`, `us-ascii`, `utf-16`,
    /// `windows-1252`, `shift_jis` or `gb18030`.
    ///
    /// `utf-16` and `utf-32` write a byte order mark; their `le` and `be` forms do not.
    ///
    /// - Throws: `.unknownEncoding` for a name that the C library does not know.
    public init(_ ianaName: String) throws(SerializationError) {
        self.init(known: ianaName.lowercased())
        // The C library takes “” for the encoding of the locale, ignores characters that no name has, and takes text after
        // a slash for options.
        let isName = self.name.utf8.allSatisfy {
            ASCII.isDigit($0) || $0 &- 0x61 < 26 || "-_.:+()".utf8.contains($0)
        }
        guard isName, let first = self.name.utf8.first, ASCII.isDigit(first) || first &- 0x61 < 26,
            Self.convert([], from: self.name, to: "utf-8") != nil
        else {
            throw SerializationError(.unknownEncoding, "no character encoding is called “\(ianaName.cutName)”.")
        }
    }

    private init(known name: String) { self.name = name }

    /// The name.
    public var description: String { self.name }

    /// Returns the bytes of `text`.
    ///
    /// - Throws: `.unencodable` if the encoding lacks a character; no character is replaced or left out.
    public func encode(_ text: String) throws(SerializationError) -> [UInt8] {
        if self.isUTF8 { return Array(text.utf8) }
        guard let bytes = Self.convert(Array(text.utf8), from: "utf-8", to: self.name) else {
            throw SerializationError(.unencodable, "the text has characters that \(self.name) lacks.")
        }
        return bytes
    }

    /// Returns the text of `bytes`, or nil if they are not text in this encoding.
    public func decode(_ bytes: [UInt8]) -> String? {
        if self.isUTF8 { return String(validating: bytes, as: UTF8.self) }
        return Self.convert(bytes, from: self.name, to: "utf-8").flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// True if bytes below 128 mean the same as in ASCII, so that a form's `&`, `=` and `%` can be found.
    var keepsASCII: Bool {
        if self.isUTF8 { return true }
        let marks = "&=%+[]09azAZ"
        return (try? self.encode(marks)) == Array(marks.utf8)
    }

    private var isUTF8: Bool { self.name == "utf-8" || self.name == "utf8" }

    /// Converts all of `bytes` to the other encoding.
    ///
    /// - Returns: nil if an encoding is unknown, the bytes are not text in `source`, or a character has no form in
    ///   `target`.
    private static func convert(_ bytes: [UInt8], from source: String, to target: String) -> [UInt8]? {
        guard let converter = iconv_open(target, source), Int(bitPattern: converter) != -1 else { return nil }
        defer { iconv_close(converter) }
        var input = bytes.map { CChar(bitPattern: $0) }
        var output: [UInt8] = []
        let isWhole = input.withUnsafeMutableBufferPointer { input in
            var next = input.baseAddress
            var left = input.count
            // The output may begin with a byte order mark; stateful encodings end with a return to their initial state.
            return Self.drain(into: &output) { iconv(converter, &next, &left, &$0, &$1) }
                && Self.drain(into: &output) { iconv(converter, nil, nil, &$0, &$1) }
        }
        return isWhole ? output : nil
    }

    /// Calls `step` with room for its output until it needs no more.
    ///
    /// - Returns: true if no input was refused or replaced.
    private static func drain(
        into output: inout [UInt8], _ step: (inout UnsafeMutablePointer<CChar>?, inout Int) -> Int
    ) -> Bool {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { room in
            while true {
                var place = room.baseAddress
                var left = room.count
                let result = step(&place, &left)
                let reason = errno
                output.append(contentsOf: room[..<(room.count - left)].lazy.map { UInt8(bitPattern: $0) })
                if result == 0 { return true }
                guard result == -1, reason == E2BIG else { return false }
            }
        }
    }
}
