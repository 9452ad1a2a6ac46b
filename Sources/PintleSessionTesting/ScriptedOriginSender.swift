// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import PintleMessage
internal import PintleSystem

/// Sends one answer.
struct ScriptedOriginSender: Sendable {
    /// Thrown when the part of an answer that is to be sent has been sent.
    private struct Cut: Error {}

    let channel: any Channel
    /// True if the answer ends with its head (RFC 9110 §9.3.2).
    let isHead: Bool
    /// True if the client uses HTTP/1.0, which has no chunks.
    let isOldVersion: Bool
    /// True if the connection stays open after the answer.
    var isKeptAlive: Bool

    /// Sends an answer, or fails in the way that the answer specifies.
    ///
    /// - Returns: true if the connection stays open.
    /// - Throws: an error that ends the connection at once.
    mutating func perform(_ answer: ScriptedOrigin.Answer, cuttingAfter limit: Int? = nil) async throws -> Bool {
        switch answer.content {
        case .message(let message):
            try await self.send(message, cuttingAfter: limit)
            return self.isKeptAlive && limit == nil
        case .inTurn(let turns): return try await self.perform(turns.next(), cuttingAfter: limit)
        case .cut(let count, let whole):
            return try await self.perform(whole, cuttingAfter: min(count, limit ?? .max))
        case .close: return false
        case .reset:
            // Closing a socket with a linger time of zero discards unsent data and resets the connection.
            if let socket = self.channel as? any SocketOptionProvider {
                try await socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
            }
            return false
        case .never:
            try await self.channel.closeFuture.get()
            return false
        }
    }

    private mutating func send(
        _ message: ScriptedOrigin.Answer.Message, cuttingAfter limit: Int?
    ) async throws {
        let framing = self.framing(of: message)
        try await self.send(self.head(of: message, framing))
        guard !self.isHead, !message.isWithoutBody else { return }
        let left = Locked((sent: 0, limit: limit ?? .max))
        let channel = self.channel
        let body = ScriptedOrigin.BodyWriter { bytes in
            let part = left.withLock { left in
                let part = bytes.prefix(left.limit - left.sent)
                left.sent += part.count
                return part
            }
            if !part.isEmpty {
                try await channel.writeAndFlush(Self.framed(part, isChunk: framing == .chunked)).get()
            }
            if part.count < bytes.count { throw Cut() }
        }
        switch message.body {
        case .bytes(let bytes): try await body.send(bytes)
        case .written(let write): try await write(body)
        }
        guard limit == nil else { return }
        if framing == .chunked { try await self.send(ByteBuffer(string: "0\r\n\r\n")) }
        if case .given(let length) = framing, length != left.withLock({ $0.sent }) { self.isKeptAlive = false }
    }

    private enum Framing: Equatable {
        case length(Int)
        case chunked
        /// The end of the connection ends the body.
        case close
        /// The fields of the test determine it; the length is nil if they do not give the number of bytes.
        case given(length: Int?)
        case none
    }

    private mutating func framing(of message: ScriptedOrigin.Answer.Message) -> Framing {
        if message.fields.hasToken("close", in: .connection) { self.isKeptAlive = false }
        if message.fields.contains("Transfer-Encoding") { return .given(length: nil) }
        if let length = message.fields["Content-Length"] { return .given(length: Int(length)) }
        if message.isWithoutBody { return .none }
        switch message.body {
        case .bytes(let bytes): return .length(bytes.count)
        case .written where self.isOldVersion:
            self.isKeptAlive = false
            return .close
        case .written: return .chunked
        }
    }

    private func head(of message: ScriptedOrigin.Answer.Message, _ framing: Framing) -> ByteBuffer {
        let reason = HTTPResponseStatus(statusCode: message.status).reasonPhrase
        var head = ByteBuffer(string: "HTTP/1.1 \(message.status) \(reason)\r\n")
        message.fields.forEachRun { head.writeBytes($0) }
        switch framing {
        case .length(let count): head.writeString("Content-Length: \(count)\r\n")
        case .chunked: head.writeString("Transfer-Encoding: chunked\r\n")
        case .close, .given, .none: break
        }
        if !self.isKeptAlive, !message.fields.contains("Connection") {
            head.writeString("Connection: close\r\n")
        } else if self.isOldVersion, self.isKeptAlive, !message.fields.contains("Connection") {
            head.writeString("Connection: keep-alive\r\n")
        }
        head.writeString("\r\n")
        return head
    }

    private static func framed(_ bytes: ArraySlice<UInt8>, isChunk: Bool) -> ByteBuffer {
        guard isChunk else { return ByteBuffer(bytes: bytes) }
        var chunk = ByteBuffer(string: "\(String(bytes.count, radix: 16))\r\n")
        chunk.writeBytes(bytes)
        chunk.writeString("\r\n")
        return chunk
    }

    private func send(_ bytes: ByteBuffer) async throws { try await self.channel.writeAndFlush(bytes).get() }
}
