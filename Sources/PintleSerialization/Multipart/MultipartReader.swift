// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// Reads a body of type `multipart/form-data` (RFC 7578) into parameters: the inverse of ``MultipartForm``.
///
/// Names nest as in a query: `a[b]`, `a[]`. A part with a file name is a file. A part without one is text, or bytes if they
/// are not text in its charset. The part `_charset_` names the charset of all others (RFC 7578 §4.6) and is not a
/// parameter. Malformed forms are errors: the reader guesses nothing, because other programs could guess differently.
package enum MultipartReader {
    /// The maximum number of parts in a form.
    package static let partLimit = 1000
    /// The maximum size of the head of a part, in bytes.
    package static let headLimit = 16 * 1024

    /// Reads a whole body.
    ///
    /// - Parameters:
    ///   - contentType: the Content-Type of the request, with the boundary.
    ///   - encoding: the encoding of text for which neither its part nor `_charset_` names a charset.
    /// - Throws: `.malformedBody` for a malformed form, and for more than ``partLimit`` parts or ``headLimit`` bytes in a
    ///   head; `.unknownEncoding` for an unknown charset.
    package static func read(
        _ bytes: [UInt8], contentType: String, encoding: TextEncoding = .utf8
    ) throws(SerializationError) -> Parameter {
        let parts = try Self.parts(of: bytes, boundary: try Self.boundary(in: contentType))
        let encoding = try Self.charset(of: parts, in: bytes) ?? encoding
        var tree = FormTree(expecting: parts.count)
        for (index, part) in parts.enumerated() where !part.head.isCharset {
            let name = try Self.text(part.head.name, encoding, part: index + 1)
            try tree.insert(try Self.value(of: part, in: bytes, encoding, part: index + 1), name: name)
        }
        return tree.parameter
    }

    /// The head and the content between two delimiters.
    private struct Part {
        let head: MultipartPartHead
        let content: Range<Int>
    }

    // MARK: Delimiters

    /// Returns the boundary: 1 to 70 of the characters of RFC 2046 §5.1.1, the last one not a space.
    private static func boundary(in contentType: String) throws(SerializationError) -> [UInt8] {
        guard let fields = FieldParameters(contentType.utf8, quoting: .backslash),
            fields.value == "multipart/form-data", let boundary = fields["boundary"]
        else {
            throw SerializationError(
                .malformedBody,
                "the Content-Type has no boundary; write it as “multipart/form-data; boundary=…”.")
        }
        guard 1...70 ~= boundary.count, boundary.last != 0x20, boundary.allSatisfy(Self.isBoundaryByte) else {
            throw SerializationError(
                .malformedBody,
                "the boundary in the Content-Type is none; it has 1 to 70 letters, digits and “'()+_,-./:=?”.")
        }
        return boundary
    }

    private static func isBoundaryByte(_ byte: UInt8) -> Bool {
        ASCII.isDigit(byte) || ASCII.lowercased(byte) &- 0x61 < 26 || "'()+_,-./:=? ".utf8.contains(byte)
    }

    private static func parts(of bytes: [UInt8], boundary: [UInt8]) throws(SerializationError) -> [Part] {
        let delimiter = Array("\r\n--".utf8) + boundary
        var parts: [Part] = []
        // If nothing precedes the first part, its delimiter may lack the line end.
        guard
            var place = bytes.starts(with: delimiter[2...])
                ? delimiter.count - 2 : Self.end(of: delimiter, in: bytes, from: 0)
        else {
            throw SerializationError(
                .malformedBody, "the form does not have its boundary; name the one that it has in Content-Type.")
        }
        while let start = try Self.contentStart(in: bytes, after: place) {
            guard parts.count < Self.partLimit else {
                throw SerializationError(.malformedBody, "the form has more than \(Self.partLimit) parts; send fewer.")
            }
            guard let next = Self.end(of: delimiter, in: bytes, from: start - 2) else { throw Self.unfinished }
            parts.append(try Self.part(in: bytes[start..<max(start, next - delimiter.count)], number: parts.count + 1))
            place = next
        }
        return parts
    }

    /// Checks the bytes after a delimiter: white space and a line end before a part, or two hyphens after the last part.
    ///
    /// - Returns: the start of the part, or nil at the end of the form.
    private static func contentStart(in bytes: [UInt8], after place: Int) throws(SerializationError) -> Int? {
        var place = place
        let isLast = bytes[place...].starts(with: "--".utf8)
        if isLast { place += 2 }
        while place < bytes.count, bytes[place] == 0x20 || bytes[place] == 0x09 { place += 1 }
        if isLast, place == bytes.count { return nil }
        guard bytes[place...].starts(with: "\r\n".utf8) else {
            if place == bytes.count { throw Self.unfinished }
            throw SerializationError(
                .malformedBody,
                "the form has a line that begins with the boundary and goes on; choose a boundary that no part has.")
        }
        return isLast ? nil : place + 2
    }

    private static let unfinished = SerializationError(
        .malformedBody, "the form ends before its last boundary; send it whole.")

    private static func end(of pattern: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        bytes.withUnsafeBytes { $0.firstIndex(of: pattern, from: start) }.map { $0 + pattern.count }
    }

    // MARK: Parts

    private static func part(in bytes: ArraySlice<UInt8>, number: Int) throws(SerializationError) -> Part {
        // A part without fields begins with the empty line.
        let search = bytes.prefix(Self.headLimit + 4)
        let end = search.withUnsafeBytes { $0.firstIndex(of: Array("\r\n\r\n".utf8), from: 0) }
        if search.starts(with: "\r\n".utf8) {
            throw MultipartPartHead.error(number, "has no Content-Disposition; give it one with a name.")
        }
        guard let end else {
            throw MultipartPartHead.error(
                number,
                search.count < bytes.count
                    ? "has a head of more than \(Self.headLimit) bytes; send shorter fields."
                    : "has no empty line after its fields; end each line with CR and LF.")
        }
        let head = try MultipartPartHead(bytes[..<(bytes.startIndex + end)], number: number)
        return Part(head: head, content: bytes.startIndex + end + 4..<bytes.endIndex)
    }

    private static func value(
        of part: Part, in bytes: [UInt8], _ encoding: TextEncoding, part number: Int
    ) throws(SerializationError) -> Parameter {
        let content = Array(bytes[part.content])
        if let fileName = part.head.fileName {
            let name = try Self.text(fileName, encoding, part: number)
            // A file without a type is text (RFC 7578 §4.4).
            return .file(FilePart(content, fileName: name, mediaType: part.head.type ?? "text/plain"))
        }
        let own = try part.head.charset.map { (charset) throws(SerializationError) in try TextEncoding(charset) }
        return (own ?? encoding).decode(content).map { .string($0) } ?? .data(content)
    }

    /// Returns a name as text. Names are UTF-8 in any form, as ``MultipartForm`` writes them, or in the charset of the
    /// form.
    private static func text(
        _ bytes: [UInt8], _ encoding: TextEncoding, part number: Int
    ) throws(SerializationError) -> String {
        guard let text = TextEncoding.utf8.decode(bytes) ?? encoding.decode(bytes) else {
            throw MultipartPartHead.error(number, "has a name that is not text; write it in UTF-8.")
        }
        return text
    }

    private static func charset(of parts: [Part], in bytes: [UInt8]) throws(SerializationError) -> TextEncoding? {
        let named = parts.filter(\.head.isCharset)
        guard let first = named.first else { return nil }
        guard named.count == 1, let name = TextEncoding.utf8.decode(Array(bytes[first.content])) else {
            throw SerializationError(.malformedBody, "the form has no clear “_charset_”; send one, with a name.")
        }
        return try TextEncoding(name)
    }
}
