// SPDX-License-Identifier: Apache-2.0

/// Checks that bytes are one well-formed XML 1.0 document (Fifth Edition), and reads nothing but them.
///
/// A document type declaration may name an external subset, which is not fetched. One with declarations of its own is
/// refused whatever they declare: they can define entities, and with them a small document that is huge when read, or
/// one that includes files of whoever reads it. Namespaces are not looked at.
///
/// The encoding is told by a byte order mark, by the zero bytes of UTF-16 and UTF-32, or by the XML declaration, and
/// else is UTF-8. A declared encoding must keep ASCII as it is, and have no states to switch between (ISO-2022, HZ).
///
/// A name has at most 4096 bytes of UTF-8, and so has a declaration; the names of open elements, and those of a tag's
/// attributes, have at most 1 MiB together. Values, texts, comments and all else may be of any length.
public struct XMLScanner: Sendable, Hashable {
    /// The most levels of elements. Default 512.
    public var nestingLimit: Int

    /// Makes a scanner.
    public init(nestingLimit: Int = 512) { self.nestingLimit = nestingLimit }

    /// Checks a whole document.
    ///
    /// - Throws: where and why the bytes stop being XML.
    public func validate(_ bytes: [UInt8]) throws(XMLSyntaxError) {
        try bytes.withUnsafeBufferPointer { bytes throws(XMLSyntaxError) in
            var validator = XMLValidator(self)
            try validator.take(bytes, isLast: true)
        }
    }

    /// Checks a whole document, and makes UTF-8 of it, without byte order mark. Its declaration stays as it is.
    func text(of bytes: [UInt8]) throws(XMLSyntaxError) -> [UInt8] {
        try bytes.withUnsafeBufferPointer { bytes throws(XMLSyntaxError) in
            var validator = XMLValidator(self, keepsText: true)
            try validator.take(bytes, isLast: true)
            return validator.text
        }
    }
}

/// The first place where bytes stop being an XML document.
public struct XMLSyntaxError: Error, Sendable, Equatable, CustomStringConvertible {
    /// From 1; lines end with a line feed.
    public let line: Int
    /// From 1, in bytes of UTF-8 from the start of the line, without a byte order mark.
    public let column: Int
    /// What is wrong there.
    public let problem: String

    init(_ problem: String, at position: TextPosition) {
        self.line = position.line
        self.column = position.column
        self.problem = problem
    }

    /// `line 3, column 5: “</b>” where “</a>” is due`.
    public var description: String { "line \(self.line), column \(self.column): \(self.problem)" }
}
