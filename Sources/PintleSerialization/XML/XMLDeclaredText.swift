// SPDX-License-Identifier: Apache-2.0

/// Converts a document, in pieces, from the encoding that its XML declaration names to UTF-8.
struct XMLDeclaredText {
    private enum State {
        /// The declaration may be incomplete.
        case deciding([UInt8])
        case utf8
        case other(XMLLegacyText)
    }

    private var state = State.deciding([])

    /// Takes the next piece of a document without byte order mark.
    mutating func take(
        _ piece: UnsafeBufferPointer<UInt8>, isLast: Bool, to document: inout XMLPieces
    ) throws(XMLSyntaxError) {
        switch self.state {
        case .utf8: return try document.take(piece, isLast: isLast)
        case .other(var text):
            self.state = .utf8
            defer { self.state = .other(text) }
            return try text.take(piece, isLast: isLast, to: &document)
        case .deciding(let head):
            // Most documents declare no encoding, or UTF-8. Their pieces are not copied.
            let start = head + piece.prefix(XMLScan.tokenLimit - head.count)
            guard isLast || start.count == XMLScan.tokenLimit || XMLText.declarationIsOver(in: start) else {
                self.state = .deciding(start)
                return
            }
            try self.decide(start)
            if !head.isEmpty {
                try head.withUnsafeBufferPointer { bytes throws(XMLSyntaxError) in
                    try self.take(bytes, isLast: false, to: &document)
                }
            }
            try self.take(piece, isLast: isLast, to: &document)
        }
    }

    private mutating func decide(_ start: [UInt8]) throws(XMLSyntaxError) {
        self.state = .utf8
        // `utf8` is not a registered name, but common.
        guard let name = XMLText.declaredEncoding(in: start), !["utf-8", "utf8"].contains(name.lowercased()) else {
            return
        }
        guard let text = XMLLegacyText(name) else {
            throw XMLSyntaxError(
                "the declared encoding is not the document's, or is not known", at: TextPosition())
        }
        self.state = .other(text)
    }
}

/// Converts text in an encoding other than Unicode's to UTF-8.
///
/// If characters can have several bytes, each run of bytes is decoded as a whole. Runs end before bytes below `0`, which
/// are always whole characters in encodings that keep ASCII and have no states.
struct XMLLegacyText {
    /// The maximum size of such a run in bytes.
    private static let limit = 1 << 16

    private let encoding: TextEncoding
    /// The UTF-8 of each byte, empty for an invalid one; nil if characters can have several bytes.
    private let characters: [[UInt8]]?
    private var held: [UInt8] = []

    /// - Returns: nil for an encoding that is unknown, changes ASCII, or has states.
    init?(_ name: String) {
        guard let encoding = try? TextEncoding(name), encoding.keepsASCII, !Self.hasStates(encoding.name) else {
            return nil
        }
        self.encoding = encoding
        self.characters = Self.characters(of: encoding)
    }

    /// True for encodings in which bytes of ASCII have another meaning after a control character, or after `~{`.
    private static func hasStates(_ name: String) -> Bool {
        ["iso-2022", "csiso2022", "hz"].contains { name.hasPrefix($0) }
    }

    private static func characters(of encoding: TextEncoding) -> [[UInt8]]? {
        var characters = (0..<128).map { [UInt8($0)] }
        for byte in 128...UInt8.max {
            if let text = encoding.decode([byte]) {
                characters.append(Array(text.utf8))
            } else if [0x40, 0x61, 0xA1, 0xFE].contains(where: { encoding.decode([byte, $0]) != nil }) {
                return nil
            } else {
                characters.append([])
            }
        }
        return characters
    }

    mutating func take(
        _ piece: UnsafeBufferPointer<UInt8>, isLast: Bool, to document: inout XMLPieces
    ) throws(XMLSyntaxError) {
        if let characters = self.characters {
            return try self.take(piece, of: characters, isLast: isLast, to: &document)
        }
        for byte in piece {
            if byte < 0x30, !self.held.isEmpty {
                try self.pass(self.held, isLast: false, to: &document)
                self.held.removeAll(keepingCapacity: true)
            }
            self.held.append(byte)
            guard self.held.count <= Self.limit else {
                throw document.error(
                    endingWith: "more than \(Self.limit) bytes of \(self.encoding) without a space or an end of line")
            }
        }
        if isLast { try self.pass(self.held, isLast: true, to: &document) }
    }

    private func take(
        _ piece: UnsafeBufferPointer<UInt8>, of characters: [[UInt8]], isLast: Bool, to document: inout XMLPieces
    ) throws(XMLSyntaxError) {
        var text: [UInt8] = []
        for byte in piece {
            if byte < 0x80 {
                text.append(byte)
            } else {
                let character = characters[Int(byte)]
                guard !character.isEmpty else {
                    try Self.pass(text, isLast: false, to: &document)
                    throw document.error(endingWith: self.problem)
                }
                text.append(contentsOf: character)
            }
            if text.count > XMLScan.tokenLimit {
                try Self.pass(text, isLast: false, to: &document)
                text.removeAll(keepingCapacity: true)
            }
        }
        try Self.pass(text, isLast: isLast, to: &document)
    }

    private var problem: String { "a byte that is not \(self.encoding)" }

    private func pass(_ bytes: [UInt8], isLast: Bool, to document: inout XMLPieces) throws(XMLSyntaxError) {
        guard let text = self.encoding.decode(bytes) else { throw document.error(endingWith: self.problem) }
        try Self.pass(Array(text.utf8), isLast: isLast, to: &document)
    }

    private static func pass(_ utf8: [UInt8], isLast: Bool, to document: inout XMLPieces) throws(XMLSyntaxError) {
        try utf8.withUnsafeBufferPointer { bytes throws(XMLSyntaxError) in
            try document.take(bytes, isLast: isLast)
        }
    }
}
