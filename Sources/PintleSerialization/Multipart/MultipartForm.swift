// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// A body of type `multipart/form-data` (RFC 7578): named parts of text, bytes, files and streams, in order.
///
/// A value type: a copy has the same parts and the same boundary, and shares nothing else. A form only refers to files and
/// streams, which are read when the body is sent, so it stays small whatever it contains.
public struct MultipartForm: Sendable {
    /// The line between parts, without its hyphens: 128 random bits in hexadecimal after `pintle-`.
    ///
    /// It is random, not derived from the content, so no sender can guess it, and the content is not searched for it.
    public let boundary: String

    /// The parts, in the order in which they are sent.
    public private(set) var parts: [Part] = []

    /// Makes a form without parts and with a new boundary.
    public init() {
        var source = SystemRandomNumberGenerator()
        let digits = (0..<4).map { _ in
            let word = String(UInt32.random(in: .min ... .max, using: &source), radix: 16)
            return String(repeating: "0", count: 8 - word.count) + word
        }
        self.init(boundary: "pintle-\(digits.joined())")
    }

    /// Makes a form from parameters: a part for each of ``QueryString/pairs(of:)``, with its nested name.
    ///
    /// Files have a name and a type; bytes stay bytes, null is empty, every other value becomes its text.
    ///
    /// - Parameters:
    ///   - parameters: nil makes a form without parts.
    ///   - encoding: the encoding of text values; names are always UTF-8.
    /// - Throws: `.unserializable` as ``QueryString/pairs(of:)`` does, and with the path of the value for dates;
    ///   `.invalidField` with the path of a file whose type is not a valid field value; `.unencodable` with the path of a
    ///   text with characters that the encoding lacks.
    public init(parameters: Parameter?, encoding: TextEncoding = .utf8) throws(SerializationError) {
        self.init()
        guard let parameters else { return }
        let pairs = try QueryString.pairs(of: parameters) { (value) throws(Mismatch) in
            try Self.check(value, in: encoding)
        }
        for pair in pairs {
            switch pair.value {
            case .file(let file):
                try self.append(name: pair.name, bytes: file.bytes, fileName: file.fileName, type: file.mediaType)
            case .data(let bytes): self.append(name: pair.name, bytes: bytes)
            default: self.append(name: pair.name, bytes: try encoding.encode(pair.value.text ?? ""))
            }
        }
    }

    /// Makes a form with a given boundary, for tests that compare the output byte by byte.
    package init(boundary: String) { self.boundary = boundary }

    // MARK: Adding parts

    /// Adds text in UTF-8 as a form field: without file name and type.
    public mutating func append(name: String, text: String) { self.append(name: name, bytes: Array(text.utf8)) }

    /// Adds bytes as a form field: without file name and type.
    public mutating func append(name: String, bytes: [UInt8]) {
        self.append(
            Part(fields: ["Content-Disposition": Self.disposition(name, fileName: nil)], content: .bytes(bytes)))
    }

    /// Adds bytes as a file.
    ///
    /// - Throws: `.invalidField` for a type that is not a valid field value.
    public mutating func append(
        name: String, bytes: [UInt8], fileName: String, type: String
    ) throws(SerializationError) {
        self.append(Part(fields: try Self.fields(name, fileName, type), content: .bytes(bytes)))
    }

    /// Adds a file that is read when the body is sent. Its present length is the length that will be sent.
    ///
    /// - Parameters:
    ///   - path: the path of a regular file, or of a symbolic link to one.
    ///   - fileName: the name to send; by default the last component of `path`.
    ///   - type: the media type; by default that of the extension of `path`, or `application/octet-stream`.
    /// - Throws: `.unreadableFile` if the file is missing, not a regular file, or not readable, and `.invalidField` as
    ///   above. The form is unchanged then.
    public mutating func append(
        name: String, file path: String, fileName: String? = nil, type: String? = nil
    ) throws(SerializationError) {
        let length = try FileLength.ofRegularFile(at: path)
        let ownName = path.split(separator: "/").last.map(String.init) ?? path
        let fields = try Self.fields(name, fileName ?? ownName, type ?? FileMediaType.named(ownName))
        self.append(Part(fields: fields, content: .file(path: path, length: length)))
    }

