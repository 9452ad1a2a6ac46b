// SPDX-License-Identifier: Apache-2.0

/// Reads a response of HTTP/1.1: its head line by line, then its body. It is as strict as for requests, except that it
/// accepts white space before colons.
package struct ResponseReader: Sendable {
    /// The part of a response that a line completes.
    package enum Found: Sendable {
        /// Nothing yet.
        case more
        /// An interim response.
        case interim(ResponseHead)
        /// The head of the final response, or of a 101; `length` is the length it declares for its body, if it can have
        /// one.
        case head(ResponseHead, length: UInt64?)
    }

    private var head = Self.emptyHead
    private var hasStatusLine = false
    private let limits: HeadLimits
    /// The number of bytes and lines of the head and of the interim responses before it.
    private var byteCount = 0
    private var lineCount = 0
    private var body: BodyDecoder
    /// `1.0` or `1.1`.
    package private(set) var version = "1.1"
    /// True if the peer accepts another request after this one (RFC 9112 §9.3).
    package private(set) var keepsConnection = false
    /// True if the final head was delivered.
    package private(set) var isComplete = false

    // Stored properties: a computed one would copy the whole reader, and a connection reads these all the time.

    /// True if the end of the body was read, by its length or in its chunks.
    package private(set) var isBodyOver = false
    /// True if there were bytes after the end of the body.
    package private(set) var hasExcess = false
    /// The fields after the body.
    package private(set) var trailers = Fields()

    private static var noHead: ResponseHead { ResponseHead(status: 0) }
    /// A head with capacity for most responses, so that it does not grow line by line.
    private static var emptyHead: ResponseHead {
        ResponseHead(status: 0, fields: Fields(reservingBytes: 512, lines: 16))
    }

    /// Makes a reader for the response to one request.
    package init(limits: HeadLimits) {
        self.limits = limits
        self.body = BodyDecoder(.untilClose, of: .response, limits: limits)
    }

    /// Reads lines from the bytes on the wire, up to the end of a head, or of `bytes`.
    ///
    /// - Parameters:
    ///   - offset: the index of the first byte to read; moved past the lines that were read.
    ///   - method: the method of the request.
    /// - Throws: ``WireError`` if a line is malformed, or exceeds the limits together with those before it.
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

    /// Reads one line with its line end.
    ///
    /// - Parameter method: the method of the request.
    /// - Throws: ``WireError`` if the line is malformed, or exceeds the limits together with those before it.
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

    /// Returns the next piece of the body in the bytes on the wire; nil if there is no more in them.
    package mutating func nextBody(
        _ bytes: UnsafeRawBufferPointer, from offset: inout Int
    ) throws(WireError) -> Range<Int>? {
        defer { self.noteEndOfBody() }
        return try self.body.next(bytes, from: &offset)
    }

    /// The number of missing bytes of a body with a known length; nil if none are missing, or the length is unknown.
    package var missingBytes: UInt64? { self.body.missingBytes }

    /// Notes that `count` bytes of the body, at most the missing ones, were transferred without this reader.
    package mutating func skip(_ count: Int) {
        self.body.skip(count)
        self.noteEndOfBody()
    }

    /// True if the body ends when the connection ends.
    package var isBodyUnlimited: Bool { self.isComplete && self.body.isUnlimited }

    /// True if chunks are missing.
    package var lacksChunks: Bool { self.body.lacksChunks }

    // MARK: Inside

    /// Copies the decoder's results to the stored properties once the body has ended.
    private mutating func noteEndOfBody() {
        self.isBodyOver = self.body.isOver
        guard self.isBodyOver else { return }
        self.hasExcess = self.body.hasExcess
        if !self.body.trailers.isEmpty { self.trailers = self.body.trailers }
    }

    /// Counts a line against the limits. Otherwise an endless head could keep an event loop busy, and memory growing.
    private mutating func count(_ line: UnsafeRawBufferPointer) throws(WireError) {
        self.byteCount += line.count + 2
        self.lineCount += 1
        guard line.count <= self.limits.line, self.byteCount <= self.limits.bytes,
            self.lineCount <= self.limits.count + 2
        else { throw Self.tooLarge }
    }

    private static var tooLarge: WireError { WireError(.headerTooLarge, "its head or trailers are over the limits") }

    /// Returns the version in a valid status line.
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
