// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

extension XMLScan {
    // MARK: Pieces

    /// Returns the error at the index: `problem`, unless the piece ends there, or the bytes there are not a valid
    /// character.
    func failure(_ problem: String) -> Failure {
        guard self.index < self.end else { return self.failureAtEnd ?? Failure(self.index, problem) }
        do throws(Failure) {
            _ = try self.character()
            return Failure(self.index, problem)
        } catch {
            return error
        }
    }

    /// The error if the bytes end here: a declaration that is too long, or ``Failure/unfinished`` if another piece follows;
    /// nil for the last piece.
    private var failureAtEnd: Failure? {
        if let start = self.declarationStart, self.end - start == Self.tokenLimit {
            return Failure(start, "a declaration of more than \(Self.tokenLimit) bytes")
        }
        return self.isLast ? nil : .unfinished
    }

    /// True if `text` follows the index.
    ///
    /// - Throws: ``Failure/unfinished`` if that depends on the next piece.
    @inline(__always)
    func isAt(_ text: StaticString) throws(Failure) -> Bool {
        let count = text.utf8CodeUnitCount
        let left = max(0, min(count, self.end - self.index))
        for offset in 0..<left where self.bytes[self.index + offset] != text.utf8Start[offset] { return false }
        if left < count, let failure = self.failureAtEnd { throw failure }
        return left == count
    }

    @inline(__always)
    mutating func take(_ text: StaticString) throws(Failure) -> Bool {
        guard try self.isAt(text) else { return false }
        self.index += text.utf8CodeUnitCount
        return true
    }

    @inline(__always)
    mutating func demand(_ text: StaticString, _ what: String) throws(Failure) {
        guard try self.take(text) else { throw self.failure("\(what) is due") }
    }

    /// - Returns: true if there was any.
    @inline(__always)
    @discardableResult
    mutating func skipSpace() -> Bool {
        let start = self.index
        while self.index < self.end, XMLText.isSpace(self.bytes[self.index]) { self.index += 1 }
        return self.index > start
    }

    mutating func quote(_ what: String) throws(Failure) -> UInt8 {
        if try self.take("\"") { return UInt8(ascii: "\"") }
        try self.demand("'", what)
        return UInt8(ascii: "'")
    }

    mutating func name(_ what: String) throws(Failure) -> UnsafeBufferPointer<UInt8> {
        let start = self.index
        while self.index < self.end {
            let byte = self.bytes[self.index]
            if byte < 0x80 {
                guard self.index > start ? XMLText.isNameByte(byte) : XMLText.isNameStartByte(byte) else { break }
                self.index += 1
            } else {
                let (scalar, width) = try self.character()
                guard self.index > start ? XMLText.isNamePart(scalar) : XMLText.isNameStart(scalar) else { break }
                self.index += width
            }
            guard self.index - start <= Self.tokenLimit else {
                throw Failure(start, "a name of more than \(Self.tokenLimit) bytes")
            }
        }
        guard self.index > start else { throw self.failure("\(what) is due") }
        // The name may continue in the next piece.
        if self.index >= self.end, let failure = self.failureAtEnd { throw failure }
        return UnsafeBufferPointer(rebasing: self.bytes[start..<self.index])
    }

    /// Returns the character at the index (RFC 3629 §4, XML 1.0 §2.2), and its number of bytes.
    func character() throws(Failure) -> (scalar: UnicodeScalar, width: Int) {
        let lead = self.bytes[self.index]
        let width: Int
        switch lead {
        case ..<0x80: width = 1
        case 0xC2...0xDF: width = 2
        case 0xE0...0xEF: width = 3
        case 0xF0...0xF4: width = 4
        default: throw Failure(self.index, "a byte that is not UTF-8")
        }
        var value = width == 1 ? UInt32(lead) : UInt32(lead) & (0x7F >> UInt32(width))
        for offset in 1..<max(width, 1) {
            guard self.index + offset < self.bytes.count else {
                throw self.isLast ? Failure(self.index, "a byte that is not UTF-8") : .unfinished
            }
            let byte = self.bytes[self.index + offset]
            guard byte & 0xC0 == 0x80 else { throw Failure(self.index, "a byte that is not UTF-8") }
            value = value << 6 | UInt32(byte & 0x3F)
        }
        let least: UInt32 = width < 3 ? 0 : width == 3 ? 0x800 : 0x10000
        guard let scalar = UnicodeScalar(value), value >= least else {
            throw Failure(self.index, "a byte that is not UTF-8")
        }
        guard XMLText.isCharacter(scalar) else {
            let code = String(value, radix: 16, uppercase: true)
            throw Failure(self.index, "the character U+\(code), which no document may have")
        }
        return (scalar, width)
    }

