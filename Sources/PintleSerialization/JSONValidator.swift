// SPDX-License-Identifier: Apache-2.0

/// Checks a JSON document that arrives in pieces of any size.
///
/// The result, also the error and its place, is that of ``JSONScanner`` on the whole document, however it is cut. Between
/// two pieces it keeps only one bit for each open level, a dozen bytes, and a count.
package struct JSONValidator: Sendable {
    private var transcoder = UnicodeTranscoder()
    private var document: JSONPieces
    private var error: JSONSyntaxError?

    /// Makes a validator for one document.
    ///
    /// - Parameter scanner: the rules for accepted documents.
    package init(_ scanner: JSONScanner = JSONScanner()) { self.document = JSONPieces(scanner) }

    /// Checks the next piece.
    ///
    /// - Throws: the place of the first byte that is not JSON, and the reason, as soon as that is certain; again on every
    ///   later call.
    package mutating func take(_ bytes: UnsafeRawBufferPointer) throws(JSONSyntaxError) {
        try bytes.withMemoryRebound(to: UInt8.self) { bytes throws(JSONSyntaxError) in
            try self.take(bytes, isLast: false)
        }
    }

    /// Checks the next piece, as the other `take` does.
    package mutating func take(_ bytes: [UInt8]) throws(JSONSyntaxError) {
        try bytes.withUnsafeBufferPointer { bytes throws(JSONSyntaxError) in try self.take(bytes, isLast: false) }
    }

    /// Ends the document. No piece may follow.
    ///
    /// - Throws: the errors of `take`, and an error if the document is incomplete.
    package mutating func finish() throws(JSONSyntaxError) {
        try self.take(UnsafeBufferPointer<UInt8>(start: nil, count: 0), isLast: true)
    }

    mutating func take(_ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool) throws(JSONSyntaxError) {
        if let error = self.error { throw error }
        do throws(JSONSyntaxError) {
            try Self.pass(bytes, isLast: isLast, through: &self.transcoder, to: &self.document)
        } catch {
            self.error = error
            throw error
        }
    }

    private static func pass(
        _ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool, through transcoder: inout UnicodeTranscoder,
        to document: inout JSONPieces
    ) throws(JSONSyntaxError) {
        let isText = try transcoder.take(bytes, isLast: isLast) { (piece, _, isLast) throws(JSONSyntaxError) in
            try document.take(piece, isLast: isLast)
        }
        if !isText { throw document.encodingError() }
    }
}

/// A document in UTF-8 that arrives in pieces. The end of a piece, if it cannot be judged alone, is kept and put before the
/// next one.
private struct JSONPieces {
    private var state: JSONScan.State
    /// The kept end of the last piece; shorter than the longest escape.
    private var held: [UInt8] = []
    /// The position of ``held``.
    private var position = TextPosition()

    init(_ scanner: JSONScanner) { self.state = JSONScan.State(scanner) }

    mutating func take(_ piece: UnsafeBufferPointer<UInt8>, isLast: Bool) throws(JSONSyntaxError) {
        guard !self.held.isEmpty else { return try self.scanAndHold(piece, isLast: isLast) }
        // Longer than any token that was held, so that all held bytes are read unless the piece ends first.
        let start = piece.prefix(2 * JSONScan.longestEscape)
        let heldCount = self.held.count
        let joined = self.held + start
        let isWhole = start.count == piece.count
        let read = try joined.withUnsafeBufferPointer { bytes throws(JSONSyntaxError) in
            try self.scan(bytes, isLast: isLast && isWhole)
        }
        if isWhole {
            self.held = Array(joined[read...])
        } else {
            try self.scanAndHold(UnsafeBufferPointer(rebasing: piece[(read - heldCount)...]), isLast: isLast)
        }
    }

    /// Returns the error for a document whose following bytes are not text in its encoding.
    mutating func encodingError() -> JSONSyntaxError {
        self.held.withUnsafeBufferPointer { bytes in
            var scan = JSONScan(bytes, isLast: true, self.state)
            let failure = scan.run()
            // An error before those bytes comes first.
            if let failure, scan.index < bytes.count { return self.error(failure, at: scan.index, in: bytes) }
            return self.error(.encoding, at: bytes.count, in: bytes)
        }
    }

    private mutating func scanAndHold(_ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool) throws(JSONSyntaxError) {
        self.held = Array(bytes[(try self.scan(bytes, isLast: isLast))...])
    }

    /// - Returns: the number of bytes that need not be scanned again.
    private mutating func scan(_ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool) throws(JSONSyntaxError) -> Int {
        var scan = JSONScan(bytes, isLast: isLast, self.state)
        // The scan must be the only owner of the levels; otherwise each piece would copy them.
        self.state.outerKinds = []
        let failure = scan.run()
        if let failure, failure != .unfinished { throw self.error(failure, at: scan.index, in: bytes) }
        self.state = scan.state
        if !isLast { self.position.advance(over: UnsafeBufferPointer(rebasing: bytes.prefix(scan.index))) }
        return scan.index
    }

    private func error(
        _ failure: JSONScan.Failure, at index: Int, in bytes: UnsafeBufferPointer<UInt8>
    ) -> JSONSyntaxError {
        JSONSyntaxError(
            failure, at: index, in: bytes, from: self.position, nestingLimit: self.state.nestingLimit)
    }
}
