// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
package import NIOHPACK
package import PintleMessage

// Heads of HTTP/2 (RFC 9113 §8.2, §8.3). Values are Latin-1 text (`String.latin1Bytes`): `HTTP2HeadFrames` makes it of received
// bytes, and bytes of it before they are sent.
extension HPACKHeaders {
    /// Makes the header section of a request.
    init(_ request: TransferRequest) {
        let authority = request.fields[.host] ?? request.authority.description(for: request.scheme)
        self.init([
            (":method", request.method), (":scheme", request.scheme.rawValue), (":authority", authority),
            (":path", request.path),
        ])
        self.reserveCapacity(request.fields.count + 6)
        request.fields.forEachLine { name, line in
            // The other fields of the connection were removed when the request was made.
            guard name != .host, name != .connection, name != .transferEncoding, name != .upgrade else { return }
            self.add(line: line)
        }
        if request.takesTrailers { self.add(name: "te", value: "trailers") }
        switch request.body {
        case .none, .stream(nil): break
        case .bytes(let bytes): self.add(name: "content-length", value: String(bytes.readableBytes))
        case .stream(.some(let length)): self.add(name: "content-length", value: String(length))
        }
    }

    /// Makes a trailer section.
    package init(trailers: Fields) {
        self.init()
        trailers.forEachLine { _, line in self.add(line: line) }
    }

    /// Adds a field line of HTTP/1.1.
    package mutating func add(line: UnsafeRawBufferPointer) {
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        let value = UnsafeRawBufferPointer(
            rebasing: line[colon...].dropFirst().drop { $0 == UInt8(ascii: " ") })
        // The name is a token, and so ASCII.
        let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
        // Values that are not ASCII are not indexed: as text they are longer than at the peer, so that the tables would differ.
        // `HTTP2HeadFrames` also recognises text by that.
        self.add(name: name, value: String(latin1: value), indexing: ASCII.isAll(value) ? .indexable : .nonIndexable)
    }

    /// Returns the head of a response.
    ///
    /// - Throws: ``WireError`` if it would be invalid in HTTP/1.1, or is over the limits.
    func responseHead(within limits: HeadLimits) throws(WireError) -> ResponseHead {
        let status = self.first(name: ":status") ?? ""
        var line: Result<ResponseHead, WireError> = .success(ResponseHead(status: 0))
        Array("HTTP/2 \(status)".utf8).withUnsafeBytes { bytes in
            line = Result { () throws(WireError) in try ResponseHead(statusLine: bytes) }
        }
        var head = try line.get()
        head.fields = try self.fields(within: limits)
        return head
    }

    /// Returns the fields of a section, without the pseudo fields.
    ///
    /// - Throws: ``WireError`` if a field would be invalid in HTTP/1.1, or they are over the limits.
    package func fields(within limits: HeadLimits) throws(WireError) -> Fields {
        var fields = Fields(reservingBytes: 512)
        var byteCount = 0
        for (name, value, _) in self where !name.hasPrefix(":") {
            var line: [UInt8] = []
            line.reserveCapacity(name.utf8.count + value.utf8.count + 2)
            line.append(latin1: name)
            line += [UInt8(ascii: ":"), UInt8(ascii: " ")]
            line.append(latin1: value)
            byteCount += line.count + 2
            guard line.count <= limits.line, byteCount <= limits.bytes, fields.count < limits.count else {
                throw WireError(.headerTooLarge, "its head or trailers are over the limits")
            }
            var result: Result<Void, WireError> = .success(())
            line.withUnsafeBytes { bytes in
                result = Result { () throws(WireError) in try fields.append(line: bytes) }
            }
            try result.get()
        }
        try fields.checkSection()
        return fields
    }
}

/// Counts the interim responses of one stream. Otherwise an origin could send them for ever and make memory grow: no window
/// limits them.
struct InterimHeads {
    private var lines = 0
    private var bytes = 0

    /// Counts another interim response.
    ///
    /// - Throws: ``WireError`` if all together are over the limits of one head.
    mutating func count(_ headers: HPACKHeaders, within limits: HeadLimits) throws(WireError) {
        self.lines += headers.count + 1
        for header in headers { self.bytes += header.name.utf8.count + header.value.unicodeScalars.count }
        guard self.lines <= limits.count, self.bytes <= limits.bytes else {
            throw WireError(.headerTooLarge, "its interim responses are over the limits")
        }
    }
}
