// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// One pass over a document, or over the next piece of it, without recursion.
///
/// A short token that makes sense only as a whole (a name, a reference, a delimiter, a declaration) is left to the next
/// piece if this one cuts it. Texts, values, comments and white space are scanned as far as they go, however long they are.
///
/// It holds a pointer, so it exists only inside the `withUnsafe…` call that makes it; ``State`` outlives it.
struct XMLScan {
    /// The reason why scanning stopped.
    struct Failure: Error {
        /// The index of the offending byte.
        let index: Int
        /// Nil if there is no error: the piece ends, but the document does not.
        let problem: String?

        static let unfinished = Failure(0, nil)

        init(_ index: Int, _ problem: String?) {
            self.index = index
            self.problem = problem
        }
    }

    /// The current place in the grammar.
    enum Place {
        case start, prolog, content, epilog
        /// In a start tag: without and with white space read since the last name or value. A name needs white space before
        /// it.
        case tag, tagSpace
        case beforeEquals, afterEquals
        case value(quote: UInt8)
        /// After the name in an end tag.
        case endTag
        case comment, instruction, section
    }

    /// The state between two pieces.
    struct State {
        var place = Place.start
        var mayHaveType = true
        var hasElement = false
        var open = XMLOpenElements()
        var attributes = XMLAttributeNames()
        /// The maximum number of levels of elements.
        var nestingLimit = 0
    }

    /// The maximum size in bytes of a name, and of a declaration: of tokens that are kept from one piece to the next.
    static let tokenLimit = 4096

    let bytes: UnsafeBufferPointer<UInt8>
    /// The end of the bytes, or the place where a declaration must end.
    var end: Int
    /// True if the document ends with these bytes.
    let isLast: Bool
    var index = 0
    /// The index up to which the scan is final: the next piece continues there.
    private(set) var settled = 0
    /// The start of the declaration that is being read.
    var declarationStart: Int?
    var state: State

    init(_ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool, _ state: State) {
        self.bytes = bytes
        self.end = bytes.count
        self.isLast = isLast
        self.state = state
    }

    /// Scans to the end of the document.
    ///
    /// - Throws: the error, or ``Failure/unfinished``; then bytes from ``settled`` on must be scanned again with the next
    ///   piece.
    mutating func run() throws(Failure) {
        while true {
            self.settled = self.index
            switch self.state.place {
            case .start: try self.start()
            case .prolog: try self.prolog()
            case .content: try self.content()
            case .epilog:
                self.settleSpace()
                if self.index == self.end, self.isLast { return }
                try self.miscellany(orElse: "something follows the document's element")
            case .tag, .tagSpace: try self.tag()
            case .beforeEquals:
                self.settleSpace()
                try self.demand("=", "“=”")
                self.state.place = .afterEquals
            case .afterEquals:
                self.settleSpace()
                self.state.place = .value(quote: try self.quote("a value in quotes"))
            case .value(let quote): try self.value(quote)
            case .endTag:
                self.settleSpace()
                try self.demand(">", "“>”")
                self.state.place = self.outside
            case .comment: try self.comment()
            case .instruction: try self.instruction()
            case .section: try self.section()
            }
        }
    }

    /// The place after a tag, a comment or an instruction.
    private var outside: Place {
        self.state.open.isEmpty ? (self.state.hasElement ? .epilog : .prolog) : .content
    }

    /// Skips white space, which need not be scanned again.
    ///
    /// - Returns: true if there was any.
    @discardableResult
    private mutating func settleSpace() -> Bool {
        let hasSpace = self.skipSpace()
        self.settled = self.index
        return hasSpace
    }

    // MARK: Around the element

    private mutating func start() throws(Failure) {
        if try self.take("<?xml") {
            guard self.index < self.end else { throw self.failure("“?>” or white space is due") }
            if XMLText.isSpace(self.bytes[self.index]) {
                try self.declaration()
            } else {
                self.index = self.settled
            }
        }
        self.state.place = .prolog
    }

    /// Scans comments, instructions, white space and at most one document type declaration, up to the first start tag.
    private mutating func prolog() throws(Failure) {
        self.settleSpace()
        if self.state.mayHaveType, try self.take("<!DOCTYPE") {
            try self.documentType()
            self.state.mayHaveType = false
        } else if try self.isAtMiscellany() {
            try self.miscellany(orElse: "")
        } else {
            guard try self.isAt("<") else { throw self.failure("the first element is due") }
            try self.startTag()
        }
    }

    private func isAtMiscellany() throws(Failure) -> Bool {
        if try self.isAt("<!--") { return true }
        return try self.isAt("<?")
    }

    private mutating func miscellany(orElse problem: String) throws(Failure) {
        if try self.take("<!--") {
            self.state.place = .comment
        } else if try self.take("<?") {
            try self.instructionStart()
        } else {
            throw self.failure(problem)
        }
    }

    // MARK: Elements

    private mutating func startTag() throws(Failure) {
        try self.demand("<", "a tag")
        let start = self.index
        let name = try self.name("the name of an element")
        guard self.state.open.push(name) else {
            throw Failure(start, "names of open elements of more than \(XMLOpenElements.limit) bytes")
        }
        self.state.hasElement = true
        self.state.place = .tag
    }

