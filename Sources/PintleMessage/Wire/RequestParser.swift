// SPDX-License-Identifier: Apache-2.0

/// Reads request heads (RFC 9112 §2–§6), strictly: what two implementations could understand in two ways is refused.
///
/// llhttp, which SwiftNIO carries, knows a closed list of methods and has no limit on a whole head; a proxy must pass any
/// method and say which limit was met. The rules that a peer could use to smuggle are all in this folder.
package struct RequestParser: Sendable {
    /// The limits for the head that is read.
    package var limits: HeadLimits
    /// How many bytes of the waiting head were searched for its end already.
    private var searched = 0

    /// Makes a parser that keeps to `limits`.
    package init(limits: HeadLimits) { self.limits = limits }

    /// Reads one head from the start of `bytes`.
    ///
    /// - Returns: the head and the number of bytes that it took, or nil when its end has not arrived. Call again with
    ///   the same bytes and more behind them.
    /// - Throws: ``WireError`` as soon as the bytes cannot become an acceptable head, or go over a limit.
    package mutating func parse(_ bytes: UnsafeRawBufferPointer) throws(WireError) -> (head: RequestHead, length: Int)?
    {
        guard let place = try self.findHead(bytes) else { return nil }
        return (try self.read(UnsafeRawBufferPointer(rebasing: bytes[place])), place.upperBound)
    }

    /// Finds the first head in `bytes`, with the empty line that ends it and behind empty lines that may stand before it.
    ///
    /// - Returns: nil when its end has not arrived. Call again with the same bytes and more behind them.
    /// - Throws: as ``parse(_:)``.
    package mutating func findHead(_ bytes: UnsafeRawBufferPointer) throws(WireError) -> Range<Int>? {
        // A client may send an empty line after the body of an earlier request (RFC 9112 §2.2).
        var start = 0
        while bytes.count >= start + 2, start < 4, bytes[start] == .cr, bytes[start + 1] == .lf { start += 2 }
        // Line feeds come in a ClientHello, too, and its sender should be told of more than those.
        if start < bytes.count, bytes[start] == 0x16 {
            throw WireError(.malformed, "this port speaks HTTP without TLS; give the proxy's address as http://")
        }
        guard let end = try self.endOfHead(bytes, from: start) else { return nil }
        self.searched = 0
        return start..<end
    }

    /// Reads a head that ``findHead(_:)`` has found.
    ///
    /// - Throws: ``WireError`` when it is not an acceptable one.
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

    /// Finds the empty line that ends the head, checking lengths and line ends on the way.
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

    /// Refuses at once what never becomes a request line: who speaks another protocol waits for an answer, not for the
    /// end of a line.
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

    /// RFC 9112 §3.2: exactly one Host on 1.1; it has no weight beside an absolute target.
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
