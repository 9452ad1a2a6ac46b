// SPDX-License-Identifier: Apache-2.0

/// A body of type `multipart/form-data` (RFC 7578): named parts of text, bytes, files and streams, in order.
///
/// A value: a copy has the same parts and the same boundary and shares nothing else. Files and streams are named here
/// and read where the body is sent, so a form is small whatever it carries.
public struct MultipartForm: Sendable {
    /// The line between parts, without its hyphens: 128 random bits in hexadecimal after `pintle-`.
    ///
    /// It never depends on what is sent, and nobody can guess it, so what is sent is not searched for it.
    public let boundary: String

    /// The parts, in the order in which they are sent.
    public private(set) var parts: [Part] = []

    /// Makes a form without parts, with a boundary of its own.
    public init() {
        var source = SystemRandomNumberGenerator()
        let digits = (0..<4).map { _ in
            let word = String(UInt32.random(in: .min ... .max, using: &source), radix: 16)
            return String(repeating: "0", count: 8 - word.count) + word
        }
        self.init(boundary: "pintle-\(digits.joined())")
    }

    /// Makes a form of parameters: a part for each of ``QueryString/pairs(of:)``, with names as nesting built them.
    ///
    /// Files are files with name and type; bytes stay bytes, null is empty, everything else is its text.
    ///
    /// - Parameters:
    ///   - parameters: nil makes a form without parts.
    ///   - encoding: of text values only; names are UTF-8.
    /// - Throws: `.unserializable` as ``QueryString/pairs(of:)`` does, and with the path of the value for dates and for
    ///   a file whose type may not stand in a field; `.unencodable` with the path of a text that has characters which
    ///   the encoding lacks.
    public init(parameters: Parameter?, encoding: TextEncoding = .utf8) throws(SerializationError) {
        self.init()
        guard let parameters else { return }
        let pairs = try QueryString.pairs(of: parameters) { (value) throws(Misfit) in
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

    /// Makes a form with a boundary that is known beforehand, to compare what is written byte by byte.
    package init(boundary: String) { self.boundary = boundary }

    // MARK: Adding parts

    /// Adds text in UTF-8, as a form's field has it: without file name and type.
    public mutating func append(name: String, text: String) { self.append(name: name, bytes: Array(text.utf8)) }

    /// Adds bytes as a form's field: without file name and type.
    public mutating func append(name: String, bytes: [UInt8]) {
        self.append(
            Part(fields: ["Content-Disposition": Self.disposition(name, fileName: nil)], content: .bytes(bytes)))
    }

    /// Adds bytes as a file.
    ///
    /// - Throws: `.invalidField` for a type that may not stand in a field.
    public mutating func append(
        name: String, bytes: [UInt8], fileName: String, type: String
    ) throws(SerializationError) {
        self.append(Part(fields: try Self.fields(name, fileName, type), content: .bytes(bytes)))
    }

    /// Adds a file, which is read when the body is sent; its length is what it is now.
    ///
    /// - Parameters:
    ///   - path: of a regular file, or of a symbolic link to one.
    ///   - fileName: what the receiver is told; the last component of `path` unless given.
    ///   - type: the media type; told by the extension of `path` unless given, and else `application/octet-stream`.
    /// - Throws: `.unreadableFile` for what is missing, no regular file, or may not be read, and `.invalidField` as
    ///   above. The form then stays as it was.
    public mutating func append(
        name: String, file path: String, fileName: String? = nil, type: String? = nil
    ) throws(SerializationError) {
        let length = try FileLength.ofRegularFile(at: path)
        let ownName = path.split(separator: "/").last.map(String.init) ?? path
        let fields = try Self.fields(name, fileName ?? ownName, type ?? FileMediaType.named(ownName))
        self.append(Part(fields: fields, content: .file(path: path, length: length)))
    }

    /// Adds bytes that are made while they are sent.
    ///
    /// - Parameter type: the media type. Default `application/octet-stream`.
    /// - Throws: `.invalidField` for a type that may not stand in a field.
    public mutating func append(
        name: String, stream: Stream, fileName: String, type: String = FileMediaType.unknown
    ) throws(SerializationError) {
        self.append(Part(fields: try Self.fields(name, fileName, type), content: .stream(stream)))
    }

    /// Adds bytes under exactly the given fields.
    ///
    /// - Throws: `.invalidField` for a name or value that may not stand in a field.
    public mutating func append(fields: Fields, bytes: [UInt8]) throws(SerializationError) {
        for (name, value) in fields.pairs where !FieldSyntax.isName(name) || !FieldSyntax.isValue(value) {
            throw SerializationError(.invalidField, "\(name.debugDescription) of a part is no valid field.")
        }
        self.append(Part(fields: fields, content: .bytes(bytes)))
    }

    /// Adds the parts of another form behind those of this one.
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

    /// What stands between quotes, as the WHATWG's HTML standard encodes multipart/form-data: three bytes are escaped
    /// and `%` is not, so this is the only form that browsers and servers agree on.
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

    /// What can be wrong is found while there is a path to tell.
    private static func check(_ value: Parameter, in encoding: TextEncoding) throws(Misfit) {
        do throws(SerializationError) {
            switch value {
            case .date:
                throw SerializationError(.unserializable, "a date has no form in multipart; write text or a number.")
            case .file(let file): try Self.check(type: file.mediaType)
            case .string(let text) where encoding != .utf8: _ = try encoding.encode(text)
            default: break
            }
        } catch {
            throw Misfit(error.message, code: error.code)
        }
    }
}

extension MultipartForm {
    /// One part of a form.
    public struct Part: Sendable {
        /// Content-Disposition and, for files, Content-Type; or what was given instead.
        public let fields: Fields
        /// What follows the fields.
        public let content: Content
    }

    /// The bytes of a part, or where they come from.
    public enum Content: Sendable {
        /// Bytes.
        case bytes([UInt8])
        /// A regular file and the length that it had when it was added.
        case file(path: String, length: UInt64)
        /// Bytes that are made while they are sent.
        case stream(Stream)

        /// In bytes; nil for a stream that does not know.
        public var length: UInt64? {
            switch self {
            case .bytes(let bytes): UInt64(bytes.count)
            case .file(_, let length): length
            case .stream(let stream): stream.length
            }
        }
    }

    /// Bytes that are made while they are sent, as often as the body is sent.
    public struct Stream: Sendable {
        /// The number of bytes, as promised; nil where it is not known. It is not compared with what really comes.
        public let length: UInt64?
        /// Begins at the first byte, each time that it is called: a body is sent again after an authentication
        /// challenge or on another connection.
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
