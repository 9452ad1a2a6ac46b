// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
package import NIOHPACK
package import PintleMessage

// Heads as HTTP/2 has them (RFC 9113 §8.2, §8.3). Values are text of bytes (`String.latin1Bytes`), which `HTTP2HeadFrames` makes
// of what comes, and bytes of what leaves.
extension HPACKHeaders {
    /// The header section of a request.
    init(_ request: TransferRequest) {
        let authority = request.fields[.host] ?? request.authority.description(for: request.scheme)
        self.init([
            (":method", request.method), (":scheme", request.scheme.rawValue), (":authority", authority),
            (":path", request.path),
        ])
        self.reserveCapacity(request.fields.count + 6)
        request.fields.forEachLine { name, line in
            // The others of the connection's were taken out where the request came from.
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

    /// A trailer section.
    package init(trailers: Fields) {
        self.init()
        trailers.forEachLine { _, line in self.add(line: line) }
    }

    /// Adds a line of HTTP/1.1.
    package mutating func add(line: UnsafeRawBufferPointer) {
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        let value = UnsafeRawBufferPointer(
            rebasing: line[colon...].dropFirst().drop { $0 == UInt8(ascii: " ") })
        // A token, and so ASCII.
        let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
        // An entry that is remembered has the peer's length, and text another. `HTTP2HeadFrames` knows text by that.
        self.add(name: name, value: String(latin1: value), indexing: ASCII.isAll(value) ? .indexable : .nonIndexable)
    }

    /// The head of a response.
    ///
    /// - Throws: ``WireError`` where it would be none in HTTP/1.1, or is over the limits.
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

    /// The fields of a section, without the pseudo fields.
    ///
    /// - Throws: ``WireError`` where one would be none in HTTP/1.1, or they are over the limits.
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

/// The interim responses of one stream. An origin could otherwise have memory grow with such as never end: no window bounds
/// them.
struct InterimHeads {
    private var lines = 0
    private var bytes = 0

    /// - Throws: ``WireError`` where all together go over the limits of one head.
    mutating func count(_ headers: HPACKHeaders, within limits: HeadLimits) throws(WireError) {
        self.lines += headers.count + 1
        for header in headers { self.bytes += header.name.utf8.count + header.value.unicodeScalars.count }
        guard self.lines <= limits.count, self.bytes <= limits.bytes else {
            throw WireError(.headerTooLarge, "its interim responses are over the limits")
        }
    }
}
