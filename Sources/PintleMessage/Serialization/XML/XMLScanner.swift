// SPDX-License-Identifier: Apache-2.0

/// Checks that bytes are one well-formed XML 1.0 document (Fifth Edition), and reads nothing but them.
///
/// A document type declaration may name an external subset, which is not fetched. One with declarations of its own is
/// refused whatever they declare: they can define entities, and with them a small document that is huge when read, or
/// one that includes files of whoever reads it. Namespaces are not looked at.
///
/// The encoding is told by a byte order mark, by the zero bytes of UTF-16 and UTF-32, or by the XML declaration, and
/// else is UTF-8. A declared encoding must keep ASCII as it is.
public struct XMLScanner: Sendable, Hashable {
    /// The most levels of elements. Default 512.
    public var nestingLimit: Int

    /// Makes a scanner.
    public init(nestingLimit: Int = 512) { self.nestingLimit = nestingLimit }

    /// Checks a whole document.
    ///
    /// - Throws: where and why the bytes stop being XML.
    public func validate(_ bytes: [UInt8]) throws(XMLSyntaxError) {
        let text = try Self.utf8(bytes)
        do throws(XMLScan.Failure) {
            try XMLText.check(text)
            var scan = XMLScan(text, nestingLimit: self.nestingLimit)
            try scan.document()
        } catch {
            throw XMLSyntaxError(error.problem, at: error.offset, in: text)
        }
    }

    /// The document in UTF-8, not yet checked, without byte order mark.
    private static func utf8(_ bytes: [UInt8]) throws(XMLSyntaxError) -> [UInt8] {
        let form = UnicodeForm(of: bytes)
        if form == .utf8(mark: 0) {
            guard let name = XMLText.declaredEncoding(in: bytes), name.lowercased() != "utf-8" else { return bytes }
            return try Self.utf8(bytes, in: name)
        }
        var text: [UInt8] = []
        var transcoder = UnicodeTranscoder()
        let isText = bytes.withUnsafeBufferPointer { bytes in
            transcoder.take(bytes, isLast: true) { piece, _ in text.append(contentsOf: piece) }
        }
        guard isText else { throw XMLSyntaxError("this is no valid UTF-16 or UTF-32", at: text.count, in: text) }
        return text
    }

    private static func utf8(_ bytes: [UInt8], in name: String) throws(XMLSyntaxError) -> [UInt8] {
        guard let encoding = try? TextEncoding(name), encoding.keepsASCII else {
            throw XMLSyntaxError("the declared encoding is not the document's, or is not known", at: 0, in: bytes)
        }
        guard let text = encoding.decode(bytes) else {
            throw XMLSyntaxError("the document has bytes that are not \(name)", at: 0, in: bytes)
        }
        return Array(text.utf8)
    }
}

/// The first place where bytes stop being an XML document.
public struct XMLSyntaxError: Error, Sendable, Equatable, CustomStringConvertible {
    /// From 1; lines end with a line feed.
    public let line: Int
    /// From 1, in bytes of UTF-8 from the start of the line.
    public let column: Int
    /// What is wrong there.
    public let problem: String

    init(_ problem: String, at offset: Int, in bytes: [UInt8]) {
        let before = bytes.prefix(offset)
        self.line = before.reduce(1) { $1 == 0x0A ? $0 + 1 : $0 }
        self.column = offset - (before.lastIndex(of: 0x0A) ?? -1)
        self.problem = problem
    }

    /// `line 3, column 5: “</b>” where “</a>” is due`.
    public var description: String { "line \(self.line), column \(self.column): \(self.problem)" }
}
