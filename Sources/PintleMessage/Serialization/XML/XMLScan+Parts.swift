// SPDX-License-Identifier: Apache-2.0

extension XMLScan {
    // MARK: Declarations

    /// `<?xml version="1.0" encoding="…" standalone="…"?>` where the document begins with one (XML 1.0 §2.8).
    mutating func declaration() throws(Failure) {
        guard self.isAt("<?xml"), self.index + 5 < self.bytes.count, XMLText.isSpace(self.bytes[self.index + 5]) else {
            return
        }
        self.index += 5
        var names = ["version", "encoding", "standalone"][...]
        var isFirst = true
        while self.skipSpace(), !self.isAt("?>") {
            let start = self.index
            let name = Self.text(try self.name("“version”, “encoding” or “standalone”"))
            guard let place = names.firstIndex(of: name), !isFirst || name == "version" else {
                throw Failure(start, "“\(name)” has no place here in a declaration")
            }
            names = names[(place + 1)...]
            isFirst = false
            try self.equals()
            let value = Self.text(try self.quoted("a value in quotes"))
            guard Self.isDeclarable(value, as: name) else { throw Failure(start, "a \(name) of “\(value)”") }
        }
        guard !isFirst else { throw self.failure("a declaration without version") }
        try self.demand("?>", "“?>”")
    }

    private static func isDeclarable(_ value: String, as name: String) -> Bool {
        switch name {
        case "version":
            value.hasPrefix("1.") && value.utf8.count > 2 && value.utf8.dropFirst(2).allSatisfy(ASCII.isDigit)
        case "standalone": value == "yes" || value == "no"
        default: !value.isEmpty
        }
    }

    /// After `<!DOCTYPE` (XML 1.0 §2.8): a name and where more could be found.
    mutating func documentType() throws(Failure) {
        guard self.skipSpace() else { throw self.failure("white space is due") }
        _ = try self.name("the name of the document's element")
        let hasSpace = self.skipSpace()
        if hasSpace, self.take("PUBLIC") {
            guard self.skipSpace() else { throw self.failure("white space is due") }
            _ = try self.quoted("a public identifier in quotes")
            try self.systemIdentifier()
        } else if hasSpace, self.take("SYSTEM") {
            try self.systemIdentifier()
        }
        guard !self.isAt("[") else {
            throw self.failure("declarations of its own, which can define entities and are not accepted")
        }
        try self.demand(">", "“>”")
    }

    private mutating func systemIdentifier() throws(Failure) {
        guard self.skipSpace() else { throw self.failure("white space is due") }
        _ = try self.quoted("a system identifier in quotes")
        self.skipSpace()
    }

    // MARK: Markup without structure

    /// After `<!--`.
    mutating func comment() throws(Failure) {
        try self.skip(past: "--", "a comment without end")
        try self.demand(">", "no “--” within a comment, or “>” after it,")
    }

    /// After `<?`.
    mutating func instruction() throws(Failure) {
        let start = self.index
        let target = try self.name("the name of an instruction")
        guard !ASCII.equalsIgnoringCase(target, "xml".utf8) else {
            throw Failure(start, "an XML declaration that is not at the start")
        }
        if self.take("?>") { return }
        guard self.skipSpace() else { throw self.failure("“?>” or white space is due") }
        try self.skip(past: "?>", "an instruction without end")
    }

    /// `&lt;` and its like, `&#10;` or `&#xA;` (XML 1.0 §4.1); no other entity can be declared.
    mutating func reference() throws(Failure) {
        let start = self.index
        self.index += 1
        guard self.take("#") else {
            let name = Self.text(try self.name("the name of an entity"))
            try self.demand(";", "“;”")
            guard ["amp", "lt", "gt", "quot", "apos"].contains(name) else {
                throw Failure(start, "“&\(name);” is not declared")
            }
            return
        }
        let radix = self.take("x") ? 16 : 10
        let first = self.index
        while self.index < self.bytes.count, self.bytes[self.index] != UInt8(ascii: ";"), self.index - first < 32 {
            self.index += 1
        }
        let digits = self.bytes[first..<self.index]
        guard digits.allSatisfy({ ASCII.hexValue($0).map { $0 < radix } ?? false }),
            let scalar = UInt32(String(decoding: digits, as: UTF8.self), radix: radix).flatMap(UnicodeScalar.init),
            XMLText.isCharacter(scalar)
        else { throw Failure(start, "a reference to what is no character") }
        try self.demand(";", "“;”")
    }

    mutating func equals() throws(Failure) {
        self.skipSpace()
        try self.demand("=", "“=”")
        self.skipSpace()
    }

    mutating func attributeValue() throws(Failure) {
        let quote = try self.quote("a value in quotes")
        while self.index < self.bytes.count {
            switch self.bytes[self.index] {
            case quote:
                self.index += 1
                return
            case UInt8(ascii: "<"): throw self.failure("“<” in a value, where it must be escaped")
            case UInt8(ascii: "&"): try self.reference()
            default: self.index += 1
            }
        }
        throw self.failure("the end, within a value")
    }

    // MARK: Pieces

    func failure(_ problem: String) -> Failure { Failure(self.index, problem) }

    func isAt(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard self.bytes.count - self.index >= count else { return false }
        for offset in 0..<count where self.bytes[self.index + offset] != text.utf8Start[offset] { return false }
        return true
    }

    mutating func take(_ text: StaticString) -> Bool {
        guard self.isAt(text) else { return false }
        self.index += text.utf8CodeUnitCount
        return true
    }

    mutating func demand(_ text: StaticString, _ what: String) throws(Failure) {
        guard self.take(text) else { throw self.failure("\(what) is due") }
    }

    mutating func skip(past text: StaticString, _ problem: String) throws(Failure) {
        let start = self.index
        while self.index < self.bytes.count {
            if self.take(text) { return }
            self.index += 1
        }
        throw Failure(start, problem)
    }

    /// - Returns: whether there was any.
    @discardableResult
    mutating func skipSpace() -> Bool {
        let start = self.index
        while self.index < self.bytes.count, XMLText.isSpace(self.bytes[self.index]) { self.index += 1 }
        return self.index > start
    }

    mutating func name(_ what: String) throws(Failure) -> ArraySlice<UInt8> {
        let start = self.index
        while let (scalar, width) = self.scalar(),
            self.index == start ? XMLText.isNameStart(scalar) : XMLText.isNamePart(scalar)
        {
            self.index += width
        }
        guard self.index > start else { throw self.failure("\(what) is due") }
        return self.bytes[start..<self.index]
    }

    /// The character at the index, and its bytes.
    private func scalar() -> (UnicodeScalar, Int)? {
        guard self.index < self.bytes.count else { return nil }
        let first = self.bytes[self.index]
        if first < 0x80 { return (UnicodeScalar(first), 1) }
        let width = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        let character = String(
            decoding: self.bytes[self.index..<min(self.index + width, self.bytes.count)], as: UTF8.self)
        return character.unicodeScalars.first.map { ($0, width) }
    }

    private mutating func quote(_ what: String) throws(Failure) -> UInt8 {
        if self.take("\"") { return UInt8(ascii: "\"") }
        try self.demand("'", what)
        return UInt8(ascii: "'")
    }

    mutating func quoted(_ what: String) throws(Failure) -> ArraySlice<UInt8> {
        let quote = try self.quote(what)
        let start = self.index
        guard let end = self.bytes[start...].firstIndex(of: quote) else { throw self.failure("a quote without end") }
        self.index = end + 1
        return self.bytes[start..<end]
    }
}
