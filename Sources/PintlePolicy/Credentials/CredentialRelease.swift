// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import NIOCore
internal import PintleMessage
package import PintleSession

/// The credentials that one request may have, and those that it has got.
// @unchecked: it is made on the loop of its exchange, and only that thread uses it.
package final class CredentialRelease: TransferAttachment, @unchecked Sendable {
    private let table: CredentialTable
    /// By credential: the problem with it in a body that is streamed; nil if it may stand there.
    private let objections: [Problem?]
    private let encoding: BodyEncoding
    /// True if the host is one that any credential is for, so that its answer may repeat a value.
    package let isNamed: Bool
    /// Each once.
    private var used: [Int]

    init(
        _ table: CredentialTable, objections: [Problem?], encoding: BodyEncoding, isNamed: Bool, used: [Int]
    ) {
        (self.table, self.objections, self.encoding, self.isNamed) = (table, objections, encoding, isNamed)
        self.used = used
    }

    /// The names of the credentials that the request has got, sorted; each once.
    package var names: [String] {
        let names = self.used.map { self.table.credentials[$0].name }
        return names.count > 1 ? names.sorted() : names
    }

    /// Puts the values into a request, in the places of the placeholders.
    package func fill(_ request: inout TransferRequest) {
        self.fill(&request.fields)
        if !self.used.isEmpty { request.path = self.filled(path: request.path) }
        switch request.body {
        case .none: break
        case .bytes(let bytes): request.body = .bytes(self.filled(bytes))
        case .stream: if !self.keepsLength { request.body = .stream(length: nil) }
        }
    }

    /// True if a body stays as long as it is, whatever is put into it.
    private var keepsLength: Bool {
        let values = self.table.values(in: self.encoding)
        return zip(self.table.credentials.indices, self.objections).allSatisfy { number, objection in
            objection != nil || values[number].count == self.table.credentials[number].placeholder?.utf8.count
        }
    }

    /// True for fields that ask for a piece of an answer, which may hold a piece of a value.
    private static func asksForPiece(_ name: UnsafeRawBufferPointer) -> Bool {
        ASCII.equalsIgnoringCase(name, "range") || ASCII.equalsIgnoringCase(name, "if-range")
    }

    private static let identity = Array("identity".utf8)

    private func fill(_ fields: inout Fields) {
        var (hasCoding, asksForPiece) = (false, false)
        fields.replaceValues { known, name, value in
            if self.isNamed, known == .other {
                // A coding may be unknown.
                if ASCII.equalsIgnoringCase(name, "accept-encoding") {
                    hasCoding = true
                    return Self.identity
                }
                asksForPiece = asksForPiece || Self.asksForPiece(name)
            }
            // The host is named, but the request has no placeholder.
            if self.used.isEmpty { return nil }
            if known == .authorization, let text = BasicText(value),
                let changed = text.bytes.withUnsafeBytes({ self.filled($0, in: .plain) })
            {
                return Array("Basic \(Data(changed).base64EncodedString())".utf8)
            }
            return self.filled(value, in: .plain)
        }
        if asksForPiece { fields.removeAll { known, name in known == .other && Self.asksForPiece(name) } }
        if self.isNamed, !hasCoding { fields.append("Accept-Encoding", "identity") }
    }

    private func filled(path: String) -> String {
        var path = path
        let made = path.withUTF8 { self.filled(UnsafeRawBufferPointer($0), in: .form) }
        return made.map { String(decoding: $0, as: UTF8.self) } ?? path
    }

    private func filled(_ bytes: ByteBuffer) -> ByteBuffer {
        bytes.withUnsafeReadableBytes { self.filled($0, in: self.encoding) }.map { ByteBuffer(bytes: $0) } ?? bytes
    }

    /// - Returns: nil if there is no placeholder.
    private func filled(_ bytes: UnsafeRawBufferPointer, in encoding: BodyEncoding) -> [UInt8]? {
        // Mostly there is none.
        guard !self.used.isEmpty, var match = self.table.placeholders.match(in: bytes, from: 0) else { return nil }
        let values = self.table.values(in: encoding)
        var filled: [UInt8] = []
        filled.reserveCapacity(bytes.count + values[match.text].count)
        var copied = 0
        while true {
            filled += bytes[copied..<match.end - match.count]
            filled += values[match.text]
            copied = match.end
            // A replaced text is no beginning of another placeholder.
            guard let next = self.table.placeholders.match(in: bytes, from: copied) else { break }
            match = next
        }
        filled += bytes[copied...]
        return filled
    }
}

// MARK: Streams

extension CredentialRelease {
    /// Makes the filler of a body that is streamed.
    package var bodyFiller: BodyFiller { BodyFiller(self) }

    /// Puts values into a body that comes in pieces.
    package struct BodyFiller {
        private let release: CredentialRelease
        /// By credential, in the encoding of the body.
        private let values: [[UInt8]]
        private var place = TextFinder.Place()
        /// The end of the bytes so far, if it may be the beginning of a placeholder.
        private var waiting: [UInt8] = []

        fileprivate init(_ release: CredentialRelease) {
            self.release = release
            self.values = release.table.values(in: release.encoding)
        }

        /// The number of bytes that wait for more.
        package var waitingBytes: Int { self.waiting.count }

        /// Takes a piece.
        ///
        /// - Returns: the bytes that may be sent.
        /// - Throws: the problem with a placeholder that may not stand in the body. Nothing may be sent any more.
        package mutating func take(_ piece: ByteBuffer) throws(Problem) -> ByteBuffer {
            let table = self.release.table
            var found: [TextFinder.Match] = []
            piece.withUnsafeReadableBytes { bytes in
                var next = 0
                while let match = table.placeholders.next(in: bytes, from: next, at: &self.place) {
                    next = match.end
                    found.append(match)
                    // A replaced text is no beginning of another placeholder.
                    self.place = TextFinder.Place()
                }
            }
            for match in found {
                if let problem = self.release.objections[match.text] { throw problem }
                if !self.release.used.contains(match.text) { self.release.used.append(match.text) }
            }
            let open = table.placeholders.open(at: self.place)
            // Nearly all pieces pass as they are.
            if found.isEmpty, open == 0, self.waiting.isEmpty { return piece }
            return self.filled(self.waiting + piece.readableBytesView, found, open)
        }

        /// - Parameter bytes: the bytes that waited, and the piece.
        private mutating func filled(_ bytes: [UInt8], _ found: [TextFinder.Match], _ open: Int) -> ByteBuffer {
            let shift = self.waiting.count
            var (made, copied) = (ByteBuffer(), 0)
            for match in found {
                made.writeBytes(bytes[copied..<match.end + shift - match.count])
                made.writeBytes(self.values[match.text])
                copied = match.end + shift
            }
            let end = bytes.count - open
            made.writeBytes(bytes[copied..<end])
            self.waiting = Array(bytes[end...])
            return made
        }

        /// Returns the bytes that waited, once the body has ended.
        package mutating func finish() -> ByteBuffer {
            defer { self.waiting = [] }
            return ByteBuffer(bytes: self.waiting)
        }
    }

    /// Makes the mask for an answer, which repeats no value of a credential.
    package var echoMask: EchoMask { EchoMask(self.table.echoes) }
}
