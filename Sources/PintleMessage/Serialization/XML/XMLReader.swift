// SPDX-License-Identifier: Apache-2.0

/// The tags and texts of an XML document, one after another.
///
/// ``XMLScanner`` has judged the document before and made UTF-8 of it, so this reader only has to find its way.
/// Attributes, comments, instructions and the document type are passed over.
struct XMLReader {
    enum Part: Equatable {
        case start(String)
        /// Also after the start of an element without content, `<a/>`.
        case end(String)
        /// A run of text or a CDATA section, with references replaced. One text may come in several runs.
        case text([UInt8])
    }

    private let bytes: [UInt8]
    private var index = 0
    /// The name of an element whose one tag was its start, and is still to be its end.
    private var unended: String?

    /// Reads the document that `bytes` are.
    ///
    /// - Throws: what ``XMLScanner/validate(_:)`` throws.
    init(_ bytes: [UInt8]) throws(XMLSyntaxError) { self.bytes = try XMLScanner().text(of: bytes) }

    /// - Returns: nil at the end.
    mutating func next() -> Part? {
        if let name = self.unended {
            self.unended = nil
            return .end(name)
        }
        while self.index < self.bytes.count {
            guard self.bytes[self.index] == UInt8(ascii: "<") else { return .text(self.run()) }
            if self.take("<!--") {
                self.skip(through: "-->")
            } else if self.take("<![CDATA[") {
                let start = self.index
                self.skip(through: "]]>")
                return .text(Self.withPlainLineEnds(self.bytes[start..<self.index - 3]))
            } else if self.take("<?") {
                self.skip(through: "?>")
            } else if self.take("</") {
                let name = self.name()
                self.skip(through: ">")
                return .end(name)
            } else if self.take("<!") {
                _ = self.skipTag()
            } else {
                self.index += 1
                let name = self.name()
                if self.skipTag() { self.unended = name }
                return .start(name)
            }
        }
        return nil
    }

    private mutating func take(_ text: StaticString) -> Bool {
        guard self.isAt(text) else { return false }
        self.index += text.utf8CodeUnitCount
        return true
    }

    private func isAt(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { self.bytes[self.index...].starts(with: $0) }
    }

    private mutating func skip(through end: StaticString) {
        while !self.isAt(end) {
            precondition(self.index < self.bytes.count, "BUG: a document that is not well-formed was accepted")
            self.index += 1
        }
        self.index += end.utf8CodeUnitCount
    }

    private mutating func name() -> String {
        let name = self.bytes[self.index...].prefix { $0 != 0x2F && $0 != 0x3E && !XMLText.isSpace($0) }
        self.index = name.endIndex
        return String(decoding: name, as: UTF8.self)
    }

    /// Passes over the rest of a tag. What is in quotes may have a “>”.
    ///
    /// - Returns: whether its last character is a “/”.
    private mutating func skipTag() -> Bool {
        var quote: UInt8?
        while true {
            precondition(self.index < self.bytes.count, "BUG: a document that is not well-formed was accepted")
            let byte = self.bytes[self.index]
            self.index += 1
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                return self.bytes[self.index - 2] == UInt8(ascii: "/")
            }
        }
    }

    /// Text up to the next tag, with references replaced.
    private mutating func run() -> [UInt8] {
        let raw = self.bytes[self.index...].prefix { $0 != UInt8(ascii: "<") }
        self.index = raw.endIndex
        var text: [UInt8] = []
        var rest = Self.withPlainLineEnds(raw)[...]
        while let mark = rest.firstIndex(of: UInt8(ascii: "&")) {
            let reference = rest[(mark + 1)...].prefix { $0 != UInt8(ascii: ";") }
            text += rest[..<mark]
            text += Self.replacement(of: String(decoding: reference, as: UTF8.self))
            rest = rest[(reference.endIndex + 1)...]
        }
        return text.isEmpty ? Array(rest) : text + rest
    }

    private static func replacement(of reference: String) -> [UInt8] {
        switch reference {
        case "amp": return [UInt8(ascii: "&")]
        case "lt": return [UInt8(ascii: "<")]
        case "gt": return [UInt8(ascii: ">")]
        case "quot": return [UInt8(ascii: "\"")]
        case "apos": return [UInt8(ascii: "'")]
        default:
            let isHexadecimal = reference.hasPrefix("#x")
            guard let value = UInt32(reference.dropFirst(isHexadecimal ? 2 : 1), radix: isHexadecimal ? 16 : 10),
                let scalar = UnicodeScalar(value)
            else { preconditionFailure("BUG: “&\(reference);” was accepted") }
            return Array(Character(scalar).utf8)
        }
    }

    /// A line ends with a line feed, however it ends in the document (XML 1.0 §2.11).
    private static func withPlainLineEnds(_ text: ArraySlice<UInt8>) -> [UInt8] {
        guard text.contains(0x0D) else { return Array(text) }
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        for index in text.indices where text[index] != 0x0A || index == text.startIndex || text[index - 1] != 0x0D {
            result.append(text[index] == 0x0D ? 0x0A : text[index])
        }
        return result
    }
}