    /// Adds bytes that are produced while they are sent.
    ///
    /// - Parameter type: the media type. Default `application/octet-stream`.
    /// - Throws: `.invalidField` for a type that is not a valid field value.
    public mutating func append(
        name: String, stream: Stream, fileName: String, type: String = FileMediaType.unknown
    ) throws(SerializationError) {
        self.append(Part(fields: try Self.fields(name, fileName, type), content: .stream(stream)))
    }

    /// Adds bytes with exactly the given fields.
    ///
    /// - Throws: `.invalidField` for an invalid field name or value.
    public mutating func append(fields: Fields, bytes: [UInt8]) throws(SerializationError) {
        for (name, value) in fields.pairs where !FieldSyntax.isName(name) || !FieldSyntax.isValue(value) {
            throw SerializationError(.invalidField, "\(name.debugDescription) of a part is no valid field.")
        }
        self.append(Part(fields: fields, content: .bytes(bytes)))
    }

    /// Adds the parts of another form after those of this one.
    public mutating func append(_ other: MultipartForm) { self.parts += other.parts }

    // MARK: Inside

    private mutating func append(_ part: Part) { self.parts.append(part) }

    private static func fields(
        _ name: String, _ fileName: String, _ type: String
    ) throws(SerializationError) -> Fields {
        try Self.check(type: type)
        return ["Content-Disposition": Self.disposition(name, fileName: fileName), "Content-Type": type]
    }

    private static func check(type: String) throws(SerializationError) {
        guard !type.isEmpty, FieldSyntax.isValue(type) else {
            throw SerializationError(
                .invalidField, "\(type.debugDescription) is no media type: it is empty, or has control characters.")
        }
    }

    private static func disposition(_ name: String, fileName: String?) -> String {
        let start = "form-data; name=\"\(Self.escaped(name))\""
        return fileName.map { "\(start); filename=\"\(Self.escaped($0))\"" } ?? start
    }

    /// Escapes the text of a quoted string as multipart/form-data in the WHATWG's HTML standard: three bytes are escaped,
    /// `%` is not. This is the only form that browsers and servers agree on.
    private static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes += "%22".utf8
            case UInt8(ascii: "\r"): bytes += "%0D".utf8
            case UInt8(ascii: "\n"): bytes += "%0A".utf8
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Checks a value before it is written, because its path is still known here.
    private static func check(_ value: Parameter, in encoding: TextEncoding) throws(Mismatch) {
        do throws(SerializationError) {
            switch value {
            case .date:
                throw SerializationError(.unserializable, "a date has no form in multipart; write text or a number.")
            case .file(let file): try Self.check(type: file.mediaType)
            case .string(let text) where encoding != .utf8: _ = try encoding.encode(text)
            default: break
            }
        } catch {
            throw Mismatch(error.message, code: error.code)
        }
    }
}

extension MultipartForm {
    /// One part of a form.
    public struct Part: Sendable {
        /// Content-Disposition and, for files, Content-Type; or the fields given by the caller.
        public let fields: Fields
        /// The content after the fields.
        public let content: Content
    }

    /// The bytes of a part, or their source.
    public enum Content: Sendable {
        /// Bytes.
        case bytes([UInt8])
        /// A regular file, and its length when it was added.
        case file(path: String, length: UInt64)
        /// Bytes that are produced while they are sent.
        case stream(Stream)

        /// The length in bytes; nil for a stream of unknown length.
        public var length: UInt64? {
            switch self {
            case .bytes(let bytes): UInt64(bytes.count)
            case .file(_, let length): length
            case .stream(let stream): stream.length
            }
        }
    }

    /// Bytes that are produced while they are sent, each time that the body is sent.
    public struct Stream: Sendable {
        /// The declared number of bytes; nil if unknown. It is not compared with the number of bytes produced.
        public let length: UInt64?
        /// Opens the stream at its first byte. It may be called several times, because a body is sent again after an
        /// authentication challenge or on another connection.
        public let open: @Sendable () throws -> any AsyncSequence<[UInt8], any Error> & Sendable

        /// Makes a stream.
        public init(
            length: UInt64?, open: @escaping @Sendable () throws -> any AsyncSequence<[UInt8], any Error> & Sendable
        ) {
            self.length = length
            self.open = open
        }
    }
}
