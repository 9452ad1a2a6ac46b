// SPDX-License-Identifier: Apache-2.0

/// Checks an XML document that arrives in pieces of any size.
///
/// The result, also the error and its place, is that of ``XMLScanner`` on the whole document, however it is cut. Between
/// two pieces it keeps only the names of the open elements and of the attributes of an unfinished tag, within the limits of
/// ``XMLScanner``, and at most 64 KiB of bytes that cannot be judged alone.
package struct XMLValidator: Sendable {
    private var transcoder = UnicodeTranscoder()
    private var declared = XMLDeclaredText()
    private var document: XMLPieces
    private var error: XMLSyntaxError?

    /// Makes a validator for one document.
    ///
    /// - Parameter scanner: the rules for accepted documents.
    package init(_ scanner: XMLScanner = XMLScanner()) { self.init(scanner, keepsText: false) }

    /// - Parameter keepsText: true to keep the document in ``text``.
    init(_ scanner: XMLScanner, keepsText: Bool) { self.document = XMLPieces(scanner, keepsText: keepsText) }

    /// The document so far, in UTF-8; empty if it is not kept.
    var text: [UInt8] { self.document.text ?? [] }

    /// Checks the next piece.
    ///
    /// - Throws: the place of the first byte that is not XML, and the reason, as soon as that is certain; again on every
    ///   later call.
    package mutating func take(_ bytes: UnsafeRawBufferPointer) throws(XMLSyntaxError) {
        try bytes.withMemoryRebound(to: UInt8.self) { bytes throws(XMLSyntaxError) in
            try self.take(bytes, isLast: false)
        }
    }

    /// Checks the next piece, as the other `take` does.
    package mutating func take(_ bytes: [UInt8]) throws(XMLSyntaxError) {
        try bytes.withUnsafeBufferPointer { bytes throws(XMLSyntaxError) in try self.take(bytes, isLast: false) }
    }

    /// Ends the document. No piece may follow.
    ///
    /// - Throws: the errors of `take`, and an error if the document is incomplete.
    package mutating func finish() throws(XMLSyntaxError) {
        try self.take(UnsafeBufferPointer<UInt8>(start: nil, count: 0), isLast: true)
    }

    mutating func take(_ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool) throws(XMLSyntaxError) {
        if let error = self.error { throw error }
        do throws(XMLSyntaxError) {
            try Self.pass(
                bytes, isLast: isLast, through: &self.transcoder, &self.declared, to: &self.document)
        } catch {
            self.error = error
            throw error
        }
    }

    private static func pass(
        _ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool, through transcoder: inout UnicodeTranscoder,
        _ declared: inout XMLDeclaredText, to document: inout XMLPieces
    ) throws(XMLSyntaxError) {
        let isText = try transcoder.take(bytes, isLast: isLast) { (piece, form, isLast) throws(XMLSyntaxError) in
            // A byte order mark or zero bytes make the encoding certain, whatever is declared.
            guard form == .utf8(mark: 0) else { return try document.take(piece, isLast: isLast) }
            try declared.take(piece, isLast: isLast, to: &document)
        }
        if !isText { throw document.error(endingWith: "this is no valid UTF-16 or UTF-32") }
    }
}

/// A document in UTF-8 that arrives in pieces. The end of a piece, if it cannot be judged alone, is kept and put before the
/// next one.
struct XMLPieces {
    private var state = XMLScan.State()
    /// The kept end of the last piece; little more than a name or a declaration at most.
    private var held: [UInt8] = []
    /// The position of ``held``.
    private var position = TextPosition()
    /// All pieces so far, or nil if they are not kept.
    private(set) var text: [UInt8]?

    init(_ scanner: XMLScanner, keepsText: Bool) {
        self.state.nestingLimit = scanner.nestingLimit
        self.text = keepsText ? [] : nil
    }

    mutating func take(_ piece: UnsafeBufferPointer<UInt8>, isLast: Bool) throws(XMLSyntaxError) {
        self.text?.append(contentsOf: piece)
        guard !self.held.isEmpty else { return try self.scanAndHold(piece, isLast: isLast) }
        // Longer than any token that was held, so that all held bytes are read unless the piece ends first.
        let start = piece.prefix(2 * XMLScan.tokenLimit)
        let heldCount = self.held.count
        let joined = self.held + start
        let isWhole = start.count == piece.count
        let read = try joined.withUnsafeBufferPointer { bytes throws(XMLSyntaxError) in
            try self.scan(bytes, isLast: isLast && isWhole)
        }
        if isWhole {
            self.held = Array(joined[read...])
        } else {
            try self.scanAndHold(UnsafeBufferPointer(rebasing: piece[(read - heldCount)...]), isLast: isLast)
        }
    }

    /// Returns the error for a document whose following bytes are not text in its encoding: `problem`, or an earlier error
    /// in the held bytes.
    mutating func error(endingWith problem: String) -> XMLSyntaxError {
        self.held.withUnsafeBufferPointer { bytes in
            var scan = XMLScan(bytes, isLast: true, self.state)
            do throws(XMLScan.Failure) {
                try scan.run()
            } catch {
                if error.index < bytes.count { return self.error(error, in: bytes) }
            }
            return XMLSyntaxError(problem, at: self.position.advanced(by: bytes.count, into: bytes))
        }
    }

    private mutating func scanAndHold(_ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool) throws(XMLSyntaxError) {
        self.held = Array(bytes[(try self.scan(bytes, isLast: isLast))...])
    }

    /// - Returns: the number of bytes that need not be scanned again.
    private mutating func scan(_ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool) throws(XMLSyntaxError) -> Int {
        var scan = XMLScan(bytes, isLast: isLast, self.state)
        // The scan must be the only owner of the names; otherwise each piece would copy them.
        self.state = XMLScan.State()
        do throws(XMLScan.Failure) {
            try scan.run()
            return bytes.count
        } catch {
            self.state = scan.state
            guard error.problem == nil else { throw self.error(error, in: bytes) }
            self.position.advance(over: UnsafeBufferPointer(rebasing: bytes.prefix(scan.settled)))
            return scan.settled
        }
    }

    private func error(_ failure: XMLScan.Failure, in bytes: UnsafeBufferPointer<UInt8>) -> XMLSyntaxError {
        XMLSyntaxError(failure.problem ?? "", at: self.position.advanced(by: failure.index, into: bytes))
    }
}
