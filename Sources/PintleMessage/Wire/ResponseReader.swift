// SPDX-License-Identifier: Apache-2.0

/// Reads a response of HTTP/1.1 as strictly as a request, but for white space before colons: its head line by line, then
/// its body.
package struct ResponseReader: Sendable {
    /// What a line has completed.
    package enum Found: Sendable {
        /// Nothing yet.
        case more
        /// An interim response.
        case interim(ResponseHead)
        /// The head of the final response, or of a 101; `length` is what it says of a body that it may have.
        case head(ResponseHead, length: UInt64?)
    }

    private var head = Self.emptyHead
    private var hasStatusLine = false
    private let limits: HeadLimits
    /// The bytes and lines of the head and of the interim responses before it.
    private var byteCount = 0
    private var lineCount = 0
    private var body: BodyDecoder
    /// `1.0` or `1.1`.
    package private(set) var version = "1.1"
    /// True where the peer takes another request behind this one (RFC 9112 §9.3).
    package private(set) var keepsConnection = false
    /// True where the final head was delivered.
    package private(set) var isComplete = false

    // Kept here because to ask for more than what is stored copies the reader, and a connection asks for these all the time.

    /// True where the end of the body was there, by its length or in its chunks.
    package private(set) var isBodyOver = false
    /// True where bytes came behind the end of the body.
    package private(set) var hasExcess = false
    /// The fields behind the body.
    package private(set) var trailers = Fields()

    private static var noHead: ResponseHead { ResponseHead(status: 0) }
    /// Room for what most responses have, so that it does not grow line by line.
    private static var emptyHead: ResponseHead {
        ResponseHead(status: 0, fields: Fields(reservingBytes: 512, lines: 16))
    }

    /// Makes a reader for the answer to one request.
    package init(limits: HeadLimits) {
        self.limits = limits
        self.body = BodyDecoder(.untilClose, of: .response, limits: limits)
    }

    /// Takes lines out of bytes as they are on the wire, up to the end of a head, or of what is here.
    ///
    /// - Parameters:
    ///   - offset: of the first byte that was not taken; moved.
    ///   - method: of the request.
    /// - Throws: ``WireError`` where a line is malformed, or goes over the limits together with those before it.
    package mutating func head(
        _ bytes: UnsafeRawBufferPointer, from offset: inout Int, method: String
    ) throws(WireError) -> Found {
        while offset < bytes.count {
            guard let lineFeed = bytes.firstIndex(of: .lf, from: offset) else {
                guard bytes.count - offset <= self.limits.line + 2 else { throw Self.tooLarge }
                return .more
            }
            let line = UnsafeRawBufferPointer(rebasing: bytes[offset...lineFeed])
            offset = lineFeed + 1
            let found = try self.line(line, method: method)
            if case .more = found { continue }
            return found
        }
        return .more
    }

    /// Takes a line with its line end.
    ///
    /// - Parameter method: of the request.
    /// - Throws: ``WireError`` where it is malformed, or goes over the limits together with those before it.
    package mutating func line(_ line: UnsafeRawBufferPointer, method: String) throws(WireError) -> Found {
        precondition(!self.isComplete, "BUG: a head is read on behind its end")
        let line = try Self.withoutLineEnd(line)
        try self.count(line)
        guard self.hasStatusLine else {
            let start = try ResponseHead(statusLine: line)
            (self.head.status, self.head.reason) = (start.status, start.reason)
            self.hasStatusLine = true
            self.version = try self.version(of: line)
            return .more
        }
        guard line.isEmpty else {
            try HeadReader.append(line, of: .response, to: &self.head.fields, hasLineEnd: true)
            return .more
        }
        self.hasStatusLine = false
        // Moved out, so that its next owner can change it without a copy.
        var head = Self.noHead
        swap(&head, &self.head)
        try head.fields.checkSection()
        if head.status < 200, head.status != 101 { self.head = Self.emptyHead }
        if head.status < 200, head.status != 101 { return .interim(head) }
        self.isComplete = true
        self.keepsConnection = head.fields.keepsConnection(minorVersion: self.version == "1.1" ? 1 : 0)
        let framing = try head.bodyFraming(to: method)
        guard framing != .chunked || self.version != "1.0" else {
            throw WireError(.malformed, "it is of HTTP/1.0 and has a Transfer-Encoding")
        }
        self.body = BodyDecoder(framing, of: .response, limits: self.limits)
        self.noteEndOfBody()
        guard case .length(let length) = framing else { return .head(head, length: nil) }
        return .head(head, length: length)
    }

    // MARK: The body

    /// Takes the next piece out of bytes as they are on the wire; nil when there is no more in them.
    package mutating func nextBody(
        _ bytes: UnsafeRawBufferPointer, from offset: inout Int
    ) throws(WireError) -> Range<Int>? {
        defer { self.noteEndOfBody() }
        return try self.body.next(bytes, from: &offset)
    }

    /// The bytes that are missing of a body whose length is known; nil where there is none, or no end of it is known.
    package var missingBytes: UInt64? { self.body.missingBytes }

    /// Notes that so many bytes of the body went another way, at most those that are missing.
    package mutating func skip(_ count: Int) {
        self.body.skip(count)
        self.noteEndOfBody()
    }

    /// True where the end of the connection is the end of the body.
    package var isBodyUnlimited: Bool { self.isComplete && self.body.isUnlimited }

    /// True where chunks are missing.
    package var lacksChunks: Bool { self.body.lacksChunks }

    // MARK: Inside

    /// Keeps what the decoder tells of the end of the body, once that is there.
    private mutating func noteEndOfBody() {
        self.isBodyOver = self.body.isOver
        guard self.isBodyOver else { return }
        self.hasExcess = self.body.hasExcess
        if !self.body.trailers.isEmpty { self.trailers = self.body.trailers }
    }

    /// An origin could otherwise keep a loop busy, and memory growing, with a head that never ends.
    private mutating func count(_ line: UnsafeRawBufferPointer) throws(WireError) {
        self.byteCount += line.count + 2
        self.lineCount += 1
        guard line.count <= self.limits.line, self.byteCount <= self.limits.bytes,
            self.lineCount <= self.limits.count + 2
        else { throw Self.tooLarge }
    }

    private static var tooLarge: WireError { WireError(.headerTooLarge, "its head or trailers are over the limits") }

    /// Of a line that was understood as a status line.
    private func version(of line: UnsafeRawBufferPointer) throws(WireError) -> String {
        if line.starts(with: "HTTP/1.1 ") { return "1.1" }
        if line.starts(with: "HTTP/1.0 ") { return "1.0" }
        throw WireError(.versionNotSupported, "its version is none that was asked for")
    }

    private static func withoutLineEnd(_ line: UnsafeRawBufferPointer) throws(WireError) -> UnsafeRawBufferPointer {
        guard line.count >= 2, line[line.count - 2] == UInt8(ascii: "\r") else {
            throw WireError(.malformed, "a line ends with a bare line feed")
        }
        return UnsafeRawBufferPointer(rebasing: line[..<(line.count - 2)])
    }
}