    /// Scans the part after the name of a tag, or after the value of an attribute.
    private mutating func tag() throws(Failure) {
        if self.settleSpace() { self.state.place = .tagSpace }
        if try self.take(">") {
            guard self.state.open.count <= self.state.nestingLimit else {
                throw Failure(self.index, "more than \(self.state.nestingLimit) levels of elements")
            }
            self.state.attributes.removeAll()
            self.state.place = .content
        } else if try self.take("/>") {
            self.state.attributes.removeAll()
            self.state.open.pop()
            self.state.place = self.outside
        } else {
            guard case .tagSpace = self.state.place else { throw self.failure("“>”, “/>” or white space is due") }
            let start = self.index
            let name = try self.name("the name of an attribute, “>” or “/>”")
            switch self.state.attributes.insert(name) {
            case .isNew: self.state.place = .beforeEquals
            case .isThere: throw Failure(start, "a second attribute “\(XMLText.text(name))”")
            case .isTooMuch:
                throw Failure(start, "names of attributes of more than \(XMLAttributeNames.limit) bytes in one tag")
            }
        }
    }

    /// Scans the rest of an end tag after `</`.
    private mutating func endTag() throws(Failure) {
        let start = self.index - 2
        let name = try self.name("the name of an element")
        guard self.state.open.isLast(name) else {
            throw Failure(start, "“</\(XMLText.text(name))>” where “</\(self.state.open.last)>” is due")
        }
        self.state.open.pop()
        self.state.place = .endTag
    }

    private mutating func value(_ quote: UInt8) throws(Failure) {
        while true {
            switch try self.text(before: quote, UInt8(ascii: "<"), UInt8(ascii: "&")) {
            case quote:
                self.index += 1
                self.state.place = .tag
                return
            case UInt8(ascii: "&"): try self.reference()
            case UInt8(ascii: "<"): throw self.failure("“<” in a value, where it must be escaped")
            default: throw self.failure("the end, within a value")
            }
        }
    }

    // MARK: Content

    /// Scans the text and references in an element, and the beginning of the next tag, comment, instruction or section.
    private mutating func content() throws(Failure) {
        while true {
            switch try self.text(before: UInt8(ascii: "<"), UInt8(ascii: "&"), UInt8(ascii: "]")) {
            case UInt8(ascii: "<"): return try self.markup()
            case UInt8(ascii: "&"): try self.reference()
            case UInt8(ascii: "]"):
                guard try !self.isAt("]]>") else { throw self.failure("“]]>” in text, which must be escaped") }
                self.index += 1
            default: throw self.failure("the end, while “\(self.state.open.last)” is open")
            }
        }
    }

    private mutating func markup() throws(Failure) {
        if try self.take("</") {
            try self.endTag()
        } else if try self.take("<![CDATA[") {
            self.state.place = .section
        } else if try self.isAtMiscellany() {
            try self.miscellany(orElse: "")
        } else {
            try self.startTag()
        }
    }

    private mutating func comment() throws(Failure) {
        while true {
            guard try self.text(before: UInt8(ascii: "-"), UInt8(ascii: "-"), UInt8(ascii: "-")) != nil else {
                throw self.failure("the end, within a comment")
            }
            if try self.take("--") {
                try self.demand(">", "no “--” within a comment, or “>” after it,")
                self.state.place = self.outside
                return
            }
            self.index += 1
        }
    }

    private mutating func instruction() throws(Failure) {
        while true {
            guard try self.text(before: UInt8(ascii: "?"), UInt8(ascii: "?"), UInt8(ascii: "?")) != nil else {
                throw self.failure("the end, within an instruction")
            }
            if try self.take("?>") {
                self.state.place = self.outside
                return
            }
            self.index += 1
        }
    }

    private mutating func section() throws(Failure) {
        while true {
            guard try self.text(before: UInt8(ascii: "]"), UInt8(ascii: "]"), UInt8(ascii: "]")) != nil else {
                throw self.failure("the end, within a CDATA section")
            }
            if try self.take("]]>") {
                self.state.place = .content
                return
            }
            self.index += 1
        }
    }

    /// Scans the beginning of an instruction after `<?`.
    private mutating func instructionStart() throws(Failure) {
        let start = self.index
        let target = try self.name("the name of an instruction")
        guard !ASCII.equalsIgnoringCase(target, "xml".utf8) else {
            throw Failure(start, "an XML declaration that is not at the start")
        }
        if try self.take("?>") {
            self.state.place = self.outside
        } else {
            guard self.skipSpace() else { throw self.failure("“?>” or white space is due") }
            self.state.place = .instruction
        }
    }

    /// Scans text up to one of three bytes, which is left unread.
    ///
    /// - Returns: the byte that was found; nil at the end of the document.
    @inline(__always)
    private mutating func text(before first: UInt8, _ second: UInt8, _ third: UInt8) throws(Failure) -> UInt8? {
        while true {
            self.index = PlainBytes.end(in: self.bytes, from: self.index, before: first, second, third)
            self.settled = self.index
            guard self.index < self.end else {
                if self.isLast { return nil }
                throw .unfinished
            }
            let byte = self.bytes[self.index]
            if byte == first || byte == second || byte == third { return byte }
            if byte < 0x80, byte >= 0x20 || XMLText.isSpace(byte) {
                self.index += 1
            } else {
                self.index += try self.character().width
            }
        }
    }
}