    /// Reads a reference such as `&lt;`, `&#10;` or `&#xA;` (XML 1.0 §4.1). Only the predefined entities exist, because
    /// documents that could declare others are refused.
    mutating func reference() throws(Failure) {
        let start = self.index
        self.index += 1
        guard try self.take("#") else {
            let name = try self.name("the name of an entity")
            try self.demand(";", "“;”")
            guard ["amp", "lt", "gt", "quot", "apos"].contains(where: { name.elementsEqual($0.utf8) }) else {
                throw Failure(start, "“&\(XMLText.text(name));” is not declared")
            }
            return
        }
        let radix: UInt32 = try self.take("x") ? 16 : 10
        let first = self.index
        var value: UInt32 = 0
        while self.index < self.end, self.index - first < 32, value <= 0x10FFFF,
            let digit = ASCII.hexValue(self.bytes[self.index]), digit < radix
        {
            value = value * radix + UInt32(digit)
            self.index += 1
        }
        guard self.index < self.end else { throw self.failure("“;” is due") }
        guard self.bytes[self.index] == UInt8(ascii: ";"), self.index > first,
            let scalar = UnicodeScalar(value), XMLText.isCharacter(scalar)
        else { throw Failure(start, "a reference to what is no character") }
        self.index += 1
    }

    // MARK: Declarations

    /// Reads the rest of an XML declaration, ` version="1.0" encoding="…" standalone="…"?>`, after `<?xml` (XML 1.0 §2.8).
    mutating func declaration() throws(Failure) {
        self.beginDeclaration(lengthSoFar: 5)
        var names = ["version", "encoding", "standalone"][...]
        var isFirst = true
        while self.skipSpace(), try !self.isAt("?>") {
            let start = self.index
            let name = XMLText.text(try self.name("“version”, “encoding” or “standalone”"))
            guard let place = names.firstIndex(of: name), !isFirst || name == "version" else {
                throw Failure(start, "“\(name)” has no place here in a declaration")
            }
            names = names[(place + 1)...]
            isFirst = false
            self.skipSpace()
            try self.demand("=", "“=”")
            self.skipSpace()
            let value = XMLText.text(try self.quoted("a value in quotes"))
            guard Self.isDeclarable(value, as: name) else { throw Failure(start, "a \(name) of “\(value)”") }
        }
        guard !isFirst else { throw self.failure("a declaration without version") }
        try self.demand("?>", "“?>”")
        self.endDeclaration()
    }

    private static func isDeclarable(_ value: String, as name: String) -> Bool {
        switch name {
        case "version":
            value.hasPrefix("1.") && value.utf8.count > 2 && value.utf8.dropFirst(2).allSatisfy(ASCII.isDigit)
        case "standalone": value == "yes" || value == "no"
        default: !value.isEmpty
        }
    }

    /// Reads the rest of a document type declaration after `<!DOCTYPE` (XML 1.0 §2.8): a name, and perhaps external
    /// identifiers.
    mutating func documentType() throws(Failure) {
        self.beginDeclaration(lengthSoFar: 9)
        guard self.skipSpace() else { throw self.failure("white space is due") }
        _ = try self.name("the name of the document's element")
        let hasSpace = self.skipSpace()
        if hasSpace, try self.take("PUBLIC") {
            guard self.skipSpace() else { throw self.failure("white space is due") }
            let start = self.index
            let identifier = try self.quoted("a public identifier in quotes")
            guard identifier.allSatisfy(XMLText.isPublicIdentifierByte) else {
                throw Failure(start, "a public identifier with a character that none has")
            }
            try self.systemIdentifier()
        } else if hasSpace, try self.take("SYSTEM") {
            try self.systemIdentifier()
        }
        guard try !self.isAt("[") else {
            throw self.failure("declarations of its own, which can define entities and are not accepted")
        }
        try self.demand(">", "“>”")
        self.endDeclaration()
    }

    private mutating func systemIdentifier() throws(Failure) {
        guard self.skipSpace() else { throw self.failure("white space is due") }
        _ = try self.quoted("a system identifier in quotes")
        self.skipSpace()
    }

    private mutating func quoted(_ what: String) throws(Failure) -> UnsafeBufferPointer<UInt8> {
        let quote = try self.quote(what)
        let start = self.index
        while self.index < self.end, self.bytes[self.index] != quote { self.index += try self.character().width }
        guard self.index < self.end else { throw self.failure("a quote without end") }
        self.index += 1
        return UnsafeBufferPointer(rebasing: self.bytes[start..<self.index - 1])
    }

    /// Until ``endDeclaration()``, ``end`` is at most the place where the declaration must end.
    private mutating func beginDeclaration(lengthSoFar: Int) {
        let start = self.index - lengthSoFar
        self.declarationStart = start
        self.end = min(self.bytes.count, start + Self.tokenLimit)
    }

    private mutating func endDeclaration() {
        self.declarationStart = nil
        self.end = self.bytes.count
    }
}
