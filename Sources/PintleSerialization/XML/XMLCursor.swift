// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// Walks through the tags, texts and other parts of an XML document, and returns the place of each.
///
/// ``XMLScanner`` has checked the document and converted it to UTF-8 before, so this cursor needs no checks.
struct XMLCursor: Sendable {
    enum Token: Equatable {
        /// A start tag; `attributes` is everything between the name and the end of the tag.
        case start(name: Range<Int>, attributes: Range<Int>)
        /// An end tag, or the end of an element without content, `<a/>`.
        case end(name: Range<Int>)
        /// All text between two other parts; white space outside the root element is left out.
        case text(Range<Int>)
        /// The content of a CDATA section.
        case section(Range<Int>)
        case comment(Range<Int>)
        case instruction(target: Range<Int>, content: Range<Int>)
        /// Everything between `<!DOCTYPE` and `>`.
        case documentType(Range<Int>)
    }

    /// The conversion from the bytes of a part to its text.
    enum Form {
        /// References are replaced; line ends become a line feed (XML 1.0 §2.11).
        case text
        /// References are replaced; each white space becomes a space (XML 1.0 §3.3.3).
        case value
        /// Line ends become a line feed.
        case literal
    }

    let bytes: [UInt8]
    private var index = 0
    private var depth = 0
    /// The name of an element `<a/>` whose start was returned, but not its end yet.
    private var unended: Range<Int>?

    /// Reads the document in `bytes`.
    ///
    /// - Throws: the errors of ``XMLScanner/validate(_:)``.
    init(_ bytes: [UInt8], _ scanner: XMLScanner = XMLScanner()) throws(XMLSyntaxError) {
        self.bytes = try scanner.text(of: bytes)
        // The XML declaration is not an instruction (XML 1.0 §2.8).
        if self.isAt("<?xml"), XMLText.isSpace(self.bytes[5]) { _ = self.skip(through: "?>") }
    }

    /// Returns an error at a place in the document.
    func error(_ problem: String, at index: Int) -> XMLSyntaxError {
        self.bytes.withUnsafeBufferPointer { bytes in
            XMLSyntaxError(problem, at: TextPosition().advanced(by: index, into: bytes))
        }
    }

    /// - Returns: the next part; nil at the end.
    mutating func next() -> Token? {
        if let name = self.unended {
            self.unended = nil
            self.depth -= 1
            return .end(name: name)
        }
        while self.index < self.bytes.count {
            guard self.bytes[self.index] == UInt8(ascii: "<") else {
                let text = self.skip(to: UInt8(ascii: "<"))
                if self.depth > 0 { return .text(text) }
                continue
            }
            return self.markup()
        }
        return nil
    }

    private mutating func markup() -> Token {
        if self.take("<!--") { return .comment(self.skip(through: "-->")) }
        if self.take("<![CDATA[") { return .section(self.skip(through: "]]>")) }
        if self.take("<?") {
            let target = self.name(isTarget: true)
            while XMLText.isSpace(self.bytes[self.index]) { self.index += 1 }
            return .instruction(target: target, content: self.skip(through: "?>"))
        }
        if self.take("<!DOCTYPE") { return .documentType(self.restOfTag()) }
        if self.take("</") {
            let name = self.name()
            _ = self.skip(through: ">")
            self.depth -= 1
            return .end(name: name)
        }
        self.index += 1
        self.depth += 1
        let name = self.name()
        var rest = self.restOfTag()
        if !rest.isEmpty, self.bytes[rest.upperBound - 1] == UInt8(ascii: "/") {
            self.unended = name
            rest = rest.lowerBound..<rest.upperBound - 1
        }
        return .start(name: name, attributes: rest)
    }

    // MARK: Parts of a tag

    /// Reads the next attribute of a start tag, and removes it from `rest`.
    ///
    /// - Returns: the places of the name and of the value without its quotes; nil if there is no attribute left.
    func attribute(in rest: inout Range<Int>) -> (name: Range<Int>, value: Range<Int>)? {
        guard let start = rest.first(where: { !XMLText.isSpace(self.bytes[$0]) }) else { return nil }
        let isNameByte = { (byte: UInt8) in byte != UInt8(ascii: "=") && !XMLText.isSpace(byte) }
        guard let end = (start..<rest.upperBound).first(where: { !isNameByte(self.bytes[$0]) }),
            let open = (end..<rest.upperBound).first(where: { Self.isQuote(self.bytes[$0]) }),
            let close = (open + 1..<rest.upperBound).first(where: { self.bytes[$0] == self.bytes[open] })
        else { preconditionFailure("BUG: a document that is not well-formed was accepted") }
        rest = close + 1..<rest.upperBound
        return (start..<end, open + 1..<close)
    }

