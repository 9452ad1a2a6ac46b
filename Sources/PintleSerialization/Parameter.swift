// SPDX-License-Identifier: Apache-2.0

/// A value that a serializer can turn into a query, a form or a document.
///
/// Two values are equal if they have the same members in the same order. This holds for sets and dictionaries, too, because
/// JSON writes members in the order in which they were added.
public enum Parameter: Sendable, Equatable {
    /// The absence of a value: `null` in JSON, a name without `=` in a query.
    case null
    /// `true` or `false` in JSON, `1` or `0` in a query.
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// A binary floating-point number. Infinities and NaN have no JSON form.
    case number(Double)
    /// A number kept as its JSON text (RFC 8259 §6), because neither `Int64` nor `Double` holds it without loss.
    case decimal(String)
    /// Text.
    case string(String)
    /// Bytes. Neither a query nor JSON has a form for them.
    case data([UInt8])
    /// A point in time, in seconds since the beginning of 1970 (UTC). Only property lists have a form for it.
    case date(Double)
    /// A file. Only multipart has a form for it.
    indirect case file(FilePart)
    /// Values in order.
    case array([Parameter])
    /// Values that a query sorts and writes under one repeated name; duplicates are not removed. JSON has no form for sets.
    case set([Parameter])
    /// Named values, in the order in which JSON writes them; a query sorts them by name. Names may repeat.
    case dictionary([Entry])

    /// One named value of a dictionary.
    public struct Entry: Sendable, Equatable {
        /// The name.
        public var key: String
        /// The value.
        public var value: Parameter

        /// Makes an entry.
        public init(_ key: String, _ value: Parameter) {
            self.key = key
            self.value = value
        }
    }

    /// The value of the first entry called `key`, if this is a dictionary that has one.
    public subscript(_ key: String) -> Parameter? {
        guard case .dictionary(let entries) = self else { return nil }
        return entries.first { $0.key == key }?.value
    }
}

/// A file in a form (RFC 7578 §4.2, §4.4): bytes in memory, with a name and a type.
public struct FilePart: Sendable, Equatable {
    /// The content of the file.
    public var bytes: [UInt8]
    /// The file name from the sender. Not to be trusted as a path.
    public var fileName: String
    /// The media type from the sender, with its parameters.
    public var mediaType: String

    /// Makes a file.
    ///
    /// - Parameter mediaType: the media type; by default that of the extension of `fileName`, or
    ///   `application/octet-stream`.
    public init(_ bytes: [UInt8], fileName: String, mediaType: String? = nil) {
        self.bytes = bytes
        self.fileName = fileName
        self.mediaType = mediaType ?? FileMediaType.named(fileName)
    }
}

extension Parameter: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A whole number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A floating-point number.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// A truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// An array.
    public init(arrayLiteral elements: Parameter...) { self = .array(elements) }
    /// A dictionary, in the order written.
    public init(dictionaryLiteral elements: (String, Parameter)...) {
        self = .dictionary(elements.map { Entry($0.0, $0.1) })
    }
}

extension String {
    /// True if `self` sorts before `other` by UTF-16 code units: case-sensitive and the same in every locale.
    func precedesByCodeUnit(_ other: String) -> Bool {
        var (left, right) = (self, other)
        return left.withUTF8 { left in right.withUTF8 { Self.precedes(left, $0) } }
    }

    /// Compares bytes of UTF-8 in the order of UTF-16. The orders differ in one point: characters beyond U+FFFF (from 0xF0
    /// in UTF-8) come before U+E000 to U+FFFF (0xEE and 0xEF), because they are pairs of surrogates in UTF-16.
    private static func precedes(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
        for index in 0..<Swift.min(left.count, right.count) where left[index] != right[index] {
            if left[index] >= 0xEE, right[index] >= 0xEE, (left[index] < 0xF0) != (right[index] < 0xF0) {
                return left[index] >= 0xF0
            }
            return left[index] < right[index]
        }
        return left.count < right.count
    }

    /// Copies bytes that are known to be UTF-8, without checking them again.
    init(checkedUTF8 bytes: Span<UInt8>) {
        self.init(copying: UTF8Span(unchecked: bytes))
    }
}
