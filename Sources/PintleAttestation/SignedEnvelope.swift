// SPDX-License-Identifier: Apache-2.0

package import PintleTrust

/// A statement of in-toto with its signature: an envelope of DSSE 1.0 (github.com/secure-systems-lab/dsse) as JSON.
///
/// DSSE signs the payload, not the envelope's text. Only one text is accepted for each payload, that which Pintle writes: so a change
/// of any byte of the file is found.
package struct SignedEnvelope: Sendable {
    /// The most bytes of a file.
    package static let longestFile = 1 << 30
    /// The most bytes of a payload, so that its file is not too long.
    static let longestPayload = (Self.longestFile - 1024) / 4 * 3
    /// The number of bytes that the caller of ``init(file:by:)`` leaves free in front.
    package static let room = 64

    private static let payloadType = "application/vnd.in-toto+json"
    /// The first bytes of a file.
    package static let beginning = Array(#"{"payload":""#.utf8)
    private static let beforeKey = Array(#"","payloadType":"\#(Self.payloadType)","signatures":[{"keyid":""#.utf8)
    private static let beforeSignature = Array(#"","sig":""#.utf8)
    private static let end = Array("\"}]}\n".utf8)
    /// The digits of 64 bytes in base64.
    private static let signatureDigits = 88

    private let bytes: [UInt8]
    private let payload: Range<Int>

    /// Opens an envelope whose signature is that of `key`.
    ///
    /// - Parameter file: ``room`` bytes without meaning, and behind them those of the file. The payload is decoded in place.
    /// - Throws: the first thing that is not as it should be.
    package init(file: consuming [UInt8], by key: VerifyingKey) throws(AttestationError) {
        var parser = Parser(bytes: consume file)
        try parser.skip(Self.beginning, "it is not a signed report")
        let digits = parser.skipText()
        try parser.skip(Self.beforeKey, "it is not a signed report, or was changed")
        let keyID = parser.skipText()
        guard parser.bytes[keyID].elementsEqual(key.pin.description.utf8) else {
            // A name that is no pin was not written by Pintle, and may hold anything, such as line breaks.
            guard let name = try? Pin(String(decoding: parser.bytes[keyID].prefix(100), as: UTF8.self)) else {
                throw AttestationError("it was changed: the name of its key is no pin")
            }
            guard name != key.pin else {
                throw AttestationError("it was changed: the name of its key is not as Pintle writes it")
            }
            throw AttestationError("it names \(name) as its key, but the key given is \(key.pin)")
        }
        try parser.skip(Self.beforeSignature, "it was changed")
        let signature = parser.skipText()
        guard signature.count == Self.signatureDigits else { throw AttestationError("its signature was changed") }
        try parser.skip(Self.end, "it was changed")
        guard parser.index == parser.bytes.count else { throw AttestationError("it was changed: bytes follow its end") }
        let signatureBytes = try parser.decode(signature)
        self.payload = try parser.decode(digits)
        let head = Self.authenticatedHead(ofPayload: self.payload.count)
        let start = self.payload.lowerBound - head.count
        precondition(start >= 0, "BUG: there is no room in front of the payload")
        parser.bytes.replaceSubrange(start..<self.payload.lowerBound, with: head)
        self.bytes = parser.bytes
        let isSigned = self.bytes.withUnsafeBytes { bytes in
            key.accepts(
                Array(parser.bytes[signatureBytes]),
                of: UnsafeRawBufferPointer(rebasing: bytes[start..<self.payload.upperBound]))
        }
        guard isSigned else {
            throw AttestationError("its signature does not hold: it was changed, or another key has signed it")
        }
    }

    /// Calls `body` with the bytes of the statement.
    package func withStatement<Value, Failure>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try self.bytes.withUnsafeBufferPointer { bytes throws(Failure) in
            try body(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[self.payload])))
        }
    }

    // MARK: Writing

    /// The bytes in front of a payload when it is signed: the rest of DSSE's pre-authentication encoding.
    package static func authenticatedHead(ofPayload count: Int) -> [UInt8] {
        Array("DSSEv1 \(Self.payloadType.utf8.count) \(Self.payloadType) \(count) ".utf8)
    }

    /// Calls `take` with the pieces of an envelope's text, in their order.
    package static func write<Failure>(
        _ payload: UnsafeRawBufferPointer, _ signature: [UInt8], by key: VerifyingKey,
        _ take: ([UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        try take(Self.beginning)
        var text: [UInt8] = []
        for start in stride(from: 0, to: payload.count, by: Self.pieceLength) {
            let piece = payload[start..<min(start + Self.pieceLength, payload.count)]
            text.removeAll(keepingCapacity: true)
            CanonicalBase64.encode(UnsafeRawBufferPointer(rebasing: piece), into: &text)
            try take(text)
        }
        text = Self.beforeKey + Array(key.pin.description.utf8) + Self.beforeSignature
        signature.withUnsafeBytes { CanonicalBase64.encode($0, into: &text) }
        try take(text + Self.end)
    }

    /// The bytes that are encoded at a time: a multiple of three, so that no padding stands between.
    private static let pieceLength = 192 << 10
}

/// Reads the parts of an envelope in their order.
private struct Parser {
    var bytes: [UInt8]
    var index = SignedEnvelope.room

    init(bytes: consuming [UInt8]) { self.bytes = bytes }

    /// Takes bytes that are always the same.
    mutating func skip(_ expected: [UInt8], _ otherwise: String) throws(AttestationError) {
        for byte in expected {
            guard self.index < self.bytes.count, self.bytes[self.index] == byte else {
                let place = self.index < self.bytes.count ? "byte \(self.number(self.index))" : "its end"
                throw AttestationError("\(otherwise): \(place) is not as Pintle writes it")
            }
            self.index += 1
        }
    }

    /// Takes what stands before the next quotation mark.
    mutating func skipText() -> Range<Int> {
        let start = self.index
        while self.index < self.bytes.count, self.bytes[self.index] != UInt8(ascii: "\"") { self.index += 1 }
        return start..<self.index
    }

    /// Decodes base64 in its own place.
    mutating func decode(_ part: Range<Int>) throws(AttestationError) -> Range<Int> {
        do throws(CanonicalBase64.Fault) {
            let count = try CanonicalBase64.decode(part, of: &self.bytes)
            return part.lowerBound..<part.lowerBound + count
        } catch {
            throw AttestationError(
                "it was changed: byte \(self.number(error.index)) is not the base64 that Pintle writes")
        }
    }

    /// The number of a byte in the file, from 1.
    private func number(_ index: Int) -> Int { index - SignedEnvelope.room + 1 }
}