    private static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }

    /// Skips the rest of a tag. Text in quotes may contain a “>”.
    private mutating func restOfTag() -> Range<Int> {
        let start = self.index
        var quote: UInt8?
        while true {
            precondition(self.index < self.bytes.count, "BUG: a document that is not well-formed was accepted")
            let byte = self.bytes[self.index]
            self.index += 1
            if let open = quote {
                if byte == open { quote = nil }
            } else if Self.isQuote(byte) {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                return start..<self.index - 1
            }
        }
    }

    /// - Parameter isTarget: true for the target of an instruction, which ends before `?`; a tag's name ends before `/` or
    ///   `>`.
    private mutating func name(isTarget: Bool = false) -> Range<Int> {
        let start = self.index
        let stops: (UInt8, UInt8) =
            isTarget ? (UInt8(ascii: "?"), UInt8(ascii: "?")) : (UInt8(ascii: "/"), UInt8(ascii: ">"))
        while case let byte = self.bytes[self.index], byte != stops.0, byte != stops.1, !XMLText.isSpace(byte) {
            self.index += 1
        }
        return start..<self.index
    }

    // MARK: Places

    private mutating func take(_ text: StaticString) -> Bool {
        guard self.isAt(text) else { return false }
        self.index += text.utf8CodeUnitCount
        return true
    }

    private func isAt(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { self.bytes[self.index...].starts(with: $0) }
    }

    /// - Returns: the place of the text before `end`.
    private mutating func skip(through end: StaticString) -> Range<Int> {
        let start = self.index
        while true {
            _ = self.skip(to: end.utf8Start.pointee)
            precondition(self.index < self.bytes.count, "BUG: a document that is not well-formed was accepted")
            if self.take(end) { return start..<self.index - end.utf8CodeUnitCount }
            self.index += 1
        }
    }

    /// - Returns: the place of the text before the next `byte`, or before the end.
    private mutating func skip(to byte: UInt8) -> Range<Int> {
        let start = self.index
        self.index = self.bytes.withUnsafeBytes { $0.firstIndex(of: byte, from: start) } ?? self.bytes.count
        return start..<self.index
    }

    // MARK: Texts

    /// Returns the text of a part.
    func text(of range: Range<Int>, as form: Form) -> String {
        var text: [UInt8] = []
        self.append(range, as: form, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the text of a part; it is never longer than the part.
    func append(_ range: Range<Int>, as form: Form, to text: inout [UInt8]) {
        var start = range.lowerBound
        for index in range where index >= start {
            switch self.bytes[index] {
            case 0x0D:
                text.append(contentsOf: self.bytes[start..<index])
                text.append(form == .value ? 0x20 : 0x0A)
                let isPair = index + 1 < range.upperBound && self.bytes[index + 1] == 0x0A
                start = index + (isPair ? 2 : 1)
            case 0x0A, 0x09:
                guard form == .value else { continue }
                text.append(contentsOf: self.bytes[start..<index])
                text.append(0x20)
                start = index + 1
            case UInt8(ascii: "&"):
                guard form != .literal else { continue }
                text.append(contentsOf: self.bytes[start..<index])
                start = self.appendReference(at: index, to: &text)
            default: continue
            }
        }
        text.append(contentsOf: self.bytes[start..<range.upperBound])
    }

    /// - Returns: the place after the reference.
    private func appendReference(at index: Int, to text: inout [UInt8]) -> Int {
        let reference = self.bytes[(index + 1)...].prefix { $0 != UInt8(ascii: ";") }
        switch reference.first {
        case UInt8(ascii: "#"):
            let isHexadecimal = reference.dropFirst().first == UInt8(ascii: "x")
            var value: UInt32 = 0
            for byte in reference.dropFirst(isHexadecimal ? 2 : 1) {
                value = value * (isHexadecimal ? 16 : 10) + UInt32(ASCII.hexDigitValue(byte))
            }
            guard let scalar = UnicodeScalar(value) else {
                preconditionFailure("BUG: a reference to what is no character was accepted")
            }
            text.append(contentsOf: Character(scalar).utf8)
        case UInt8(ascii: "l"): text.append(UInt8(ascii: "<"))
        case UInt8(ascii: "g"): text.append(UInt8(ascii: ">"))
        case UInt8(ascii: "q"): text.append(UInt8(ascii: "\""))
        default: text.append(UInt8(ascii: reference.elementsEqual("amp".utf8) ? "&" : "'"))
        }
        return reference.endIndex + 1
    }
}
