// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL
internal import Foundation

/// The WebSocket protocol (RFC 6455), for one end of a connection.
package enum WebSocketWire {
    /// The kinds of frames.
    package enum Kind: UInt8, Sendable {
        case continuation = 0
        case text = 1
        case binary = 2
        case close = 8
        case ping = 9
        case pong = 10
    }

    /// One frame, its payload unmasked.
    package struct Frame: Sendable, Equatable {
        package let kind: Kind
        package let payload: [UInt8]

        package init(kind: Kind, payload: [UInt8]) {
            self.kind = kind
            self.payload = payload
        }
    }

    /// A key that a client may send: the example of RFC 6455 §1.3.
    package static let key = "dGhlIHNhbXBsZSBub25jZQ=="

    /// Returns a server's answer to a client's key (RFC 6455 §4.2.2).
    package static func accept(_ key: String) -> String {
        let input = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = [UInt8](repeating: 0, count: 20)
        SHA1(input, input.count, &digest)
        return Data(digest).base64EncodedString()
    }

    /// The field lines of a client's handshake, each with its line end.
    package static let handshake =
        "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        + "Sec-WebSocket-Key: \(Self.key)\r\n"

    /// Returns the head by which a server switches protocols.
    package static func switching(for request: MessageHead, fields: String = "") -> String {
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: \(Self.accept(request["Sec-WebSocket-Key"] ?? ""))\r\n\(fields)\r\n"
    }

    /// Returns the bytes of a frame.
    ///
    /// - Parameter isMasked: true for a client's frame; a server must not mask.
    package static func bytes(_ kind: Kind, _ payload: [UInt8], isMasked: Bool) -> [UInt8] {
        let mark: UInt8 = isMasked ? 0x80 : 0
        var bytes: [UInt8] = [0x80 | kind.rawValue]
        switch payload.count {
        case ..<126: bytes.append(mark | UInt8(payload.count))
        case ..<65_536: bytes += [mark | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        default:
            bytes.append(mark | 127)
            bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: payload.count >> ($0 * 8)) }
        }
        guard isMasked else { return bytes + payload }
        let mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
        return bytes + mask + payload.enumerated().map { $1 ^ mask[$0 & 3] }
    }

    /// Accepts a handshake, and echoes every message until the client closes.
    package static let echo: RawOrigin.Script = { connection in
        let request = try connection.readRequestHead()
        try connection.send(Self.switching(for: request))
        while case let frame = try connection.stream.readFrame() {
            connection.stream.forgetTaken()
            try connection.stream.send(Self.bytes(frame.kind, frame.payload, isMasked: false))
            if frame.kind == .close { return }
        }
    }
}

extension SocketStream {
    /// Reads one frame.
    package func readFrame() throws -> WebSocketWire.Frame {
        let start = try self.read(2)
        guard let kind = WebSocketWire.Kind(rawValue: start[0] & 0x0F), start[0] & 0xF0 == 0x80 else {
            throw TestFailure("a frame begins with \(start)")
        }
        var count = Int(start[1] & 0x7F)
        if count >= 126 {
            count = try self.read(count == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) }
        }
        let mask = start[1] & 0x80 == 0 ? [0, 0, 0, 0] : try self.read(4)
        let payload = try self.read(count).enumerated().map { $1 ^ mask[$0 & 3] }
        return WebSocketWire.Frame(kind: kind, payload: payload)
    }

    /// Sends one frame as a client.
    package func sendFrame(_ kind: WebSocketWire.Kind, _ payload: [UInt8]) throws {
        try self.send(WebSocketWire.bytes(kind, payload, isMasked: true))
    }
}
