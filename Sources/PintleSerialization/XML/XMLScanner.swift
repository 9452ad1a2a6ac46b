// SPDX-License-Identifier: Apache-2.0

/// Checks that bytes are one well-formed XML 1.0 document (Fifth Edition). It reads nothing but these bytes.
///
/// A document type declaration may name an external subset, which is not fetched. One with an internal subset is always
/// refused, because it can define entities: with these, a small document can become huge when it is read, or include local
/// files of its reader. Namespaces are not checked.
///
/// A byte order mark, the zero bytes of UTF-16 and UTF-32, or the XML declaration determines the encoding; the default is
/// UTF-8. A declared encoding must keep ASCII unchanged, and must not switch between states as ISO-2022 and HZ do.
///
/// A name has at most 4096 bytes of UTF-8, and so has a declaration. The names of open elements, and those of the
/// attributes of one tag, have at most 1 MiB together. Values, texts, comments and everything else may be of any length.
public struct XMLScanner: Sendable, Hashable {
    /// The maximum number of levels of elements. Default 512.
    public var nestingLimit: Int

    /// Makes a scanner.
    public init(nestingLimit: Int = 512) { self.nestingLimit = nestingLimit }

    /// Checks a whole document.
    ///
    /// - Throws: the place of the first byte that is not XML, and the reason.
    public func validate(_ bytes: [UInt8]) throws(XMLSyntaxError) {
        try bytes.withUnsafeBufferPointer { bytes throws(XMLSyntaxError) in
            var validator = XMLValidator(self)
            try validator.take(bytes, isLast: true)
        }
    }

    /// Checks a whole document, and converts it to UTF-8 without byte order mark. Its declaration stays unchanged.
    func text(of bytes: [UInt8]) throws(XMLSyntaxError) -> [UInt8] {
        try bytes.withUnsafeBufferPointer { bytes throws(XMLSyntaxError) in
            var validator = XMLValidator(self, keepsText: true)
            try validator.take(bytes, isLast: true)
            return validator.text
        }
    }
}

/// The first place at which bytes are not an XML document.
public struct XMLSyntaxError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The line, from 1; lines end with a line feed.
    public let line: Int
    /// The column, from 1, in bytes of UTF-8 from the start of the line, without a byte order mark.
    public let column: Int
    /// The problem at that place.
    public let problem: String

    init(_ problem: String, at position: TextPosition) {
        self.line = position.line
        self.column = position.column
        self.problem = problem
    }

    /// `line 3, column 5: “</b>” where “</a>” is due`.
    public var description: String { "line \(self.line), column \(self.column): \(self.problem)" }
}
