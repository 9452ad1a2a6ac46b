// SPDX-License-Identifier: Apache-2.0

/// Reads request heads (RFC 9112 §2–§6) strictly: bytes that two implementations could understand differently are refused.
///
/// llhttp, which SwiftNIO includes, knows a closed list of methods and has no limit for a whole head. A proxy must forward
/// any method, and must name the limit that a head exceeds. All rules against request smuggling are in this folder.
package struct RequestParser: Sendable {
    /// The limits for the head that is read.
    package var limits: HeadLimits
    /// The number of bytes of the incomplete head that were already searched for its end.
    private var searched = 0

    /// Makes a parser with these limits.
    package init(limits: HeadLimits) { self.limits = limits }

    /// Reads one head from the start of `bytes`.
    ///
    /// - Returns: the head and its length in bytes; nil if its end has not arrived. Then call this again with the same
    ///   bytes and those that follow.
    /// - Throws: ``WireError`` as soon as the bytes cannot become an acceptable head, or go over a limit.
    package mutating func parse(_ bytes: UnsafeRawBufferPointer) throws(WireError) -> (head: RequestHead, length: Int)?
    {
        guard let place = try self.findHead(bytes) else { return nil }
        return (try self.read(UnsafeRawBufferPointer(rebasing: bytes[place])), place.upperBound)
    }

    /// Finds the first head in `bytes`: after any empty lines before it, up to and including the empty line that ends it.
    ///
    /// - Returns: nil if its end has not arrived. Then call this again with the same bytes and those that follow.
    /// - Throws: the errors of ``parse(_:)``.
    package mutating func findHead(_ bytes: UnsafeRawBufferPointer) throws(WireError) -> Range<Int>? {
        // A client may send an empty line after the body of an earlier request (RFC 9112 §2.2).
        var start = 0
        while bytes.count >= start + 2, start < 4, bytes[start] == .cr, bytes[start + 1] == .lf { start += 2 }
        // Checked here, before line feeds in the bytes cause an error that would not name the real problem.
        if let error = Self.errorOfOtherProtocol(bytes, from: start) { throw error }
        guard let end = try self.endOfHead(bytes, from: start) else { return nil }
        self.searched = 0
        return start..<end
    }

    /// Reads a head that ``findHead(_:)`` has found.
    ///
    /// - Throws: ``WireError`` if the head is not acceptable.
    package func read(_ bytes: UnsafeRawBufferPointer) throws(WireError) -> RequestHead {
        var lines = LineReader(bytes)
        var head = try self.requestLine(try lines.next())
        head.fields = try HeadReader.fields(&lines, of: .request, limits: self.limits)
        try Self.checkHost(&head)
        if head.hasWebSocketScheme, UpgradeOffer(head.fields, minorVersion: head.minorVersion) == nil {
            throw WireError(.malformed, "a ws:// or wss:// target without an Upgrade is no WebSocket's")
        }
        return head
    }

    /// Returns the error for bytes with which a client of another protocol begins; nil for others.
    ///
    /// - Parameter start: the number of bytes of the empty lines before them.
    private static func errorOfOtherProtocol(_ bytes: UnsafeRawBufferPointer, from start: Int) -> WireError? {
        guard start < bytes.count else { return nil }
        switch bytes[start] {
        case 0x16:  // A TLS ClientHello.
            return WireError(.malformed, "this port speaks HTTP without TLS; give the proxy's address as http://")
        case 0 where start == 4:  // Version 2 of the PROXY protocol begins with two empty lines.
            return Self.hasProxyHeader
        case UInt8(ascii: "P"):
            let line = UnsafeRawBufferPointer(rebasing: bytes[start...])
            if line.starts(with: "PROXY TCP") || line.starts(with: "PROXY UNKNOWN") { return Self.hasProxyHeader }
            guard line.starts(with: "PRI * HTTP/2.0\r\n") else { return nil }
            return WireError(
                .versionNotSupported,
                "HTTP/2 is spoken over TLS only, where the handshake agrees on it; speak HTTP/1.1 on this port")
        default: return nil
        }
    }

    private static let hasProxyHeader = WireError(
        .malformed, "a header of the PROXY protocol is not read here; have the load balancer send none")

    /// Finds the empty line that ends the head, and checks lengths and line ends on the way.
    private mutating func endOfHead(_ bytes: UnsafeRawBufferPointer, from start: Int) throws(WireError) -> Int? {
        var index = max(self.searched, start)
        while index < bytes.count {
            guard let lineFeed = bytes.firstIndex(of: .lf, from: index) else { break }
            guard lineFeed > start, bytes[lineFeed - 1] == .cr else {
                throw WireError(.malformed, "a line of the head ends with a bare line feed")
            }
            if lineFeed - start >= 3, bytes[lineFeed - 2] == .lf {
                guard lineFeed + 1 - start <= self.limits.bytes else { throw self.headTooLarge() }
                return lineFeed + 1
            }
            guard lineFeed - index <= self.limits.line + 1 else { throw self.lineTooLong() }
            index = lineFeed + 1
        }
        self.searched = index
        guard bytes.count - start <= self.limits.bytes else { throw self.headTooLarge() }
        guard bytes.count - index <= self.limits.line + 1 else { throw self.lineTooLong() }
        let line = bytes[start..<(bytes.firstIndex(of: .lf, from: start) ?? bytes.count)]
        try Self.checkBeginning(UnsafeRawBufferPointer(rebasing: line))
        return nil
    }

    /// Refuses at once bytes that can never become a request line: a client of another protocol waits for an answer, and
    /// may never send a line end.
    private static func checkBeginning(_ line: UnsafeRawBufferPointer) throws(WireError) {
        // It may be the first half of an empty line.
        guard let first = line.first, first != .cr else { return }
        let method = line.prefix { $0 != .space && $0 != .cr }
        guard ASCII.isToken(UnsafeRawBufferPointer(rebasing: method)), method.count <= 64 else {
            throw Self.methodIsNoToken
        }
    }

    private static let methodIsNoToken = WireError(.malformed, "the method is not a token of at most 64 bytes")

    private func lineTooLong() -> WireError {
        WireError(.headerTooLarge, "a line of the head is longer than \(self.limits.line) bytes")
    }

    private func headTooLarge() -> WireError {
        WireError(.headerTooLarge, "the head is longer than \(self.limits.bytes) bytes")
    }

    // MARK: The request line

    private func requestLine(_ line: UnsafeRawBufferPointer) throws(WireError) -> RequestHead {
        guard let first = line.firstIndex(of: .space, from: 0), let last = line.lastIndex(of: .space), first < last
        else {
            throw WireError(.malformed, "the request line is not method, target and version")
        }
        let method = UnsafeRawBufferPointer(rebasing: line[..<first])
        let target = UnsafeRawBufferPointer(rebasing: line[(first + 1)..<last])
        guard ASCII.isToken(method), method.count <= 64 else { throw Self.methodIsNoToken }
        let version = try Self.version(UnsafeRawBufferPointer(rebasing: line[(last + 1)...]))
        for byte in target where byte <= 0x20 || byte >= 0x7F {
            throw WireError(.malformed, "the request target has a byte that must be percent-encoded")
        }
        let name = String(decoding: method, as: UTF8.self)
        let parsed = try TargetReader.target(target, method: name)
        var head = RequestHead(method: name, target: parsed, minorVersion: version)
        head.hasWebSocketScheme = TargetReader.hasWebSocketScheme(target)
        return head
    }

    private static func version(_ bytes: UnsafeRawBufferPointer) throws(WireError) -> UInt8 {
        guard bytes.count == 8, bytes.starts(with: "HTTP/"), ASCII.isDigit(bytes[5]),
            bytes[6] == UInt8(ascii: "."), ASCII.isDigit(bytes[7])
        else { throw WireError(.malformed, "the request line does not end with an HTTP version") }
        guard bytes[5] == UInt8(ascii: "1") else {
            throw WireError(.versionNotSupported, "only HTTP/1.0 and HTTP/1.1 are spoken here")
        }
        return bytes[7] == UInt8(ascii: "0") ? 0 : 1
    }

    /// Requires exactly one Host in HTTP/1.1 (RFC 9112 §3.2), and at most one in 1.0. An absolute target overrides it.
    private static func checkHost(_ head: inout RequestHead) throws(WireError) {
        switch head.fields.count(of: .host) {
        case 0:
            guard head.minorVersion == 0 else { throw WireError(.malformed, "an HTTP/1.1 request has no Host") }
        case 1:
            guard head.fields.isAuthority(.host) else {
                throw WireError(.malformed, "the Host is not a host with an optional port")
            }
        default: throw WireError(.malformed, "the request has more than one Host")
        }
    }
}
