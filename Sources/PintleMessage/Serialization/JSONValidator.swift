// SPDX-License-Identifier: Apache-2.0

/// Checks a JSON document as it comes, in pieces of any size.
///
/// Its verdict, and the error with its place, are those of ``JSONScanner`` on the whole document, wherever it is cut. What
/// it keeps between two pieces is a bit for each open level, a dozen bytes, and a count.
package struct JSONValidator: Sendable {
    private var transcoder = UnicodeTranscoder()
    private var document: JSONPieces
    private var error: JSONSyntaxError?

    /// Makes a validator for one document.
    ///
    /// - Parameter scanner: what is accepted.
    package init(_ scanner: JSONScanner = JSONScanner()) { self.document = JSONPieces(scanner) }

    /// Takes the next piece.
    ///
    /// - Throws: where and why the bytes stop being JSON, as soon as that is certain, and again on every later call.
    package mutating func take(_ bytes: UnsafeRawBufferPointer) throws(JSONSyntaxError) {
        try bytes.withMemoryRebound(to: UInt8.self) { bytes throws(JSONSyntaxError) in
            try self.take(bytes, isLast: false)
        }
    }

    /// Takes the next piece, as the other `take` does.
    package mutating func take(_ bytes: [UInt8]) throws(JSONSyntaxError) {
        try bytes.withUnsafeBufferPointer { bytes throws(JSONSyntaxError) in try self.take(bytes, isLast: false) }
    }

    /// Tells that the document ends here. Nothing may follow.
    ///
    /// - Throws: as `take` does; also where more would have been needed.
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

/// A document in UTF-8 that comes in pieces. What a piece ends with that cannot be judged alone is kept, and put before
/// the start of the next one.
private struct JSONPieces {
    private var state: JSONScan.State
    /// Fewer bytes than the longest escape has.
    private var held: [UInt8] = []
    /// Where ``held`` begins.
    private var position = TextPosition()

    init(_ scanner: JSONScanner) { self.state = JSONScan.State(scanner) }

    mutating func take(_ piece: UnsafeBufferPointer<UInt8>, isLast: Bool) throws(JSONSyntaxError) {
        guard !self.held.isEmpty else { return try self.scanAndHold(piece, isLast: isLast) }
        // Longer than what can be left of it, so that all that was held is read unless the piece ends first.
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

    /// What is wrong with a document whose text ends because the bytes that follow are none.
    mutating func encodingError() -> JSONSyntaxError {
        self.held.withUnsafeBufferPointer { bytes in
            var scan = JSONScan(bytes, isLast: true, self.state)
            let failure = scan.run()
            // An error before that place is the first one.
            if let failure, scan.index < bytes.count { return self.error(failure, at: scan.index, in: bytes) }
            return self.error(.encoding, at: bytes.count, in: bytes)
        }
    }

    private mutating func scanAndHold(_ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool) throws(JSONSyntaxError) {
        self.held = Array(bytes[(try self.scan(bytes, isLast: isLast))...])
    }

    /// - Returns: how many bytes need not be seen again.
    private mutating func scan(_ bytes: UnsafeBufferPointer<UInt8>, isLast: Bool) throws(JSONSyntaxError) -> Int {
        var scan = JSONScan(bytes, isLast: isLast, self.state)
        // There is one owner, or each piece would copy the levels.
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
