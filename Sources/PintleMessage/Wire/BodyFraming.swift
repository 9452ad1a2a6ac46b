// SPDX-License-Identifier: Apache-2.0

/// The way to find the end of a body.
package enum BodyFraming: Sendable, Equatable {
    /// There is no body.
    case none
    /// Exactly this number of bytes.
    case length(UInt64)
    /// Chunks, then trailers (RFC 9112 §7.1).
    case chunked
    /// Until the connection closes; responses only.
    case untilClose
}

extension RequestHead {
    /// The framing of this request's body (RFC 9112 §6.3).
    ///
    /// - Throws: ``WireError`` if framing is ambiguous: both fields, differing or malformed lengths, codings other than one
    ///   chunked, transfer codings on HTTP/1.0.
    package func bodyFraming() throws(WireError) -> BodyFraming {
        let length = try self.fields.contentLength()
        guard self.fields.contains(.transferEncoding) else {
            return length.map { $0 == 0 ? .none : .length($0) } ?? .none
        }
        guard length == nil else {
            throw WireError(.malformed, "the request has both Content-Length and Transfer-Encoding")
        }
        guard self.minorVersion == 1 else {
            throw WireError(.malformed, "an HTTP/1.0 request has a Transfer-Encoding")
        }
        let codings = self.fields.transferCodings
        if codings == (1, 1) { return .chunked }
        if codings.count == 0 || codings.chunked > 1 {
            throw WireError(.malformed, "the Transfer-Encoding is empty or names chunked twice")
        }
        throw WireError(.unknownTransferCoding, "the only transfer coding known here is chunked")
    }
}

extension ResponseHead {
    /// The framing of the body of this response to `method` (RFC 9112 §6.3).
    ///
    /// - Throws: ``WireError`` if framing is ambiguous: both fields, differing or malformed lengths, a coding other than
    ///   one chunked.
    package func bodyFraming(to method: String) throws(WireError) -> BodyFraming {
        let length = try self.fields.contentLength()
        if self.forbidsBody(to: method) { return .none }
        guard self.fields.contains(.transferEncoding) else { return length.map { .length($0) } ?? .untilClose }
        guard length == nil else {
            throw WireError(.malformed, "it has both Content-Length and Transfer-Encoding")
        }
        guard self.fields.transferCodings == (1, 1) else {
            throw WireError(.unknownTransferCoding, "the only transfer coding known here is chunked")
        }
        return .chunked
    }
}

extension Fields {
    /// The number of transfer codings, and the number of those that are chunked.
    fileprivate var transferCodings: (count: Int, chunked: Int) {
        var codings = (count: 0, chunked: 0)
        // Compared as bytes: `String` compares runs of combining marks in quadratic time.
        self.forEachToken(in: .transferEncoding) {
            codings.count += 1
            if $0.lazy.map(ASCII.lowercased).elementsEqual("chunked".utf8) { codings.chunked += 1 }
        }
        return codings
    }

    /// Returns the value of Content-Length: digits only, equal in every line.
    func contentLength() throws(WireError) -> UInt64? {
        var found: UInt64?
        for line in self.lines where line.name == .contentLength {
            let start = Int(line.valueStart)
            let digits = self.bytes[start..<start + Int(line.valueLength)]
            guard (1...19).contains(digits.count), digits.allSatisfy(ASCII.isDigit) else {
                throw WireError(.malformed, "a Content-Length is not a number of at most 19 digits")
            }
            let length = digits.reduce(UInt64(0)) { $0 * 10 + UInt64($1 - 0x30) }
            // Other programs could take a larger number for a negative one, or for no number.
            guard length <= UInt64(Int64.max) else {
                throw WireError(.malformed, "a Content-Length is larger than any body can be")
            }
            guard found == nil || found == length else {
                throw WireError(.malformed, "two Content-Lengths differ")
            }
            found = length
        }
        return found
    }
}

extension Fields {
    /// True if the connection can be used for another request, as far as the sender of these fields is concerned (RFC 9112
    /// §9.3).
    ///
    /// - Parameter minorVersion: the sender's minor version of HTTP/1.
    package func keepsConnection(minorVersion: UInt8) -> Bool {
        guard self.contains(.connection) else { return minorVersion == 1 }
        if self.hasToken("close", in: .connection) { return false }
        return minorVersion == 1 || self.hasToken("keep-alive", in: .connection)
    }
}
