// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// Puts a response's head together from the lines that libcurl delivers, as strictly as a request's.
package struct ResponseReader {
    /// What a line has completed.
    package enum Found {
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
    /// Of the head and the interim responses before it, or of the trailers.
    private var byteCount = 0
    private var lineCount = 0
    /// What came after the body; libcurl does not say where it ends, so it is complete when the transfer is.
    private(set) var trailers = Fields()
    /// `1.0`, `1.1` or `2`.
    package private(set) var version = "1.1"
    /// Whether the final head was delivered.
    private(set) var isComplete = false

    private static var noHead: ResponseHead { ResponseHead(status: 0) }
    /// Room for what most responses have, so that it does not grow line by line.
    private static var emptyHead: ResponseHead {
        ResponseHead(status: 0, fields: Fields(reservingBytes: 512, lines: 16))
    }

    /// Makes a reader for the answer to one request.
    package init(limits: HeadLimits) { self.limits = limits }

    /// Takes a line with its line end.
    ///
    /// - Parameter method: of the request.
    /// - Throws: ``WireError`` where it is malformed, or goes over the limits together with those before it.
    package mutating func line(_ line: UnsafeRawBufferPointer, method: String) throws(WireError) -> Found {
        let line = Self.withoutLineEnd(line)
        try self.count(line)
        if self.isComplete {
            if !line.isEmpty { try self.trailers.append(line: line) }
            return .more
        }
        guard self.hasStatusLine else {
            let start = try ResponseHead(statusLine: line)
            (self.head.status, self.head.reason) = (start.status, start.reason)
            self.hasStatusLine = true
            self.version = Self.version(of: line)
            return .more
        }
        guard line.isEmpty else {
            try self.head.fields.append(line: line)
            return .more
        }
        self.hasStatusLine = false
        // Moved out, so that its next owner can change it without a copy.
        var head = Self.noHead
        swap(&head, &self.head)
        if head.status < 200, head.status != 101 { self.head = Self.emptyHead }
        if head.status < 200, head.status != 101 { return .interim(head) }
        self.isComplete = true
        (self.byteCount, self.lineCount) = (0, 0)
        // A transfer coding overrides a length, which then must not be believed (RFC 9112 §6.3).
        let length = try head.fields.declaredLength()
        let isChunked = head.fields.contains(.transferEncoding)
        return .head(head, length: isChunked || head.forbidsBody(to: method) ? nil : length)
    }

    /// An origin could otherwise keep a loop busy, and memory growing, with a head that never ends.
    private mutating func count(_ line: UnsafeRawBufferPointer) throws(WireError) {
        self.byteCount += line.count + 2
        self.lineCount += 1
        guard line.count <= self.limits.line, self.byteCount <= self.limits.bytes,
            self.lineCount <= self.limits.count + 2
        else { throw WireError(.headerTooLarge, "its head or trailers are over the limits") }
    }

    /// Of a line that was understood as a status line, which begins with `HTTP/`.
    private static func version(of line: UnsafeRawBufferPointer) -> String {
        if line[5] == UInt8(ascii: "2") { return "2" }
        return line[7] == UInt8(ascii: "0") ? "1.0" : "1.1"
    }

    private static func withoutLineEnd(_ line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var end = line.count
        if end > 0, line[end - 1] == UInt8(ascii: "\n") { end -= 1 }
        if end > 0, line[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: line[..<end])
    }
}
